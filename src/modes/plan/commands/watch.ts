// `ralph plan watch`: starts every plan that is moved into Approved/Plans, one after the other, each once.
import { isConfined } from '../../../app/agents/confinement.ts';
import { makeVault } from '../session/vault.ts';
import { isSettled, plansIn } from '../session/files.ts';
import { refreshDashboard } from '../session/loops.ts';
import { resolveRunConfig } from '../../../app/app.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import { vaultPaths } from '../views/paths.ts';
import type { Context, Flags, Words } from '../../../cli/context.ts';
import { watchSignals } from '../../../cli/interrupt.ts';
import { watchArrivals } from './plan-arrivals.ts';
import { type HandleNeeds, handlePlan, sayUnwritten } from './plan-handle.ts';
import { busyCode, typedPlan, vaultHere } from './plan-place.ts';
import { recordApproval } from './plan-start.ts';

const busyMs = 5_000;
const settleMs = 100;
const settleTriesMax = 50;

/** What is there now, and nothing that comes later; the first exit code that is not 0. */
export async function watchOnce(needs: HandleNeeds, stop: AbortSignal): Promise<number> {
  let exitCode = 0;
  for (const path of await plansIn(vaultPaths(needs.root).approved)) {
    if (stop.aborted) break;
    for (let tries = 1; tries < settleTriesMax && !(await isSettled(path, settleMs)); tries += 1);
    const code = await handlePlan(needs, path);
    if (code === busyCode) needs.say(`${path}: another process is at it.`);
    if (exitCode === 0) exitCode = code;
  }
  sayUnwritten(needs.say, await refreshDashboard(needs.ledger, needs.root));
  return exitCode;
}

/** Paths to look at, each at most once, in the order in which they came. */
class Queue {
  private readonly paths = new Set<string>();
  private readonly stop: AbortSignal;
  private wake = (): void => {};

  constructor(stop: AbortSignal) {
    this.stop = stop;
    stop.addEventListener('abort', () => this.wake(), { once: true });
  }

  readonly add = (path: string): void => {
    this.paths.add(path);
    this.wake();
  };

  /** Undefined once it was stopped. */
  async next(): Promise<string | undefined> {
    while (!this.stop.aborted) {
      const [first] = this.paths;
      if (first !== undefined) {
        this.paths.delete(first);
        return first;
      }
      await new Promise<void>(done => {
        this.wake = done;
      });
    }
    return undefined;
  }
}

/** Somebody answered, resumed or approved in another process: the loop of a plan that waits has new events. */
function watchLedger(ledger: Ledger, seen: ReadonlyMap<string, number>, changed: (path: string) => void): () => void {
  return ledger.mailbox.watch(() => {
    void seqsOf(ledger, [...seen.keys()])
      .then(now => {
        for (const [path, seq] of now) if (seen.has(path) && seen.get(path) !== seq) changed(path);
      })
      .catch(() => {}); // the next handling of a plan says what is wrong with the ledger
  });
}

async function seqsOf(ledger: Ledger, paths: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  for (const path of paths) found.set(path, (await ledger.store.loops({ document: path }))[0]?.seq ?? 0);
  return found;
}

/** Until it is stopped. `ready` is called when every plan that was there at the start is in the queue. */
export async function watchPlans(needs: HandleNeeds, stop: AbortSignal, ready: () => void = () => {}): Promise<void> {
  const { ledger, root, say } = needs;
  const queue = new Queue(stop);
  const seen = new Map<string, number>();
  const retries = new Map<string, NodeJS.Timeout>();
  const unwatch = watchLedger(ledger, seen, queue.add);
  const arrivals = await watchArrivals(vaultPaths(root).approved, queue.add, error =>
    say(`The folder cannot be watched: ${String(error)}`),
  );
  try {
    ready();
    for (let path = await queue.next(); path !== undefined; path = await queue.next()) {
      const handled = path;
      const code = await handlePlan(needs, handled);
      clearTimeout(retries.get(handled));
      if (code === busyCode)
        retries.set(
          handled,
          setTimeout(() => queue.add(handled), busyMs),
        );
      for (const [each, seq] of await seqsOf(ledger, [handled])) seen.set(each, seq);
    }
  } finally {
    for (const retry of retries.values()) clearTimeout(retry);
    unwatch();
    await arrivals.close();
  }
}

export async function execute(context: Context, _words: Words, flags: Flags): Promise<number> {
  const { runPlanDocument } = await import('../../../cli/commands/run.ts');
  const ledger = await context.ledger({ write: true, create: true, quickCheck: true });
  await makeVault(vaultHere(context, flags));
  const root = vaultHere(context, flags); // its real path, now that it is there
  const unattended = { ...flags, yes: true, input: false, acceptTicked: true }; // `handlePlan` refuses them
  const needs: HandleNeeds = {
    ledger,
    root,
    say: context.say,
    run: path => runPlanDocument(context, path, unattended),
    record: (path, approval) => recordApproval(context, path, approval, unattended),
    name: (path, id) => typedPlan(context, { path, root }, id),
    areConfined: async () => {
      const resolved = await resolveRunConfig(context.env, context.directory, flags, 'plan');
      return resolved.ok && isConfined(resolved.run.config.sandbox);
    },
  };
  const stop = watchSignals(() => {}); // a loop at work says so itself
  try {
    sayUnwritten(needs.say, await refreshDashboard(ledger, root));
    const { approved } = vaultPaths(root);
    const ready = (): void =>
      context.say(`Watching ${approved}: a plan that is moved there is approved and starts. Ctrl-C ends.`);
    const exitCode = flags['once'] === true ? await watchOnce(needs, stop.signal) : undefined;
    if (exitCode === undefined) await watchPlans(needs, stop.signal, ready);
    if (stop.exitCode() !== undefined)
      context.say('Stopped watching: no other plan is started. What was recorded is kept; the same command goes on.');
    return stop.exitCode() ?? exitCode ?? 0;
  } finally {
    stop.close();
  }
}
