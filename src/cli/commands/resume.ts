// `ralph resume`: a loop that stands still runs again, with what it was started with; one that a process holds is only unpaused.

import { nothingBounds } from '../../app/problems.ts';
import { keptWords } from '../../app/session/resume-rules.ts';
import { flagName, keys } from '../../config/fields.ts';
import type { Termination } from '../../core/event.ts';
import { sessionOf } from '../../core/event.ts';
import type { Command } from '../../core/input.ts';
import { waitingFor } from '../../core/next.ts';
import { boundingLimits, isBounded, type Limits, limitFlag, limitTable } from '../../core/settings.ts';
import type { State } from '../../core/state.ts';
import { evaluateTermination } from '../../core/termination.ts';
import type { LeaseState, LoopRow } from '../../ledger/ledger.ts';
import { evolve } from '../../modes/evolve.ts';
import { openRun } from '../../modes/registry.ts';
import { UsageError } from '../../text/errors.ts';
import { higherLimit, raisedLimit, reopenLine } from '../../views/ending.ts';
import {
  type Context,
  configuredRun,
  deliveryWords,
  type Flags,
  loopStateOf,
  placeOf,
  sendCommand,
  type Words,
} from '../context.ts';
import { isInteractive } from '../run-host.ts';
import { askLine } from '../terminal.ts';

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

type Ask = (question: string) => Promise<string | undefined>;

/** The flags with a limit that lets it go on: as typed, else as a person says now; undefined: nobody said one. */
export async function withRoom(
  context: Context,
  state: State,
  flags: Flags,
  ask: Ask | undefined,
): Promise<Flags | undefined> {
  const limits = await wantedLimits(context, flags);
  if (!isBounded({ ...state.settings.limits, ...limits })) throw nothingBounds();
  const still = state.control.ended && endsAgain(state, limits, Date.now());
  if (still === undefined) return flags;
  const { name } = state.loop;
  const higher = higherLimit(state, still);
  if (ask === undefined || higher === undefined)
    throw new UsageError(`Loop ${name} would end again at once: ${still.because}.`, wayOn(name, state, still));
  context.say(`Loop ${name} would end again at once: ${still.because}.`);
  const isKnown = higher.name !== 'deadlineAt';
  const said = await ask(`New ${limitFlag(higher.name)}${isKnown ? ` [${higher.value}]` : ' (HH:MM)'}: `);
  const value = said?.trim() || (isKnown && said !== undefined ? higher.value : undefined);
  return value === undefined
    ? undefined
    : withRoom(context, state, { ...flags, [limitTable[higher.name].key]: value }, ask);
}

/** A live process keeps what it began with: only limits reach it. */
async function unpause(context: Context, row: LoopRow, state: State, flags: Flags): Promise<number> {
  const bounding = boundingLimits.map(name => limitTable[name].key as string);
  const idle = keys.find(key => flags[key] !== undefined && !bounding.includes(key));
  if (idle !== undefined)
    throw new UsageError(
      `${flagName(idle)} has no effect: loop ${row.name} is at work, and only its limits can be changed.`,
      `Leave it out, or end that process first; then: ralph resume ${row.name} ${flagName(idle)} …`,
    );
  const limits = await wantedLimits(context, flags);
  if (!isBounded({ ...state.settings.limits, ...limits })) throw nothingBounds();
  const changes = Object.keys(limits).length > 0;
  const waits = waitingFor(state, Date.now())?.until !== undefined;
  if (state.control.paused === undefined && !changes && !waits) {
    context.say(`Loop ${row.name} is running and not paused.`);
    return 0;
  }
  const commands: readonly Command[] = [...(changes ? [{ type: 'limits' as const, limits }] : []), { type: 'resume' }];
  context.say(`Resume of ${row.name}: ${deliveryWords[await sendCommand(context, row, commands)]}.`);
  return 0;
}

/** Where it was started, by what the ledger has of it; a loop of 0.4 with a worktree is looked for from here. */
function placeOfLoop(context: Context, { loop: { branch, directory }, settings }: State): Context {
  const started = keptWords(settings).directory ?? (branch === undefined ? directory : context.directory);
  return { ...context, directory: started };
}

interface Standing {
  readonly row: LoopRow;
  readonly state: State;
  readonly held: LeaseState | undefined;
}

/** A loop that belongs to a session goes on there, unless somebody says that it shall go on headless. */
async function inItsSession(context: Context, { row, state, held }: Standing, flags: Flags) {
  const isHeadless = flags['headless'] === true;
  const { allBindings } = await import('../../hook/binding.ts');
  const binding = allBindings(context.home()).find(one => one.loop === row.loop);
  if (binding === undefined && isHeadless)
    throw new UsageError(`--headless has no effect: loop ${row.name} belongs to no session.`, 'Leave it out.');
  const isBySession = held?.alive === true && sessionOf(held.lease.holder.id) !== undefined;
  // Only whoever says so takes it out of the session's hands; how far it is there is counted.
  if (isHeadless && isBySession) await (await context.ledger({ write: true })).store.release(held.lease);
  if (binding === undefined || isHeadless || (held?.alive === true && !isBySession)) return undefined;
  await unpause(context, row, state, flags);
  context.say('  It goes on in its session: say anything there. Outside of it: the same command with --headless');
  return 0;
}

export async function execute(context: Context, [name]: Words, given: Flags): Promise<number> {
  await context.ledger({ write: true, quickCheck: true });
  const { row, state, held: lease } = await loopStateOf(context, name, true);
  const there = await inItsSession(context, { row, state, held: lease }, given);
  if (there !== undefined) return there;
  const { headless, ...flags } = given;
  const held = headless === true ? undefined : lease;
  await wantedLimits(context, flags); // what cannot be read is said before anything else
  if (state.control.ended?.reason === 'goal_achieved' && reopenLine(state) === undefined)
    throw new UsageError(`Loop ${row.name} is done: there is nothing to resume.`, 'See what it did: ralph report');
  if (held?.alive === true) return unpause(context, row, state, flags);
  const settled = await withRoom(context, state, flags, isInteractive(flags) ? askLine : undefined);
  if (settled === undefined) return 130;
  const { settings, loop } = state;
  const place = placeOfLoop(context, state);
  const all = { ...keptWords(settings).flags, ...settled };
  const own = flags['dryRun'] === true ? undefined : await openRun(settings.mode);
  if (own !== undefined) {
    // It asks for its approval first: nothing of it begins here.
    const limits = await wantedLimits(context, settled);
    await sendCommand(context, row, [{ type: 'limits', limits }, { type: 'resume' }]);
    return own(place, [loop.document], all);
  }
  const { runDraft } = await import('./run.ts');
  const found = { modeName: settings.mode, path: loop.document, notices: [] };
  return runDraft(place, { ...placeOf(place), found, flags: all, resumes: row.loop });
}
