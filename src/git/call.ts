// Calls of git: no setting of the repository or the user may run a program, ask, page or take a lock in them.
import { rm } from 'node:fs/promises';
import { type Answering, type AnsweringOrder, openAnswering } from '../processes/answering.ts';
import { shell } from '../processes/contain.ts';
import { type Collected, type CollectOrder, collect } from '../processes/run-detached.ts';
import { collectInShell } from '../processes/shells.ts';
import { listOf, pathsOf, printable, toInput } from './paths.ts';
import { type Done, type Refusal, refuse } from './refusal.ts';

export type Setting = readonly [name: string, value: string];

/** Where and as whom git is called. */
export interface GitPlace {
  /** The working tree, or any folder in it. */
  readonly directory: string;
  /** PATH, HOME and XDG_CONFIG_HOME of the user, from which git takes its settings; nothing else. */
  readonly environment: Readonly<Record<string, string>>;
  /** More settings for every call here, stronger than all files: content filters are switched off by these. */
  readonly settings?: readonly Setting[];
  /** GIT_INDEX_FILE, GIT_DIR and the like. */
  readonly variables?: Readonly<Record<string, string>>;
}

export interface GitOptions extends Partial<Pick<CollectOrder, 'input' | 'timeMsMax' | 'bytesMax' | 'signal'>> {
  /** For this call alone. */
  readonly variables?: GitPlace['variables'];
}

const minute = 60_000;

