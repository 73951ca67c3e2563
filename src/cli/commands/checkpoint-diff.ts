// `ralph checkpoint diff`: what changed between two checkpoints, or since the one before.
import { type CheckpointedLoop, presentRow } from '../../app/restore.ts';
import type { CheckpointRow } from '../../views/checkpoints.ts';
import { checkpointsOf, type PatchSpan, printPatch, timeWords } from '../checkpoints.ts';
import type { Context, Flags, Words } from '../context.ts';

/** `1..4`. */
export const spanPattern = /^(\d{1,9})\.\.(\d{1,9})$/;

export function spanBetween(loop: CheckpointedLoop, from: string | number, to: string | number): PatchSpan {
  const [older, newer] = [presentRow(loop, from), presentRow(loop, to)];
  const words = [older, newer].map(({ number, at }) => `${number} (${timeWords(at)})`).join(' to ');
  return { from: older.commit, to: newer.commit, words: `checkpoint ${words}` };
}

/** A fork's checkpoint stands on the commit that the fork was made from. */
export function spanOf(loop: CheckpointedLoop, row: CheckpointRow): PatchSpan {
  if (row.isFork) return { from: `${row.commit}^`, to: row.commit, words: `what checkpoint ${row.number} adds` };
  const { list, missing, pruned } = loop;
  const isThere = ({ number }: CheckpointRow): boolean => !missing.has(number) && !pruned.has(number);
  const before = list.rows.filter(one => !one.isFork && one.number < row.number && isThere(one)).at(-1);
  return spanBetween(loop, before?.number ?? row.number, row.number);
}

export async function execute(context: Context, [which = '', name]: Words, flags: Flags): Promise<number> {
  const loop = await checkpointsOf(context, name);
  const [, from, to] = spanPattern.exec(which) ?? [];
  const isPair = from !== undefined && to !== undefined;
  return printPatch(context, loop, isPair ? spanBetween(loop, from, to) : spanOf(loop, presentRow(loop, which)), flags);
}
