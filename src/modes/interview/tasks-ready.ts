// Proves a round of an interview: spec.md can be worked from, and after the last round tasks.json can be executed.
import { someOf } from '../../text/format.ts';
import { findCycle } from '../../documents/graph.ts';
import type { Task, TaskSpec } from '../../core/task.ts';
import type { Check, CheckResult } from '../../checks/check.ts';
import type { Parsed, Problem } from '../../documents/document.ts';

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

const specBytesMax = 1024 * 1024; // an agent has to read it whole
const tasksBytesMax = 16 * 1024 * 1024;
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
export const isBegun = ({ done, skipped, blocked = false, attemptsBefore = 0 }: TaskSpec): boolean =>
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
