// Calls of git: no setting of the repository or the user may run a program, ask, page or take a lock in them.
import { rm } from 'node:fs/promises';
import { type Answering, openAnswering, type Spoken } from '../processes/answering.ts';
import { type Collected, type CollectOrder, collect } from '../processes/run-detached.ts';
import type { Span } from './checkpoints.ts';
import { byPath, listOf, pathsOf, printable, toInput } from './paths.ts';
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

export interface GitOptions extends Partial<Pick<CollectOrder, 'input' | 'timeMsMax' | 'bytesMax'>> {
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

export const git = (place: GitPlace, args: readonly string[], options: GitOptions = {}): Promise<Collected> =>
  run(place, 'git', args, options);

/** A shell that calls git several times, all as `git` above would: for chains whose every start we would wait for. */
export const gitShell = (place: GitPlace, script: string, options: GitOptions): Promise<Collected> =>
  run(place, 'sh', ['-c', script], options);

/** The same place, with another index than its own. */
export const withIndex = (place: GitPlace, index: string): GitPlace => ({
  ...place,
  variables: { ...place.variables, GIT_INDEX_FILE: index },
});

/** With an empty index, whatever an earlier git left there. */
export async function freshIndex(place: GitPlace, index: string): Promise<GitPlace> {
  await Promise.all([rm(index, { force: true }), rm(`${index}.lock`, { force: true })]);
  return withIndex(place, index);
}

function run(place: GitPlace, command: string, args: readonly string[], options: GitOptions): Promise<Collected> {
  const { variables: more, ...limits } = options;
  const environment = { ...environmentOf(place), ...more };
  return collect({ command, args, directory: place.directory, environment, timeMsMax: minute, ...limits });
}

const environmentOf = (place: GitPlace): Readonly<Record<string, string>> => ({
  ...place.environment,
  ...variables,
  ...settingVariables(place),
  ...place.variables,
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
    const command = args.find(one => !one.startsWith('-')) ?? '';
    return refuse(`git ${command} failed: ${printable(complaint(answer)).replace(/\.$/, '')}.`);
  }
  return { ok: true, text: answer.output.toString('utf8').trimEnd(), output: answer.output };
}

/** The full name of what a revision means; empty when there is no such thing. */
export async function revision(place: GitPlace, name: string): Promise<string> {
  const found = await git(place, ['rev-parse', '--quiet', '--verify', '--end-of-options', name]);
  return found.code === 0 ? found.output.toString('utf8').trim() : '';
}

/** Settings whose names match a pattern; one without a value is `true`. */
export async function settingsLike(place: GitPlace, pattern: string, ...flags: readonly string[]) {
  const found = await git(place, ['config', ...flags, '-z', '--get-regexp', pattern]);
  return new Map(
    listOf(found).map(one => {
      const at = one.indexOf('\n');
      return at === -1 ? [one, 'true'] : [one.slice(0, at), one.slice(at + 1)];
    }),
  );
}

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

type Differing = { readonly ok: true; readonly all: readonly Difference[] } | Refusal;

/** Where objects are read: HEAD means that of this working tree. */
export interface ObjectPlace extends GitPlace {
  readonly gitDirectory: string;
  readonly objectFormat: string;
}

interface GitObject {
  readonly ok: true;
  /** Its full name. */
  readonly name: string;
  readonly type: string;
  /** Undefined: larger than was asked for. */
  readonly content: Buffer | undefined;
}

/** A git for each repository that gives out its objects for as long as we ask. */
const readers = new Map<string, Answering>();

/** It stands outside of the tree: a git that stands in it would look like somebody who holds a lock there. */
function openReader(place: ObjectPlace): Answering {
  const environment = { ...environmentOf(place), GIT_DIR: place.gitDirectory };
  const reader = openAnswering({
    command: 'git',
    args: ['cat-file', '--batch'],
    directory: '/',
    environment,
    timeMsMax: minute,
  });
  for (const [directory, one] of readers) if (!one.isOpen()) readers.delete(directory);
  readers.set(place.gitDirectory, reader);
  return reader;
}

/** What a revision means now. Names of objects and refs alone: no path, which may hold a line break. */
export async function readObject(
  place: ObjectPlace,
  revision: string,
  bytesMax = 1_000_000_000,
): Promise<GitObject | Unread> {
  if (revision.includes('\n')) return unread('a name holds a line break', true); // it would be two questions
  const read = (spoken: Spoken) => readAnswer(spoken, bytesMax);
  const before = readers.get(place.gitDirectory);
  const answer = await before?.ask(`${revision}\n`, read);
  if (answer !== undefined) return answer;
  const now = readers.get(place.gitDirectory); // it was ended meanwhile, and another call may have opened a new one
  const reader = now === before || now === undefined ? openReader(place) : now;
  return (await reader.ask(`${revision}\n`, read)) ?? unread(reader.problem(), false);
}

/** `isMissing`: git is well, and there is no such object. */
type Unread = Refusal & { readonly isMissing: boolean };

const unread = (why: string, isMissing: boolean): Unread => ({
  ...refuse(`git cat-file failed: ${printable(complaint({ errors: why, code: null }))}.`),
  isMissing,
});

async function readAnswer(spoken: Spoken, bytesMax: number): Promise<GitObject | Unread> {
  const line = await spoken.line();
  const [, name, type, length] = /^([0-9a-f]+) ([a-z]+) (\d+)$/.exec(line) ?? [];
  if (name === undefined || type === undefined) return unread(line, line.endsWith(' missing'));
  const bytes = Number(length);
  const content = bytes > bytesMax ? undefined : await spoken.bytes(bytes);
  await spoken.skip((content === undefined ? bytes : 0) + '\n'.length);
  return { ok: true, name, type, content };
}

export const treeMode = '040000';

type Entries = { readonly ok: true; readonly name: string; readonly entries: ReadonlyMap<string, Entry> };

/** What lies directly in a tree, by name. */
export async function readTree(place: ObjectPlace, revision: string): Promise<Entries | Refusal> {
  const found = await readObject(place, revision);
  if (!found.ok) return found;
  const { content = Buffer.alloc(0), name } = found;
  const entries = new Map<string, Entry>();
  const idLength = name.length / 2;
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at);
    const end = content.indexOf(0, space);
    const mode = modeOf(Number.parseInt(content.toString('latin1', at, space), 8));
    at = end + 1 + idLength;
    entries.set(content.toString('latin1', space + 1, end), { mode, object: content.toString('hex', end + 1, at) });
  }
  return { ok: true, name, entries };
}

