// Another agent as a judge: in a fresh context and an empty folder, with the work as quoted text; it can only refuse.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Usage } from '../core/event.ts';
import { takeCharacters } from '../text/text.ts';
import type { CheckResult, Judge, JudgedWork } from './check.ts';
import type { Activity, Performer } from '../agents/performer.ts';
import { type Verdict, verdictOf } from '../messages/verdict.ts';

export interface JudgeOptions {
  readonly performer: Performer;
  readonly prompt: (work: JudgedWork) => string;
  /** Redacts what leaves for the judge's provider and what is shown of its answer. */
  readonly redact?: (text: string) => string;
  readonly timeMsMax: number;
  readonly environment?: Readonly<Record<string, string>>;
  /** Where its empty folder is made; the system's for temporary files unless given. */
  readonly scratch?: string;
}

type Ended = Extract<Activity, { type: 'ended' }>;

interface Heard {
  readonly ended?: Ended;
  readonly usage?: Usage;
  readonly isLate: boolean;
}

const detailCharsMax = 2_000;

export function judgeCheck(options: JudgeOptions): Judge {
  const name = `judge: ${options.performer.name}`;
  const redact = options.redact ?? (text => text);
  return {
    name,
    async judge(given, stop) {
      const startedAt = performance.now();
      const result = (passed: boolean, detail: string, usage?: Usage): CheckResult => ({
        name,
        passed,
        detail: takeCharacters(redact(detail), detailCharsMax),
        durationMs: Math.round(performance.now() - startedAt),
        performer: options.performer.name,
        usage,
      });
      const failed = given.outcomes.find(outcome => !outcome.passed);
      if (failed !== undefined) return result(false, `Not asked, because this check failed: ${failed.name}`);
      if (stop.aborted) return result(false, 'Stopped before it was asked.');
      const work = given.criteria.length > 0 ? given : { ...given, criteria: [`The task is done: ${given.title}`] };
      const heard = await ask(options, work, redact(options.prompt(work)), stop);
      const problem = problemWith(heard, stop, options.timeMsMax);
      if (problem !== undefined) return result(false, `The judge gave no verdict: ${problem}.`, heard.usage);
      const verdict = verdictOf(heard.ended?.message ?? '', work.criteria.length);
      return result(verdict.ok && verdict.criteria.every(one => one.passed), words(verdict, work), heard.usage);
    },
  };
}

function problemWith({ ended, isLate }: Heard, stop: AbortSignal, timeMsMax: number): string | undefined {
  if (stop.aborted) return 'it was stopped';
  if (isLate) return `it was not done after ${timeMsMax / 1_000} s`;
  if (ended === undefined) return 'it did not end';
  return ended.failure === undefined ? undefined : `it failed (${ended.failure.kind}): ${ended.failure.detail}`;
}

/** Never throws, not even when a performer breaks its contract: a broken judge is no verdict. */
async function ask(options: JudgeOptions, work: JudgedWork, prompt: string, stop: AbortSignal): Promise<Heard> {
  const { performer, timeMsMax, environment = {}, scratch = tmpdir() } = options;
  const ending = new AbortController();
  const abort = (): void => ending.abort();
  let isLate = false;
  let ended: Ended | undefined;
  let usage: Usage | undefined;
  let directory: string | undefined;
  stop.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(() => {
    isLate = true;
    abort();
  }, timeMsMax);
  try {
    directory = await mkdtemp(join(scratch, 'ralph-judge-'));
    const { loop, iteration, task } = work;
    const assignment = { loop, iteration, task, attempt: 1, prompt, directory, timeMsMax, environment };
    for await (const activity of performer.perform(assignment, ending.signal)) {
      if (activity.type === 'usage') usage = activity.usage;
      if (activity.type === 'ended') ended = activity;
    }
  } catch (error) {
    const failure = { kind: 'unknown' as const, detail: (error as Error).message };
    ended = { type: 'ended', message: '', failure };
  } finally {
    clearTimeout(timer);
    stop.removeEventListener('abort', abort);
    if (directory !== undefined) await rm(directory, { recursive: true, force: true }).catch(() => {});
  }
  return { isLate, ended, usage };
}

/** What is not met comes first: it is what the next attempt needs. */
function words(verdict: Verdict, { criteria }: JudgedWork): string {
  if (!verdict.ok) return `The judge gave no verdict: ${verdict.problem}.`;
  const ordered = [...verdict.criteria].sort((a, b) => Number(a.passed) - Number(b.passed));
  const lines = ordered.map(
    ({ criterion, passed, evidence }) =>
      `${passed ? 'met' : 'NOT met'}: ${takeCharacters(criteria[criterion - 1] ?? '', 200)} (${evidence})`,
  );
  return [...lines, ...(verdict.summary === '' ? [] : [verdict.summary])].join('\n');
}
