// An action as its server has it: works, refuses, loses its reply, hangs; and it records its intent as real ones do.

import type { Activity, Assignment, Performer } from '../../src/agents/performer.ts';
import type { FailureKind } from '../../src/core/failure.ts';
import type { VirtualClock } from './clock.ts';
import { deedOf } from './plan-document.ts';
import type { Call, Life } from './plan-life.ts';
import type { Random } from './random.ts';

export interface ActionWorld {
  readonly clock: VirtualClock;
  readonly chances: Random;
  readonly life: Life;
  /** How often all goes well. */
  readonly luck: number;
  called(assignment: Assignment): void;
  /** The effect, in the world. */
  happens(assignment: Assignment): void;
}

type Outcome = 'good' | 'invalid' | 'fails first' | 'hangs first' | 'refuses' | 'unreached' | 'lost' | 'hangs';

const outcomes: readonly Outcome[] = [
  'fails first',
  'hangs first',
  'refuses',
  'refuses',
  'unreached',
  'lost',
  'lost',
  'lost',
  'hangs',
];
const firstFailures: readonly FailureKind[] = ['spawn', 'no-start', 'connection', 'timeout', 'process'];
const unreached: readonly FailureKind[] = ['connection', 'overloaded', 'rate-limit', 'auth'];
const broken: readonly FailureKind[] = ['timeout', 'connection', 'process'];
const forever = 1e12;

function pause({ clock }: ActionWorld, ms: number, stop: AbortSignal): Promise<void> {
  return new Promise(done => {
    if (stop.aborted) return done();
    const cancel = clock.at(clock.now() + ms, done);
    stop.addEventListener('abort', () => {
      cancel();
      done();
    });
  });
}

const failed = (kind: FailureKind): Activity => ({ type: 'ended', message: '', failure: { kind, detail: kind } });

/** The way up to the intent; undefined when it may act. */
async function prepare(
  assignment: Assignment,
  world: ActionWorld,
  outcome: Outcome,
  stop: AbortSignal,
): Promise<Activity | undefined> {
  const { life, chances } = world;
  await pause(world, outcome === 'hangs first' ? forever : chances.whole(1, 3_000), stop);
  if (stop.aborted) return failed('stopped');
  if (outcome === 'invalid') return failed('invalid');
  if (outcome === 'fails first') return failed(chances.pick(firstFailures));
  await life.at('before the intent');
  const mayAct = await assignment.intend?.(deedOf(assignment).kind !== 'once');
  await life.at('intent stored');
  if (mayAct !== true || stop.aborted) return failed('stopped');
  return outcome === 'unreached' ? failed(chances.pick(unreached)) : undefined;
}

/** From here on it may have happened. Who stops it, or listens in vain, does not know. */
async function call(
  assignment: Assignment,
  world: ActionWorld,
  outcome: Outcome,
  stop: AbortSignal,
): Promise<Activity> {
  const { life, chances } = world;
  const out: Call = { happens: () => world.happens(assignment) };
  life.calls.add(out);
  await life.at('sent');
  await pause(world, chances.whole(1, 60_000), stop);
  if (life.isDead) await life.at('sent');
  const isDone = outcome === 'good' && !stop.aborted ? true : outcome !== 'refuses' && chances.is(0.5);
  if (isDone) out.happens();
  life.calls.delete(out);
  await life.at('effect over');
  await pause(world, outcome === 'hangs' ? forever : chances.whole(1, 3_000), stop);
  const isOnce = deedOf(assignment).kind === 'once';
  if (stop.aborted) return failed(isOnce ? 'lost-reply' : 'stopped');
  if (outcome === 'refuses') return failed('refused');
  if (outcome === 'lost') return failed(isOnce ? 'lost-reply' : chances.pick(broken));
  return { type: 'ended', message: 'done' };
}

async function* act(assignment: Assignment, stop: AbortSignal, world: ActionWorld): AsyncGenerator<Activity> {
  const { life, chances, luck } = world;
  await life.at('called');
  world.called(assignment);
  if (stop.aborted) return yield failed('stopped');
  const outcome = chances.is(luck) ? 'good' : chances.is(0.02) ? 'invalid' : chances.pick(outcomes);
  if (chances.is(0.5)) yield { type: 'spawned', pid: assignment.iteration, startTime: '1', host: 'sim' };
  const early = await prepare(assignment, world, outcome, stop);
  const end = early ?? (await call(assignment, world, outcome, stop));
  await life.at('reply heard');
  yield end;
}

/** A step that a coding agent does: it has no effect that could be counted, and records no intent. */
async function* work(assignment: Assignment, stop: AbortSignal, world: ActionWorld): AsyncGenerator<Activity> {
  const { life, chances, luck } = world;
  await life.at('called');
  world.called(assignment);
  yield { type: 'spawned', pid: assignment.iteration, startTime: '1', host: 'sim' };
  await pause(world, chances.whole(1, 60_000), stop);
  await life.at('reply heard');
  if (stop.aborted) return yield failed('stopped');
  if (!chances.is(luck)) return yield failed(chances.pick(broken));
  yield { type: 'ended', message: `Task ${assignment.task} complete` };
}

export function simulatedAction(name: string, world: ActionWorld): Performer {
  const play = name === 'agent' ? work : act;
  return {
    name,
    can: { steer: false, resume: false, interactive: false, usage: false },
    perform: (assignment, stop) => play(assignment, stop, world),
  };
}
