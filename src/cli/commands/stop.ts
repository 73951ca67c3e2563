// `ralph stop`: ends a loop on purpose; a live iteration is stopped at once, claims already made are still checked.
import { type Context, loopOf, outcomeWords, sendCommand, type Words } from '../context.ts';

export async function execute(context: Context, [name]: Words): Promise<number> {
  const { row } = await loopOf(context, name, true);
  if (row.reason !== null) {
    context.say(`Loop ${row.name} has ended already: ${row.reason}.`);
    return 0;
  }
  const outcome = await sendCommand(context, row, [{ type: 'stop' }]);
  context.say(`Stop of ${row.name}: ${outcomeWords[outcome]}.`);
  return 0;
}
