// Refs of checkpoints and of notes in the user's repository: their names, repair and removal, and the ledger heads they anchor.
import { Bug } from '../../text/errors.ts';
import { ask, complaint, type GitPlace, git, objectLines } from '../call.ts';
import type { KnownCheckpoint, Repaired } from '../checkpoints.ts';
import type { Person } from '../objects.ts';
import { safeName } from '../paths.ts';
import { type Refusal, refuse } from '../refusal.ts';

/** Who makes checkpoints, and commits where the user's settings name nobody. */
export const ralph: Person = { name: 'Ralph', email: 'ralph@localhost' };

/** What a checkpoint's commit says of the ledger: the sequence and hash of its last event then. */
export const anchorTrailer = 'Ralph-Ledger';

export const refOf = (loop: string, number: number): string => `${folderOf(loop)}/${number}`;

const noteRefOf = (loop: string): string => `refs/notes/ralph/${checked(loop)}`;

const folderOf = (loop: string): string => `refs/ralph/${checked(loop)}`;

function checked(loop: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(loop)) throw new Bug(`not a name for refs: ${JSON.stringify(loop)}`);
  return loop;
}

/** Of notes, which earlier releases made. */
const noteWriter = {
  ...{ GIT_AUTHOR_NAME: ralph.name, GIT_AUTHOR_EMAIL: ralph.email },
  ...{ GIT_COMMITTER_NAME: ralph.name, GIT_COMMITTER_EMAIL: ralph.email },
};

/** Old checkpoints stand behind this one ref (ADR 38). */
export const archiveOf = (loop: string): string => `${folderOf(loop)}/archive`;

/** What the refs of a loop point to. */
interface LoopRefs {
  /** Checkpoints that have a ref of their own, by number. */
  readonly own: ReadonlyMap<number, string>;
  /** Empty when there is none; the same for the notes. */
  readonly archive: string;
  readonly notes: string;
}

export async function refsIn(place: GitPlace, loop: string): Promise<LoopRefs> {
  const [folder, noteRef] = [folderOf(loop), noteRefOf(loop)];
  const found = await git(place, ['for-each-ref', '--format=%(refname) %(objectname)', `${folder}/`, noteRef]);
  const rows = found.output.toString('latin1').trim().split('\n');
  const all = new Map(rows.map(row => row.split(' ') as [string, string]));
  const own = [...all].flatMap(([ref, commit]) => {
    const number = ref.slice(folder.length + 1);
    return ref.startsWith(`${folder}/`) && /^\d+$/.test(number) ? [[Number(number), commit] as const] : [];
  });
  return { own: new Map(own), archive: all.get(archiveOf(loop)) ?? '', notes: all.get(noteRef) ?? '' };
}

/** The checkpoints behind the archive's ref, by number; undefined when they cannot be read. */
export async function archivedIn(place: GitPlace, archive: string): Promise<ReadonlyMap<number, string> | undefined> {
  if (archive === '') return new Map();
  const read = await git(place, ['rev-list', '--first-parent', '--format=%P%x09%b', archive, '--']);
  if (read.code !== 0) return undefined;
  const rows = read.output.toString('latin1').matchAll(/^([0-9a-f ]*)\t([\d ]*)$/gm);
  const pairs = [...rows].flatMap(([, parents = '', numbers = '']) => {
    const commits = parents.split(' ').slice(1);
    return numbers === '' ? [] : numbers.split(' ').map((number, at) => [Number(number), commits[at]!] as const);
  });
  return new Map(pairs.reverse()); // oldest first, so that of two with one number the later holds
}

interface ArchiveOrder {
  /** The archive that this one goes on; empty for a new one. */
  readonly previous: string;
  readonly checkpoints: ReadonlyMap<number, string>;
  /** Held too, so that whoever packs knows how far the notes are done; they keep all of their history anyway. */
  readonly notes: string;
}

/**
 * A commit whose parents are the archive before it and these checkpoints, with their numbers in its message. Nothing points
 * to it yet. The first of all has no checkpoints: who follows first parents must not come into the user's own history.
 */
