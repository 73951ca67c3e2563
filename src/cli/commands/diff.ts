// `ralph diff`: what a loop has changed: since it began, in one iteration, or between two checkpoints.
import { type CheckpointedLoop, presentRow } from '../../app/restore.ts';
import { refusalError } from '../../app/session/repository.ts';
import { UsageError } from '../../text/errors.ts';
import { checkpointsOf, type PatchSpan, printPatch } from '../checkpoints.ts';
import type { Context, Flags, Words } from '../context.ts';
import { spanBetween, spanOf, spanPattern } from './checkpoint-diff.ts';

function ofIteration(loop: CheckpointedLoop, text: string): PatchSpan {
  const { list, state, row } = loop;
  const known = /^[1-9]\d{0,8}$/.test(text) && Number(text) <= state.iterations;
  if (!known) {
    const hint = state.iterations === 0 ? 'It has run none yet.' : `Give a number from 1 to ${state.iterations}.`;
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

/** In forks the loop's folder changes by merges, which no checkpoint follows: what is there now is looked at instead. */
async function sinceStart(loop: CheckpointedLoop): Promise<PatchSpan> {
  const { list, state } = loop;
  const first = presentRow(loop, list.rows[0]?.number ?? 1);
  if (!state.settings.worktreePerTask) return spanBetween(loop, first.number, list.current ?? first.number);
  const now = await loop.workspace.preview();
  if (!now.ok) throw refusalError(now);
  return { from: first.commit, to: now.commit, words: `checkpoint ${first.number} to now` };
}

export async function execute(context: Context, [one, other]: Words, flags: Flags): Promise<number> {
  const words = [one, other].filter(word => word !== undefined);
  const spans = words.filter(word => spanPattern.test(word));
  const names = words.filter(word => !spanPattern.test(word));
  const { iteration } = flags;
  if (names.length > 1)
    throw new UsageError(`${JSON.stringify(names[1])} is no pair of checkpoints.`, 'Give two numbers: ralph diff 1..3');
  if (spans.length > 1 || (spans.length === 1 && iteration !== undefined))
    throw new UsageError('Give one of --iteration N and A..B.', 'ralph help diff');
  const loop = await checkpointsOf(context, names[0]);
  const [, from, to] = spanPattern.exec(spans[0] ?? '') ?? [];
  if (from !== undefined && to !== undefined) return printPatch(context, loop, spanBetween(loop, from, to), flags);
  const span = iteration === undefined ? await sinceStart(loop) : ofIteration(loop, String(iteration));
  return printPatch(context, loop, span, flags);
}
