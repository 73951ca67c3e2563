// Trusted settings: the user's own folder of them, which decides how agents are confined and what they may spend; who changed it while one worked must be a person (F89).
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { userConfigDirectory } from '../../config/home.ts';
import { UsageError } from '../../text/errors.ts';
import type { Environment } from '../app.ts';

/** Every file in the folder, with the hash of what it holds. */
type Files = Readonly<Record<string, string>>;

export interface ChangedSettings {
  readonly folder: string;
  /** Each with what it holds now; undefined when it is gone. */
  readonly files: readonly { readonly name: string; readonly text: string | undefined }[];
}

const fileBytesMax = 1_000_000;
/** A record for each session that is at work, or was killed: what was there when its agents began. */
const recordsIn = (home: string): string => join(home, 'settings-seen');

function folderOf(env: Environment): string | undefined {
  const found = userConfigDirectory(env);
  return 'path' in found ? found.path : undefined;
}

function read(path: string): string | undefined {
  try {
    const stats = statSync(path);
    return stats.isFile() && stats.size <= fileBytesMax ? readFileSync(path, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}

function filesIn(folder: string | undefined): Files {
  if (folder === undefined) return {};
  let names: readonly string[] = [];
  try {
    names = readdirSync(folder).sort();
  } catch {
    // Nobody has any.
  }
  const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
  return Object.fromEntries(
    names.flatMap(name => {
      const text = read(join(folder, name));
      return text === undefined ? [] : [[name, hash(text)]];
    }),
  );
}

const differing = (before: Files, now: Files): readonly string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(now)])].filter(name => before[name] !== now[name]).sort();

function recordNames(home: string): readonly string[] {
  try {
    return readdirSync(recordsIn(home)).filter(name => name.endsWith('.json'));
  } catch {
    return []; // nobody has worked here yet
  }
}

function recorded(path: string): Files | undefined {
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as { readonly files?: Files }).files;
  } catch {
    return undefined;
  }
}

function isAtWork(name: string): boolean {
  try {
    return process.kill(Number.parseInt(name, 10), 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Undefined: as it was, or nobody worked meanwhile. */
export function changedSettings(home: string, env: Environment): ChangedSettings | undefined {
  const folder = folderOf(env);
  if (folder === undefined) return undefined;
  const now = filesIn(folder);
  const all = recordNames(home).flatMap(name => differing(recorded(join(recordsIn(home), name)) ?? now, now));
  const names = [...new Set(all)].sort();
  if (names.length === 0) return undefined;
  return { folder, files: names.map(name => ({ name, text: read(join(folder, name)) })) };
}

export const settingsRefusal = ({ folder, files }: ChangedSettings): UsageError =>
  new UsageError(
    `Your own settings changed while an agent worked: ${files.map(({ name }) => join(folder, name)).join(', ')}.`,
    'Look at them: they decide how agents are confined and what they may spend. When they are yours: the same command with --accept-settings.',
  );

let sessionsBegun = 0;

/**
 * Agents begin to work, and a person has seen what is there. Call what it gives when they have ended: a change since then
 * stays noted.
 */
export function watchSettings(home: string, env: Environment): () => void {
  const folder = folderOf(env);
  const records = recordsIn(home);
  mkdirSync(records, { recursive: true, mode: 0o700 });
  const text = `${JSON.stringify({ files: filesIn(folder) })}\n`;
  const note = (name: string): void => {
    const path = join(records, name);
    writeFileSync(`${path}.new`, text, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  };
  sessionsBegun += 1;
  const own = `${process.pid}-${sessionsBegun}.json`;
  for (const name of recordNames(home)) {
    if (isAtWork(name)) note(name);
    else rmSync(join(records, name), { force: true });
  }
  note(own);
  return () => {
    try {
      const path = join(records, own);
      const now = filesIn(folder);
      if (differing(recorded(path) ?? now, now).length === 0) rmSync(path, { force: true });
    } catch {
      // The home is gone or full: the note of the start stays, and asks rather than not.
    }
  };
}
