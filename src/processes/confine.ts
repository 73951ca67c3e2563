// Confinement: a command sees and writes only what it may, by bubblewrap where this host lets it work.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve, sep } from 'node:path';
import {
  type Contained,
  firstWorking,
  inNamespace,
  namespaceInit,
  once,
  recalled,
  shell,
  systemProgram,
} from './contain.ts';

/** Of two paths, one in the other, the inner one's word counts. What does not exist is left out. */
export interface Confinement {
  /** Look like empty folders that cannot be written to. */
  readonly hidden: readonly string[];
  readonly readOnly: readonly string[];
  /** Such as a work folder inside a hidden one. */
  readonly writable: readonly string[];
}

export type ConfinementKind = 'bubblewrap' | 'none';

/**
 * Everything else is as outside. Root keeps its capabilities, so that package managers work, except those with which it
 * could take away these mounts; for others bubblewrap makes a user namespace. Some containers forbid an own /proc.
 */
const everythingBound = ['--bind', '/', '/', '--dev-bind', '/dev', '/dev'];
const namespaceFlags = [
  ...['--unshare-pid', '--as-pid-1', '--die-with-parent'],
  ...['--cap-drop', 'CAP_SYS_ADMIN', '--cap-drop', 'CAP_SYS_PTRACE'],
];
const recipes: readonly (readonly string[])[] = [
  [...everythingBound, '--proc', '/proc', ...namespaceFlags],
  [...everythingBound, ...namespaceFlags],
];

/** What it can be tried with. Undefined where there is no bubblewrap. */
const tools = once(() => {
  const bubblewrap = process.platform === 'linux' ? systemProgram('bwrap') : undefined;
  if (!bubblewrap) return undefined;
  return { programs: [bubblewrap, shell], lines: recipes.map(flags => [bubblewrap, ...flags]) };
});

/** Ahead of the first question the first recipe was found to work. */
let isForeseen = false;

/** The working recipe as the start of a command line. Tried out on files of our own: an exit code alone proves nothing. */
const workingRecipe = once((): readonly string[] | undefined => {
  const { programs, lines } = tools() ?? {};
  if (programs === undefined || lines === undefined) return undefined;
  return firstWorking('confinement', programs, lines, recipe => (isForeseen && recipe === lines[0]) || works(recipe));
});

/** Tries the usual recipe out while others work, by whoever can run a command line and tell its line of output. */
export async function tryAhead(run: (command: readonly string[]) => Promise<string | undefined>): Promise<boolean> {
  const { programs, lines } = tools() ?? {};
  if (programs === undefined || lines === undefined) return false;
  if (recalled('confinement', programs, lines).recipe !== undefined) return true;
  const trial = openTrial(lines[0]!);
  const command = trial && guarded(trial.command);
  if (command === undefined) return false;
  process.once('exit', trial!.close); // it may be refused meanwhile
  isForeseen = (await run(command)) === '42';
  process.off('exit', trial!.close);
  trial!.close();
  return isForeseen;
}

function works(flags: readonly string[]): boolean {
  const trial = openTrial(flags);
  if (trial === undefined) return false;
  try {
    return exitsWith42(trial.command);
  } finally {
    trial.close();
  }
}

/** A command that exits with 42 where it is confined. */
function openTrial(flags: readonly string[]) {
  const folder = scratchFolder();
  if (folder === undefined) return undefined;
  const [hidden, fixed] = [join(folder, 'hidden'), join(folder, 'fixed')];
  for (const each of [hidden, fixed]) {
    mkdirSync(each);
    writeFileSync(join(each, 'file'), '');
  }
  const mounts = mountsFor({ hidden: [hidden], readOnly: [fixed], writable: [] }, folder);
  const script =
    '[ $$ = 1 ] && ! [ -e "$1/file" ] && ! (: >"$1/new") && ! (: >"$2/file") && (: >"$2/../new") && exit 42';
  return {
    command: [...flags, ...mounts, '--', shell, '-c', script, 'init', hidden, fixed],
    close: (): void => removeScratch(folder),
  };
}

/** A run that ends while its trial goes on may find a file that was made just now; one that stays is no reason to fail. */
function removeScratch(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 10 });
  } catch {
    // It lies where temporary files go.
  }
}

