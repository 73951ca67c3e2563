// A loop in memory for the engine's tests: two tasks, an agent that plays what it is told, and a ledger to look into.

import type { Activity, Assignment } from '../../src/agents/performer.ts';
import type { Event } from '../../src/core/event.ts';
import type { Settings } from '../../src/core/settings.ts';
import type { TaskSpec } from '../../src/core/task.ts';
import type { Engine, RunResult } from '../../src/engine/engine.ts';
import { eventsOf } from '../../src/engine/replay.ts';
import { type RunOptions, runLoop } from '../../src/engine/run.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { memoryLedger } from '../../src/ledger/memory.ts';
import type { SpoolEnd } from '../../src/ledger/spool.ts';
import { defaultSettings } from '../../src/modes/registry.ts';
import { VirtualClock } from '../simulate/clock.ts';
import { SimulatedDocument } from '../simulate/document.ts';
import { random } from '../simulate/random.ts';

export const loop = 'loop-1';

export type Play = (assignment: Assignment, stop: AbortSignal, world: World) => AsyncGenerator<Activity>;

export interface World {
  readonly clock: VirtualClock;
  readonly ledger: Ledger;
  readonly spooled: Map<number, SpoolEnd>;
  readonly document: SimulatedDocument;
}

export function makeWorld(tasks: number, isAlive: (id: string) => boolean = () => false): World {
  const clock = new VirtualClock(random(1));
  const specs = Array.from({ length: tasks }, (_, at): TaskSpec => {
    const id = `T${at + 1}`;
    return { id, title: id, description: 'do it', criteria: ['done'], dependsOn: [], done: false, skipped: false };
  });
  return {
    clock,
    ledger: memoryLedger({ isAlive: holder => isAlive(holder.id), now: () => clock.now() }),
    spooled: new Map(),
    document: new SimulatedDocument(specs),
  };
}

export async function* claims({ task }: Assignment): AsyncGenerator<Activity> {
  yield { type: 'ended', message: `Task ${task} complete` };
}

export function makeEngine(world: World, play: Play, more: Partial<Engine> = {}): Engine {
  world.document.restart();
  const { clock, ledger, spooled } = world;
  return {
    ledger,
    clock,
    source: world.document,
    performers: {
      one: {
        name: 'one',
        can: { steer: false, resume: false, interactive: false, usage: true },
        perform: (assignment, stop) => play(assignment, stop, world),
      },
    },
    checks: [],
    spool: {
      open: iteration => ({ write: () => {}, end: end => void (end && spooled.set(iteration, end)) }),
      found: iteration => spooled.get(iteration),
    },
    notifiers: [],
    redact: text => text,
    prompt: () => ({ text: 'work' }),
    onEscalation: 'exit',
    holder: { id: clock.id(), pid: 1, startTime: '1', host: 'test', boot: 'test', version: 'test' },
    by: 'test',
    environment: {},
    ...more,
  };
}

export interface Course extends Partial<RunOptions> {
  readonly settings?: Partial<Settings>;
  /** Called before time is let pass; true when it did something itself. */
  readonly meddle?: () => boolean;
}

/** Runs one process of the loop; time passes whenever nothing else can happen. */
export async function runWorld(world: World, engine: Engine, course: Course = {}): Promise<RunResult> {
  const settings = { ...defaultSettings('prd'), performers: ['one'], ...course.settings };
  const facts = { name: loop, goal: 'test', document: 'PRD.json', directory: '.', projectId: '', taskId: '' };
  const first = [{ type: 'start' as const, loop, ...facts, settings, by: 'test' }];
  const running = runLoop(engine, loop, { interrupt: course.interrupt ?? new AbortController().signal, first });
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  running.then(over, over);
  while (!isOver) {
    await new Promise(done => setImmediate(done));
    if (!isOver && course.meddle?.() !== true) world.clock.advance();
  }
  return running;
}

export async function eventsIn(ledger: Ledger): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const page of eventsOf(ledger, loop)) events.push(...page.map(recorded => recorded.event));
  return events;
}
