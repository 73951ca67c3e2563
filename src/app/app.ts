// The composition root: only it and its parts in src/app know every adapter. What is heavy is loaded when it is needed.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Values } from '../config/fields.ts';
import { homeDirectory } from '../config/home.ts';
import type { ResolvedConfig } from '../config/resolve.ts';
import type { ModeName } from '../core/settings.ts';
import type { Engine } from '../engine/engine.ts';
import type { Shown } from '../engine/publish.ts';
import { eventsOf, type Replayed, replay } from '../engine/replay.ts';
import type { Ledger, Recorded, StoreFailure } from '../ledger/ledger.ts';
import type { Mode, ViewPlace } from '../modes/mode.ts';
import { usualMode } from '../modes/registry.ts';
import { rememberProbes } from '../processes/contain.ts';
import { isAlive, thisHolder, thisHost } from '../processes/identity.ts';
import { descendants, signalTree } from '../processes/tree.ts';
import { makeRedactor, secretValues } from '../secrets/redactor.ts';
import { UsageError } from '../text/errors.ts';
import { version } from '../version.ts';

export type { Engine };

export type Environment = Readonly<Record<string, string | undefined>>;

/** In the home, where agents that are confined cannot see it. */
export const probesFile = 'probes.json';

/** Where Ralph keeps everything; refused in one sentence when it cannot be known. */
export function openHome(env: Environment, warn: (sentence: string) => void): string {
  const found = homeDirectory(env);
  if ('problem' in found) throw new UsageError(found.problem);
  if (found.notice !== undefined) warn(found.notice);
  rememberProbes(join(found.path, probesFile));
  return found.path;
}

export const loopFolder = (home: string, loop: string): string => join(home, 'loops', loop);

const exitCodeOf = (failure: StoreFailure): number =>
  ['newer', 'readonly', 'network', 'gone'].includes(failure.kind) ? 2 : failure.kind === 'disk-full' ? 5 : 1;

export function storeError(failure: StoreFailure): UsageError {
  return new UsageError(failure.detail, failure.hint, exitCodeOf(failure), `ledger-${failure.kind}`);
}

export interface LedgerNeeds {
  readonly home: string;
  readonly env: Environment;
  readonly warn: (sentence: string) => void;
  readonly readOnly?: boolean;
  readonly quickCheck?: boolean;
  /** For commands to a loop: it may run on an older version. */
  readonly mailToOlder?: boolean;
}

export const noLoopYet = (): UsageError =>
  new UsageError('There is no loop yet.', 'Start one: ralph run PRD.json', 2, 'no-loop');

const ledgerPath = (home: string): string => join(home, 'ralph.db');

/** A log without its database counts: there was a ledger, and opening it says what happened to it. */
export const hasLedger = (home: string): boolean =>
  [ledgerPath(home), `${ledgerPath(home)}-wal`].some(path => existsSync(path));

export async function openLedger(needs: LedgerNeeds): Promise<Ledger> {
  const { openSqliteLedger } = await import('../ledger/sqlite.ts');
  const { readOnly, quickCheck, mailToOlder, home, env, warn } = needs;
  const opened = await openSqliteLedger({
    path: ledgerPath(home),
    version: version(),
    boot: thisHost().boot,
    isAlive: holder => isAlive(holder.pid, holder.startTime),
    now: Date.now,
    warn,
    allowNetwork: env['RALPH_ALLOW_NETWORK_HOME'] === '1',
    mailToOlder,
    readOnly,
    quickCheck,
  });
  if (!opened.ok) throw storeError(opened.failure);
  return opened.ledger;
}

export async function stateOf(ledger: Ledger, loop: string): Promise<Replayed> {
  return replay(ledger, loop);
}

/** Where an engine works, and what speaks for it. */
export interface EnginePlace {
  readonly home: string;
  readonly env: Environment;
  readonly loop: string;
  readonly directory: string;
  readonly path: string;
  readonly mode: Mode;
  readonly warn: (sentence: string) => void;
}

