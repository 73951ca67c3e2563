// Puts a loop into its place: its own worktree if it has one, its checks run there once, its proof protected.
import { ledgerEvents, loopFolder } from '../app.ts';
import { UsageError } from '../../text/errors.ts';
import { makeRedactor, redactDeep } from '../../secrets/redactor.ts';
import { secretValues } from '../../secrets/redact-environment.ts';
import type { State } from '../../core/state.ts';
import type { CheckResult } from '../../checks/check.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { redStart } from '../checks.ts';
import type { Chosen } from './resume-rules.ts';
import { type Basis, buildPlaced, type Placed, setUp } from './placed.ts';
import type { Prepared } from './prepare.ts';
import { hireable } from '../agents/who.ts';

export interface Started extends Placed {
  readonly baseline?: readonly { readonly check: string; readonly passed: boolean }[];
}

/** Who was brought along cannot be made anew for another folder. */
const basisOf = (prepared: Prepared): Basis => {
  const { run, own } = prepared;
  return { ...prepared, run: { ...run, settings: hireable(run.settings, own.performers) } };
};

function withOwn(prepared: Prepared, placed: Placed): Placed {
  const { own, staff, directory } = prepared;
  const brought = own.performers.map(one => [one.name, one] as const);
  const performers = { ...placed.staff.performers, ...Object.fromEntries(brought) };
  return {
    ...placed,
    staff: { performers, facts: { ...staff.facts, ...placed.staff.facts } },
    checks: placed.directory === directory ? placed.checks : [...placed.checks, ...own.checks],
  };
}

/** A loop that exists: where its ledger says. */
export async function placeAgain(
  prepared: Prepared,
  state: State,
  ledger: Ledger,
  say: (line: string) => void,
): Promise<Placed> {
  const { loop } = state;
  const known = { loop, state, lastWorkAt: () => lastWorkAt(ledger, loop) };
  return withOwn(prepared, await buildPlaced(basisOf(prepared), known, say));
}

/** What a person asks of a loop is no work. */
const work = /^(iteration|check|work|merge|checkpoint|signal|usage)\./;

async function lastWorkAt(ledger: Ledger, loop: string): Promise<number> {
  let last = 0;
  for await (const page of ledgerEvents(ledger, loop))
    for (const { event } of page) if (work.test(event.type)) last = Math.max(last, event.at);
  return last;
}

export interface Beginning {
  readonly say: (line: string) => void;
  readonly announce: (line: string) => void;
  readonly stop: AbortSignal;
  /** Whether the ledger knows a loop of this id. */
  readonly isLoop: (id: string) => boolean;
}

export interface Begun {
  readonly placed: Started;
  /** Checks that fail before any work was done; the caller says whether it begins all the same. */
  readonly red: readonly CheckResult[];
}

/** Undefined: it was stopped, and what was made is gone. */
export async function placeFirst(
  prepared: Prepared,
  { loop, name }: Chosen,
  { say, announce, stop, isLoop }: Beginning,
): Promise<Begun | undefined> {
  const redact = makeRedactor(secretValues(prepared.env));
  const order = { loop, name, folder: loopFolder(prepared.home, loop), isLoop };
  let placed: Placed | undefined;
  let ran: readonly CheckResult[] = [];
  try {
    placed = withOwn(prepared, await setUp(basisOf(prepared), order, say, stop));
    const { checks } = placed;
    if (checks.length > 0 && !stop.aborted) {
      announce(`Running the checks once, before any work: ${redact(checks.map(one => one.name).join(' ; '))} ...`);
      ran = await placed.tryOut(directory => redStart(checks, directory, stop));
    }
  } catch (error) {
    await placed?.leave();
    if (stop.aborted) return undefined;
    throw error;
  }
  if (stop.aborted) {
    await placed.leave();
    return undefined;
  }
  if (placed.checks.length === 0) return { placed, red: [] };
  const outcomes = redactDeep(ran, redact);
  const baseline = outcomes.map(({ name: check, passed }) => ({ check, passed }));
  return { placed: { ...placed, baseline }, red: outcomes.filter(one => !one.passed) };
}

export function redRefusal(red: readonly CheckResult[]): UsageError {
  return new UsageError(
    `${red.length === 1 ? 'A check fails' : `${red.length} checks fail`} before any work was done: ${red.map(one => one.name).join(' ; ')}.`,
    'Mend it, or say --allow-red-start when the work is meant to turn it green.',
  );
}
