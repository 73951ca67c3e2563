// Proof of an interview's round: spec.md can be worked from, and after the last round tasks.json can be executed.
import { basename, dirname, join } from 'node:path';
import { problemLine } from '../../app/problems.ts';
import type { Check } from '../../checks/check.ts';
import type { TaskSpec } from '../../core/task.ts';
import { projectTasks } from '../../documents/formats/tasks.ts';
import { readText } from '../../documents/text-file.ts';
import { someOf } from '../../text/format.ts';
import type { ModeSession, SessionPlace } from '../mode.ts';
import { artefactsOf, doneSignal, readOwnPrompt } from '../project/session.ts';
import { isUntouchedSpec } from '../project/templates.ts';
import { interviewMode } from './mode.ts';
import { interviewRounds } from './rules.ts';

const specBytesMax = 1024 * 1024;
const tasksBytesMax = 16 * 1024 * 1024;
const detailCharsMax = 6_000;

/** Of spec.md. */
async function interviewCheck({ path, settings, directory }: SessionPlace): Promise<Check> {
  const folder = dirname(path);
  const tasks = join(folder, 'tasks.json');
  const own = await readOwnPrompt(directory, 'init');
  return tasksReadyCheck({
    spec: path,
    tasks,
    lastRound: settings.rounds ?? interviewRounds,
    isUntouched: (spec: string) => isUntouchedSpec(spec, basename(folder), own.text),
    begunBefore: await begunIn(tasks),
  });
}

/** What is odd about the spec as it is now: an earlier round may have brought it in. */
async function specNoticesNow(spec: string): Promise<string> {
  const read = await readText(spec, specBytesMax);
  const parsed = read.type === 'text' ? interviewMode.formats[0]?.parse(read.text) : undefined;
  return parsed?.ok === true ? parsed.document.notices.join('\n') : '';
}

export const interviewSession: ModeSession = {
  checks: async place => [await interviewCheck(place)],
  doneFile: document => join(dirname(document), 'done.md'),
  signals: doneSignal,
  promptInputs: async state => ({ ...artefactsOf(state), notices: await specNoticesNow(state.loop.document) }),
};

async function begunIn(path: string): Promise<ReadonlySet<string>> {
  const found = await readText(path, tasksBytesMax);
  const parsed = found.type === 'text' ? projectTasks.parse(found.text) : undefined;
  const tasks = parsed?.ok === true ? parsed.document.tasks : [];
  return new Set(tasks.filter(isBegun).map(task => task.id));
}

interface InterviewProof {
  /** Absolute paths. */
  readonly spec: string;
  readonly tasks: string;
  /** The round that must leave tasks.json behind. */
  readonly lastRound: number;
  /** Nobody has written anything into it yet. */
  readonly isUntouched: (spec: string) => boolean;
  /** Tasks begun or done before this interview: a project may be interviewed again in the middle of its work. */
  readonly begunBefore: ReadonlySet<string>;
}

async function specProblems({ spec, isUntouched }: InterviewProof): Promise<readonly string[]> {
  const found = await readText(spec, specBytesMax);
  if ('problem' in found) return [problemLine('spec.md', found.problem)];
  if (found.text.replace(/^\uFEFF/, '').trim() === '')
    return ['spec.md: It is empty. Write down what the person said.'];
  if (isUntouched(found.text)) return ['spec.md: It is still the empty template. Write the answers into it.'];
  return [];
}

/** To talk about work is not to do it: whoever writes the tasks down cannot have finished one. */
const isBegun = ({ done, skipped, blocked = false, attemptsBefore = 0 }: TaskSpec): boolean =>
  done || skipped || blocked || attemptsBefore > 0;

async function taskProblems({ tasks, begunBefore }: InterviewProof): Promise<readonly string[]> {
  const found = await readText(tasks, tasksBytesMax);
  if ('problem' in found) return [problemLine('tasks.json', found.problem)];
  const parsed = projectTasks.parse(found.text);
  if (!parsed.ok) return parsed.problems.map(problem => problemLine('tasks.json', problem));
  const early = parsed.document.tasks.filter(task => isBegun(task) && !begunBefore.has(task.id)).map(task => task.id);
  if (early.length === 0) return [];
  return [`tasks.json: Nobody has worked on ${someOf(early, 5)} yet. Write "status": "pending", and no attempts.`];
}

/** All that is wrong in one go, so that one more round can mend it. Without a task, everything is asked for. */
export function tasksReadyCheck(proof: InterviewProof): Check {
  const name = interviewMode.conversation?.check ?? '';
  return {
    name,
    async run(_directory, stop, task) {
      const startedAt = performance.now();
      const isLast = (task?.spec.round ?? proof.lastRound) >= proof.lastRound;
      const problems = [...(await specProblems(proof)), ...(isLast ? await taskProblems(proof) : [])];
      const wrong = stop.aborted ? ['Stopped before it ended.'] : problems;
      const good = isLast ? 'spec.md and tasks.json are ready.' : 'spec.md is ready for the next round.';
      const detail = wrong.length === 0 ? good : wrong.join('\n').slice(0, detailCharsMax);
      return { name, passed: wrong.length === 0, detail, durationMs: Math.round(performance.now() - startedAt) };
    },
  };
}
