// Verification of a claim: protected files are put back, the checks run, the work itself is looked at, a judge may still refuse it.

import type { CheckOutcome, Question } from '../core/input.ts';
import { allTasks, type Doubt, findTask, type MergeConflict } from '../core/task.ts';
import type { Span } from '../git/checkpoints.ts';
import type { Conflicts } from '../git/forks.ts';
import { halfWorkOf, look } from './checkpoints.ts';
import { documentAfter } from './document.ts';
import { directoryOf, type EffectContext, noGit, type Perform } from './engine.ts';

type Ran =
  | {
      readonly type: 'ran';
      readonly outcomes: readonly CheckOutcome[];
      /** Protected files that were put back before a check. */
      readonly restored: readonly string[];
    }
  | { readonly type: 'stopped' }
  /** Our own copies of protected files cannot be trusted. */
  | { readonly type: 'damaged'; readonly problem: string };

/**
 * Stops at the first failure: one refused claim needs one reason. Protected files are put back before every check, and
 * looked at once more after the last: what a check runs may be the agent's work, and may rewrite the check under way.
 */
async function runChecks(
  { engine, state }: EffectContext,
  task: string,
  directory: string,
  stop: AbortSignal,
): Promise<Ran> {
  const outcomes: CheckOutcome[] = [];
  const restored: string[] = [];
  const ran = (): Ran => ({ type: 'ran', outcomes, restored });
  const guard = async () => (await engine.guard?.restore(directory)) ?? { restored: [] };
  for (const one of engine.checks) {
    const before = await guard();
    if (before.damaged !== undefined) return { type: 'damaged', problem: before.damaged };
    restored.push(...before.restored);
    const outcome = await one.run(directory, stop, findTask(state.tasks, task));
    if (stop.aborted) return { type: 'stopped' };
    outcomes.push(outcome);
    if (!outcome.passed) return ran();
  }
  const after = await guard();
  if (after.damaged !== undefined) return { type: 'damaged', problem: after.damaged };
  restored.push(...after.restored);
  const last = outcomes.pop();
  if (last === undefined) return ran();
  const detail = `While the checks ran, this was changed: ${after.restored.join(', ')}. They prove nothing then.`;
  outcomes.push(after.restored.length === 0 ? last : { ...last, passed: false, detail });
  return ran();
}

/** What the iterations of the task changed; a fork is compared with where it began. */
async function spansOf({ engine, state }: EffectContext, task: string): Promise<readonly Span[]> {
  const spans = findTask(state.tasks, task)?.spans ?? [];
  if (!state.settings.worktreePerTask) return spans;
  const base = (await engine.forks?.base(task)) ?? '';
  const last = spans.at(-1);
  return base !== '' && last !== undefined ? [{ from: base, to: last.to }] : [];
}

/** What unfinished tasks left in the shared tree weakens the proof of this one too, unless it was put back since. */
async function doubtsLeft({ engine, state }: EffectContext, task: string, now: string): Promise<readonly Doubt[]> {
  if (state.settings.worktreePerTask || engine.screen === undefined) return [];
  const doubts: Doubt[] = [];
  for (const { id, status, spec, aside, ...one } of allTasks(state.tasks)) {
    const spans = one.spans ?? (aside !== undefined && aside.kept.length > 0 ? aside.spans : undefined);
    if (id === task || status === 'done' || spans === undefined || spec.mayChangeTests === true) continue;
    const found = await engine.screen(spans, now, id, state);
    const real = found.filter(one => one.kind !== 'nothing-changed');
    doubts.push(...real.map(one => ({ ...one, detail: `${one.detail} (left by ${id})` })));
  }
  return doubts;
}

/** `now`: what is there after the checks, whoever wrote it. */
async function doubtsAbout(context: EffectContext, task: string, now: string): Promise<readonly Doubt[]> {
  const { engine, state } = context;
  if (!state.settings.tamperScreen || engine.screen === undefined) return [];
  const own = await engine.screen(await spansOf(context, task), now, task, state);
  const left = await doubtsLeft(context, task, now);
  return [...own, ...left.filter(one => !own.some(each => each.fingerprint === one.fingerprint))];
}

const passed = (outcomes: readonly CheckOutcome[]): boolean => outcomes.every(one => one.passed);

/** Ralph's own copies of protected files are damaged: nothing can be proven until a person has looked (F33). */
function damaged({ post }: EffectContext, iteration: number, detail: string): void {
  post({ type: 'checked', iteration, outcomes: [{ name: 'protected files', passed: false, detail, durationMs: 0 }] });
  const question: Question = {
    kind: 'storage',
    summary: "Ralph's own copies of the protected files were changed",
    context: detail,
    options: [{ id: 'go-on', text: 'I have looked: go on' }],
    question: 'Somebody changed files in the folder of this loop. Look at what happened, then go on or stop.',
  };
  post({ type: 'escalate', question, because: 'the protected files cannot be trusted' });
}

