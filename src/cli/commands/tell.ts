// `ralph tell`: guidance for the agent at work where it can be steered, else for the top of the next prompt.

import { eventually } from '../../app/loops/commands.ts';
import type { Event } from '../../core/event.ts';
import type { State } from '../../core/state.ts';
import { findTask } from '../../core/task.ts';
import { evolve } from '../../modes/evolve.ts';
import { UsageError } from '../../text/errors.ts';
import { endWords } from '../../views/words.ts';
import {
  type Context,
  deliveryWords,
  type Flags,
  givenText,
  loopStateOf,
  sendCommand,
  textFlag,
  type Words,
} from '../context.ts';

const reachMsMax = 3_000; // a running loop tries at once to say it to its agent

/** What became of our guidance by what happened since: undefined while nobody has tried to say it to a working agent. */
export function becameOf(before: State, since: readonly Event[], by: string): string | undefined {
  let state = before;
  let mine: string | undefined;
  for (const event of since) {
    state = evolve(state, event);
    if (event.type === 'guidance.given' && event.by === by) mine ??= state.memory.guidance.at(-1)?.id;
    if (event.type !== 'guidance.delivered' || event.id !== mine) continue;
    const live = state.live.find(one => one.iteration === event.iteration);
    const name = live?.performer;
    return event.delivered
      ? `Reached ${name ?? 'the agent'} in iteration ${event.iteration}; for later iterations too, write it into PROMPT.md.`
      : `${name === undefined ? 'The agent' : `Agent "${name}"`} takes no messages while it works; your words stand at the top of its next prompt.`;
  }
  return undefined;
}

export async function execute(context: Context, [first, second]: Words, flags: Flags): Promise<number> {
  if (first === undefined)
    throw new UsageError('There is nothing to tell.', 'ralph tell "keep the public API as it is"');
  const [name, words] = second === undefined ? [undefined, first] : [first, second];
  const text = await givenText(context, words, 'guidance');
  const { loops, row, state: before, seq } = await loopStateOf(context, name, true);
  const { ended } = before.control;
  if (ended !== undefined)
    throw new UsageError(
      `Loop ${row.name} has ended (${endWords(ended)}).`,
      'Guidance needs a loop that goes on: ralph loops list',
    );
  const task = textFlag(flags, 'task');
  const meant = task === undefined ? undefined : findTask(before.tasks, task);
  if (task !== undefined && meant === undefined)
    throw new UsageError(
      `Loop ${row.name} has no task ${JSON.stringify(task)}.`,
      `See them: ralph loops show ${row.name}`,
    );
  if (meant?.status === 'done' || meant?.status === 'skipped')
    throw new UsageError(
      `${meant.id} is ${meant.status}: nobody will work on it any more.`,
      'Leave out --task to speak to whichever iteration is at work or comes next.',
    );
  const delivery = await sendCommand(context, row, [{ type: 'tell', text, task }]);
  const reached = async () => {
    const since = (await loops.events(row.loop, seq)).map(one => one.event);
    return becameOf(before, since, context.by);
  };
  const became = delivery === 'taken' ? await eventually(reachMsMax, reached) : undefined;
  const next = `It stands in the prompt of the next iteration${task === undefined ? '' : ` of ${task}`}.`;
  context.say(`Guidance for ${row.name}: ${deliveryWords[delivery]}. ${became ?? next}`);
  return 0;
}
