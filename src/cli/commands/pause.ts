// `ralph pause`: lets the live iteration finish (or not, with --now) and begins no other until `ralph resume`.
import { type Context, type Flags, loopOf, outcomeWords, sendCommand, type Words } from '../context.ts';

export async function execute(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const { row } = await loopOf(context, name, true);
  if (row.reason !== null) {
    context.say(`Loop ${row.name} has ended already: ${row.reason}.`);
    return 0;
  }
  const outcome = await sendCommand(context, row, [{ type: 'pause', now: flags['now'] === true }]);
  context.say(`Pause of ${row.name}: ${outcomeWords[outcome]}. Go on: ralph resume ${row.name}`);
  return 0;
}
