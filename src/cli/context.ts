// What every command gets: where it runs, how it speaks, and the ledger when it asks for it.
import { statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { command, type Environment, hasLedger, openHome, openLedger } from '../app/app.ts';
import { UsageError } from '../text/errors.ts';
import type { Command } from '../core/input.ts';
import type { Ledger, LoopRow } from '../ledger/ledger.ts';
import { findLoop, noLoopYet } from './find-loop.ts';
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
