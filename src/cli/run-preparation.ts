// Preparation of a run at the terminal: the loop that is meant, its workspace, and what a person must decide first.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loopFolder, openLedger } from '../app/app.ts';
import { newestLoop } from '../app/loops.ts';
import { placeFirst, redRefusal } from '../app/session/begin.ts';
import type { Placed } from '../app/session/placed.ts';
import { type Prepared, prepareLoop, type Remembered } from '../app/session/prepare.ts';
import {
  type Chosen,
  closedIn,
  type Earlier,
  earlierLoop,
  goalOverWords,
  hasWork,
  missingTasksWords,
  newLoop,
} from '../app/session/resume-rules.ts';
import type { CheckResult } from '../checks/check.ts';
import type { State } from '../core/state.ts';
import type { Lease, Ledger } from '../ledger/ledger.ts';
import { UsageError } from '../text/errors.ts';
import { endedByLimit, endingOf, reopenLine } from '../views/ending.ts';
import type { Context, Flags } from './context.ts';
import { watchSignals } from './interrupt.ts';
import { confirm, plain } from './terminal.ts';

/** What a check prints may hold anything. */
function redWords({ name, detail }: CheckResult): string {
  const last = plain(detail).trim().split('\n').slice(-6);
  return [`red at the start: ${name}`, ...last.map(line => `    ${line}`)].join('\n');
}

interface Start {
  readonly say: (line: string) => void;
  /** What is only of interest while one watches. */
  readonly announce?: (line: string) => void;
  /** Somebody can be asked. */
  readonly interactive: boolean;
  readonly isLoop?: (id: string) => boolean;
}

/** Undefined: the person at the terminal does not want to begin. */
export async function placeNew(prepared: Prepared, chosen: Chosen, start: Start): Promise<Placed | undefined> {
  const { say, announce = () => {}, interactive, isLoop = () => true } = start;
  const interrupt = watchSignals(() => {});
  const beginning = { say, announce, stop: interrupt.signal, isLoop };
  const begun = await placeFirst(prepared, chosen, beginning).finally(() => interrupt.close());
  if (begun === undefined)
    throw new UsageError('Stopped before any work: no loop was begun.', '', interrupt.exitCode());
  const { placed, red } = begun;
  for (const one of red) say(redWords(one));
  if (red.length === 0 || prepared.run.config.allowRedStart) return placed;
  const question = 'Nothing was done yet, and this fails. Press Enter to begin all the same, Ctrl-C to leave ';
  if (interactive && (await confirm(question))) return placed;
  await placed.leave();
  if (interactive) return undefined;
  throw redRefusal(red);
}

/** One command that runs a loop at this terminal. */
export interface TerminalRun {
  readonly context: Context;
  readonly ledger: Ledger;
  readonly flags: Flags;
  /** Somebody can be asked. */
  readonly interactive: boolean;
}

/** An exit code: a person must first say what to do with a loop that ended with work left. */
export async function chooseLoop(
  { context, ledger, flags, interactive }: TerminalRun,
  prepared: Prepared,
): Promise<Chosen | { readonly exitCode: number }> {
  const earlier = flags['new'] === true ? undefined : await earlierLoop(ledger, prepared);
  if (earlier?.type === 'open') return earlier.chosen;
  if (earlier !== undefined) {
    const exitCode = sayOver(context, earlier);
    const mayAsk = earlier.type === 'ended' && interactive && flags['yes'] !== true; // new counters must be said (ADR 4)
    if (!mayAsk || !(await confirm('Press Enter to start over with new counters, Ctrl-C to leave ')))
      return { exitCode };
  }
  return newLoop(ledger, prepared);
}

/** That the loop of this document is over, and the exit code for it. */
function sayOver(context: Context, earlier: Exclude<Earlier, { type: 'open' }>): number {
  const { state } = earlier;
  if (earlier.type === 'over') {
    context.say(goalOverWords(state));
    return 0;
  }
  const what = state.settings.mode === 'goal' ? 'goal' : 'file';
  context.say(`ralph: the last loop of this ${what} ended with work left. ${endingOf(state).sentence}`);
  if (earlier.gone.length > 0) context.say(`  ${missingTasksWords(earlier.gone, state)}`);
  const line = reopenLine(state);
  if (line !== undefined) context.say(`  Go on, counters kept: ${line}   # then the same command`);
  context.say('  Start over with new counters: the same command with --new');
  return endedByLimit(state) ? 3 : 6;
}

