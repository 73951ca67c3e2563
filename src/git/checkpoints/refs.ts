// Refs of checkpoints and of notes in the user's repository: their names, repair and removal, and the ledger heads they anchor.
import { Bug } from '../../text/errors.ts';
import { complaint, type GitPlace, git, objectLines } from '../call.ts';
import type { KnownCheckpoint, Repaired } from '../checkpoints.ts';
import type { Person } from '../objects.ts';
import { type Refusal, refuse } from '../refusal.ts';

/** Who makes checkpoints, and commits where the user's settings name nobody. */
export const ralph: Person = { name: 'Ralph', email: 'ralph@localhost' };

/** What a checkpoint's commit says of the ledger: the sequence and hash of its last event then. */
export const anchorTrailer = 'Ralph-Ledger';

export const refOf = (loop: string, number: number): string => `${folderOf(loop)}/${number}`;

export const noteRefOf = (loop: string): string => `refs/notes/ralph/${checked(loop)}`;

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

/** The loop's checkpoints in this repository, by number. */
async function checkpointRefs(place: GitPlace, loop: string): Promise<ReadonlyMap<number, string>> {
  const folder = folderOf(loop);
  const found = await git(place, ['for-each-ref', '--format=%(objectname) %(refname)', `${folder}/`]);
  const rows = found.output.toString('latin1').trim().split('\n');
  return new Map(
    rows.flatMap(row => {
      const [commit = '', ref = ''] = row.split(' ');
      const number = ref.slice(folder.length + 1);
      return /^\d+$/.test(number) ? [[Number(number), commit] as const] : [];
    }),
  );
}

/**
 * The ledger is the truth: a checkpoint that it knows gets its ref (F05). A ref that it does not know (F06) stays: the
 * next checkpoint has the same number, because numbers are counted by the ledger, and takes its place.
 */
export async function repairRefs(place: GitPlace, loop: string, known: readonly KnownCheckpoint[]): Promise<Repaired> {
  const refs = await checkpointRefs(place, loop);
  const once = [...new Map(known.map(one => [one.number, one])).values()]; // git refuses to set a ref twice
  const lost = once.filter(({ number, commit }) => refs.get(number) !== commit);
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

/** Removes old refs and notes, but the first and the newest always stay. The user's git frees the space when it next tidies up. */
export async function prune(place: GitPlace, loop: string, { keep, good = [] }: PruneOrder): Promise<Pruned> {
  const refs = await checkpointRefs(place, loop);
  const numbers = [...refs.keys()].sort((one, other) => one - other);
  const stays = new Set([...numbers.slice(0, 1), ...numbers.slice(-Math.max(1, keep)), ...good]);
  const removed = numbers.filter(number => !stays.has(number));
  if (removed.length === 0) return { ok: true, removed };
  const orders = removed.map(number => `delete ${refOf(loop, number)} ${refs.get(number)}\n`).join('');
  const done = await git(place, ['update-ref', '--stdin'], { input: orders });
  if (done.code !== 0) return refuse(`The checkpoints cannot be removed: ${complaint(done)}.`);
  const commits = removed.map(number => `${refs.get(number)}\n`).join('');
  // A note without its commit is only a little waste, so this may fail.
  await git(place, ['notes', `--ref=${noteRefOf(loop)}`, 'remove', '--ignore-missing', '--stdin'], {
    input: commits,
    variables: noteWriter,
  });
  return { ok: true, removed };
}

/** A head of the ledger that a checkpoint anchored in git: a rewritten ledger does not fit it any more. */
export interface Anchor {
  readonly sequence: number;
  readonly hash: string;
}

/** In order of sequence; empty where there is no repository or no checkpoint. Earlier releases wrote them into notes. */
export async function anchorsIn(place: GitPlace, loop: string): Promise<readonly Anchor[]> {
  const commits = [...(await checkpointRefs(place, loop)).values()];
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