/** What only a crashed attempt touched is left out of the work when the checks pass without it as well. */
async function runWithoutHalves(context: EffectContext, task: string, stop: AbortSignal) {
  const { engine, state } = context;
  const directory = directoryOf(engine, state, task);
  const half = engine.checks.length === 0 ? undefined : await halfWorkOf(context, task);
  const ran = await runChecks(context, task, directory, stop);
  if (half === undefined || ran.type !== 'ran' || !passed(ran.outcomes)) return { ran };
  if ((await half.exchange('out')) === undefined) {
    await half.exchange('in');
    return { ran };
  }
  const without = await runChecks(context, task, directory, stop);
  if (without.type === 'ran' && passed(without.outcomes)) return { ran: without, leftOut: half.paths };
  await half.exchange('in');
  return { ran: without.type === 'stopped' ? without : ran };
}

export const check: Perform<'check'> = async ({ iteration, task }, context, stop) => {
  const { engine, state, post } = context;
  const { ran, leftOut } = await runWithoutHalves(context, task, stop);
  if (ran.type === 'stopped') return;
  if (ran.type === 'damaged') return damaged(context, iteration, ran.problem);
  await documentAfter(engine.source, iteration, post); // edited while they ran, it was edited by what they ran
  const { outcomes, restored } = ran;
  const now = state.settings.checkpoints ? ((await engine.checkpoints?.treeNow(task)) ?? '') : '';
  const wrote = now !== '' && now !== state.checkpoints.latest?.tree && !state.settings.worktreePerTask;
  const facts = { type: 'checked' as const, iteration, restored, wrote: wrote || undefined, leftOut };
  if (!passed(outcomes)) return post({ ...facts, outcomes });
  const doubts = await doubtsAbout(context, task, now);
  const spans = await spansOf(context, task);
  const newTests = (outcomes.length > 0 && (await engine.bringsTests?.(spans))) || undefined;
  if (engine.judge === undefined) {
    context.proven.add(iteration);
    return post({ ...facts, outcomes, doubts, newTests });
  }
  const found = findTask(state.tasks, task);
  if (found === undefined) return;
  const verdict = await engine.judge({ task: found, iteration, spans, outcomes, doubts }, stop);
  if (stop.aborted) return;
  context.proven.add(iteration);
  post({ ...facts, outcomes: [...outcomes, verdict], doubts, newTests, judged: verdict.passed });
};

/** Why checks do not let a merge happen. */
function whyNot(ran: Exclude<Ran, { type: 'stopped' }>, isTogether: boolean): string | undefined {
  if (ran.type === 'damaged') return ran.problem;
  const red = ran.outcomes.find(one => !one.passed);
  const how = isTogether ? 'together with what others merged meanwhile, ' : '';
  return red && `${how}the check "${red.name}" failed:\n${red.detail}`;
}

const conflictIn = ({ conflicts = [], others = [] }: Conflicts): MergeConflict | undefined =>
  conflicts.length === 0 ? undefined : { paths: conflicts.slice(0, 20), others };

/** One result at a time: what others did is merged into the fork and proven there before the branch moves. */
export const merge: Perform<'merge'> = async ({ iteration, task }, context, stop) => {
  const { engine, state, post } = context;
  const { forks } = engine;
  const done = (merged: boolean, detail: string, conflict?: MergeConflict): void =>
    post({ type: 'merged', iteration, merged, detail, conflict });
  if (forks === undefined) return done(false, noGit.problem);
  const { displaced } = await look(context);
  if (displaced !== undefined && state.control.stop === undefined) return post({ type: 'displaced', found: displaced });
  const update = await forks.mergeIntoFork(task);
  if (stop.aborted) return;
  if (!update.ok) return done(false, update.problem, conflictIn(update));
  if (update.isMerged) return done(true, 'it had been merged before');
  if (update.changed || !context.proven.has(iteration)) {
    const ran = await runChecks(context, task, directoryOf(engine, state, task), stop);
    if (ran.type === 'stopped') return;
    const why = whyNot(ran, update.changed);
    if (why !== undefined) return done(false, why);
  }
  const title = findTask(state.tasks, task)?.spec.title ?? '';
  const merged = await forks.mergeFork({ loop: state.loop.id, task, title, iteration });
  if (!merged.ok) return done(false, merged.problem, conflictIn(merged));
  done(true, merged.commit === '' ? 'there was nothing to merge' : `merged as ${merged.commit.slice(0, 12)}`);
};
