// The repository that a loop works in: opened once, or refused in one sentence where we could not keep our promises.
import { constants, existsSync, realpathSync } from 'node:fs';
import { access, lstat, readdir, readFile, statfs } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Collected } from '../processes/run-detached.ts';
import {
  complaint,
  type GitPlace,
  git,
  gitlink,
  gitScript,
  indexRows,
  listIndex,
  type Setting,
  settingsIn,
  unwatched,
} from './call.ts';
import { stampOf, stampOfIndex, succeeds } from './disk.ts';
import { fromText, listOf, onDisk, pathsOf, printable, shownList } from './paths.ts';
import { type Refusal, refuse } from './refusal.ts';

export interface Repository extends GitPlace {
  /** The top of the working tree. */
  readonly directory: string;
  /** Of this working tree: HEAD and index live here. */
  readonly gitDirectory: string;
  /** Of all its working trees: objects and refs live here. */
  readonly commonDirectory: string;
  readonly objectFormat: string;
  /** What the file system can do, what is ignored everywhere, whether objects may be missing: what a private git takes over. */
  readonly inherited: ReadonlyMap<string, string>;
}

/** `not-a-repository`: the caller may work without git. */
export type Opened =
  | { readonly ok: true; readonly repository: Repository; readonly names: readonly ScopedName[] }
  | (Refusal & { readonly kind: 'not-a-repository' | 'unusable' });

const unusable = (problem: string, fix?: string): Opened => ({ ...refuse(problem, fix), kind: 'unusable' });

const notRepository: Opened = { ...refuse('This folder is not in a git repository.'), kind: 'not-a-repository' };

/** Three gits at one go: where we are, which settings there are, and the values of some. */
const inherited =
  '^(core\\.(filemode|symlinks|ignorecase|precomposeunicode|excludesfile)|extensions\\.partialclone|remote\\..*\\.promisor|commit\\.gpgsign)$';
const lookAround = `git rev-parse --is-bare-repository --is-inside-git-dir --show-object-format --absolute-git-dir \\
  --git-common-dir --show-toplevel || exit
printf '\\0'; git config --list --show-scope --name-only -z
printf '\\0'; git config --type=path -z --get-regexp '${inherited}'; exit 0`;

/** F72, B92. Where nothing looks like a repository, git is not asked. */
export async function openRepository(place: GitPlace): Promise<Opened> {
  if (!isNearRepository(place.directory)) return notRepository;
  const found = await gitScript(place, lookAround);
  const end = found.output.indexOf(0);
  const text = found.output.toString('utf8', 0, end === -1 ? undefined : end);
  const [bare, inside, objectFormat = '', gitDirectory = '', common = '', directory = '', ...rest] = text.split('\n');
  if (found.code !== 0) return unopened(place, found, bare === 'true', inside === 'true');
  if (rest.length !== 1 || text.includes('\ufffd')) {
    return unusable('The path of this repository holds a line break or is not UTF-8.', 'Move it to a plainer path.');
  }
  const commonDirectory = resolve(place.directory, common);
  const last = found.output.indexOf('\0\0', end, 'latin1') + 1;
  const names = scopedNames(found.output.subarray(end + 1, last));
  const settings = filtersOff(names.map(({ name }) => name));
  const read = { output: found.output.subarray(last + 1) };
  const values = new Map([...settingsIn(read), ['commit.gpgsign', signing(read)]]);
  const repository = { ...place, directory, gitDirectory, commonDirectory, objectFormat, settings, inherited: values };
  return { ok: true, repository, names };
}

/** Ours stands last, and says no: what the user's own files say stands before it. */
function signing(read: Pick<Collected, 'output'>): string {
  const said = listOf(read).flatMap(one =>
    one.split('\n', 1)[0] === 'commit.gpgsign' ? [one.split('\n')[1] ?? 'true'] : [],
  );
  return String(/^(true|yes|on|1)$/i.test(said.at(-2) ?? ''));
}

const noSuchProgram = 127; // by a shell

function unopened(place: GitPlace, found: Collected, bare: boolean, inside: boolean): Opened {
  const said = complaint(found);
  const isMissing = found.code === noSuchProgram || /ENOENT/.test(said);
  if (isMissing && topAround(place.directory) !== undefined)
    return unusable('This folder is a git repository, and git is not installed.', 'Install git.');
  if (bare)
    return unusable('This repository is bare: it has no files to work on.', 'Run in a clone or a worktree of it.');
  if (inside) return unusable('This folder is inside of .git.', 'Run in the working tree.');
  if (/dubious ownership/.test(said)) {
    const fix = `If you trust it: git config --global --add safe.directory ${topAround(place.directory) ?? place.directory}`;
    return unusable('This repository belongs to another user, so git does not work in it.', fix);
  }
  if (topAround(place.directory) === undefined) return notRepository;
  return unusable(`git cannot work here: ${printable(said)}.`);
}