/** Hooks, the file system monitor, pagers, prompts, signing, maintenance and helpers: all off (B88). */
const settings: readonly Setting[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.untrackedCache', 'false'],
  ['core.pager', 'cat'],
  ['core.editor', 'true'],
  ['core.sshCommand', 'false'],
  ['core.askPass', 'true'],
  ['core.quotePath', 'false'],
  ['credential.helper', ''],
  ['commit.gpgSign', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['submodule.recurse', 'false'],
  ['protocol.allow', 'never'],
  ['diff.external', ''],
  ['log.showSignature', 'false'],
  ['i18n.commitEncoding', 'UTF-8'],
  ['core.alternateRefsCommand', 'false'],
];

const variables: Readonly<Record<string, string>> = {
  GIT_LITERAL_PATHSPECS: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_PAGER: 'cat',
  GIT_EDITOR: 'true',
  GIT_ASKPASS: 'true',
  SSH_ASKPASS: 'true',
  LC_ALL: 'C',
};

export async function git(place: GitPlace, args: readonly string[], options: GitOptions = {}): Promise<Collected> {
  const { variables: more, bytesMax, ...limits } = options;
  const [environment, own] = [environmentOf(place), { ...place.variables, ...more }];
  const order = { command: 'git', args, directory: place.directory, timeMsMax: minute, ...limits };
  if (bytesMax === undefined) return collectInShell({ ...order, environment, variables: own });
  return collect({ ...order, bytesMax, environment: { ...environment, ...own } });
}

const hour = 3_600_000;

/**
 * One that stays open and answers. It stands outside of the tree: a git that stands in it would look like somebody who
 * holds a lock there.
 */
export const openGit = (
  place: GitPlace,
  args: readonly string[],
  more: Pick<AnsweringOrder, 'files' | 'onEnd'>,
): Answering => {
  const environment = { ...environmentOf(place), ...place.variables };
  return openAnswering({ ...more, command: 'git', args, directory: '/', environment, idleMsMax: hour });
};

/** Several gits, one after the other, all as `git` above would call them; code 127 where there is none. */
export const gitScript = (
  place: GitPlace,
  script: string,
  limits: Pick<GitOptions, 'input' | 'timeMsMax'> = {},
): Promise<Collected> =>
  collectInShell({
    ...{ command: shell, args: ['-c', script], directory: place.directory, timeMsMax: minute },
    ...{ environment: environmentOf(place), variables: place.variables ?? {}, ...limits },
  });

/** Folders with all that is in them, by one program: file by file it would keep us busy. What it leaves is removed by us. */
export async function removeFolders({ environment }: GitPlace, paths: readonly string[]): Promise<void> {
  await collectInShell({
    command: 'rm',
    args: ['-rf', '--', ...paths],
    directory: '/',
    environment,
    timeMsMax: minute,
  });
  for (const path of paths) await rm(path, { recursive: true, force: true }).catch(() => {});
}

/** A shell of its own that calls git several times, all as `git` above would. */
export const gitShell = (place: GitPlace, script: string, options: GitOptions): Promise<Collected> => {
  const { variables: more, ...limits } = options;
  const environment = { ...environmentOf(place), ...place.variables, ...more };
  const order = { command: shell, args: ['-c', script], directory: place.directory, environment };
  return collect({ ...order, timeMsMax: minute, ...limits });
};

/** The same place, with another index than its own. */
export const withIndex = (place: GitPlace, index: string): GitPlace => ({
  ...place,
  variables: { ...place.variables, GIT_INDEX_FILE: index },
});

/** The same place, where the filters run that the user has configured: files become what `git add` makes of them. */
export const withFilters = ({ settings: _off, ...place }: GitPlace): GitPlace => place;

/** With an empty index, whatever an earlier git left there. */
export async function freshIndex(place: GitPlace, index: string): Promise<GitPlace> {
  await Promise.all([rm(index, { force: true }), rm(`${index}.lock`, { force: true })]);
  return withIndex(place, index);
}

/** Of every call here, but for what is set for one alone. */
const environmentOf = (place: GitPlace): Readonly<Record<string, string>> => ({
  ...place.environment,
  ...variables,
  ...settingVariables(place),
});

/** Stronger than every file. Names may hold any character, `=` too, which `-c` could not say. */
function settingVariables({ settings: more = [] }: GitPlace): Readonly<Record<string, string>> {
  const all = [...settings, ...more];
  const pairs = all.flatMap(([name, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, name],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(all.length), ...Object.fromEntries(pairs) };
}

/** The line in which git complained, without its `fatal: `. */
export function complaint({ errors, code }: Pick<Collected, 'errors' | 'code'>): string {
  const lines = errors.trim().split('\n');
  const said = lines.find(line => /^(fatal|error): /.test(line)) || lines.at(-1) || `exit code ${code}`;
  return said.replace(/^(fatal|error): /, '');
}

export interface Answer {
  readonly ok: true;
  readonly text: string;
  readonly output: Buffer;
}

/** What git answers, or one sentence about why there is no answer. */
export async function ask(
  place: GitPlace,
  args: readonly string[],
  options: GitOptions = {},
): Promise<Answer | Refusal> {
  const answer = await git(place, args, options);
  if (answer.code !== 0) {
    const command = args.find((one, at) => !one.startsWith('-') && args[at - 1] !== '-c') ?? '';
    return refuse(`git ${command} failed: ${printable(complaint(answer)).replace(/\.$/, '')}.`);
  }
  return { ok: true, text: answer.output.toString('utf8').trimEnd(), output: answer.output };
}

/** Settings whose names match a pattern; one without a value is `true`. */
export const settingsLike = async (place: GitPlace, pattern: string): Promise<ReadonlyMap<string, string>> =>
  settingsIn(await git(place, ['config', '-z', '--get-regexp', pattern]));

export const settingsIn = (found: Pick<Collected, 'output'>): ReadonlyMap<string, string> =>
  new Map(
    listOf(found).map(one => {
      const at = one.indexOf('\n');
      return at === -1 ? [one, 'true'] : [one.slice(0, at), one.slice(at + 1)];
    }),
  );

export interface Entry {
  /** `100644`, `100755`, `120000` (a link) or `160000` (a repository of its own). */
  readonly mode: string;
  readonly object: string;
}

export const gitlink = '160000';

/** Undefined where the path is not there. Paths have one character per byte. */
export interface Difference {
  readonly path: string;
  readonly from: Entry | undefined;
  readonly to: Entry | undefined;
}

export type Differing = { readonly ok: true; readonly all: readonly Difference[] } | Refusal;

const raw = ['-r', '-z', '--raw', '--no-renames', '--no-abbrev', '--no-ext-diff', '--ignore-submodules=none'];

/** Every path on which the index differs from a commit; an entry that is only announced (`add -N`) is none yet. */
export const diffIndex = async (place: GitPlace, commit: string): Promise<Differing> =>
  differencesIn(await ask(place, ['diff-index', '--cached', '--ita-invisible-in-index', ...raw, commit, '--']));

function differencesIn(answer: Answer | Refusal): Differing {
  if (!answer.ok) return answer;
  const fields = pathsOf(answer);
  const all: Difference[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [fromMode = '', toMode = '', fromObject = '', toObject = ''] = fields[at]!.slice(1).split(' ');
    all.push({ path: fields[at + 1]!, from: entry(fromMode, fromObject), to: entry(toMode, toObject) });
  }
  return { ok: true, all };
}

const entry = (mode: string, object: string): Entry | undefined => (/^0+$/.test(mode) ? undefined : { mode, object });

export const indexInfo = ['update-index', '-z', '--index-info'];
export const infoOf = ({ mode, object, path }: IndexEntry): string => `${mode} ${object}\t${path}`;

/** Brings entries of the index from one side of differences to the other. */
export async function updateIndex(place: GitPlace, changes: readonly Difference[]): Promise<Done> {
  if (changes.length === 0) return { ok: true };
  const absent = (from: Entry): Entry => ({ mode: '0', object: '0'.repeat(from.object.length) });
  const lines = changes.map(({ path, from, to = absent(from!) }) => infoOf({ ...to, path }));
  return ask(place, indexInfo, { input: toInput(lines) });
}

export const setEntries = (place: GitPlace, entries: readonly IndexEntry[]): Promise<Collected> =>
  git(place, indexInfo, { input: toInput(entries.map(infoOf)) });

interface IndexEntry extends Entry {
  readonly path: string;
}

export interface IndexRow extends IndexEntry {
  /** The user told git that this file need not be on disk. */
  readonly isSparse: boolean;
  /** That, or they told it not to look at this file (assume-unchanged): it cannot say whether it changed. */
  readonly isHidden: boolean;
}

export const listIndex = (place: GitPlace): Promise<Collected> =>
  git(place, [...unwatched, 'ls-files', '-s', '-v', '-z']);

/** For calls before the version of git is known: an old one does not hear our settings. */
export const unwatched = ['-c', 'core.fsmonitor=false'] as const;

/** Of `listIndex`, whose lines are `TAG MODE OBJECT STAGE<tab>PATH`; a small letter: git shall take it for unchanged. */
export const indexRows = (listed: Pick<Collected, 'output'>): readonly IndexRow[] =>
  pathsOf(listed).map(line => {
    const tab = line.indexOf('\t');
    const [tag, mode = '', object = ''] = line.slice(0, tab).split(' ');
    return {
      path: line.slice(tab + 1),
      mode,
      object,
      isSparse: tag === 'S' || tag === 's',
      isHidden: /^[a-zS]/.test(line),
    };
  });

/** Entries that an index holds although their files need not be on disk, by path. */
export const sparseRows = async (place: GitPlace): Promise<ReadonlyMap<string, IndexRow>> =>
  new Map(indexRows(await listIndex(place)).flatMap(row => (row.isSparse ? [[row.path, row] as const] : [])));

/** One line for each object, in the format of `cat-file`; `NAME missing` where there is none. */
export async function objectLines(place: GitPlace, format: string, names: readonly string[]): Promise<string[]> {
  const input = names.map(name => `${name}\n`).join('');
  const found = await git(place, ['cat-file', `--batch-check=${format}`], { input });
  return found.output.toString('latin1').trimEnd().split('\n');
}

/** Those of the paths that git ignores; undefined when it cannot say. */
export async function ignoredAmong(
  place: GitPlace,
  paths: readonly string[],
): Promise<ReadonlySet<string> | undefined> {
  if (paths.length === 0) return new Set();
  // This one command refuses literal paths; a path that begins with `./` has no magic in it.
  const found = await git(place, ['check-ignore', '-z', '--stdin'], {
    variables: { GIT_LITERAL_PATHSPECS: '0' },
    input: toInput(paths.map(path => `./${path}`)),
  });
  if (found.code !== 0 && found.code !== 1) return undefined;
  return new Set(pathsOf(found).map(path => path.slice('./'.length)));
}

/** Those of the paths that stand behind a filter, such as LFS. */
export async function filteredAmong(place: GitPlace, paths: readonly string[]) {
  if (paths.length === 0) return { ok: true as const, paths: new Set<string>() };
  const found = await ask(place, ['check-attr', '-z', '--stdin', 'filter'], { input: toInput(paths) });
  if (!found.ok) return found;
  const fields = pathsOf(found);
  const isFiltered = (at: number): boolean => !['unspecified', 'unset', undefined].includes(fields[at + 2]);
  return { ok: true as const, paths: new Set(fields.filter((_, at) => at % 3 === 0 && isFiltered(at))) };
}
