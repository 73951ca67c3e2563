// Proves a claim: protected files are put back, the checks run, the work itself is looked at, a judge may still refuse it.
import type { Doubt } from '../core/event.ts';
import type { CheckOutcome } from '../core/input.ts';
import { allTasks, findTask } from '../core/task.ts';
import type { Span } from '../ports/workspace.ts';
import type { Perform, Workplace } from './workplace.ts';

/** Stops at the first failure: one refused claim needs one reason. Undefined: stopped by us, so nothing is known. */
async function runChecks(
  { engine }: Workplace,
  directory: string,
  stop: AbortSignal,
): Promise<readonly CheckOutcome[] | undefined> {
  const outcomes: CheckOutcome[] = [];
  for (const one of engine.checks) {
    const outcome = await one.run(directory, stop);
    if (stop.aborted) return undefined;
    outcomes.push(outcome);
    if (!outcome.passed) break;
  }
  return outcomes;
}

const directoryOf = ({ engine, state }: Workplace, task: string): string =>
  engine.workspace?.directory(task) ?? state.directory;

/** What the iterations of the task changed; a fork is compared with where it began. */
async function spansOf({ engine, state }: Workplace, task: string): Promise<readonly Span[]> {
  const spans = findTask(state.tasks, task)?.spans ?? [];
  if (!state.settings.forked) return spans;
  const base = (await engine.workspace?.base(task)) ?? '';
  const last = spans.at(-1);
  return base !== '' && last !== undefined ? [{ from: base, to: last.to }] : [];
}

/** What unfinished tasks left in the shared tree weakens the proof of this one too, unless it was put back since. */
async function doubtsLeft({ engine, state }: Workplace, task: string): Promise<readonly Doubt[]> {
  const now = state.newest?.tree;
  if (state.settings.forked || now === undefined || engine.screen === undefined) return [];
  const doubts: Doubt[] = [];
  for (const { id, status, spans, mayChangeTests } of allTasks(state.tasks)) {
    if (id === task || status === 'done' || spans === undefined || mayChangeTests === true) continue;
    const found = await engine.screen([...spans, { from: now, to: now }], id, state);
    const real = found.filter(one => one.kind !== 'nothing-changed');
    doubts.push(...real.map(one => ({ ...one, detail: `${one.detail} (left by ${id})` })));
  }
  return doubts;
}

async function doubtsAbout(place: Workplace, task: string): Promise<readonly Doubt[]> {
  const { engine, state } = place;
  if (!state.settings.screen || engine.screen === undefined) return [];
  const own = await engine.screen(await spansOf(place, task), task, state);
  const left = await doubtsLeft(place, task);
  return [...own, ...left.filter(one => !own.some(each => each.fingerprint === one.fingerprint))];
}

const passed = (outcomes: readonly CheckOutcome[]): boolean => outcomes.every(one => one.passed);

/** Ralph's own copies of protected files are damaged: nothing can be proven until a person has looked (F33). */
function damaged({ post }: Workplace, iteration: number, detail: string): void {
  post({ type: 'checked', iteration, outcomes: [{ name: 'protected files', passed: false, detail, durationMs: 0 }] });
  const question = {
    kind: 'storage' as const,
    summary: "Ralph's own copies of the protected files were changed",
    context: detail,
    options: ['I have looked: go on'],
    question: 'Somebody changed files in the folder of this loop. Look at what happened, then go on or stop.',
  };
  post({ type: 'escalate', question, because: 'the protected files cannot be trusted' });
}

export const check: Perform<'check'> = async ({ iteration, task }, place, stop) => {
  const { engine, state, post } = place;
  const directory = directoryOf(place, task);
  const guarded = await engine.guard?.restore(directory);
  if (guarded?.damaged !== undefined) return damaged(place, iteration, guarded.damaged);
  const restored = guarded?.restored ?? [];
  const ran = await runChecks(place, directory, stop);
  if (ran === undefined) return;
  if (!passed(ran)) return post({ type: 'checked', iteration, outcomes: ran, restored });
  const doubts = await doubtsAbout(place, task);
  if (engine.judge === undefined) {
    place.proven.add(iteration);
    return post({ type: 'checked', iteration, outcomes: ran, restored, doubts });
  }
  const spans = await spansOf(place, task);
  const found = findTask(state.tasks, task);
  if (found === undefined) return;
  const verdict = await engine.judge(found, iteration, spans, ran, doubts, stop);
  if (stop.aborted) return;
  place.proven.add(iteration);
  post({ type: 'checked', iteration, outcomes: [...ran, verdict], restored, doubts, judged: verdict.passed });
};

/** One result at a time: what others brought is merged into the fork and proven there before the branch moves. */
export const merge: Perform<'merge'> = async ({ iteration, task }, place, stop) => {
  const { engine, state, post } = place;
  const { workspace } = engine;
  const done = (merged: boolean, detail: string): void => post({ type: 'merged', iteration, merged, detail });
  if (workspace === undefined) return done(true, 'nothing to merge');
  const brought = await workspace.bring(task);
  if (stop.aborted) return;
  if (!brought.ok) return done(false, brought.problem);
  if (brought.landed) return done(true, 'it had been merged before');
  if (brought.changed || !place.proven.has(iteration)) {
    const directory = directoryOf(place, task);
    const guarded = await engine.guard?.restore(directory);
    if (guarded?.damaged !== undefined) return done(false, guarded.damaged);
    const outcomes = await runChecks(place, directory, stop);
    if (outcomes === undefined) return;
    const red = outcomes.find(one => !one.passed);
    if (red !== undefined) {
      const how = brought.changed ? 'together with what others merged meanwhile, ' : '';
      return done(false, `${how}the check "${red.name}" failed:\n${red.detail}`);
    }
  }
  const title = findTask(state.tasks, task)?.title ?? '';
  const landed = await workspace.land({ loop: state.loop, task, title, iteration });
  done(
    landed.ok,
    landed.ok
      ? landed.commit === ''
        ? 'there was nothing to merge'
        : `merged as ${landed.commit.slice(0, 12)}`
      : landed.problem,
  );
};