const topAround = (directory: string): string | undefined =>
  folderAround(resolve(directory), folder => existsSync(join(folder, '.git')));

/** A working tree or a bare repository, as git would look for it: from the folder that it really is upwards. */
function isNearRepository(directory: string): boolean {
  const real = realpathOr(directory);
  const isOne = (folder: string): boolean => ['.git', 'HEAD'].some(name => existsSync(join(folder, name)));
  return real === undefined || folderAround(real, isOne) !== undefined;
}

function realpathOr(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function folderAround(from: string, isWanted: (folder: string) => boolean): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    if (isWanted(folder)) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}

/** Settings that make git run a program (B88): those that matter to a person who did not write them. */
const programSettings: readonly RegExp[] = [
  /^core\.(fsmonitor|hookspath|sshcommand|gitproxy|editor|pager|askpass|alternaterefscommand)$/,
  /^filter\..*\.(clean|smudge|process)$/,
  /^diff\.(external|.*\.(command|textconv))$/,
  /^merge\..*\.driver$/,
  /^credential\..*helper$/,
  /^gpg\.(.*\.)?program$/,
  /^sequence\.editor$/,
  /^remote\..*\.(uploadpack|receivepack|vcs)$/,
  /^submodule\..*\.update$/,
  /^uploadpack\.packobjectshook$/,
  /^include(if\..*)?\.path$/,
];

/** Names alone: a value may hold a secret. */
export const settingNames = async (place: GitPlace): Promise<readonly string[]> =>
  listOf(await git(place, ['config', '--list', '--name-only', '-z']));

/** Content filters switched off, as settings: an empty program is none; `required` would make that an error. */
function filtersOff(names: readonly string[]): readonly Setting[] {
  const drivers = new Set(names.flatMap(name => /^filter\.(.*)\.[^.]+$/s.exec(name)?.[1] ?? []));
  const off = { clean: '', smudge: '', process: '', required: 'false' };
  return [...drivers].flatMap(driver =>
    Object.entries(off).map(([name, value]) => [`filter.${driver}.${name}`, value] as const),
  );
}

/** The files that settings come from, as they are now; not those that they include. */
export async function settingsStamp({ commonDirectory, gitDirectory, environment }: Repository): Promise<string> {
  const { HOME = homedir(), XDG_CONFIG_HOME = join(HOME, '.config') } = environment;
  const files = [
    join(commonDirectory, 'config'),
    join(gitDirectory, 'config.worktree'),
    join(HOME, '.gitconfig'),
    join(XDG_CONFIG_HOME, 'git', 'config'),
    '/etc/gitconfig',
  ];
  return (await Promise.all(files.map(stampOf))).join(' ');
}

/** Filters that are switched off, by the working tree, as long as no file of settings changes. */
const knownOff = new Map<string, { readonly seen: string; readonly off: readonly Setting[] }>();

/** Where git works in another working tree of it. Looked at anew each time: an agent may have added filters meanwhile. */
export async function placeIn(repository: Repository, directory: string): Promise<GitPlace> {
  const { directory: top, environment } = repository;
  const seen = await settingsStamp(repository);
  const known = knownOff.get(top);
  if (known?.seen === seen) return { directory, environment, settings: known.off };
  const names = await settingNames({ directory: top, environment });
  const settings = filtersOff(names);
  if (!names.some(name => name.startsWith('include'))) knownOff.set(top, { seen, off: settings });
  return { directory, environment, settings };
}

/** Of a setting. */
interface ScopedName {
  /** Where it is set: `system`, `global`, `local`, `worktree`, `command`. */
  readonly scope: string;
  readonly name: string;
}

function scopedNames(output: Buffer): readonly ScopedName[] {
  const words = listOf({ output });
  return words.flatMap((name, at) => (at % 2 === 1 ? [{ scope: words[at - 1] ?? '', name }] : []));
}

