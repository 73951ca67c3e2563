// Spans of a loop's work: since it began, of one iteration, between two checkpoints; and the patch of one.
import type { LoopRow } from '../../ledger/ledger.ts';
import { UsageError } from '../../text/errors.ts';
import { isoTime } from '../../text/format.ts';
import type { CheckpointRow } from '../../views/checkpoints.ts';
import { openCheckpoints, presentRow } from '../restore.ts';
import { type CheckpointedLoop, commitOfNow, type HistoryNeeds } from '../rewind.ts';

export interface PatchSpan {
  readonly from: string;
  readonly to: string;
  /** Two checkpoints, or what else it is. */
  readonly of: readonly CheckpointRow[] | string;
}

export const patchBytesMax = 20_000_000;

/** `checkpoint 1 (TIME) to 4 (TIME)`. */
export const spanWords = ({ of }: PatchSpan, time: (at: number) => string): string =>
  typeof of === 'string' ? of : `checkpoint ${of.map(({ number, at }) => `${number} (${time(at)})`).join(' to ')}`;

export function spanBetween(loop: CheckpointedLoop, from: string | number, to: string | number): PatchSpan {
  const [older, newer] = [presentRow(loop, from), presentRow(loop, to)];
  return { from: older.commit, to: newer.commit, of: [older, newer] };
}

/** A fork's checkpoint stands on the commit that the fork was made from. */
export function spanOf(loop: CheckpointedLoop, row: CheckpointRow): PatchSpan {
  if (row.isFork) return { from: `${row.commit}^`, to: row.commit, of: `what checkpoint ${row.number} adds` };
  const { list, missing, pruned } = loop;
  const isThere = ({ number }: CheckpointRow): boolean => !missing.has(number) && !pruned.has(number);
  const before = list.rows.filter(one => !one.isFork && one.number < row.number && isThere(one)).at(-1);
  return spanBetween(loop, before?.number ?? row.number, row.number);
}

export function ofIteration(loop: CheckpointedLoop, text: string): PatchSpan {
  const { list, state, row } = loop;
  const known = /^[1-9]\d{0,8}$/.test(text) && Number(text) <= state.iterations.begun;
  if (!known) {
    const hint =
      state.iterations.begun === 0 ? 'It has run none yet.' : `Give a number from 1 to ${state.iterations.begun}.`;
    throw new UsageError(`Loop ${row.name} has no iteration ${JSON.stringify(text.slice(0, 40))}.`, hint);
  }
  const { before, after } = list.iterations.get(Number(text)) ?? {};
  if (after === undefined) {
    const isLive = state.live.some(one => one.iteration === Number(text));
    throw new UsageError(
      isLive ? `Iteration ${text} is still at work.` : `There is no checkpoint of iteration ${text}.`,
      isLive ? 'What it changes so far: git diff' : `See what there is: ralph checkpoint list ${row.name}`,
    );
  }
  const made = presentRow(loop, after);
  return made.isFork || before === undefined ? spanOf(loop, made) : spanBetween(loop, before, after);
}

/** Merges of forks are in no checkpoint, nor are the marks of the document after an undo: then what is there now is looked at. */
export async function sinceStart(loop: CheckpointedLoop): Promise<PatchSpan> {
  const { list, state } = loop;
  const first = presentRow(loop, list.rows[0]?.number ?? 1);
  if (!state.settings.worktreePerTask && !list.isRestored)
    return spanBetween(loop, first.number, list.current ?? first.number);
  return { from: first.commit, to: await commitOfNow(loop), of: `checkpoint ${first.number} to now` };
}

/** What a loop has changed, as a patch. */
export interface LoopDiff {
  readonly words: string;
  readonly patch: string;
  readonly isCut: boolean;
}

export async function diffOf(
  needs: HistoryNeeds & { readonly row: LoopRow; readonly warn: (sentence: string) => void },
  iteration?: number,
): Promise<LoopDiff> {
  const loop = await openCheckpoints(needs, false, needs.warn);
  const span = iteration === undefined ? await sinceStart(loop) : ofIteration(loop, String(iteration));
  const { text, isCut } = await loop.checkpoints.patch(span, patchBytesMax);
  return { words: spanWords(span, isoTime), patch: text, isCut };
}
