// What every command gets: where it runs, how it speaks, and the ledger when it asks for it.
import { statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, sep } from 'node:path';
import { command, type Environment, hasLedger, openHome, openLedger, stateOf } from '../app/app.ts';
import type { Escalation } from '../core/event.ts';
import type { Command } from '../core/input.ts';
import type { Ledger, LoopRow } from '../ledger/ledger.ts';
import { UsageError } from '../text/errors.ts';
import { folded } from './terminal.ts';

interface LedgerUse {
  readonly quickCheck?: boolean;
  readonly write?: boolean;
  /** Makes it when there is none yet. */
  readonly create?: boolean;
}

/** What was typed after the name of a command: its words by position, and its flags by name. */
export type Words = readonly (string | undefined)[];
export type Flags = Readonly<Record<string, unknown>>;

export interface Context {
  readonly env: Environment;
  readonly directory: string;
  /** Data, for programs and pipes: never broken into other lines. */
  readonly out: (text: string) => void;
  /** The answer in words, on standard output: broken between words where that is a terminal. */
  readonly print: (text: string) => void;
  /** Messages, for people; broken between words like the answer. */
  readonly say: (text: string) => void;
  readonly home: () => string;
  /** False before the first loop: nothing but `run` makes a ledger. */
  readonly hasLedger: () => boolean;
  readonly ledger: (needs?: LedgerUse) => Promise<Ledger>;
  readonly close: () => Promise<void>;
  readonly by: string;
}

function workingDirectory(): string {
  try {
    const path = process.cwd();
    statSync(path);
    return path;
  } catch {
    throw new UsageError('The current folder does not exist any more.', 'Change to a folder that does: cd');
  }
}

function userName(env: Environment): string {
  try {
    return userInfo().username;
  } catch {
    return env['USER'] ?? 'someone';
  }
}

export function makeContext(): Context {
  const env: Environment = process.env;
  const say = (text: string): void => void process.stderr.write(`${folded(text, process.stderr)}\n`);
  let home: string | undefined;
  let opened: Ledger | undefined;
  const homeOnce = (): string => {
    home ??= openHome(env, say);
    return home;
  };
  return {
    env,
    directory: workingDirectory(),
    out: text => void process.stdout.write(`${text}\n`),
    print: text => void process.stdout.write(`${folded(text, process.stdout)}\n`),
    say,
    home: homeOnce,
    hasLedger: () => hasLedger(homeOnce()),
    async ledger({ quickCheck = false, write = false, create = false } = {}) {
      if (opened === undefined && !create && !hasLedger(homeOnce())) throw noLoopYet();
      opened ??= await openLedger({ home: homeOnce(), env, warn: say, quickCheck, readOnly: !write });
      return opened;
    },
    async close() {
      await opened?.store.close();
    },
    by: userName(env),
  };
}

/** Sends a command to a loop and says what became of it. */
export async function sendCommand(
  context: Context,
  row: LoopRow,
  commands: readonly Command[],
): Promise<'decided' | 'taken' | 'waiting'> {
  const ledger = await context.ledger({ write: true });
  const sent = await command(
    { home: context.home(), env: context.env, ledger, loop: row.loop, row, warn: context.say, by: context.by },
    commands,
  );
  if (sent.how === 'decided') return 'decided';
  const until = Date.now() + 5_000;
  while (Date.now() < until) {
    const waiting = await ledger.mailbox.waiting(row.loop);
    if (!waiting.some(mail => mail.id === sent.mail)) return 'taken';
    await new Promise(done => setTimeout(done, 50));
  }
  return 'waiting';
}

export const outcomeWords: Readonly<Record<'decided' | 'taken' | 'waiting', string>> = {
  decided: 'recorded',
  taken: 'taken up by the running loop',
  waiting: 'in the mailbox; the running loop has not taken it up yet',
};

export async function loopOf(
  context: Context,
  name: string | undefined,
  write = false,
): Promise<{ ledger: Ledger; row: LoopRow }> {
  const ledger = await context.ledger({ write });
  return { ledger, row: await findLoop(ledger, name, context.directory, write) };
}

// Which loop a person means by a name, an id, the start of either, or nothing at all.

const noLoopYet = (): UsageError => new UsageError('There is no loop yet.', 'Start one: ralph run PRD.json');

/** How much of the path to this folder belongs to the loop: its place of work, or the folder of its document. */
function nearness(row: LoopRow, directory: string): number {
  const folders = [row.directory, dirname(row.document)];
  const around = folders.filter(folder => directory === folder || directory.startsWith(`${folder}${sep}`));
  return Math.max(0, ...around.map(folder => folder.length));
}

/** Rows are newest first, and the first of the nearest ones is meant. */
function ofThisFolder(rows: readonly LoopRow[], directory: string): LoopRow | undefined {
  const nearest = Math.max(0, ...rows.map(row => nearness(row, directory)));
  return nearest === 0 ? undefined : rows.find(row => nearness(row, directory) === nearest);
}

/**
 * A loop by name, id or the start of either; without one, the newest of this folder. To look at, the newest of all will do
 * where this folder has none; what changes something must be named then.
 */
export async function findLoop(
  ledger: Ledger,
  wanted: string | undefined,
  directory: string,
  changes: boolean,
): Promise<LoopRow> {
  const rows = await ledger.store.loops();
  if (wanted === undefined) {
    const row = ofThisFolder(rows, directory) ?? (changes ? undefined : rows[0]);
    if (row !== undefined) return row;
    if (rows.length === 0) throw noLoopYet();
    throw new UsageError('No loop belongs to this folder.', 'Say which one: ralph loops list');
  }
  const slug = wanted.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const exact = rows.filter(row => row.name === wanted || row.loop === wanted || row.name === slug);
  const matches =
    exact.length > 0 ? exact : rows.filter(row => row.name.startsWith(wanted) || row.loop.startsWith(wanted));
  const [only, second] = matches;
  if (only === undefined)
    throw new UsageError(`No loop is called ${JSON.stringify(wanted)}.`, 'See them all: ralph loops list');
  if (second !== undefined && exact.length === 0) {
    const shown = matches.slice(0, 5).map(row => row.name);
    const names = `${shown.join(', ')}${matches.length > shown.length ? ', …' : ''}`;
    throw new UsageError(`Several loops begin with ${JSON.stringify(wanted)}: ${names}.`, 'Give more of the name.');
  }
  return only;
}

// The open questions over all loops, and how one is named: E1 when that is clear, LOOP/E1 always.

export interface OpenQuestion {
  readonly row: LoopRow;
  readonly escalation: Escalation;
}

export async function openQuestions(ledger: Ledger): Promise<readonly OpenQuestion[]> {
  const found: OpenQuestion[] = [];
  for (const row of await ledger.store.loops({ open: true })) {
    const { state } = await stateOf(ledger, row.loop);
    for (const escalation of state.escalations) found.push({ row, escalation });
  }
  return found;
}