/** Says so. */
export function hasNothingLeft(context: Context, given: Pick<Prepared, 'mode' | 'path' | 'document'>): boolean {
  if (hasWork(given)) return false;
  const isSkipped = given.document.tasks.every(task => !task.done);
  const why =
    given.mode === 'prompt'
      ? `${given.path} is ${isSkipped ? 'marked as left out' : 'complete'}; to run it again, take the mark of that out of it`
      : `every task of ${given.path} is done or skipped.`;
  context.say(`Nothing to do: ${why}`);
  return true;
}

// The previous loop of a document: what it has read and settled, looked up before anything is written.

async function lastGoodCopy(context: Context, document: string): Promise<string | undefined> {
  if (!context.hasLedger()) return undefined;
  const ledger = await context.ledger();
  const [row] = await ledger.store.loops({ document, open: true });
  const copy = row === undefined ? undefined : join(loopFolder(context.home(), row.loop), 'document');
  return copy !== undefined && existsSync(copy) ? copy : undefined;
}

/** Undefined when there is none, or when it cannot be read: whoever opens the ledger to write says why. */
async function newestBefore(context: Context, document: string): Promise<State | undefined> {
  if (!context.hasLedger()) return undefined;
  const open = () => openLedger({ home: context.home(), env: context.env, warn: () => {}, readOnly: true });
  const ledger = await open().catch(() => undefined);
  try {
    return (await newestLoop(ledger, document))?.state;
  } catch {
    return undefined;
  } finally {
    await ledger?.store.close();
  }
}

export function previousLoop(context: Context, isNew: boolean): Remembered {
  return {
    lastGood: path => lastGoodCopy(context, path),
    settings: async path => {
      const state = isNew ? undefined : await newestBefore(context, path);
      return state?.ended === undefined ? state?.settings : undefined;
    },
    closed: async path => closedIn(await newestBefore(context, path)),
  };
}

const noAgentCode = 7;

/** Where nothing is to be done, no agent is needed: the exit code of such a run; else the complaint goes on. */
export async function withoutAgent(
  context: Context,
  file: string | undefined,
  flags: Flags,
  error: unknown,
): Promise<number> {
  if (!(error instanceof UsageError) || error.exitCode !== noAgentCode || flags['dryRun'] === true) throw error;
  const place = { env: context.env, directory: context.directory, home: context.home() };
  const remembered = previousLoop(context, flags['new'] === true);
  const given = await prepareLoop(place, { file, flags, remembered, isOnlyRecorded: true });
  const isSought = context.hasLedger() && flags['new'] !== true && given.mode !== 'plan';
  const earlier = isSought ? await earlierLoop(await context.ledger(), given) : undefined;
  if (earlier !== undefined && earlier.type !== 'open') return sayOver(context, earlier);
  if (earlier === undefined && hasNothingLeft(context, given)) return 0;
  throw error;
}

/** Says who is at work already. */
export function sayHeld(context: Context, { holder, since }: Lease): number {
  context.say(
    `ralph: this loop is held by process ${holder.pid} on ${holder.host} since ${new Date(since).toISOString()}.`,
  );
  context.say('  Watch it: ralph status · steer it: ralph tell, pause, stop');
  return 9;
}

/** In one folder each loop would take the other's work for a person's. */
export async function sayFolderHeld(context: Context, ledger: Ledger, { holder }: Lease): Promise<number> {
  let name: string | undefined;
  for (const row of await ledger.store.loops({ open: true }))
    if ((await ledger.store.holder(row.loop))?.lease.holder.pid === holder.pid) name ??= row.name;
  const who = name === undefined ? 'Another loop' : `Loop ${name}`;
  context.say(`ralph: ${who} is at work in this folder (process ${holder.pid}), and one at a time can be.`);
  context.say(
    `  Wait for it, end it${name === undefined ? '' : ` (ralph stop ${name})`}, or say --worktree for this one.`,
  );
  return 9;
}
