// Visit of a loop by the hook of an agent's session: the session does the work, and the one loop decides about it (ADR 9).
import type { Activity, Assignment } from '../../agents/performer.ts';
import { sessionHolder } from '../../core/event.ts';
import { everyPerformer } from '../../core/settings.ts';
import { isSingleTask, type State } from '../../core/state.ts';
import { findTask } from '../../core/task.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Lease, Ledger } from '../../ledger/ledger.ts';
import { promiseLine } from '../../messages/blocks.ts';
import { UsageError } from '../../text/errors.ts';
import { endingOf, progressWords } from '../../views/ending.ts';
import type { Environment } from '../app.ts';
import { stateOf } from '../app.ts';
import { type Draft, type Prepared, type Provided, prepareLoop } from './prepare.ts';
import { keptWords } from './resume-rules.ts';
import { type Gate, type Host, type Outcome, runSession, type SessionVisit, settingsRefusal } from './session.ts';
import { performedIn, type Turn } from './turn.ts';
import { redRefusal } from './workspace-setup.ts';

export interface VisitPlace {
  readonly home: string;
  readonly env: Environment;
  readonly ledger: Ledger;
  /** Its id. */
  readonly session: string;
  readonly by: string;
  readonly say: (sentence: string) => void;
  /** Fires when the hook has no time left. */
  readonly stop: AbortSignal;
}

/** What became of it, in words for the session and its user. */
export interface Visited {
  /** `left`: the session is to go on with the prompt. `interrupted`: there was no time for all of the proof. */
  readonly type: 'left' | 'ended' | 'waiting' | 'interrupted' | 'held';
  readonly loop: string;
  readonly name: string;
  readonly prompt: string;
  readonly iteration: number;
  readonly iterationsMax: number | null;
  /** How it stands or ended, in one sentence, and what to do next. */
  readonly standing: string;
  readonly next: readonly string[];
  /** Why the last claim, or what looked like one, did not count. */
  readonly refused?: string | undefined;
  /** The line that claims the work, where it is always the same. */
  readonly claim?: string | undefined;
  readonly promise: string;
  readonly startedAt: number;
  readonly isAchieved: boolean;
  readonly isPaused: boolean;
  /** Who else works on it. */
  readonly heldBy?: string | undefined;
}

/** The words of the session in a prompt: it remembers what the prompts of other loops must say again. */
const sessionSection = [
  '## You work in a session',
  '',
  'This is one iteration of the loop, and so is each of your turns: Ralph reads your last message when you end it. You keep',
  'your memory between them, whatever is said above of an empty one. Your user may watch and may talk to you.',
].join('\n');

const inSession =
  (prompt: Engine['prompt']): Engine['prompt'] =>
  (...asked) => {
    const { system, text } = prompt(...asked);
    return { text: [system, text.trimEnd(), sessionSection].filter(part => part !== undefined).join('\n\n') };
  };

/** The session in the place of each performer: it is only told what to do. */
function handedTo(chain: readonly string[], all: readonly string[], hand: (order: Assignment) => void): Provided {
  async function* perform(assignment: Assignment): AsyncGenerator<Activity> {
    hand(assignment);
    yield { type: 'left' };
  }
  const can = { steer: false, resume: false, interactive: false, usage: true };
  return { chain, performers: all.map(name => ({ name, can, perform })), checkNames: [] };
}

interface Visiting {
  readonly outcome?: Turn | undefined;
  readonly begins: boolean;
  readonly guidance?: string | undefined;
}

function hostOf({ session, by, say, stop }: VisitPlace, visit: Omit<SessionVisit, 'holder'>): Host {
  const holder = sessionHolder(session);
  const adapt = (engine: Engine): Engine => ({
    ...engine,
    holder: { ...engine.holder, id: holder },
    prompt: inSession(engine.prompt),
  });
  return {
    by,
    say,
    announce: () => {},
    decide: async (gate: Gate) => gate.id === 'start' || (gate.id === 'red-checks' && gate.isAllowed),
    listen: () => ({ signal: stop, close: () => {} }),
    attend: () => ({ signal: stop, notifiers: [], adapt, close: () => {} }),
    visit: { holder, ...visit },
  };
}

/** Why the host of a session says no: nobody can be asked there. */
function declined(gate: Gate): UsageError {
  if (gate.id === 'red-checks') return redRefusal(gate.red);
  if (gate.id === 'settings-changed') return settingsRefusal(gate.changed);
  return new UsageError(`A session cannot decide this: ${gate.id}.`, 'Begin the loop in a terminal: ralph run');
}