/** What is left out of `parts` is filled in: nobody works, nothing is checked, nobody is told. */
export async function buildEngine(
  { home, env, loop, directory, path, mode, warn }: EnginePlace,
  parts: Pick<Engine, 'ledger' | 'source' | 'by'> & Partial<Engine>,
): Promise<Engine> {
  const { v7 } = await import('uuid');
  const { publisher } = await import('../engine/publish.ts');
  const { writeRecord } = await import('../engine/checkpoints.ts');
  const { fileSpool, freeReserve, keepReserve } = await import('../ledger/spool.ts');
  const { atTerminal, withNotes } = await import('../modes/iteration-prompt.ts');
  const { systemClock } = await import('../engine/clock.ts');
  const clock = systemClock(v7);
  const redact = makeRedactor(secretValues(env));
  const folder = loopFolder(home, loop);
  const holder = thisHolder(clock.id(), version());
  const shown = shownBy(mode, { directory, document: path, folder });
  await keepReserve(home).catch(() => {});
  return {
    performers: {},
    checks: [],
    notifiers: [],
    onEscalation: 'exit',
    environment: {},
    ...parts,
    clock,
    redact,
    holder,
    records: { write: async (number, text) => void (await writeRecord(folder, number, text)) },
    spool: fileSpool(folder, redact),
    prompt: withNotes(parts.interactive && mode.conversation === undefined ? atTerminal(mode.prompt) : mode.prompt),
    reap: async ({ pid, startTime, host }) => {
      if (host === thisHost().host && isAlive(pid, startTime))
        signalTree([...descendants(pid), { pid, startTime }], 'SIGKILL');
    },
    publish: publisher({ ledger: parts.ledger, clock, holder, loop, folder, warn, mode: shown }),
    freeReserve: () => freeReserve(home),
  };
}

export function shownBy({ view, viewRoot }: Mode, place: ViewPlace): Shown | undefined {
  const around = viewRoot?.(place) ?? dirname(place.document);
  return view && { view: view(place), roots: [place.directory, around] };
}

/** Ends everything that this process started, at once: for the second Ctrl-C. */
export function endOwnTree(): void {
  signalTree(descendants(process.pid), 'SIGKILL');
}

export async function resolveRunConfig(
  env: Environment,
  directory: string,
  flags: Readonly<Record<string, unknown>>,
  { mode = usualMode, kept = {} }: { readonly mode?: ModeName; readonly kept?: Values } = {},
): Promise<ResolvedConfig> {
  const { resolveConfig } = await import('../config/resolve.ts');
  return resolveConfig({ mode, env, directory, flags, kept });
}

export async function freshId(): Promise<string> {
  const { v7 } = await import('uuid');
  return v7();
}

export const freshHolder = async () => thisHolder(await freshId(), version());

/** A loop that begins: an id, and the name that was asked for or one made from the project; unique, so that it can be typed instead of the id. */
export async function newLoop(ledger: Ledger, wanted: string | undefined, project: string) {
  const { slugOf } = await import('../config/values.ts');
  const taken = new Set((await ledger.store.loops()).map(row => row.name));
  const id = await freshId();
  const made = slugOf(wanted ?? project);
  const whole = made.ok ? made.value : 'loop';
  // A goal is a sentence, and its loop's name has to be typed.
  const base = wanted === undefined && whole.length > 32 ? whole.slice(0, 32).replace(/-[^-]*$/, '') : whole;
  return { id, name: taken.has(base) ? `${base.slice(0, 56)}-${id.slice(-6)}` : base };
}

export const ledgerEvents = (ledger: Ledger, loop: string): AsyncGenerator<readonly Recorded[]> =>
  eventsOf(ledger, loop);

export async function iterationFolderOf(home: string, loop: string, iteration: number): Promise<string> {
  const { iterationFolder } = await import('../ledger/spool.ts');
  return iterationFolder(loopFolder(home, loop), iteration);
}
