// What proves a round of an interview, and the file that ends it: spec.md and tasks.json, looked at by ourselves.
import { basename, dirname, join } from 'node:path';
import { isBegun, tasksReadyCheck } from './tasks-ready.ts';
import type { ModeName } from '../../core/settings.ts';
import { projectTasks } from '../../documents/formats/tasks.ts';
import { interviewRounds } from './mode.ts';
import type { Check } from '../../checks/check.ts';
import type { FormatOptions } from '../../documents/document.ts';
import { isUntouchedSpec } from '../project/spec-template.ts';
import { readText } from '../../documents/text-file.ts';
import { isInterview } from '../../app/modes.ts';
import { readOwnPrompt } from '../project/session.ts';

export const interviewCheckName = 'spec.md and tasks.json';

interface Interview {
  readonly mode: ModeName;
  /** Of spec.md. */
  readonly path: string;
  readonly options: FormatOptions;
  readonly directory: string;
}

export async function interviewChecks({ mode, path, options, directory }: Interview): Promise<readonly Check[]> {
  if (!isInterview(mode, path)) return [];
  const folder = dirname(path);
  const tasks = join(folder, 'tasks.json');
  const own = await readOwnPrompt(directory, 'init');
  return [
    tasksReadyCheck({
      name: interviewCheckName,
      spec: path,
      tasks,
      lastRound: options.rounds ?? interviewRounds,
      read: readText,
      parse: text => projectTasks.parse(text),
      overBefore: await overIn(tasks),
      isUntouched: spec => isUntouchedSpec(spec, basename(folder), own.text),
    }),
  ];
}

const tasksBytesMax = 16 * 1024 * 1024;

/** What stood there as begun or finished before this interview. */
async function overIn(path: string): Promise<ReadonlySet<string>> {
  const found = await readText(path, tasksBytesMax);
  const parsed = found.type === 'text' ? projectTasks.parse(found.text) : undefined;
  const tasks = parsed?.ok === true ? parsed.document.tasks : [];
  return new Set(tasks.filter(isBegun).map(task => task.id));
}

export const interviewDoneFile = (mode: ModeName, path: string): string | undefined =>
  isInterview(mode, path) ? join(dirname(path), 'done.md') : undefined;
