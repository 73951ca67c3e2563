// The private git folder of a loop, over the user's files and objects: no setting, filter or lock of the user is in its way.
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { type GitOptions, type GitPlace, gitShell, settingsLike } from './call.ts';
import { realOf } from './disk.ts';
import { fromText } from './paths.ts';
import type { Repository } from './repository.ts';

export interface PrivateGit {
  readonly repository: Repository;
  /** HEAD, config, index, and what else we keep for a loop: `dirty`, `restore.json`. */
  readonly folder: string;
  readonly isPartial: boolean;
  /** Calls in here see the user's files as the private git does. */
  readonly place: GitPlace;
}

/** For a chain of calls: in it, `own` calls the private git, and `git` is in the user's repository. No subshell: each costs. */
export function privateShell({ place }: PrivateGit, script: string, args: readonly string[], options: GitOptions = {}) {
  const { variables: own = {}, ...user } = place;
  const settings = Object.keys(own).map(name => `${name}="$OWN_${name}"`);
  const variables = Object.fromEntries(Object.entries(own).map(([name, value]) => [`OWN_${name}`, value]));
  return gitShell(user, `own() { ${settings.join(' ')} git "$@"; }\n${script}`, args, {
    ...options,
    variables: { ...variables, ...options.variables },
  });
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
  excluded: readonly string[] = [],
  replaced: readonly string[] = [],
): Promise<PrivateGit> {
  const [settings, userExcludes] = await Promise.all([
    settingsOf(repository),
    readFile(join(repository.commonDirectory, 'info', 'exclude'), 'latin1').catch(() => ''),
  ]);
  const literal = (path: string): string => `/${path.replace(/[*?[\\]/g, '\\$&')}`;
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
  return { repository, folder, isPartial, place: placeOf(repository, folder) };
}

function settingsOf(repository: Repository): Promise<ReadonlyMap<string, string>> {
  const exact = [...inherited, 'core.excludesfile', 'extensions.partialclone'].join('|').replaceAll('.', '\\.');
  return settingsLike(repository, `^(${exact}|remote\\..*\\.promisor)$`, '--type=path');
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