export async function makeArchive(place: GitPlace, { previous, checkpoints, notes }: ArchiveOrder) {
  const who = `${ralph.name} <${ralph.email}> ${Math.floor(Date.now() / 1_000)} +0000`;
  const durable = ['-c', 'core.fsync=committed,loose-object']; // old checkpoints hang on it
  const write = (type: 'tree' | 'commit', input: string) =>
    ask(place, [...durable, 'hash-object', '-t', type, '-w', '--stdin'], { input });
  const commit = (tree: string, parents: readonly string[], numbers: string) => {
    const head = [`tree ${tree}`, ...parents.map(one => `parent ${one}`), `author ${who}`, `committer ${who}`];
    return write('commit', `${head.join('\n')}\n\nArchived checkpoints of Ralph\n\n${numbers}\n`);
  };
  const tree = await write('tree', '');
  if (!tree.ok) return tree;
  const first = previous === '' ? await commit(tree.text, [], '') : { ok: true as const, text: previous };
  if (!first.ok) return first;
  const last = notes === '' ? [] : [notes];
  return commit(tree.text, [first.text, ...checkpoints.values(), ...last], [...checkpoints.keys()].join(' '));
}

/**
 * The ledger is the truth: a checkpoint that it knows gets its ref (F05), unless the archive holds it. A ref that it does
 * not know (F06) stays: the next checkpoint has the same number, because numbers are counted by the ledger, and takes its
 * place.
 */
export async function repairRefs(place: GitPlace, loop: string, known: readonly KnownCheckpoint[]): Promise<Repaired> {
  const { own, archive } = await refsIn(place, loop);
  const once = [...new Map(known.map(one => [one.number, one])).values()]; // git refuses to set a ref twice
  const unheld = once.filter(({ number, commit }) => own.get(number) !== commit);
  if (unheld.length === 0) return { did: [], missing: [] };
  const archived = new Set((await archivedIn(place, archive))?.values());
  const lost = unheld.filter(({ number, commit }) => own.has(number) || !archived.has(commit));
  if (lost.length === 0) return { did: [], missing: [] };
  const missing = await missingOf(place, lost);
  const found = lost.filter(({ number }) => !missing.includes(number));
  if (found.length === 0) return { did: [], missing };
  const orders = found.map(({ number, commit }) => `update ${refOf(loop, number)} ${commit}\n`).join('');
  const made = await git(place, ['update-ref', '--stdin'], { input: orders });
  if (made.code !== 0) return { did: [`could not make refs anew: ${complaint(made)}`], missing };
  return { did: [`made the refs of ${found.length} checkpoints anew`], missing };
}

/** Their commits are gone: nothing can bring these back. */
export async function missingOf(place: GitPlace, known: readonly KnownCheckpoint[]): Promise<readonly number[]> {
  if (known.length === 0) return [];
  const commits = known.map(({ commit }) => `${commit}^{commit}`);
  const found = await objectLines(place, '%(objectname)', commits);
  return known.filter(({ commit }, at) => found[at] !== commit).map(({ number }) => number);
}

export interface PruneOrder {
  /** So many of the newest stay. */
  readonly keep: number;
  /** These stay too: the last good one, and what the caller still needs. */
  readonly good?: readonly number[];
}

export type Pruned = { readonly ok: true; readonly removed: readonly number[] } | Refusal;

/**
 * Removes old refs and notes, but the first and the newest always stay. An archive with some of them is made anew without
 * these. The user's git frees the space when it next tidies up.
 */
