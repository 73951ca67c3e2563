// A git folder of the loop's own, over the user's files and objects: no setting, filter or lock of theirs is in its way.
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import type { Collected } from '../processes/run-detached.ts';
import { type GitOptions, type GitPlace, git, gitShell, listOf } from './call.ts';
import type { Repository } from './repository.ts';
import { realOf } from './worktree.ts';

export interface PrivateGit {
  readonly repository: Repository;
  /** HEAD, config, index, and what else we keep for a loop: `dirty`, `restore.json`. */
  readonly folder: string;
  readonly isPartial: boolean;
}

/** As the loop's own git sees the user's files. */
export function privately(own: PrivateGit, args: readonly string[], options: GitOptions = {}): Promise<Collected> {
  return git(placeOf(own), args, { ...options, variables: { ...variablesOf(own), ...options.variables } });
}

/** For a chain of calls: in it, `own` calls git as above, and `git` is in the user's repository. No subshell: each costs. */
export function privateShell(own: PrivateGit, script: string, args: readonly string[], options: GitOptions = {}) {
  const names = Object.entries(variablesOf(own));
  const settings = names.map(([name]) => `${name}="$OWN_${name}"`).join(' ');
  const variables = Object.fromEntries(names.map(([name, value]) => [`OWN_${name}`, value]));
  return gitShell(placeOf(own), `own() { ${settings} git "$@"; }\n${script}`, args, {
    ...options,
    variables: { ...variables, ...options.variables },
  });
}

/** Filters are unknown to the loop's own git, so they need not be switched off. */
const placeOf = ({ repository: { directory, environment } }: PrivateGit): GitPlace => ({ directory, environment });

const variablesOf = ({ repository, folder }: PrivateGit): Readonly<Record<string, string>> => ({
  GIT_DIR: folder,
  GIT_WORK_TREE: repository.directory,
  GIT_INDEX_FILE: join(folder, 'index'),
  GIT_OBJECT_DIRECTORY: join(repository.commonDirectory, 'objects'),
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_ATTR_NOSYSTEM: '1',
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
  '.claude/review-loop-state.yaml',
  'In_Progress/*/state.md',
  'Needs_Action/plan_*.md',
  'Logs/Plan_Execution/*.md',
  'vault/Dashboard.md',
].flatMap(path => [`**/${path}`, `**/${path}${temporary}`]);

/** What the file system can do, as git found out when the repository was made. */
const inherited = ['core.filemode', 'core.symlinks', 'core.ignorecase', 'core.precomposeunicode'];

/** Made anew for every process of ours: cheap, and the user may have changed what they ignore. */
export async function openPrivate(
  repository: Repository,
  folder: string,
  uncovered: readonly string[] = [],
  replaced: readonly string[] = [],
): Promise<PrivateGit> {
  const [settings, theirs] = await Promise.all([settingsOf(repository), excludesOf(repository)]);
  const literal = (way: string): string => `/${way.replace(/[*?[\\]/g, '\\$&')}`;
  const own = [
    ...(await waysInside(repository, [folder, ...uncovered])).map(literal),
    ...(await waysInside(repository, replaced)).map(way => `${literal(way)}${temporary}`),
  ];
  const isPartial = [...settings.keys()].some(name => name.endsWith('.partialclone') || name.endsWith('.promisor'));
  await mkdir(join(folder, 'info'), { recursive: true });
  await mkdir(join(folder, 'refs'), { recursive: true });
  await Promise.all([
    put(join(folder, 'HEAD'), Buffer.from('ref: refs/heads/none\n')),
    put(join(folder, 'config'), Buffer.from(configOf(repository, settings))),
    put(join(folder, 'info', 'attributes'), Buffer.from(attributes)),
    put(join(folder, 'info', 'exclude'), Buffer.concat([theirs, Buffer.from(['', ...ours, ...own, ''].join('\n'))])),
  ]);
  return { repository, folder, isPartial };
}

async function settingsOf(repository: Repository): Promise<ReadonlyMap<string, string>> {
  const exact = [...inherited, 'core.excludesfile', 'extensions.partialclone'].join('|').replaceAll('.', '\\.');
  const wanted = `^(${exact}|remote\\..*\\.promisor)$`;
  const found = await git(repository, ['config', '--type=path', '-z', '--get-regexp', wanted]);
  return new Map(
    listOf(found).map(one => {
      const at = one.indexOf('\n');
      return at === -1 ? [one, 'true'] : [one.slice(0, at), one.slice(at + 1)];
    }),
  );
}

function configOf(repository: Repository, settings: ReadonlyMap<string, string>): string {
  const { HOME = homedir(), XDG_CONFIG_HOME = join(HOME, '.config') } = repository.environment;
  const excludes = settings.get('core.excludesfile') ?? join(XDG_CONFIG_HOME, 'git', 'ignore');
  const kept = inherited.flatMap(name => {
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
    ...kept,
    ...(repository.objectFormat === 'sha1' ? [] : ['[extensions]', `\tobjectFormat = ${repository.objectFormat}`]),
    '',
  ].join('\n');
}

const quoted = (value: string): string => `"${value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;

async function excludesOf({ commonDirectory }: Repository): Promise<Buffer> {
  return readFile(join(commonDirectory, 'info', 'exclude')).catch(() => Buffer.alloc(0));
}

/** Relative to the top, of those that lie in the tree, by their names or in truth. */
export async function waysInside({ directory }: Repository, paths: readonly string[]): Promise<readonly string[]> {
  const top = await realOf(directory);
  const ways = await Promise.all(
    paths.map(async path => [
      relative(directory, path),
      relative(top, await realOf(path)),
      relative(top, join(await realOf(dirname(path)), basename(path))),
    ]),
  );
  return [...new Set(ways.flat())].filter(way => way !== '' && !isAbsolute(way) && way.split(sep)[0] !== '..');
}

async function put(path: string, bytes: Buffer): Promise<void> {
  const old = await readFile(path).catch(() => undefined);
  if (old?.equals(bytes)) return;
  await writeFile(`${path}.new`, bytes);
  await rename(`${path}.new`, path);
}