/** Of files, git looks at the exec bit alone; old trees hold others too. */
function modeOf(mode: number): string {
  const kind = mode & 0o170000;
  if (kind === 0o040000) return treeMode;
  if (kind === 0o100000) return mode & 0o100 ? '100755' : '100644';
  return kind === 0o120000 ? '120000' : gitlink;
}

/** Every path on which two trees or commits differ, in their order. */
export async function diffTrees(place: ObjectPlace, { from, to }: Span): Promise<Differing> {
  const root = (revision: string): Entry => ({ mode: treeMode, object: `${revision}^{tree}` });
  const all: Difference[] = [];
  const refused = await compare(place, { path: '', from: root(from), to: root(to) }, all);
  return refused ?? { ok: true, all: all.sort((one, other) => byPath(one.path, other.path)) };
}

async function compare(place: ObjectPlace, pair: Difference, into: Difference[]): Promise<Refusal | undefined> {
  const { path, from, to } = pair;
  if (from?.object === to?.object && from?.mode === to?.mode) return undefined;
  const leaf = (entry: Entry | undefined) => (entry?.mode === treeMode ? undefined : entry);
  if (leaf(from) || leaf(to)) into.push({ path, from: leaf(from), to: leaf(to) });
  const [before, after] = [await entriesOf(place, from), await entriesOf(place, to)];
  if (!before.ok) return before;
  if (!after.ok) return after;
  for (const name of new Set([...before.entries.keys(), ...after.entries.keys()])) {
    const inside = path === '' ? name : `${path}/${name}`;
    const both = { path: inside, from: before.entries.get(name), to: after.entries.get(name) };
    const refused = await compare(place, both, into);
    if (refused !== undefined) return refused;
  }
  return undefined;
}

const none: Entries = { ok: true, name: '', entries: new Map() };

const entriesOf = async (place: ObjectPlace, entry: Entry | undefined): Promise<Entries | Refusal> =>
  entry?.mode === treeMode ? readTree(place, entry.object) : none;

const raw = ['-r', '-z', '--raw', '--no-renames', '--no-abbrev', '--no-ext-diff', '--ignore-submodules=none'];

/** Every path on which the index differs from a commit; an entry that is only announced (`add -N`) is none yet. */
export const diffIndex = async (place: GitPlace, commit: string): Promise<Differing> =>
  differencesIn(await ask(place, ['diff-index', '--cached', '--ita-invisible-in-index', ...raw, commit]));

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

const indexInfo = ['update-index', '-z', '--index-info'];
const infoOf = ({ mode, object, path }: IndexEntry): string => `${mode} ${object}\t${path}`;

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
}

export const listIndex = (place: GitPlace): Promise<Collected> => git(place, ['ls-files', '-s', '-t', '-z']);

/** Of `listIndex`, whose lines are `TAG MODE OBJECT STAGE<tab>PATH`. */
export const indexRows = (listed: Pick<Collected, 'output'>): readonly IndexRow[] =>
  pathsOf(listed).map(line => {
    const tab = line.indexOf('\t');
    const [tag, mode = '', object = ''] = line.slice(0, tab).split(' ');
    return { path: line.slice(tab + 1), mode, object, isSparse: tag === 'S' };
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
