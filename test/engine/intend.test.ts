// An action waits until its intent is durable: what it may do hangs on that answer alone.
import { expect, it } from 'vitest';
import type { Activity, Assignment } from '../../src/agents/performer.ts';
import type { TaskSpec } from '../../src/core/task.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { Appended, Ledger } from '../../src/ledger/ledger.ts';
import { defaultSettings } from '../../src/modes/registry.ts';
import { withAppend } from '../simulate/other-append.ts';
import { eventsIn, loop, makeEngine, makeWorld, runWorld, type World } from './world.ts';

const settings = { ...defaultSettings('plan'), performers: ['one'] };
const mail: Partial<TaskSpec> = { performer: 'one', completion: 'result' };

interface Seen {
  answer?: boolean;
  /** What the ledger held when the answer came. */
  stored: readonly string[];
}

async function planWorld(): Promise<World> {
  const world = makeWorld(1);
  world.document.tasks = world.document.tasks.map(task => ({ ...task, ...mail }));
  return world;
}

const acting = (seen: Seen, before: () => Promise<void> = async () => {}) =>
  async function* ({ intend }: Assignment, _stop: AbortSignal, world: World): AsyncGenerator<Activity> {
    await before();
    seen.answer = (await intend?.(false)) === true;
    seen.stored = (await eventsIn(world.ledger)).map(event => event.type);
    if (seen.answer) yield { type: 'ended', message: 'sent' };
    else yield { type: 'ended', message: '', failure: { kind: 'stopped', detail: 'called off' } };
  };

const withLedger = (engine: Engine, ledger: Ledger): Engine => ({ ...engine, ledger });

/** The append that holds an intent goes this way. */
function intentsGo(world: World, way: (through: () => Promise<Appended>) => Promise<Appended>): Ledger {
  const { store } = world.ledger;
  return withAppend(world.ledger, (...call) => {
    const through = (): Promise<Appended> => store.append(...call);
    return call[2].some(event => event.type === 'action.intended') ? way(through) : through();
  });
}

it('given an intent, when it is stored, then the action may act, and the ledger already holds it', async () => {
  const [world, seen] = [await planWorld(), { stored: [] } as Seen];
  const result = await runWorld(world, makeEngine(world, acting(seen)), { settings });
  expect(result.type).toBe('ended');
  expect(seen.answer).toBe(true);
  expect(seen.stored).toContain('action.intended');
  expect(seen.stored).not.toContain('iteration.ended');
});

it('given an append that takes its time, then the action waits for it', async () => {
  const [world, seen] = [await planWorld(), { stored: [] } as Seen];
  const answersWhileSlow: (boolean | undefined)[] = [];
  const ledger = intentsGo(world, async through => {
    for (let turns = 0; turns < 20; turns += 1) await new Promise(done => setImmediate(done));
    answersWhileSlow.push(seen.answer);
    return through();
  });
  await runWorld(world, withLedger(makeEngine(world, acting(seen)), ledger), { settings });
  expect([answersWhileSlow, seen.answer]).toEqual([[undefined], true]);
});

it.each([true, false])(
  'given an append that fails (stored all the same: %s), then it must not act, and is tried anew',
  async isStored => {
    const [world, seen] = [await planWorld(), { stored: [] } as Seen];
    const ledger = intentsGo(world, async through => {
      if (isStored) await through();
      return { ok: false, failure: { kind: 'io', detail: 'the disk reported an error', hint: '' } };
    });
    const result = await runWorld(world, withLedger(makeEngine(world, acting(seen)), ledger), { settings });
    expect([result.type, seen.answer]).toEqual(['failed', false]);
    const again: Seen = { stored: [] };
    const result2 = await runWorld(world, makeEngine(world, acting(again)), { settings });
    expect([result2.type, again.answer]).toEqual(['ended', true]);
    const started = (await eventsIn(world.ledger)).filter(event => event.type === 'iteration.started');
    expect(started.length).toBe(2);
  },
);

it.each([{ type: 'stop' }, { type: 'pause', now: true }])(
  'given $type before the intent, then it must not act',
  async command => {
    const [world, seen] = [await planWorld(), { stored: [] } as Seen];
    const before = async (): Promise<void> => {
      await world.ledger.mailbox.send(loop, 'ada', command, world.clock.now());
    };
    const interrupt = new AbortController();
    const meddle = (): boolean => {
      if (seen.answer !== undefined) interrupt.abort('over');
      return false;
    };
    const course = { settings, interrupt: interrupt.signal, meddle };
    await runWorld(world, makeEngine(world, acting(seen, before)), course);
    expect(seen.answer).toBe(false);
    expect(seen.stored).not.toContain('action.intended');
  },
);

it('given Ctrl-C after the intent, then what the action says about its effect is kept', async () => {
  const world = await planWorld();
  const interrupt = new AbortController();
  const lost = async function* ({ intend }: Assignment, stop: AbortSignal): AsyncGenerator<Activity> {
    await intend?.(false);
    interrupt.abort('Ctrl-C');
    if (!stop.aborted) await new Promise(done => stop.addEventListener('abort', done));
    yield { type: 'ended', message: '', failure: { kind: 'lost-reply', detail: 'no answer came' } };
  };
  const result = await runWorld(world, makeEngine(world, lost), { settings, interrupt: interrupt.signal });
  expect(result).toMatchObject({
    type: 'interrupted',
    state: { questions: { open: [{ kind: 'effect', task: 'T1' }] } },
  });
});
