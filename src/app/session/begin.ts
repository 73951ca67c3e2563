// Puts a loop into its place: its own worktree if it has one, its checks run there once, its proof protected.

import { existsSync, mkdirSync } from 'node:fs';
import type { CheckResult } from '../../checks/check.ts';
import type { State } from '../../core/state.ts';
import type { Lease, Ledger } from '../../ledger/ledger.ts';
import { makeRedactor, redactDeep, secretValues } from '../../secrets/redactor.ts';
import { UsageError } from '../../text/errors.ts';
import { withoutProvided } from '../agents/choose-agents.ts';
import { freshHolder, ledgerEvents, loopFolder } from '../app.ts';
import { redStart } from '../checks.ts';
import { type Ground, makeOwnTree, worktreeOf } from './place.ts';
import { type Basis, buildPlaced, type Placed, setUp } from './placed.ts';
import type { Prepared } from './prepare.ts';
import type { Chosen } from './resume-rules.ts';

export interface Started extends Placed {
  readonly baseline?: readonly { readonly check: string; readonly passed: boolean }[];
}

/** Who was brought along cannot be made anew for another folder. */
const basisOf = (prepared: Prepared): Basis => {
  const { run, provided: own } = prepared;
  return { ...prepared, run: { ...run, settings: withoutProvided(run.settings, own.performers) } };
};

function withProvided(prepared: Prepared, placed: Placed): Placed {
  const { provided: own, performers: staff, directory } = prepared;
  const brought = own.performers.map(one => [one.name, one] as const);
  const performers = { ...placed.performers.byName, ...Object.fromEntries(brought) };
  return {
    ...placed,
    performers: { byName: performers, facts: { ...staff.facts, ...placed.performers.facts } },
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
  return withProvided(prepared, await buildPlaced(basisOf(prepared), known, say));
}

/** What a person asks of a loop is no work. */
const work = /^(iteration|check|proof|work|merge|checkpoint|signal|usage)\./;

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
    placed = withProvided(prepared, await setUp(basisOf(prepared), order, say, stop));
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

// Takes up the worktree of a loop that goes on: laid out again when its folder is gone, refused when its branch is.

interface Order {
  readonly home: string;
  /** Where the command was given: the user's own folder. */
  readonly directory: string;
  readonly needed: readonly string[];
  readonly state: State;
}

/** What a person should know; `isNew` when it has to be made ready again. */
export async function takeUpTree(
  ground: Ground,
  { home, directory, needed, state }: Order,
): Promise<{ readonly notices: readonly string[]; readonly isNew: boolean }> {
  const { loop, name, branch } = state;
  if (branch === undefined) return { notices: [], isNew: false };
  const { repository } = ground;
  const over = 'or start over: the same command with --new';
  if (repository === undefined)
    throw new UsageError(`Loop ${name} works on the branch ${branch} of a repository, and this folder is in none.`);
  const { revision } = await import('../../git/call.ts');
  if ((await revision(repository, `refs/heads/${branch}^{commit}`)) === '')
    throw new UsageError(
      `The branch ${branch} on which loop ${name} works is gone.`,
      `Make it again where its work is (git branch ${branch} COMMIT), ${over}`,
    );
  const path = worktreeOf(home, loop);
  if (existsSync(path)) return { notices: [], isNew: false };
  const gone = `The worktree of loop ${name} was gone`;
  if (!existsSync(`${path}.json`))
    throw new UsageError(`${gone}.`, `Make it again: git worktree add ${path} ${branch}, ${over}`);
  const made = await makeOwnTree(ground, { home, loop, name, directory, needed });
  mkdirSync(state.directory, { recursive: true });
  const kept = state.newest === undefined ? '' : ` What was not committed is in ralph checkpoint list ${name}.`;
  return { notices: [`${gone}: laid out again from its branch ${branch}.${kept}`, ...made.notices], isNew: true };
}

// What only one at a time may do: begin or go on with the loop of a document, and work in a folder.

const renewEveryMs = 15_000;

/** Nobody else does it at the same time. */
export async function withLease<Result>(
  ledger: Ledger,
  key: string,
  refused: (held: Lease) => Result | Promise<Result>,
  work: () => Promise<Result>,
): Promise<Result> {
  const claimed = await ledger.store.lease(key, await freshHolder());
  if (!claimed.ok) return refused(claimed.held);
  const renewing = setInterval(() => void ledger.store.renew(claimed.lease).catch(() => false), renewEveryMs).unref();
  try {
    return await work();
  } finally {
    clearInterval(renewing);
    await ledger.store.release(claimed.lease);
  }
}
