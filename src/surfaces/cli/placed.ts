// Puts a loop into its place: its own worktree if it has one, its checks run there once, its proof protected.
import { redStart } from '../../app/checks.ts';
import { buildPlaced, type Placed, setUp } from '../../app/placed.ts';
import { ledgerEvents, loopFolder } from '../../app.ts';
import { UsageError } from '../../core/errors.ts';
import { makeRedactor, redactDeep } from '../../core/redact.ts';
import { secretValues } from '../../core/redact-environment.ts';
import type { State } from '../../core/state.ts';
import type { CheckResult } from '../../ports/check.ts';
import type { Ledger } from '../../ports/store.ts';
import type { Chosen } from './choose.ts';
import { confirm } from './confirm.ts';
import { watchSignals } from './interrupt.ts';
import type { Prepared } from './prepare.ts';
import { plain } from './style.ts';

export interface Started extends Placed {
  readonly baseline?: readonly { readonly check: string; readonly passed: boolean }[];
}

/** A loop that exists: where its ledger says. */
export async function placeAgain(
  prepared: Prepared,
  state: State,
  ledger: Ledger,
  say: (line: string) => void,
): Promise<Placed> {
  const { loop } = state;
  return buildPlaced(prepared, { loop, state, lastWorkAt: () => lastWorkAt(ledger, loop) }, say);
}

/** What a person asks of a loop is no work. */
const work = /^(iteration|check|work|merge|checkpoint|signal|usage)\./;

async function lastWorkAt(ledger: Ledger, loop: string): Promise<number> {
  let last = 0;
  for await (const page of ledgerEvents(ledger, loop))
    for (const { event } of page) if (work.test(event.type)) last = Math.max(last, event.at);
  return last;
}

/** What a check prints may hold anything. */
function redWords({ name, detail }: CheckResult): string {
  const last = plain(detail).trim().split('\n').slice(-6);
  return [`red at the start: ${name}`, ...last.map(line => `    ${line}`)].join('\n');
}

/** Undefined: the person at the terminal does not want to begin. */
export async function placeNew(
  prepared: Prepared,
  { loop, name }: Chosen,
  say: (line: string) => void,
  interactive: boolean,
  isLoop: (id: string) => boolean = () => true,
  announce: (line: string) => void = () => {},
): Promise<Started | undefined> {
  const redact = makeRedactor(secretValues(prepared.env));
  const interrupt = watchSignals(() => {});
  const stopped = (): UsageError | undefined =>
    interrupt.signal.aborted
      ? new UsageError('Stopped before any work: no loop was begun.', '', interrupt.exitCode())
      : undefined;
  const order = { loop, name, folder: loopFolder(prepared.home, loop), isLoop };
  let placed: Placed | undefined;
  let ran: readonly CheckResult[] = [];
  try {
    placed = await setUp(prepared, order, say, interrupt.signal);
    const { checks } = placed;
    if (checks.length > 0 && !interrupt.signal.aborted) {
      announce(`Running the checks once, before any work: ${redact(checks.map(one => one.name).join(' ; '))} ...`);
      ran = await placed.tryOut(directory => redStart(checks, directory, interrupt.signal));
    }
    const stop = stopped();
    if (stop !== undefined) throw stop;
  } catch (error) {
    await placed?.leave();
    throw stopped() ?? error;
  } finally {
    interrupt.close();
  }
  if (placed.checks.length === 0) return placed;
  const outcomes = redactDeep(ran, redact);
  const baseline = outcomes.map(({ name: check, passed }) => ({ check, passed }));
  const red = outcomes.filter(one => !one.passed);
  for (const one of red) say(redWords(one));
  if (red.length === 0 || prepared.run.config.allowRedStart) return { ...placed, baseline };
  if (
    interactive &&
    (await confirm('Nothing was done yet, and this fails. Press Enter to begin all the same, Ctrl-C to leave '))
  ) {
    return { ...placed, baseline };
  }
  await placed.leave();
  if (interactive) return undefined;
  throw new UsageError(
    `${red.length === 1 ? 'A check fails' : `${red.length} checks fail`} before any work was done: ${red.map(one => one.name).join(' ; ')}.`,
    'Mend it, or say --allow-red-start when the work is meant to turn it green.',
  );
}
