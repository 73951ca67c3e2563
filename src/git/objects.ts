// Objects and refs through gits that stay open for as long as we ask: they give out and take objects, and move refs.
import { closeSync } from 'node:fs';
import type { Answering, Question, Spoken } from '../processes/answering.ts';
import { replaceContent, unnamedFile } from '../processes/shells.ts';
import {
  ask,
  complaint,
  type Difference,
  type Differing,
  type Entry,
  type GitPlace,
  gitlink,
  openGit,
} from './call.ts';
import type { Span } from './checkpoints.ts';
import { byPath, printable } from './paths.ts';
import { type Refusal, refuse } from './refusal.ts';

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

/** Those that stay open, each for one repository. */
const standing = {
  objects: ['cat-file', '--batch'],
  blobs: ['hash-object', '-w', '--no-filters', '--stdin-paths'],
  trees: ['mktree', '-z', '--missing', '--batch'],
  commits: ['hash-object', '-t', 'commit', '-w', '--stdin-paths'],
  refs: ['update-ref', '-m', 'ralph', '--stdin'],
} as const;

interface Standing {
  readonly answering: Answering;
  /** Only of `commits`: a file without a name, 3 to git, which reads it anew for each line. */
  readonly input?: number;
}

const opened = new Map<string, Standing>();

function open(kind: keyof typeof standing, place: ObjectPlace): Standing {
  const input = kind === 'commits' ? unnamedFile() : undefined;
  const answering = openGit(
    { ...place, variables: { ...place.variables, GIT_DIR: place.gitDirectory } },
    standing[kind],
    {
      files: input === undefined ? [] : [input],
      onEnd: () => input !== undefined && closeSync(input),
    },
  );
  const made = { answering, input };
  opened.set(`${kind} ${place.gitDirectory}`, made);
  closeOldest();
  return made;
}

/** Of a loop and a few forks; each fork of a parallel task is a repository of its own. */
const openedMax = 20;

function closeOldest(): void {
  for (const [key, { answering }] of opened) {
    const isSpare = opened.size > openedMax && answering.waiting() === 0;
    if (isSpare) answering.close();
    if (isSpare || !answering.isOpen()) opened.delete(key);
  }
}

/** Those that every checkpoint asks, before the first one does. */
export function openAhead(place: ObjectPlace): void {
  for (const kind of ['objects', 'commits', 'refs'] as const)
    if (!opened.has(`${kind} ${place.gitDirectory}`)) open(kind, place);
}

/** A text: why there is no answer. Asked again when the one that was open had ended, so what is asked must bear that. */
async function askStanding<Answer extends object>(
  kind: keyof typeof standing,
  place: ObjectPlace,
  question: (standing: Standing) => Question<Answer>,
): Promise<Answer | string> {
  const key = `${kind} ${place.gitDirectory}`;
  const found = () => opened.get(key);
  const before = found();
  if (before !== undefined) {
    opened.delete(key); // the last one to be asked stands last
    opened.set(key, before);
  }
  const answer = await before?.answering.ask(question(before));
  if (answer !== undefined) return answer;
  const now = found(); // it was ended meanwhile, and another call may have opened a new one
  const next = now === before || now === undefined ? open(kind, place) : now;
  return (await next.answering.ask(question(next))) ?? next.answering.problem();
}

/** What a revision means now. Names of objects and refs alone: no path, which may hold a line break. */
export async function readObject(
  place: ObjectPlace,
  revision: string,
  bytesMax = 1_000_000_000,
): Promise<GitObject | Unread> {
  if (revision.includes('\n')) return unread('a name holds a line break', true); // it would be two questions
  const question = { text: `${revision}\n`, read: (spoken: Spoken) => readAnswer(spoken, bytesMax) };
  const answer = await askStanding('objects', place, () => question);
  return typeof answer === 'string' ? unread(answer, false) : answer;
}

/** The full name of what a revision means; empty when there is no such thing. */
export async function revision(place: ObjectPlace, name: string): Promise<string> {
  const found = await readObject(place, name, 0);
  return found.ok ? found.name : '';
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

const named = async (spoken: Spoken) => ({ name: await spoken.line() });

/**
 * The name of a file's content as it is. Undefined where it cannot be read, or where its path would be read as another one:
 * git takes a carriage return at the end of a line for a part of the line's end.
 */
export async function writeBlob(place: ObjectPlace, path: Buffer): Promise<string | undefined> {
  if (path.includes('\n') || path.includes('\r')) return undefined;
  const answer = await askStanding('blobs', place, () => ({ text: Buffer.concat([path, newline]), read: named }));
  return typeof answer === 'string' ? undefined : answer.name;
}

const newline = Buffer.from('\n');

/** The name of a tree with these entries, whose objects must be there. */
export async function writeTree(place: ObjectPlace, entries: ReadonlyMap<string, Entry>): Promise<string | undefined> {
  const kindOf = (mode: string): string => (mode === treeMode ? 'tree' : mode === gitlink ? 'commit' : 'blob');
  const lines = [...entries].map(([name, { mode, object }]) => `${mode} ${kindOf(mode)} ${object}\t${name}\0`);
  const text = Buffer.from(`${lines.join('')}\0`, 'latin1');
  const answer = await askStanding('trees', place, () => ({ text, read: named }));
  return typeof answer === 'string' ? undefined : answer.name;
}

export interface Person {
  readonly name: string;
  readonly email: string;
}

export interface NewCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: Person;
  readonly committer: Person;
  readonly message: string;
}