/** The user's own settings are not the repository's doing. */
async function programsOf({ commonDirectory }: Repository, all: readonly ScopedName[]): Promise<readonly string[]> {
  const own = all.filter(({ scope }) => scope === 'local' || scope === 'worktree').map(({ name }) => name);
  const names = new Set(own.filter(name => programSettings.some(pattern => pattern.test(name))));
  const hooks = await readdir(join(commonDirectory, 'hooks')).catch(() => []);
  const live = hooks.filter(name => !name.endsWith('.sample')).map(name => `hooks/${name}`);
  return [...names, ...live].sort();
}

export interface Findings {
  /** Sentences for the pre-run card. */
  readonly notices: readonly string[];
  /** Patterns of files behind a filter, such as those of LFS. */
  readonly filters: readonly string[];
  /** A merge, rebase or the like is not finished: no progress commits. */
  readonly isMidway: boolean;
}

type Preflight = { readonly ok: true; readonly findings: Findings } | Refusal;

interface Listing {
  readonly directory: string;
  readonly tracked: ReturnType<typeof listIndex>;
  readonly untracked: Promise<Collected>;
}

/** What is in this working tree, asked for while git still says what it is: where a loop works is the top of most. */
export function listAhead(place: GitPlace): Listing | undefined {
  const gitDirectory = join(place.directory, '.git');
  return existsSync(join(gitDirectory, 'HEAD')) ? listing({ ...place, gitDirectory }) : undefined;
}

/** One after the other, by one shell: to start another takes longer. */
function listing(place: Pick<Repository, 'gitDirectory'> & GitPlace): Listing {
  const tracked = listedIn(place);
  const untracked = tracked.then(() => git(place, [...unwatched, 'ls-files', '-o', '-z', '--exclude-standard']));
  return { directory: place.directory, tracked, untracked };
}

/**
 * Before a loop starts: what we must refuse in this repository, and what a person should know about it (F72, B87, B88,
 * B92). `directory`: where the loop works in the tree. `names`: of its settings.
 */
export async function preflight(
  repository: Repository,
  directory: string,
  names: readonly ScopedName[],
  ahead?: Listing,
): Promise<Preflight> {
  const refused =
    tooOld(names) ??
    (await linkedFolder(repository.directory, directory)) ??
    (await readOnly(repository)) ??
    (await statfs(repository.directory).then(({ type }) => fileSystemProblem(type)));
  if (refused !== undefined) return refused;
  const listed = ahead?.directory === repository.directory ? ahead : listing(repository);
  const [tracked, untracked, programs] = await Promise.all([
    listed.tracked,
    listed.untracked,
    programsOf(repository, names),
  ]);
  const rows = indexRows(tracked);
  const submodules = rows.filter(({ mode }) => mode === gitlink).map(({ path }) => path);
  const nested = pathsOf(untracked).filter(path => path.endsWith('/'));
  const attributes = rows.filter(({ path }) => /(^|\/)\.gitattributes$/.test(path)).map(({ path }) => path);
  const filters = await filtersIn(repository, attributes);
  const patterns = [...new Set(filters.map(({ pattern }) => pattern))].sort();
  const isMidway = Object.keys(unfinishedOperations).some(name => existsSync(join(repository.gitDirectory, name)));
  const notices = [
    sentence(submodules, 'Checkpoints do not cover what is inside of submodules'),
    sentence(nested, 'Checkpoints do not cover repositories inside of this one'),
    sentence(
      [...new Set(filters.map(({ name }) => name))].sort(),
      'Files behind a filter are in checkpoints as they are on disk; commits run the filter, where one is configured',
    ),
    sentence(
      programs,
      'This repository would make git run programs; our calls of git do not run them, but for filters at commits',
    ),
    ...withoutCeremony(repository, names, programs),
    ...(isMidway ? ['A merge or rebase is not finished here, so there are no progress commits.'] : []),
  ];
  return { ok: true, findings: { notices: notices.flatMap(notice => notice ?? []), filters: patterns, isMidway } };
}

const commitHooks = ['pre-commit', 'prepare-commit-msg', 'commit-msg', 'post-commit'].map(name => `hooks/${name}`);

/** Whoever signs their commits, or has them checked, must know that those of a loop are not (ADR 48). */
function withoutCeremony(
  { inherited: values }: Repository,
  names: readonly ScopedName[],
  programs: readonly string[],
): readonly string[] {
  const isElsewhere = names.some(({ scope, name }) => scope !== 'command' && name === 'core.hookspath');
  const hasHooks = isElsewhere || programs.some(name => commitHooks.includes(name));
  const missing = [
    ...(values.get('commit.gpgsign') === 'true' ? ['not signed (commit.gpgsign)'] : []),
    ...(hasHooks ? ['made without commit hooks'] : []),
  ];
  if (missing.length === 0) return [];
  return [`Commits of a loop are ${missing.join(' and ')}: do that when you merge, as docs/guides/files.md says.`];
}

