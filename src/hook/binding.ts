// Bindings of sessions to loops: one small file each below RALPH_HOME, so that a hook without a loop loads nothing else.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fieldsOf, isFields } from '../text/fields.ts';
import type { MessageUsage, Since } from './transcript.ts';

/** What of a loop in a session is no fact of the loop, or must be known before the ledger is opened. */
export interface Binding {
  readonly version: 1;
  readonly loop: string;
  readonly name: string;
  /** Empty: that of the first turn which ends in its folder. */
  readonly session: string;
  /** By which its lease knows it: the session, or a name of its own where that was not known at the start. */
  readonly holder: string;
  readonly directory: string;
  readonly startedAt: number;
  /** It may go on headless by itself, when the host lets the session go on no more. */
  readonly headlessOk: boolean;
  /** Turns that were kept from ending since a tool was used. */
  readonly blocks: number;
  /** Of the last prompt that was seen; empty before the first turn. */
  readonly prompt: string;
  readonly transcript: string;
  /** As far as the transcript was counted; -1: not looked at yet. */
  readonly offset: number;
  /** The last message that was counted. */
  readonly counted: string;
  /** What its user was told last, so that it is not said after every turn. */
  readonly told: string;
  /** It was written there: when it is gone, its user has cancelled the loop. */
  readonly hasStateFile: boolean;
}

export type FoundBinding =
  | { readonly type: 'found'; readonly binding: Binding; readonly path: string }
  | { readonly type: 'none' }
  | { readonly type: 'broken'; readonly problem: string };

/** As it is before the first turn. */
export const newBinding = (
  known: Pick<
    Binding,
    'loop' | 'name' | 'session' | 'holder' | 'directory' | 'startedAt' | 'headlessOk' | 'hasStateFile'
  >,
): Binding => ({
  version: 1,
  blocks: 0,
  prompt: '',
  transcript: '',
  offset: -1,
  counted: '',
  told: '',
  ...known,
});

const folderOf = (home: string): string => join(home, 'sessions');

const hashed = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

const first = 'first-';

/** As it is where it can be the name of a file on any system: hashing loads a library. */
const nameOf = (session: string): string => (/^[a-z0-9][a-z0-9-]{15,63}$/.test(session) ? session : hashed(session));

const fileOf = (home: string, { session, directory }: Pick<Binding, 'session' | 'directory'>): string =>
  join(folderOf(home), session === '' ? `${first}${hashed(directory)}.json` : `of-${nameOf(session)}.json`);

export function writeBinding(home: string, binding: Binding): void {
  mkdirSync(folderOf(home), { recursive: true, mode: 0o700 });
  const path = fileOf(home, binding);
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, `${JSON.stringify(binding)}\n`, { mode: 0o600 });
  renameSync(draft, path);
}

export function dropBinding(home: string, binding: Binding): void {
  rmSync(fileOf(home, binding), { force: true });
  rmSync(restOf(home, binding.session), { force: true });
}

function readAt(path: string): FoundBinding {
  if (!existsSync(path)) return { type: 'none' };
  const broken: FoundBinding = { type: 'broken', problem: `${path} cannot be read` };
  try {
    const value = fieldsOf(JSON.parse(readFileSync(path, 'utf8')));
    const isWhole =
      value['version'] === 1 && typeof value['loop'] === 'string' && typeof value['directory'] === 'string';
    return isWhole && isFields(value) ? { type: 'found', binding: value as unknown as Binding, path } : broken;
  } catch {
    return broken;
  }
}

/** Of this session; else the one that waits for the first session in one of these folders, which it is from now on. */
export function findBinding(home: string, session: string, folders: readonly string[]): FoundBinding {
  const own = readAt(fileOf(home, { session, directory: '' }));
  if (own.type !== 'none' || !namesIn(home).some(name => name.startsWith(first))) return own;
  for (const directory of folders) {
    const path = fileOf(home, { session: '', directory });
    const waiting = readAt(path);
    if (waiting.type !== 'found') continue;
    const binding = { ...waiting.binding, session };
    const taken = `${path}.${process.pid}`;
    try {
      renameSync(path, taken); // one of several sessions gets it
    } catch {
      continue;
    }
    writeBinding(home, binding);
    rmSync(taken, { force: true });
    return { type: 'found', binding, path: fileOf(home, binding) };
  }
  return { type: 'none' };
}

// What a hook had no time to count is counted beside it, and taken up by the next one.

type Rest = Pick<Since, 'offset' | 'usage' | 'tools'>;

const restOf = (home: string, session: string): string => join(folderOf(home), `${hashed(session)}.rest`);

export function writeRest(home: string, { session }: Binding, { offset, usage, tools }: Rest): void {
  const totals = new Map<string, MessageUsage>();
  for (const one of usage) {
    const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = totals.get(one.model) ?? {};
    const sum = { input: input + one.input, output: output + one.output };
    const cache = { cacheRead: cacheRead + one.cacheRead, cacheWrite: cacheWrite + one.cacheWrite };
    totals.set(one.model, { ...one, ...sum, ...cache });
  }
  const path = restOf(home, session);
  writeFileSync(`${path}.new`, JSON.stringify({ offset, tools, usage: [...totals.values()] }), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** Once: undefined where there is none, or none that is news. */
export function takeRest(home: string, { session, offset }: Binding): Rest | undefined {
  const path = restOf(home, session);
  try {
    const rest = JSON.parse(readFileSync(path, 'utf8')) as Rest;
    rmSync(path, { force: true });
    return rest.offset > offset ? rest : undefined;
  } catch {
    return undefined;
  }
}

const namesIn = (home: string): readonly string[] => (existsSync(folderOf(home)) ? readdirSync(folderOf(home)) : []);

export function allBindings(home: string): readonly Binding[] {
  return namesIn(home)
    .filter(name => name.endsWith('.json'))
    .map(name => readAt(join(folderOf(home), name)))
    .flatMap(found => (found.type === 'found' ? [found.binding] : []));
}

/** The loop of the session in which this is typed: each agent tells its shell the id, in a variable of its own name. */
export function loopOfSession(home: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const told = new Set(Object.values(env));
  return allBindings(home).find(({ session }) => session !== '' && told.has(session))?.loop;
}

// What a hook had to say when nobody listened: `ralph hook status` shows it.

const logName = 'hook.log';
const logCharsMax = 64_000;

/** Never in the way: a hook that cannot say why it gave up still gives up. */
export function noteTrouble(home: string, session: string, problem: string): void {
  try {
    mkdirSync(folderOf(home), { recursive: true, mode: 0o700 });
    const path = join(folderOf(home), logName);
    const before = existsSync(path) ? readFileSync(path, 'utf8').slice(-logCharsMax) : '';
    const line = JSON.stringify({ at: new Date().toISOString(), session, problem });
    writeFileSync(path, `${before}${line}\n`, { mode: 0o600 });
  } catch {
    // A full disk, a home that cannot be written.
  }
}

export interface Trouble {
  readonly at: string;
  readonly session: string;
  readonly problem: string;
}

export function troubles(home: string, most: number): readonly Trouble[] {
  const path = join(folderOf(home), logName);
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').trim().split('\n').slice(-most);
  return lines.flatMap(line => {
    try {
      return [JSON.parse(line) as Trouble];
    } catch {
      return [];
    }
  });
}
