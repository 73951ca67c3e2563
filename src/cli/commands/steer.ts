// `ralph pause`, `ralph resume` and `ralph stop`: a loop held back, going on, and ended on purpose.

import { resumeHint } from '../../app/loops/find.ts';
import { nothingBounds } from '../../app/problems.ts';
import type { Termination } from '../../core/event.ts';
import type { Command } from '../../core/input.ts';
import { waitingFor } from '../../core/next.ts';
import { boundingLimits, isBounded, type Limits, limitTable } from '../../core/settings.ts';
import type { State } from '../../core/state.ts';
import { evaluateTermination } from '../../core/termination.ts';
import { evolve } from '../../modes/evolve.ts';
import { UsageError } from '../../text/errors.ts';
import { raisedLimit } from '../../views/ending.ts';
import {
  type Context,
  configuredRun,
  deliveryWords,
  type Flags,
  loopOf,
  loopStateOf,
  sendCommand,
  type Words,
} from '../context.ts';

/** Sends `pause` or `stop` to a loop that has not ended, and says what became of it. */
async function halt(context: Context, name: string | undefined, command: Command): Promise<number> {
  const { row } = await loopOf(context, name, true);
  if (row.reason !== null) {
    context.say(`Loop ${row.name} has ended already: ${row.reason}.`);
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

async function wantedLimits(context: Context, flags: Flags): Promise<Partial<Limits>> {
  const { settings } = await configuredRun({ ...context, env: {} }, flags);
  const given = boundingLimits.filter(name => flags[limitTable[name].key] !== undefined);
  return Object.fromEntries(given.map(name => [name, settings.limits[name]]));
}

/** Why a loop that is over would end again as soon as it is reopened with these limits. */
function endsAgain(state: State, limits: Partial<Limits>, now: number): Termination | undefined {
  const settings = { ...state.settings, limits: { ...state.settings.limits, ...limits } };
  const reopened = evolve({ ...state, settings }, { type: 'loop.resumed', by: '', because: '', at: now });
  return evaluateTermination(reopened, now);
}

/** What would let it go on, if anything. */
function wayOn(name: string, state: State, still: Termination): string {
  if (still.limit === 'rounds') return 'Review the document as it is now: the same `ralph review` command with --new';
  const raised = raisedLimit(state, still);
  return raised === undefined
    ? 'Start over with new counters: the same command as before with --new'
    : `Raise that limit: ralph resume ${name} ${raised}`;
}

/** Goes on after a pause, ends a wait for a provider's reset, or reopens a loop that ended at a limit; counters stay. */
export async function resume(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const { row, state, held } = await loopStateOf(context, name, true);
  const limits = await wantedLimits(context, flags);
  const changes = Object.keys(limits).length > 0;
  if (!isBounded({ ...state.settings.limits, ...limits })) throw nothingBounds();
  if (state.control.ended?.reason === 'goal_achieved')
    throw new UsageError(`Loop ${row.name} is done: there is nothing to resume.`, 'See what it did: ralph report');
  const waits = waitingFor(state, Date.now())?.until !== undefined;
  if (state.control.ended === undefined && state.control.paused === undefined && !changes && !waits) {
    context.say(
      held?.alive === true
        ? `Loop ${row.name} is running and not paused.`
        : `Loop ${row.name} is not paused. It goes on with the same \`ralph run\` command as before.`,
    );
    return 0;
  }
  if (state.control.ended !== undefined) {
    const still = endsAgain(state, limits, Date.now());
    if (still !== undefined)
      throw new UsageError(
        `Loop ${row.name} would end again at once: ${still.because}.`,
        wayOn(row.name, state, still),
      );
  }
  const commands: readonly Command[] = [...(changes ? [{ type: 'limits' as const, limits }] : []), { type: 'resume' }];
  const outcome = await sendCommand(context, row, commands);
  context.say(`Resume of ${row.name}: ${deliveryWords[outcome]}.`);
  if (outcome === 'decided') context.say(`  Go on: ${resumeHint(state)}`);
  return 0;
}
