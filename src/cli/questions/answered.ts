// Answers to questions that are not open any more: who gave the one that counts, what and when.

import type { EventOf } from '../../core/event.ts';
import type { LoopRow } from '../../ledger/ledger.ts';
import { UsageError } from '../../text/errors.ts';
import { isoTime } from '../../text/format.ts';
import { answerText } from '../../views/timeline.ts';
import type { Context } from '../context.ts';
import { oneLine } from '../terminal.ts';

export interface Settled {
  readonly row: LoopRow;
  readonly event: EventOf<'escalation.answered'>;
}

/** The answer that counts; undefined while the question is open, or was never asked. `after`: it was open then. */
export async function answerTo(
  context: Context,
  row: LoopRow,
  id: string,
  after?: number,
): Promise<Settled | undefined> {
  const loops = await context.loops();
  const pages = after === undefined ? loops.history(row.loop) : [await loops.events(row.loop, after)];
  for await (const page of pages)
    for (const { event } of page)
      if (event.type === 'escalation.answered' && event.id === id && event.late !== true) return { row, event };
  return undefined;
}

/** Nothing is recorded of an answer that comes after another. */
export function alreadyAnswered({ row, event }: Settled): UsageError {
  const what = oneLine(answerText(event.answer));
  const said = `${row.name}/${event.id} was answered by ${event.by} at ${isoTime(event.at)}: ${what}.`;
  return new UsageError(
    said,
    `Yours changes nothing. To say more to the agent: ralph tell ${row.name} "..."`,
    1,
    'answered',
  );
}