/** What a person is in the middle of while git has this file. */
export const unfinishedOperations = {
  MERGE_HEAD: 'merge',
  'rebase-merge': 'rebase',
  'rebase-apply': 'rebase',
  CHERRY_PICK_HEAD: 'cherry-pick',
  REVERT_HEAD: 'revert',
};
const namedMax = 5;

function sentence(paths: readonly string[], what: string): string | undefined {
  if (paths.length === 0) return undefined;
  return `${what}: ${shownList(paths, namedMax)}.`;
}

/** Before 2.31 git does not hear how we switch hooks and programs off. */
function tooOld(names: readonly ScopedName[]): Refusal | undefined {
  if (names.some(({ scope, name }) => scope === 'command' && name === 'core.hookspath')) return undefined;
  return refuse('This git is older than 2.31 and could run the hooks of the repository for us.', 'Update git.');
}

/** Writing below such a link would write outside of the repository (B87). */
async function linkedFolder(top: string, directory: string): Promise<Refusal | undefined> {
  for (const folder of new Set([top, directory])) {
    for (const name of ['.ralph', '.ralph/worktrees']) {
      const stats = await lstat(join(folder, name)).catch(() => undefined);
      if (stats?.isSymbolicLink()) {
        return refuse(`${name} is a symbolic link in this repository, which may lead anywhere.`, `Remove ${name}.`);
      }
    }
  }
  return undefined;
}

async function readOnly({ gitDirectory, commonDirectory }: Repository): Promise<Refusal | undefined> {
  for (const folder of [gitDirectory, join(commonDirectory, 'objects'), join(commonDirectory, 'refs')]) {
    if (await succeeds(access(folder, constants.W_OK))) continue;
    const fix = 'Make it writable, or say --no-checkpoints.';
    return refuse('The .git folder is read-only, so no checkpoint can be made.', fix);
  }
  return undefined;
}

/** Numbers of statfs(2): file systems without links and modes, on which a restore could not be exact. */
export function fileSystemProblem(type: number): Refusal | undefined {
  const name = { 538032816: 'exFAT', 19780: 'FAT' }[type];
  if (name === undefined) return undefined;
  const fix = 'Clone it onto another file system.';
  return refuse(`This repository is on ${name}, which keeps neither links nor modes.`, fix);
}

const attributeFilesMax = 100;

/** What attributes in the tree ask for, such as `lfs`. */
async function filtersIn(
  { directory, commonDirectory }: Repository,
  tracked: readonly string[],
): Promise<readonly { readonly pattern: string; readonly name: string }[]> {
  const files = [
    Buffer.from(join(commonDirectory, 'info', 'attributes')),
    ...[...new Set(['.gitattributes', ...tracked])].slice(0, attributeFilesMax).map(path => onDisk(directory, path)),
  ];
  const texts = await Promise.all(files.map(textOf));
  const lines = texts.flatMap(text => [...text.matchAll(/^[ \t]*([^#\s]\S*)(?:[^\n]*)[ \t]filter=(\S+)/gm)]);
  return lines.map(([, pattern = '', name = '']) => ({ pattern: printable(pattern), name: fromText(name) }));
}

/** Only a file of a sane size: a pipe of that name would never end. */
async function textOf(file: Buffer): Promise<string> {
  const stats = await lstat(file).catch(() => undefined);
  if (!stats?.isFile() || stats.size > 1_000_000) return '';
  return readFile(file, 'utf8').catch(() => '');
}

// The user's index: when a loop begins three look at it, and it is asked for once while it is the same.

let last: { readonly key: string; readonly listed: ReturnType<typeof listIndex> } | undefined;

/** As `listIndex` gives it now. */
export async function listedIn(place: Pick<Repository, 'gitDirectory'> & GitPlace): ReturnType<typeof listIndex> {
  const key = `${await stampOfIndex(place)} ${place.gitDirectory}`;
  if (last?.key !== key) last = { key, listed: listIndex(place) };
  return last.listed;
}

/** The loop has begun: it would only take room. */
export function forgetListing(): void {
  last = undefined;
}
