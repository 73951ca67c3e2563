// Command context: where a command runs, how it speaks, the loop and the text it means, the ledger when it asks for it.
import { isUtf8 } from 'node:buffer';
import { statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import {
  type Environment,
  hasLedger,
  noLoopYet,
  openHome,
  openLedger,
  resolveRunConfig,
  storeError,
} from '../app/app.ts';
import type { Refusal, Sent } from '../app/loops/commands.ts';
import type { LedgerLoops } from '../app/loops/loops.ts';
import { refuseProblems } from '../app/problems.ts';
import { sessionOf } from '../core/event.ts';
import type { Command } from '../core/input.ts';
import type { Lease, Ledger, LoopRow } from '../ledger/ledger.ts';
import { UsageError } from '../text/errors.ts';
import { jsonText } from './output/json.ts';
import { dayAndTime } from './output/time.ts';
import { folded, shownOn } from './terminal.ts';

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
  /** The door to look at loops and steer them, over that ledger. */
  readonly loops: (needs?: LedgerUse) => Promise<LedgerLoops>;
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

/** A home that cannot hold loops is not one without loops. Not there yet is fine. */
function usableHome(home: string): string {
  const hint = 'Set RALPH_HOME to a folder of yours, or unset it.';
  try {
    if (statSync(home).isDirectory()) return home;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    if (code === 'ENOENT') return home;
    throw new UsageError(`${home} cannot be opened (${code}).`, hint);
  }
  throw new UsageError(`${home} is a file, not a folder.`, hint);
}

/** `isQuiet`: no messages, only data. */
export function makeContext(isQuiet = false): Context {
  const env: Environment = process.env;
  const say = (text: string): void =>
    void (isQuiet || process.stderr.write(`${folded(shownOn(text, process.stderr), process.stderr)}\n`));
  let found: string | undefined;
  let opened: Ledger | undefined;
  let loops: LedgerLoops | undefined;
  const home = (): string => (found ??= openHome(env, say));
  const ledger = async ({ quickCheck = false, write = false, create = false }: LedgerUse = {}): Promise<Ledger> => {
    if (opened === undefined && !create && !hasLedger(usableHome(home()))) throw noLoopYet();
    opened ??= await openLedger({ home: home(), env, warn: say, quickCheck, readOnly: !write, mailToOlder: !create });
    return opened;
  };
  return {
    env,
    directory: workingDirectory(),
    out: text => void process.stdout.write(`${shownOn(text, process.stdout)}\n`),
    print: text => void process.stdout.write(`${folded(shownOn(text, process.stdout), process.stdout)}\n`),
    say,
    home,
    hasLedger: () => hasLedger(usableHome(home())),
    ledger,
    async loops(needs) {
      const door = await import('../app/loops/loops.ts');
      loops ??= new door.LedgerLoops({ ledger: await ledger(needs), home: home(), env, warn: say });
      return loops;
    },
    async close() {
      await opened?.store.close();
    },
    by: userName(env),
  };
}

/** Undefined before the first loop. */
export const ledgerIfAny = async (context: Context): Promise<Ledger | undefined> =>
  context.hasLedger() ? context.ledger() : undefined;

/** Where the task commands look for tasks. */
export const taskPlace = async (context: Context) => ({
  directory: context.directory,
  home: context.home(),
  ledger: await ledgerIfAny(context),
});

/** The answer for programs. */
export function printJson({ out }: Pick<Context, 'out'>, value: object, exitCode = 0): number {
  out(jsonText(value));
  return exitCode;
}

/** A flag that was given a text. */
export const textFlag = (flags: Flags, name: string): string | undefined =>
  typeof flags[name] === 'string' ? flags[name] : undefined;

/** The settings that files, the environment and these flags give. */
export async function configuredRun({ env, directory }: Context, flags: Flags = {}) {
  const resolved = await resolveRunConfig(env, directory, flags);
  return resolved.ok ? resolved : refuseProblems(resolved.problems);
}

export async function loopOf(context: Context, name: string | undefined, write = false) {
  const { directory, env } = context;
  const ledger = await context.ledger({ write });
  const loops = await context.loops({ write });
  const ref = name ?? (await import('../hook/binding.ts')).loopOfSession(context.home(), env);
  const row = await loops.find(ref, { directory, toChange: write });
  if (name === undefined && !loops.isOfFolder(row, directory)) {
    const known = [row.directory, dirname(row.document)].find(path => !path.startsWith(`${context.home()}/`)); // no worktree
    context.say(`note: no loop of this folder; this is the newest of all, in ${known ?? 'a worktree of its own'}`);
  }
  return { ledger, loops, row };
}

/** The loop that is meant, with its state. */
export async function loopStateOf(context: Context, name: string | undefined, write = false) {
  const { ledger, loops, row } = await loopOf(context, name, write);
  return { ledger, loops, ...(await loops.look(row)) };
}

export const senderOf = ({ home, env, by, say }: Context) => ({ home: home(), env, by, warn: say });

export type Delivery = Exclude<Sent['became'], 'refused' | 'failed'>;

const refusals: Readonly<Record<Refusal, string>> = {
  'no-loop': 'is gone',
  ended: 'has ended',
  'no-question': 'does not ask that any more',
  'no-task': 'has no such task',
  'task-over': 'has done or skipped that task already',
  'not-restored': 'was not restored',
};

/** What became of it; a refusal, which the command did not foresee, and a failure are thrown. */
export async function sendCommand(context: Context, row: LoopRow, commands: readonly Command[]): Promise<Delivery> {
  const sent = await (await context.loops({ write: true })).send(row.loop, commands, context.by);
  if (sent.became === 'failed') throw storeError(sent.failure);
  if (sent.became === 'refused')
    throw new UsageError(`Loop ${row.name} ${refusals[sent.why]}.`, `Look at it: ralph status ${row.name}`);
  return sent.became;
}

export const deliveryWords: Readonly<Record<Delivery, string>> = {
  decided: 'recorded',
  taken: 'taken up by the running loop',
  waiting: 'in the mailbox; the running loop has not taken it up yet',
};

// Text that a person gives: as an argument, or from standard input with `-`; checked before it is used (B06, B10).

const bytesMax = 1024 * 1024;
const waitMs = 10_000;

async function standardInput(): Promise<string> {
  if (process.stdin.isTTY)
    throw new UsageError('There is nothing on standard input.', 'Pipe the text in, or give it as an argument.');
  const chunks: Buffer[] = [];
  let size = 0;
  const timer = setTimeout(
    () =>
      process.stdin.destroy(
        new UsageError('Standard input gave no end within 10 s.', 'Close it, or give the text as an argument.'),
      ),
    waitMs,
  );
  try {
    for await (const chunk of process.stdin) {
      size += (chunk as Buffer).length;
      if (size > bytesMax)
        throw new UsageError(
          'The text on standard input is larger than 1 MB.',
          'Put it into a file of the project and name that file.',
        );
      chunks.push(chunk as Buffer);
    }
  } finally {
    clearTimeout(timer);
  }
  const bytes = Buffer.concat(chunks);
  if (!isUtf8(bytes) || bytes.includes(0))
    throw new UsageError('Standard input is not text (UTF-8).', 'Pipe plain text in.');
  return bytes.toString('utf8');
}

export async function givenText({ say }: Context, text: string, what: string): Promise<string> {
  const full = (text === '-' ? await standardInput() : text).trim();
  if (full === '')
    throw new UsageError(`The ${what} is empty.`, `Give the ${what} as words, or - to read it from standard input.`);
  if (text !== '-' && /(^|\s)--max-/.test(full))
    say('note: the text holds something like a flag (--max-...); it is passed on as text and sets nothing.');
  return full;
}

/** Where a loop would be begun. */
export const placeOf = ({ env, directory, home }: Context) => ({ env, directory, home: home() });

/** Says who is at work already. */
export function sayHeld({ say }: Context, { holder, since }: Lease): number {
  const session = sessionOf(holder.id);
  if (session !== undefined) {
    say(`ralph: this loop works in session ${session} on ${holder.host} since ${dayAndTime(since)}.`);
    say('  Go on outside of it: ralph resume LOOP --headless · steer it: ralph tell, pause, stop');
    return 9;
  }
  say(`ralph: process ${holder.pid} on ${holder.host} works on this loop since ${dayAndTime(since)}.`);
  say('  Watch it: ralph status · steer it: ralph tell, pause, stop');
  return 9;
}
