// Reads the heads of the ledger that checkpoints anchored in git notes: a rewritten ledger does not fit them any more.
import { type GitPlace, git } from '../call.ts';
import { noteRefOf } from './refs.ts';

export interface Anchor {
  readonly sequence: number;
  readonly hash: string;
}

/** In order of sequence; empty where there is no repository or no note. */
export async function anchorsIn(place: GitPlace, loop: string): Promise<readonly Anchor[]> {
  const listed = await git(place, ['notes', `--ref=${noteRefOf(loop)}`, 'list']);
  if (listed.code !== 0) return [];
  const notes = listed.output.toString('latin1').split('\n');
  const input = notes.flatMap(row => (row === '' ? [] : [`${row.split(' ')[0]}\n`])).join('');
  const read = await git(place, ['cat-file', '--batch=%(objecttype)'], { input });
  const rows = read.output.toString('latin1').matchAll(/^(\d{1,15}) ([0-9a-f]{64})$/gm);
  return [...rows]
    .map(([, sequence = '', hash = '']) => ({ sequence: Number(sequence), hash }))
    .sort((one, other) => one.sequence - other.sequence);
}