export async function prune(place: GitPlace, loop: string, { keep, good = [] }: PruneOrder): Promise<Pruned> {
  const { own, archive, notes } = await refsIn(place, loop);
  const archived = await archivedIn(place, archive);
  if (archived === undefined) return refuse(unreadable(loop));
  const all = new Map([...archived, ...own]);
  const numbers = [...all.keys()].sort((one, other) => one - other);
  const stays = new Set([...numbers.slice(0, 1), ...numbers.slice(-Math.max(1, keep)), ...good]);
  const removed = numbers.filter(number => !stays.has(number));
  if (removed.length === 0) return { ok: true, removed };
  const orders = removed.filter(number => own.has(number)).map(one => `delete ${refOf(loop, one)} ${own.get(one)}\n`);
  if (removed.some(number => archived.has(number))) {
    const checkpoints = new Map([...archived].filter(([number]) => stays.has(number)));
    const made = await makeArchive(place, { previous: '', checkpoints, notes });
    if (!made.ok) return refuse(`The checkpoints cannot be removed: ${made.problem}`);
    orders.push(`update ${archiveOf(loop)} ${made.text} ${archive}\n`);
  }
  const done = await git(place, ['update-ref', '--stdin'], { input: orders.join('') });
  if (done.code !== 0) return refuse(`The checkpoints cannot be removed: ${complaint(done)}.`);
  const commits = removed.map(number => `${all.get(number)}\n`).join('');
  // A note without its commit is only a little waste, so this may fail.
  await git(place, ['notes', `--ref=${noteRefOf(loop)}`, 'remove', '--ignore-missing', '--stdin'], {
    input: commits,
    variables: noteWriter,
  });
  return { ok: true, removed };
}

/** Every ref that the loop has here but its branch: checkpoints, forks, notes. Twice = once; gives how many there were. */
export async function removeRefs(place: GitPlace, loop: string): Promise<{ ok: true; removed: number } | Refusal> {
  const forks = `refs/ralph/forks/${safeName(loop)}/`;
  const found = await ask(place, [
    'for-each-ref',
    '--format=delete %(refname)',
    `${folderOf(loop)}/`,
    forks,
    noteRefOf(loop),
  ]);
  if (!found.ok || found.text === '') return found.ok ? { ok: true, removed: 0 } : found;
  const done = await ask(place, ['update-ref', '--stdin'], { input: `${found.text}\n` });
  return done.ok ? { ok: true, removed: found.text.split('\n').length } : done;
}

export const unreadable = (loop: string): string =>
  `Old checkpoints behind ${archiveOf(loop)} cannot be read: look what git fsck says.`;

/** Which ref holds a checkpoint now. */
export async function holdersIn(place: GitPlace, loop: string): Promise<(number: number) => string> {
  const { own, archive } = await refsIn(place, loop);
  return number => (own.has(number) || archive === '' ? refOf(loop, number) : archiveOf(loop));
}

/** A head of the ledger that a checkpoint anchored in git: a rewritten ledger does not fit it any more. */
export interface Anchor {
  readonly sequence: number;
  readonly hash: string;
}

/** In order of sequence; empty where there is no repository or no checkpoint. Earlier releases wrote them into notes. */
export async function anchorsIn(place: GitPlace, loop: string): Promise<readonly Anchor[]> {
  const { own, archive } = await refsIn(place, loop);
  const commits = new Set([...own.values(), ...((await archivedIn(place, archive))?.values() ?? [])]);
  const listed = await git(place, ['notes', `--ref=${noteRefOf(loop)}`, 'list']);
  const rows = listed.code === 0 ? listed.output.toString('latin1').trim().split('\n') : [];
  const notes = rows.flatMap(row => (row === '' ? [] : [row.split(' ')[0]!]));
  const read = await git(place, ['cat-file', '--batch'], { input: [...commits, ...notes, ''].join('\n') });
  return objectsOf(read.output)
    .flatMap(text => {
      const f = anchorPattern.exec(text);
      return f === null ? [] : [f];
    })
    .map(([, sequence = '', hash = '']) => ({ sequence: Number(sequence), hash }))
    .sort((one, other) => one.sequence - other.sequence);
}

/** The last line, so that no label of a person's can stand for it. */
const anchorPattern = new RegExp(`(?:^|\\n${anchorTrailer}: )(\\d{1,15}) ([0-9a-f]{64})\\n?$`);

/** Of `cat-file --batch`: a line with the length, then the content, then a line break. */
function objectsOf(output: Buffer): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(10, at);
    const bytes = /^[0-9a-f]+ [a-z]+ (\d+)$/.exec(output.toString('latin1', at, end))?.[1];
    at = end + 1;
    if (end === -1) break;
    if (bytes === undefined) continue; // it is missing
    found.push(output.toString('latin1', at, at + Number(bytes)));
    at += Number(bytes) + 1;
  }
  return found;
}
