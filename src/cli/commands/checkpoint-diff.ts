// `ralph checkpoint diff`: what changed between two checkpoints, or since the one before.
import type { CheckpointRow } from '../../views/checkpoints.ts';
import { betweenWords, type Kept, keptOf, type PatchSpan, presentRow, printPatch } from '../checkpoints.ts';
import type { Context, Flags, Words } from '../context.ts';

export const spanPattern = /^(\d{1,9})\.\.(\d{1,9})$/;

export function spanBetween({ history }: Kept, from: string | number, to: string | number): PatchSpan {
  const [older, newer] = [presentRow(history, from), presentRow(history, to)];
  return { from: older.commit, to: newer.commit, words: betweenWords(older, newer) };
}

/** A fork's checkpoint stands on the commit that the fork was made from. */
export function spanOf(kept: Kept, row: CheckpointRow): PatchSpan {
  if (row.isFork) return { from: `${row.commit}^`, to: row.commit, words: `what checkpoint ${row.number} adds` };
  const { list, missing, pruned } = kept.history;
  const isThere = ({ number }: CheckpointRow): boolean => !missing.has(number) && !pruned.has(number);
  const before = list.rows.filter(one => !one.isFork && one.number < row.number && isThere(one)).at(-1);
  return spanBetween(kept, before?.number ?? row.number, row.number);
}

export async function execute(context: Context, [which = '', name]: Words, flags: Flags): Promise<number> {
  const kept = await keptOf(context, name);
  const [, from, to] = spanPattern.exec(which) ?? [];
  const span =
    from === undefined || to === undefined
      ? spanOf(kept, presentRow(kept.history, which))
      : spanBetween(kept, from, to);
  return printPatch(context, kept, span, flags);
}
