// A performer that does what its seed says: works, lies, fails, hangs, asks, spends.

import type { Activity, Assignment, Performer } from '../../src/agents/performer.ts';
import type { Usage } from '../../src/core/event.ts';
import type { FailureKind } from '../../src/core/failure.ts';
import type { VirtualClock } from './clock.ts';
import type { Random } from './random.ts';

export const messageUsdMicrosMax = 400_000;

export interface AgentWorld {
  readonly clock: VirtualClock;
  readonly chances: Random;
  /** Tasks whose work has really been done: what the checks look at. */
  readonly worked: Set<string>;
  /** How good the agent is, 0 to 1. */
  readonly skill: number;
  /** What a bad agent mostly does; undefined: anything. */
  readonly habit: Behaviour | undefined;
  readonly failing: readonly FailureKind[];
  readonly spawns: number[];
  /** Can be spoken to while it works; how often it obeys. */
  readonly listening: { readonly chances: Random; readonly steer: boolean; readonly obeys: number };
  /** Edits the document as an agent might. */
  readonly edit: (task: string) => void;
}

export type Behaviour = 'work' | 'lie' | 'idle' | 'fail' | 'hang' | 'ask' | 'handoff' | 'promise' | 'edit' | 'sleep';

export const failureKinds: readonly FailureKind[] = [
  'process',
  'process',
  'timeout',
  'connection',
  'overloaded',
  'rate-limit',
  'spawn',
  'no-start',
  'resource-limit',
  'unknown',
  'auth',
  'context-too-long',
];

function behaviour({ chances, skill, habit }: AgentWorld): Behaviour {
  if (chances.is(skill)) return 'work';
  if (habit !== undefined && chances.is(0.95)) return habit;
  return chances.pick<Behaviour>(['lie', 'idle', 'fail', 'fail', 'hang', 'ask', 'handoff', 'promise', 'edit', 'sleep']);
}

const pause = (world: AgentWorld, ms: number, stop: AbortSignal): Promise<void> =>
  new Promise(done => {
    if (stop.aborted) return done();
    const cancel = world.clock.at(world.clock.now() + ms, done);
    stop.addEventListener('abort', () => {
      cancel();
      done();
    });
  });

const ask =
  '<escalate type="deviation">\n<summary>which way</summary>\n<options>\n1. left\n2. right\n</options>\n<question>?</question>\n</escalate>';

function closing(kind: Behaviour, task: string, world: AgentWorld): string {
  const { chances } = world;
  if (kind === 'work') return `did it\nTask ${task} complete${chances.is(0.2) ? '\n<promise>DONE</promise>' : ''}`;
  if (kind === 'lie') return `Task ${task} complete`;
  if (kind === 'ask') return `${ask}${chances.is(0.3) ? '\n<promise>DONE</promise>' : ''}`;
  if (kind === 'handoff') return '<handoff>my context is full</handoff>';
  if (kind === 'promise') return 'all is well\n<promise>DONE</promise>';
  return `thinking about ${chances.whole(1, 1e9).toString(36)}`;
}

/** What it was told and has not confirmed yet; an obedient one stops at an urgent word. */
function ear(assignment: Assignment, { listening }: AgentWorld): { heard: string[]; obeying: AbortController } {
  const ear = { heard: [] as string[], obeying: new AbortController() };
  if (!listening.steer) return ear;
  assignment.notes?.listen(note => {
    ear.heard.push(note.id);
    if (note.urgent && listening.chances.is(listening.obeys)) ear.obeying.abort();
  });
  return ear;
}

async function* play(assignment: Assignment, world: AgentWorld, engineStop: AbortSignal): AsyncGenerator<Activity> {
  const { chances, listening } = world;
  const kind = behaviour(world);
  const { heard, obeying } = ear(assignment, world);
  const stop = AbortSignal.any([engineStop, obeying.signal]);
  if (chances.is(0.7)) {
    world.spawns.push(assignment.iteration);
    yield { type: 'spawned', pid: assignment.iteration, startTime: '1', host: 'sim' };
  }
  let usage: Usage = {
    inputTokens: 0,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    costUsdMicros: 0,
    estimated: false,
  };
  const messages = chances.whole(0, 4);
  for (let message = 0; message < messages && !stop.aborted; message += 1) {
    await pause(world, chances.whole(100, 60_000), stop);
    const costUsdMicros = usage.costUsdMicros + chances.whole(0, messageUsdMicrosMax);
    usage = { ...usage, inputTokens: usage.inputTokens + 1_000, outputTokens: usage.outputTokens + 100, costUsdMicros };
    if (!stop.aborted) yield { type: 'usage', usage };
    for (const note of heard.splice(0)) yield { type: 'told', note };
    if (listening.chances.is(0.2)) yield { type: 'context', usedFraction: listening.chances.whole(0, 100) / 100 };
  }
  if (kind === 'hang') await pause(world, 1e12, stop);
  if (kind === 'sleep') await pause(world, chances.whole(1, 100) * 60_000, stop);
  if (engineStop.aborted) {
    yield { type: 'ended', message: 'half a thought', failure: { kind: 'stopped', detail: 'SIGTERM' } };
    return;
  }
  if (kind === 'fail') {
    const failure = chances.pick(world.failing);
    const resetAtMs = failure === 'rate-limit' && chances.is(0.5) ? { resetAtMs: world.clock.now() + 3_600_000 } : {};
    yield {
      type: 'ended',
      message: `Task ${assignment.task} complete`,
      failure: { kind: failure, detail: `${failure} ${chances.pick(['alpha', 'beta'])}`, ...resetAtMs },
    };
    return;
  }
  if (kind === 'work') world.worked.add(assignment.task);
  if (kind === 'edit') world.edit(assignment.task);
  yield { type: 'ended', message: closing(kind, assignment.task, world) };
}

export function simulatedAgent(name: string, world: AgentWorld): Performer {
  return {
    name,
    can: { steer: world.listening.steer, resume: false, interactive: false, usage: true },
    perform: (assignment, stop) => play(assignment, world, stop),
  };
}
