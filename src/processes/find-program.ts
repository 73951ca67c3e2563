// Programs on PATH, found as a shell would before anything is started: what is missing is said early.
import { accessSync, constants, readFileSync, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';

type Variables = Readonly<Record<string, string | undefined>>;

export type Found =
  | { readonly type: 'found'; readonly path: string }
  /** There is a file of that name, but it cannot be run. */
  | { readonly type: 'not-executable'; readonly path: string }
  | { readonly type: 'missing' };

/** A folder that this user may not enter is passed over, as execvp does. */
function lookAt(path: string): Found {
  try {
    if (!statSync(path).isFile()) return { type: 'missing' };
  } catch {
    return { type: 'missing' };
  }
  try {
    accessSync(path, constants.X_OK);
    return { type: 'found', path };
  } catch {
    return { type: 'not-executable', path };
  }
}

/**
 * A word with a slash is a path from `directory`; another is looked for on PATH. Entries of PATH that depend on the folder
 * do not count: a file named like an agent in a cloned project must not become one.
 */
export function findProgram(word: string, directory: string, env: Variables): Found {
  if (word === '') return { type: 'missing' };
  const places = word.includes('/')
    ? [resolve(directory, word)]
    : (env['PATH'] ?? '')
        .split(delimiter)
        .filter(folder => isAbsolute(folder))
        .map(folder => join(folder, word));
  const looks = places.map(lookAt);
  return (
    looks.find(look => look.type === 'found') ??
    looks.find(look => look.type === 'not-executable') ?? { type: 'missing' }
  );
}

const foldersMax = 6;

/** The version in the npm package that a program belongs to, without running it; undefined where there is none. */
export function packagedVersion(path: string): string | undefined {
  try {
    let folder = dirname(realpathSync(path));
    for (let up = 0; up < foldersMax && folder !== dirname(folder); up++, folder = dirname(folder)) {
      const version = versionIn(join(folder, 'package.json'));
      if (version !== undefined) return version;
    }
  } catch {
    // gone in between, or not ours to read
  }
  return undefined;
}

function versionIn(path: string): string | undefined {
  try {
    const found = JSON.parse(readFileSync(path, 'utf8')) as { readonly name?: unknown; readonly version?: unknown };
    const isVersion = typeof found.version === 'string' && /^\d+\.\d+\.\d+[\w.+-]{0,40}$/.test(found.version);
    return isVersion && typeof found.name === 'string' ? (found.version as string) : undefined;
  } catch {
    return undefined;
  }
}
