// Trusted settings: the user's own folder of them, which decides how agents are confined and what they may spend; who changed it while one worked must be a person (F89).
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
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
const recordOf = (home: string): string => join(home, 'settings-seen.json');

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

/** What was there when the last agents began, unless it was still so when they ended. */
function unsettled(home: string): Files | undefined {
  try {
    return (JSON.parse(readFileSync(recordOf(home), 'utf8')) as { readonly files?: Files }).files;
  } catch {
    return undefined;
  }
}

/** Undefined: as it was, or nobody worked meanwhile. */
export function changedSettings(home: string, env: Environment): ChangedSettings | undefined {
  const folder = folderOf(env);
  const before = unsettled(home);
  if (before === undefined || folder === undefined) return undefined;
  const names = differing(before, filesIn(folder));
  if (names.length === 0) return undefined;
  return { folder, files: names.map(name => ({ name, text: read(join(folder, name)) })) };
}

export const settingsRefusal = ({ folder, files }: ChangedSettings): UsageError =>
  new UsageError(
    `Your own settings changed while an agent worked: ${files.map(({ name }) => join(folder, name)).join(', ')}.`,
    'Look at them: they decide how agents are confined and what they may spend. When they are yours: the same command with --accept-settings.',
  );

/** Agents begin to work. Call what it gives when they have ended: a change since then stays noted. */
export function watchSettings(home: string, env: Environment): () => void {
  const folder = folderOf(env);
  const before = filesIn(folder);
  const note = (files: Files | undefined): void => {
    const path = recordOf(home);
    mkdirSync(home, { recursive: true, mode: 0o700 });
    writeFileSync(`${path}.new`, `${JSON.stringify({ files })}\n`, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  };
  note(before);
  return () => {
    try {
      note(differing(before, filesIn(folder)).length === 0 ? undefined : before);
    } catch {
      // The home is gone or full: the note of the start stays, and asks rather than not.
    }
  };
}
