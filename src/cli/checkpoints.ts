// Checkpoint commands: the loop they mean, and numbers, names and times for people.
import { eventsIn } from '../app/loops/find.ts';
import { openCheckpoints } from '../app/restore.ts';
import type { CheckpointedLoop } from '../app/rewind.ts';
import { initialState, type State } from '../core/state.ts';
import type { LoopRow } from '../ledger/ledger.ts';
import { evolve } from '../modes/evolve.ts';
import { UsageError } from '../text/errors.ts';
import type { CheckpointRow } from '../views/checkpoints.ts';
import { RecordsView } from '../views/records.ts';
import { type Context, type Flags, loopOf } from './context.ts';
import { dayAndTime } from './output/time.ts';

interface Opening {
  readonly writes?: boolean;
  readonly heals?: boolean;
}

export async function checkpointsOf(
  context: Context,
  name: string | undefined,
  { writes = false, heals = writes }: Opening = {},
): Promise<CheckpointedLoop> {
  const { ledger, row } = await loopOf(context, name, writes);
  return openCheckpoints({ home: context.home(), env: context.env, ledger, row }, heals, context.say);
}

export interface LoopRecords {
  readonly row: LoopRow;
  readonly view: RecordsView;
  /** It keeps its files in git. */
  readonly hasTrees: boolean;
}

/** The records without files of the loop that is meant. */
export async function recordsOf(context: Context, name: string | undefined): Promise<LoopRecords> {
  const { ledger, row } = await loopOf(context, name, false);
  const view = new RecordsView();
  let state: State = initialState;
  for await (const recorded of eventsIn(ledger, row.loop)) {
    state = evolve(state, recorded.event);
    view.add(recorded, state);
  }
  return { row, view, hasTrees: state.checkpoints.made > 0 };
}

/** `--steps 2`, `--keep 5`. */
export function countOf(flags: Flags, key: string, most: number, why: string): number | undefined {
  const value = flags[key];
  if (value === undefined) return undefined;
  const text = String(value);
  if (/^[1-9]\d{0,8}$/.test(text) && Number(text) <= most) return Number(text);
  throw new UsageError(`--${key} ${JSON.stringify(text.slice(0, 40))} is not possible.`, why);
}

export const rowWords = ({ number, label, task, at }: CheckpointRow): string =>
  `checkpoint ${number} (${[label, ...(task === undefined ? [] : [task])].join(', ')}, ${timeWords(at)})`;

/** UTC, to the second. */
export const timeWords = (at: number): string => dayAndTime(at, 'seconds');
