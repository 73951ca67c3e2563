// The composition root: only it and its parts in src/app know every adapter. What is heavy is loaded when it is needed.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Performer } from '../agents/performer.ts';
import type { Check } from '../checks/check.ts';
import { homeDirectory } from '../config/home.ts';
import type { ResolvedRun, RunConfig } from '../config/resolve.ts';
import type { TaskSource } from '../documents/document.ts';
import type { Engine, RunResult } from '../engine/engine.ts';
import type { Shown } from '../engine/publish.ts';
import { eventsOf, type Replayed, replay } from '../engine/replay.ts';
import type { RunOptions } from '../engine/run.ts';
import type { Ledger, Recorded, StoreFailure } from '../ledger/ledger.ts';
import type { Mode, ViewPlace } from '../modes/mode.ts';
import { usualMode } from '../modes/registry.ts';
import { isAlive, thisHolder, thisHost } from '../processes/identity.ts';
import { descendants, signalTree } from '../processes/tree.ts';
import { makeRedactor, secretValues } from '../secrets/redactor.ts';
import { UsageError } from '../text/errors.ts';
import { version } from '../version.ts';

export type { Engine, RunConfig, RunResult };

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where Ralph keeps everything; refused in one sentence when it cannot be known. */
export function openHome(env: Environment, warn: (sentence: string) => void): string {
  const found = homeDirectory(env);
  if ('problem' in found) throw new UsageError(found.problem);
  if (found.notice !== undefined) warn(found.notice);
  return found.path;
}

export const loopFolder = (home: string, loop: string): string => join(home, 'loops', loop);

const exitCodeOf = (failure: StoreFailure): number =>
  ['newer', 'readonly', 'network', 'gone'].includes(failure.kind) ? 2 : failure.kind === 'disk-full' ? 5 : 1;

export function storeError(failure: StoreFailure): UsageError {
  return new UsageError(failure.detail, failure.hint, exitCodeOf(failure));
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

export const noLoopYet = (): UsageError => new UsageError('There is no loop yet.', 'Start one: ralph run PRD.json');

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
    now: () => Date.now(),
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

export interface EngineNeeds {
  readonly home: string;
  readonly env: Environment;
  readonly ledger: Ledger;
  readonly loop: string;
  readonly source: TaskSource;
  readonly mode: Mode;
  readonly place: { readonly directory: string; readonly document: string };
  readonly warn: (sentence: string) => void;
  readonly by: string;
  readonly performers?: Readonly<Record<string, Performer>>;
  /** Every iteration gets the terminal. */
  readonly interactive?: boolean;
  readonly checks?: readonly Check[];
  /** What depends on the place of work. */
  readonly parts?: Pick<
    Engine,
    'checkpoints' | 'commits' | 'forks' | 'guard' | 'screen' | 'judge' | 'facts' | 'doneFile' | 'archive'
  >;
  readonly notifiers?: Engine['notifiers'];
  readonly ask?: Engine['ask'];
  readonly onEscalation?: Engine['onEscalation'];
  readonly answerMsMax?: number | undefined;
}

export async function buildEngine(needs: EngineNeeds): Promise<Engine> {
  const { home, env, ledger, loop, source, warn, mode, place } = needs;
  const { v7 } = await import('uuid');
  const { publisher } = await import('../engine/publish.ts');
  const { writeRecord } = await import('../engine/checkpoints.ts');
  const { fileSpool } = await import('../ledger/spool.ts');
  const { atTerminal } = await import('../modes/iteration-prompt.ts');
  const { freeReserve, keepReserve } = await import('../ledger/spool.ts');
  const { systemClock } = await import('../engine/clock.ts');
  const clock = systemClock(v7);
  const redact = makeRedactor(secretValues(env));
  const folder = loopFolder(home, loop);
  const holder = thisHolder(clock.id(), version());
  await keepReserve(home).catch(() => {});
  return {
    ledger,
    clock,
    source,
    performers: needs.performers ?? {},
    checks: needs.checks ?? [],
    ...needs.parts,
    records: { write: async (number, text) => void (await writeRecord(folder, number, text)) },
    spool: fileSpool(folder, redact),
    notifiers: needs.notifiers ?? [],
    redact,
    prompt: needs.interactive && mode.conversation === undefined ? atTerminal(mode.prompt) : mode.prompt,
    onEscalation: needs.onEscalation ?? 'exit',
    holder,
    by: needs.by,
    environment: {},
    reap: async ({ pid, startTime, host }) => {
      if (host === thisHost().host && isAlive(pid, startTime))
        signalTree([...descendants(pid), { pid, startTime }], 'SIGKILL');
    },
    publish: publisher({ ledger, clock, holder, loop, folder, warn, mode: shownBy(mode, { ...place, folder }) }),
    freeReserve: () => freeReserve(home),
    interactive: needs.interactive,
    ask: needs.ask,
    answerMsMax: needs.answerMsMax,
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
  mode = usualMode,
): Promise<ResolvedRun> {
  const { resolveRun } = await import('../config/resolve.ts');
  return resolveRun(mode, env, directory, flags);
}

/** The same settings with this agent at the head of the chain. */
export async function withAgent(run: RunConfig, agent: string): Promise<RunConfig> {
  const { settingsOf } = await import('../config/settings.ts');
  const config = { ...run.config, agent };
  const { performers } = settingsOf(run.settings.mode, config);
  return { ...run, config, settings: { ...run.settings, performers } };
}

export async function runEngine(engine: Engine, loop: string, options: RunOptions): Promise<RunResult> {
  const { runLoop } = await import('../engine/run.ts');
  return runLoop(engine, loop, options);
}

export async function freshId(): Promise<string> {
  const { v7 } = await import('uuid');
  return v7();
}

export const freshHolder = async () => thisHolder(await freshId(), version());

/** The name that was asked for, or one made from the project; unique, so that it can be typed instead of an id. */
export async function loopName(
  wanted: string | undefined,
  project: string,
  id: string,
  taken: ReadonlySet<string>,
): Promise<string> {
  const { slugOf } = await import('../config/values.ts');
  const made = slugOf(wanted ?? project);
  const whole = made.ok ? made.value : 'loop';
  // A goal is a sentence, and its loop's name has to be typed.
  const base = wanted === undefined && whole.length > 32 ? whole.slice(0, 32).replace(/-[^-]*$/, '') : whole;
  return taken.has(base) ? `${base.slice(0, 56)}-${id.slice(-6)}` : base;
}

export const ledgerEvents = (ledger: Ledger, loop: string): AsyncGenerator<readonly Recorded[]> =>
  eventsOf(ledger, loop);

export async function iterationFolderOf(home: string, loop: string, iteration: number): Promise<string> {
  const { iterationFolder } = await import('../ledger/spool.ts');
  return iterationFolder(loopFolder(home, loop), iteration);
}
