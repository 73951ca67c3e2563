// `ralph pause` and `ralph stop`: a loop held back, and ended on purpose.

import type { TerminationReason } from '../../core/event.ts';
import type { Command } from '../../core/input.ts';
import { endWords } from '../../views/words.ts';
import { type Context, deliveryWords, type Flags, loopOf, sendCommand, type Words } from '../context.ts';

/** Sends `pause` or `stop` to a loop that has not ended, and says what became of it. */
async function halt(context: Context, name: string | undefined, command: Command): Promise<number> {
  const { row } = await loopOf(context, name, true);
  if (row.reason !== null) {
    const how = endWords({ reason: row.reason as TerminationReason });
    context.say(`Loop ${row.name} has ended already (${how}): there is nothing to ${command.type}.`);
    return 0;
  }
  const said = deliveryWords[await sendCommand(context, row, [command])];
  const [what, next] = command.type === 'pause' ? ['Pause', ` Go on: ralph resume ${row.name}`] : ['Stop', ''];
  context.say(`${what} of ${row.name}: ${said}.${next}`);
  return 0;
}

/** The live iteration finishes, but for `--now`, and no other begins until `ralph resume`. */
export const pause = (context: Context, [name]: Words, flags: Flags): Promise<number> =>
  halt(context, name, { type: 'pause', now: flags['now'] === true });

/** A live iteration is stopped at once; claims already made are still checked. */
export const stop = (context: Context, [name]: Words): Promise<number> => halt(context, name, { type: 'stop' });
