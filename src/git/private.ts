// The private git of a loop, over the user's files and objects: no setting, filter or lock of the user is in its way.
import { existsSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import {
  complaint,
  freshIndex,
  type GitPlace,
  git,
  gitScript,
  type IndexRow,
  indexInfo,
  indexRows,
  infoOf,
  setEntries,
  sparseRows,
} from './call.ts';
import { kindOnDisk, realOf, stampOf, stampOfIndex, succeeds } from './disk.ts';
import { fromText, pathsOf, toInput } from './paths.ts';
import { listedIn, type Repository } from './repository.ts';

export interface PrivateGit {
  readonly repository: Repository;
  /** Where its objects and refs are written: for a fork by the gits that stand open for its loop. */
  readonly store: Repository;
  /** What HEAD of the repository is called there. */
  readonly head: string;
  /** HEAD, config, index, and what else we keep for a loop: `dirty`, `restore.json`. */
  readonly folder: string;
  readonly isPartial: boolean;
  /** Of the user's, those that it takes over. */
  readonly settings: ReadonlyMap<string, string>;
  /** Calls in here see the user's files as the private git does. */
  readonly place: GitPlace;
}

/** Filters are unknown to the private git, so they need not be switched off. */
const placeOf = ({ directory, environment, commonDirectory }: Repository, folder: string): GitPlace => ({
  directory,
  environment,
  variables: {
    GIT_DIR: folder,
    GIT_WORK_TREE: directory,
    GIT_INDEX_FILE: join(folder, 'index'),
    GIT_OBJECT_DIRECTORY: join(commonDirectory, 'objects'),
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_ATTR_NOSYSTEM: '1',
  },
});

/** Blobs are the bytes on disk: no line ends, encodings, keywords or filters; and nothing hides a difference. */
const attributes = '* -text -eol -ident -filter !working-tree-encoding !diff !merge !crlf\n';

/** How write-file-atomic calls the new bytes of a file until they take its place: a checkpoint may come in between. */
const temporary = '.[0-9][0-9][0-9][0-9][0-9][0-9]*';

/** What Ralph itself writes beside people's files: views of the ledger, nobody's work. */
const ours = [
  '.agent/.gitignore',
  '.agent/metrics/metrics_*.json',
  '.agent/logs/ralph.log*',
  '.agent/prompts/prompt_*.md',
  '.agent/scratchpad.md',
  '.artefacts/*/state.json',
  '.artefacts/*/obstacles.json',
  '.artefacts/*/results.md',
  '.artefacts/*/done.md',
  '.claude/ralph-loop.local.md',
  '.claude/review-loop-state.yaml',
  'In_Progress/*/state.md',
  'Needs_Action/plan_*.md',
  'Logs/Plan_Execution/*.md',
  'vault/Dashboard.md',
].flatMap(path => [`**/${path}`, `**/${path}${temporary}`]);

/** What the file system can do, as git found out when the repository was made. */
const inherited = ['core.filemode', 'core.symlinks', 'core.ignorecase', 'core.precomposeunicode'];

interface PrivateOptions {
  /** Absolute paths, of which those in the tree are left out. */
  readonly excluded?: readonly string[];
  /** Absolute paths of files that Ralph itself replaces. */
  readonly replaced?: readonly string[];
  /** It is a fork of this loop, whose settings are its own; and what HEAD of the fork is called in the loop's repository. */
  readonly of?: { readonly loop: PrivateGit; readonly head: string } | undefined;
}

/** Made anew for every process of ours: cheap, and the user may have changed what they ignore. */
export async function openPrivate(
  repository: Repository,
  folder: string,
  { excluded = [], replaced = [], of }: PrivateOptions = {},
): Promise<PrivateGit> {
  const settings = of?.loop.settings ?? repository.inherited;
  const userExcludes = await readFile(join(repository.commonDirectory, 'info', 'exclude'), 'latin1').catch(() => '');
  // A rule ends with its line, and without its last spaces.
  const literal = (path: string): string => `/${path.replace(/[*?[\\ ]/g, '\\$&').replaceAll('\n', '?')}`;
  const own = [
    ...ours,
    ...(await pathsInside(repository, [folder, ...excluded])).map(literal),
    ...(await pathsInside(repository, replaced)).map(path => `${literal(path)}${temporary}`),
  ];
  const isPartial = [...settings.keys()].some(name => name.endsWith('.partialclone') || name.endsWith('.promisor'));
  await mkdir(join(folder, 'info'), { recursive: true });
  await mkdir(join(folder, 'refs'), { recursive: true });
  await Promise.all([
    put(join(folder, 'HEAD'), 'ref: refs/heads/none\n'),
    put(join(folder, 'config'), fromText(configOf(repository, settings))),
    put(join(folder, 'info', 'attributes'), attributes),
    put(join(folder, 'info', 'exclude'), [userExcludes, ...own.map(fromText), ''].join('\n')),
  ]);
  const place = placeOf(repository, folder);
  return {
    repository,
    store: of?.loop.repository ?? repository,
    head: of?.head ?? 'HEAD',
    folder,
    isPartial,
    settings,
    place,
  };
}

function configOf(repository: Repository, settings: ReadonlyMap<string, string>): string {
  const { HOME = homedir(), XDG_CONFIG_HOME = join(HOME, '.config') } = repository.environment;
  const excludes = settings.get('core.excludesfile') ?? join(XDG_CONFIG_HOME, 'git', 'ignore');
  const own = inherited.flatMap(name => {
    const value = settings.get(name);
    return value === undefined ? [] : [`\t${name.slice('core.'.length)} = ${quoted(value)}`];
  });
  return [
    '[core]',
    `\trepositoryformatversion = ${repository.objectFormat === 'sha1' ? 0 : 1}`,
    '\tbare = false',
    '\tautocrlf = false',
    '\tsafecrlf = false',
    '\tattributesFile = /dev/null',
    // Entries that were sparse count again as soon as their file is there.
    '\tsparseCheckout = true',
    `\texcludesFile = ${quoted(excludes)}`,
    ...own,
    ...(repository.objectFormat === 'sha1' ? [] : ['[extensions]', `\tobjectFormat = ${repository.objectFormat}`]),
    '',
  ].join('\n');
}

const quoted = (value: string): string => `"${value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;

/** Relative to the top, of those that lie in the tree, by their names or in truth. */
export async function pathsInside({ directory }: Repository, paths: readonly string[]): Promise<readonly string[]> {
  const top = await realOf(directory);
  const found = await Promise.all(
    paths.map(async path => [
      relative(directory, path),
      relative(top, await realOf(path)),
      relative(top, join(await realOf(dirname(path)), basename(path))),
    ]),
  );
  return [...new Set(found.flat())].filter(path => path !== '' && !isAbsolute(path) && path.split(sep)[0] !== '..');
}

/** One character per byte. */
async function put(path: string, content: string): Promise<void> {
  if ((await readFile(path, 'latin1').catch(() => undefined)) === content) return;
  await writeFile(`${path}.new`, content, 'latin1');
  await rename(`${path}.new`, path);
}

/** An index to begin with, where one was laid for it: that of a fork, whose files are its objects byte for byte, and all there is. */
export const seedOf = (folder: string): string => `${folder}.seed`;

/** The commit that a seed of this process holds, how its file is known, and the index that it was copied from. */
const seeds = new Map<string, { readonly commit: string; readonly stamp: string; readonly from: string }>();

export async function rememberSeed(seed: string, commit: string, from: string): Promise<void> {
  seeds.set(seed, { commit, stamp: await stampOf(seed), from: await stampOf(from) });
}

/** The commit that a private index holds because it is still its seed; empty: it is not, or that is not known. */
export async function seededCommit({ folder }: PrivateGit): Promise<string> {
  const seed = seeds.get(seedOf(folder));
  return seed !== undefined && seed.stamp === (await stampOf(join(folder, 'index'))) ? seed.commit : '';
}

/** Files that are ignored, but tracked all the same, are in a seed as all others are: nothing is forced until that index changes. */
export function forcedInSeed({ folder }: PrivateGit): Forced | undefined {
  const seed = seeds.get(seedOf(folder));
  return seed === undefined || seed.from === '' ? undefined : { paths: [], seen: seed.from };
}

/** Whether git shall miss their files on disk. */
const mark = (place: GitPlace, flag: '--skip-worktree' | '--no-skip-worktree', paths: readonly string[]) =>
  git(place, ['update-index', '-z', flag, '--stdin'], { input: toInput(paths) });

/** Every file is read once, so that later scans need only its times and size. It says 1 when some differ. */
const refresh = ['update-index', '-q', '--refresh'];
const refreshMsMax = 600_000;

const fillAndRefresh = (place: GitPlace, rows: readonly IndexRow[]) =>
  gitScript(place, `git ${indexInfo.join(' ')} || exit; git ${refresh.join(' ')} </dev/null; exit 0`, {
    input: toInput(rows.map(infoOf)),
    timeMsMax: refreshMsMax,
  });

/**
 * The private index, made from the user's: which files are tracked although ignored, and which are sparse. Undefined, or
 * why it could not be done. Made beside and moved into place, so that a half one is never used. `beside`: done while git works.
 */
export async function initIndex(
  own: PrivateGit,
  isFork: boolean,
  beside: () => void = () => {},
): Promise<string | undefined> {
  const index = join(own.folder, 'index');
  if (existsSync(index)) return undefined;
  if (isFork && (await succeeds(rename(seedOf(own.folder), index)))) return undefined;
  const draft = `${index}.seed`;
  const place = await freshIndex(own.place, draft);
  const tracked = await listedIn(own.repository);
  if (tracked.code !== 0) return complaint(tracked);
  // Of a conflict any stage will do: its file differs from all.
  const rows = [...new Map(indexRows(tracked).map(row => [row.path, row])).values()];
  // A fork is laid out whole: what is marked there, an agent marked, to hide a deletion.
  const sparse = isFork ? [] : rows.flatMap(({ path, isSparse }) => (isSparse ? [path] : []));
  const filling = sparse.length === 0 ? fillAndRefresh(place, rows) : setEntries(place, rows);
  beside();
  const filled = await filling;
  if (filled.code !== 0) return complaint(filled);
  if (sparse.length > 0) {
    const marked = await mark(place, '--skip-worktree', sparse);
    if (marked.code !== 0) return complaint(marked);
    await git(place, refresh, { timeMsMax: refreshMsMax });
  }
  await rename(draft, index).catch(() => {}); // an empty index is not written at all
  return undefined;
}

/** The user's indexes as our last sync found and left them, by their folder. It adds nothing that is ignored or sparse. */
const syncs = new Map<string, { readonly found: string; readonly left: string }>();

export const rememberSync = (
  { gitDirectory }: Pick<Repository, 'gitDirectory'>,
  sync: { readonly found: string; readonly left: string },
) => void syncs.set(gitDirectory, sync);

/** Whether nobody but our own sync wrote the user's index since. */
function isOnlySynced({ gitDirectory }: Repository, seen: string | undefined, current: string): boolean {
  const sync = syncs.get(gitDirectory);
  return current === seen || (sync !== undefined && sync.found === seen && sync.left === current);
}

export interface Forced {
  readonly paths: readonly string[];
  /** Which index of the user's said so. */
  readonly seen: string;
}

/** Files that are ignored, but were added to the user's index all the same; asked for when that index changed. */
export async function forcedPaths(own: PrivateGit, known: Forced | undefined): Promise<Forced> {
  const current = await stampOfIndex(own.repository);
  if (known !== undefined && isOnlySynced(own.repository, known.seen, current)) return { ...known, seen: current };
  const listed = await git(own.repository, ['ls-files', '-z', '-c', '-i', '--exclude-standard']);
  return { paths: listed.code === 0 ? pathsOf(listed) : [], seen: current };
}

const indexHeader = Buffer.from('DIRC\0\0\0\u0002', 'latin1');

/** Git need not be asked about an index of version 2, which has no place for such marks, nor a second file with others. */
export async function sparseIn(place: GitPlace, folder: string): Promise<ReadonlyMap<string, IndexRow>> {
  const header = Buffer.alloc(indexHeader.length);
  const file = await open(join(folder, 'index'), 'r').catch(() => undefined);
  await file?.read(header).finally(() => file.close());
  const isPlain = header.equals(indexHeader) && !(await readdir(folder)).some(name => name.startsWith('sharedindex.'));
  return isPlain ? new Map() : sparseRows(place);
}

/**
 * Sparse files are marked as in the user's index, so that they are not deleted. Done when that index changed since `seen`;
 * returns what was seen now. A failure shows in the steps that follow.
 */
export async function markSparse(own: PrivateGit, seen: string | undefined): Promise<string> {
  const current = await stampOfIndex(own.repository);
  if (isOnlySynced(own.repository, seen, current)) return current;
  const [wanted, present] = [
    await sparseIn(own.repository, own.repository.gitDirectory),
    await sparseIn(own.place, own.folder),
  ];
  const added: IndexRow[] = [];
  for (const row of wanted.values()) {
    const known = present.get(row.path);
    const isNew = known?.mode !== row.mode || known.object !== row.object;
    if (isNew && (await kindOnDisk(own.repository.directory, row.path)) === 'gone') added.push(row);
  }
  const ended = [...present.keys()].filter(path => !wanted.has(path));
  if (added.length > 0) {
    await setEntries(own.place, added);
    const paths = added.map(({ path }) => path);
    await mark(own.place, '--skip-worktree', paths);
  }
  if (ended.length > 0) await mark(own.place, '--no-skip-worktree', ended);
  return current;
}