/** TMPDIR may name a folder that is not there: that alone must not leave an agent unconfined. */
function scratchFolder(): string | undefined {
  for (const place of [tmpdir(), '/tmp', '/var/tmp']) {
    try {
      return realpathSync(mkdtempSync(join(place, 'ralph-confine-')));
    } catch {
      // The next one may do.
    }
  }
  return undefined;
}

/** Where it fails halfway, bubblewrap leaves a child that waits for ever: hence a session of its own, ended as a whole. */
function guarded(command: readonly string[]): readonly string[] | undefined {
  const session = systemProgram('setsid');
  const guard = [shell, '-c', '"$@" >/dev/null 2>&1; echo $?; kill -KILL 0', 'probe', ...command];
  return session === undefined ? undefined : [session, ...guard];
}

function exitsWith42(command: readonly string[]): boolean {
  const [first, ...rest] = guarded(command) ?? [];
  if (first === undefined) return false;
  const ran = spawnSync(first, rest, { stdio: ['ignore', 'pipe', 'ignore'], env: {}, timeout: 5_000 });
  return String(ran.stdout) === '42\n';
}

/** Probed at the first question, unless it is remembered. */
export function confinementKind(): ConfinementKind {
  return workingRecipe() ? 'bubblewrap' : 'none';
}

/** Undefined where that cannot be had. Also contains, as a namespace does; see contain.ts for how to start it. */
export function confined(
  command: string,
  args: readonly string[],
  confinement: Confinement,
  directory: string,
): Contained | undefined {
  const [first, ...rest] = workingRecipe() ?? [];
  if (first === undefined) return undefined;
  const mounts = mountsFor(confinement, directory);
  const place = ['--chdir', realFolder(directory), '--', shell, '-c', namespaceInit, 'init'];
  return inNamespace(first, [...rest, ...mounts, ...place], [command, ...args]);
}

interface Mount {
  readonly path: string;
  readonly flags: readonly string[];
}

function mountsFor({ hidden, readOnly, writable }: Confinement, directory: string): readonly string[] {
  for (const path of readOnly) makeEmpty(path);
  const fixed = real(readOnly);
  const covered = real(hidden);
  const folders = covered.filter(isFolder);
  const mounts: readonly Mount[] = [
    ...covered.map(path => ({ path, flags: isFolder(path) ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path] })),
    ...[...real(writable), ...pinned(fixed, directory)].map(path => ({ path, flags: ['--bind', path, path] })),
    ...fixed.map(path => ({ path, flags: ['--ro-bind', path, path] })),
  ];
  const depth = ({ path }: Mount): number => path.split(sep).length;
  return [
    ...[...mounts].sort((one, other) => depth(one) - depth(other)).flatMap(each => each.flags),
    ...folders.flatMap(path => ['--remount-ro', path]),
  ];
}

/**
 * A folder that is a mount cannot be moved aside together with what is fixed in it: those that hold something fixed, and
 * those between two such. The work folder stays as it is.
 */
function pinned(fixed: readonly string[], directory: string): readonly string[] {
  const here = `${realFolder(directory)}${sep}`;
  const holders = new Set(fixed.map(path => dirname(path)).filter(folder => !here.startsWith(`${folder}${sep}`)));
  const between = [...holders].flatMap(holder => {
    const above = foldersAbove(holder);
    return above.slice(0, above.findLastIndex(folder => holders.has(folder)) + 1);
  });
  return [...new Set([...holders, ...between])];
}

/** From the inside to the root. */
function foldersAbove(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...foldersAbove(parent)];
}

/** What is not there cannot be made read-only, and these mean the same when they are empty. */
const makers: Readonly<Record<string, (path: string) => void>> = {
  Approved: path => mkdirSync(path, { recursive: true }),
  hooks: path => mkdirSync(path),
  ralph: path => void mkdirSync(path, { recursive: true }), // the user's settings
  'config.worktree': path => writeFileSync(path, '', { flag: 'wx' }),
};

function makeEmpty(path: string): void {
  try {
    makers[basename(path)]?.(path);
  } catch {
    // It is there already, or there is nothing that it could be in.
  }
}

const realFolder = (path: string): string => real([path])[0] ?? resolve(path);

function real(paths: readonly string[]): readonly string[] {
  return paths.flatMap(path => {
    try {
      return [realpathSync(path)];
    } catch {
      return [];
    }
  });
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