/** What of the prompt of a session must be said again with every turn. */
function refusedIn(state: State): string | undefined {
  const [live] = state.live;
  const task = live && findTask(state.tasks, live.task);
  return task?.rejection ?? state.memory.lastRejection;
}

function seen(type: Visited['type'], state: State, prompt = ''): Visited {
  const { settings, loop, control, iterations } = state;
  const ending = endingOf(state);
  return {
    type,
    prompt,
    loop: loop.id,
    name: loop.name,
    iteration: iterations.begun,
    iterationsMax: settings.limits.iterationsMax,
    standing: type === 'left' ? `${progressWords(state)}.` : ending.sentence,
    next: ending.next,
    refused: refusedIn(state),
    claim: isSingleTask(state) ? promiseLine(settings.promise) : undefined,
    promise: settings.promise,
    startedAt: loop.startedAt,
    isAchieved: control.ended?.reason === 'goal_achieved',
    isPaused: control.paused !== undefined,
  };
}

const heldBy = ({ holder }: Lease): string => `process ${holder.pid} on ${holder.host}`;

async function visitedBy(place: VisitPlace, prepared: Prepared, visiting: Visiting, prompt: () => string) {
  const performed = visiting.outcome && (await performedIn(visiting.outcome));
  const host = hostOf(place, { ...visiting, outcome: performed });
  const outcome: Outcome = await runSession(prepared, place.ledger, host);
  switch (outcome.type) {
    case 'left':
      return seen('left', outcome.state, prompt());
    case 'ran':
      return seen(outcome.how, outcome.state);
    case 'held':
      return { lease: outcome.lease };
    case 'over':
      return seen('ended', outcome.earlier.state);
    case 'declined':
      throw declined(outcome.gate);
    case 'nothing-to-do':
      throw new UsageError('There is nothing to do: every task of the document is done or skipped.');
  }
}

/** A new loop of this session, or the unfinished one of its document. */
export async function startInSession(place: VisitPlace, draft: Omit<Draft, 'provided'>, agent: string) {
  let prompt = '';
  const provided = handedTo([agent], [agent], assignment => {
    prompt = assignment.prompt;
  });
  const prepared = await prepareLoop({ ...draft, provided, ledger: place.ledger });
  if (prepared.config.worktree || prepared.settings.worktreePerTask)
    throw new UsageError('A session works in its own folder, not in a worktree.', 'Begin it in a terminal: ralph run');
  const visited = await visitedBy(place, prepared, { begins: true }, () => prompt);
  if ('lease' in visited)
    throw new UsageError(
      `The loop of this document, or its folder, is held by ${heldBy(visited.lease)}.`,
      'Wait for it, or end it: ralph stop',
      9,
    );
  return visited;
}

/** The session has ended a turn: how that went, and what comes next. */
export async function visitLoop(place: VisitPlace, loop: string, visiting: Visiting): Promise<Visited> {
  const { ledger, home, env } = place;
  const { state } = await stateOf(ledger, loop);
  if (state.control.ended !== undefined) return seen('ended', state);
  let prompt = '';
  const { settings } = state;
  const provided = handedTo(settings.performers, everyPerformer(settings), assignment => {
    prompt = assignment.prompt;
  });
  const { directory = state.loop.directory, flags } = keptWords(settings);
  const found = { modeName: settings.mode, path: state.loop.document, notices: [] };
  const prepared = await prepareLoop({ home, env, ledger, directory, flags, found, resumes: loop, provided });
  const visited = await visitedBy(place, prepared, visiting, () => prompt);
  return 'lease' in visited ? { ...seen('held', state), heldBy: heldBy(visited.lease) } : visited;
}

/** Says that nobody goes on with it for now, and why. */
export async function pauseLoop(place: VisitPlace, loop: string, because: string): Promise<void> {
  const { ledger, home, env, say } = place;
  const { command } = await import('../loops/commands.ts');
  const row = (await ledger.store.loops()).find(one => one.loop === loop);
  if (row !== undefined)
    await command({ home, env, ledger, loop, row, by: because, warn: say }, [{ type: 'pause', now: false }]);
}

/** Its user has cancelled it. */
export async function stopLoop(place: VisitPlace, loop: string): Promise<void> {
  const { ledger, home, env, by, say } = place;
  const { command } = await import('../loops/commands.ts');
  const row = (await ledger.store.loops()).find(one => one.loop === loop);
  const { lease, alive } = (await ledger.store.holder(loop)) ?? {};
  if (lease !== undefined && alive && lease.holder.id === sessionHolder(place.session))
    await ledger.store.release(lease);
  if (row !== undefined) await command({ home, env, ledger, loop, row, by, warn: say }, [{ type: 'stop' }]);
}
