// What proves a round of an interview, and the file that ends it: spec.md and tasks.json, looked at by ourselves.
import { basename, dirname, join } from 'node:path';
import { isInterview } from '../../app/modes.ts';
import type { Check, CheckResult } from '../../checks/check.ts';
import type { ModeName } from '../../core/settings.ts';
import type { Task, TaskSpec } from '../../core/task.ts';
import type { FormatOptions, Parsed, Problem } from '../../documents/document.ts';
import { projectTasks } from '../../documents/formats/tasks.ts';
import { findCycle } from '../../documents/task-checks.ts';
import { readText } from '../../documents/text-file.ts';
import { someOf } from '../../text/format.ts';
import { readOwnPrompt } from '../project/session.ts';
import { isUntouchedSpec } from '../project/templates.ts';
import { interviewRounds } from './mode.ts';

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

// Proves a round of an interview: spec.md can be worked from, and after the last round tasks.json can be executed.

/** Reads a text file: bounded, never waiting, never throwing. */
type ReadText = (
  path: string,
  bytesMax: number,
) => Promise<{ readonly type: 'text'; readonly text: string } | { readonly type: string; readonly problem: Problem }>;

export interface InterviewProof {
  readonly name: string;
  /** Absolute paths. */
  readonly spec: string;
  readonly tasks: string;
  /** The round that must leave tasks.json behind. */
  readonly lastRound: number;
  readonly read: ReadText;
  readonly parse: (text: string) => Parsed;
  /** Nobody has written anything into it yet. */
  readonly isUntouched: (spec: string) => boolean;
  /** Tasks that were over before anybody asked: a project may be interviewed again in the middle of its work. */
  readonly overBefore: ReadonlySet<string>;
}

const specBytesMax = 1024 * 1024;
const detailCharsMax = 6_000;

const sentence = (file: string, { message, line, column, fix }: Problem): string => {
  const place = line === undefined ? '' : `:${line}${column === undefined ? '' : `:${column}`}`;
  return `${file}${place}: ${message}${fix === undefined ? '' : ` ${fix}`}`;
};

async function specProblems({ spec, read, isUntouched }: InterviewProof): Promise<readonly string[]> {
  const found = await read(spec, specBytesMax);
  if ('problem' in found) return [sentence('spec.md', found.problem)];
  if (found.text.replace(/^\uFEFF/, '').trim() === '')
    return ['spec.md: It is empty. Write down what the person said.'];
  if (isUntouched(found.text)) return ['spec.md: It is still the empty template. Write the answers into it.'];
  return [];
}

/** To talk about work is not to do it: whoever writes the tasks down cannot have finished one. */
const isBegun = ({ done, skipped, blocked = false, attemptsBefore = 0 }: TaskSpec): boolean =>
  done || skipped || blocked || attemptsBefore > 0;

async function taskProblems({ tasks, read, parse, overBefore }: InterviewProof): Promise<readonly string[]> {
  const found = await read(tasks, tasksBytesMax);
  if ('problem' in found) return [sentence('tasks.json', found.problem)];
  const parsed = parse(found.text);
  if (!parsed.ok) return parsed.problems.map(problem => sentence('tasks.json', problem));
  const list = parsed.document.tasks;
  if (list.length === 0) return ['tasks.json: It holds no task. Write at least one.'];
  const early = list.filter(task => isBegun(task) && !overBefore.has(task.id)).map(task => task.id);
  const begun = `Nobody has worked on ${someOf(early, 5)} yet. Write "status": "pending", and no attempts.`;
  const cycle = findCycle(list) ?? [];
  const way = [...cycle.slice(0, 20), ...(cycle.length > 20 ? ['…'] : []), cycle[0]].join(' -> ');
  const circle = `These tasks wait for each other: ${way}. Take one of the dependencies out.`;
  return [
    ...(early.length === 0 ? [] : [`tasks.json: ${begun}`]),
    ...(cycle.length === 0 ? [] : [`tasks.json: ${circle}`]),
  ];
}

/** All that is wrong in one go, so that one more round can mend it. Without a task, everything is asked for. */
export function tasksReadyCheck(proof: InterviewProof): Check & {
  run(directory: string, stop: AbortSignal, task?: Task): Promise<CheckResult>;
} {
  const { name, lastRound } = proof;
  return {
    name,
    async run(_directory, stop, task) {
      const startedAt = performance.now();
      const isLast = (task?.round ?? lastRound) >= lastRound;
      const problems = [...(await specProblems(proof)), ...(isLast ? await taskProblems(proof) : [])];
      const wrong = stop.aborted ? ['Stopped before it ended.'] : problems;
      const good = isLast ? 'spec.md and tasks.json are ready.' : 'spec.md is ready for the next round.';
      const detail = wrong.length === 0 ? good : wrong.join('\n').slice(0, detailCharsMax);
      return { name, passed: wrong.length === 0, detail, durationMs: Math.round(performance.now() - startedAt) };
    },
  };
}