/** Its name. Nothing points to it yet. */
export async function writeCommit(place: ObjectPlace, commit: NewCommit, now = new Date()): Promise<Named | Refusal> {
  const time = `${Math.floor(now.getTime() / 1_000)} ${zoneOf(now)}`;
  const lines = [
    `tree ${commit.tree}`,
    ...commit.parents.map(parent => `parent ${parent}`),
    `author ${commit.author.name} <${commit.author.email}> ${time}`,
    `committer ${commit.committer.name} <${commit.committer.email}> ${time}`,
  ];
  const content = `${lines.join('\n')}\n\n${commit.message}`;
  const byProgram = async (): Promise<Named | Refusal> => {
    const made = await ask(place, ['hash-object', '-t', 'commit', '-w', '--stdin'], { input: content });
    return made.ok ? { ok: true, name: made.text } : made;
  };
  if (process.platform !== 'linux') return byProgram();
  try {
    const answer = await askStanding('commits', place, ({ input }) => ({
      text: '/proc/self/fd/3\n',
      before: () => replaceContent(input!, content),
      read: async spoken => ({ ok: true as const, name: await spoken.line() }),
    }));
    return typeof answer === 'string' ? refuse(`git hash-object failed: ${printable(sentenceOf(answer))}.`) : answer;
  } catch {
    return byProgram(); // there is no place for a file without a name
  }
}

type Named = { readonly ok: true; readonly name: string };

/** `+0530`. */
function zoneOf(now: Date): string {
  const minutes = -now.getTimezoneOffset();
  const two = (number: number): string => String(Math.floor(number)).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(Math.abs(minutes) / 60)}${two(Math.abs(minutes) % 60)}`;
}

const sentenceOf = (errors: string): string => complaint({ errors, code: null });

interface RefOrder {
  readonly name: string;
  /** Empty: it goes. */
  readonly to: string;
  /** What it must be until now; zeros when it must not exist. */
  readonly from?: string;
  /** Also where it names another ref, it is itself set. */
  readonly isItself?: boolean;
}

/** Sets a ref, HEAD too, all or nothing. */
export async function writeRef(
  place: ObjectPlace,
  { name, to, from, isItself = false }: RefOrder,
): Promise<{ readonly ok: true } | { readonly ok: false; readonly why: string }> {
  const words = [to === '' ? 'delete' : 'update', name, to, from ?? ''].filter(word => word !== '');
  const option = isItself ? 'option no-deref\n' : '';
  const answer = await askStanding('refs', place, () => ({
    text: `start\n${option}${words.join(' ')}\nprepare\ncommit\n`,
    async read(spoken) {
      for (const step of ['start', 'prepare', 'commit']) {
        const line = await spoken.line();
        if (line !== `${step}: ok`) return { ok: false as const, why: line };
      }
      return { ok: true as const };
    },
  }));
  return typeof answer === 'string' ? { ok: false, why: answer } : answer;
}

export const treeMode = '040000';

type Entries = { readonly ok: true; readonly name: string; readonly entries: ReadonlyMap<string, Entry> };

/** Trees that were read lately, by their names, which say what is in them: each iteration compares the same few. */
const recentTrees = new Map<string, Entries>();
const recentTreesMax = 200;
const recentEntriesMax = 1_000;

/** What lies directly in a tree, by name. */
export async function readTree(place: ObjectPlace, revision: string): Promise<Entries | Refusal> {
  const known = recentTrees.get(revision.replace(/\^\{tree\}$/, ''));
  if (known !== undefined) return known;
  const read = await readTreeObject(place, revision);
  if (!read.ok || read.entries.size > recentEntriesMax) return read;
  recentTrees.set(read.name, read);
  for (const oldest of recentTrees.keys()) if (recentTrees.size > recentTreesMax) recentTrees.delete(oldest);
  return read;
}

async function readTreeObject(place: ObjectPlace, revision: string): Promise<Entries | Refusal> {
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
