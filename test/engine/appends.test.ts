// How often the loop makes the disk sync: what a new start would find again is stored with what follows it (ADR 37).
import { expect, it } from 'vitest';
import type { Event } from '../../src/core/event.ts';
import type { Appended, Ledger } from '../../src/ledger/ledger.ts';
import { defaultSettings } from '../../src/modes/registry.ts';
import { withAppend } from '../simulate/other-append.ts';
import { claims, eventsIn, makeEngine, makeWorld, type Play, runWorld, type World } from './world.ts';

type Types = readonly Event['type'][];

/** Each append by the types of its events; `way` may stop one. */
function watched(world: World, appends: Types[], way: (types: Types) => boolean = () => true): Ledger {
  return withAppend(world.ledger, async (...call): Promise<Appended> => {
    const types = call[2].map(event => event.type);
    appends.push(types);
    if (way(types)) return world.ledger.store.append(...call);
    return { ok: false, failure: { kind: 'io', detail: 'the disk reported an error', hint: '' } };
  });
}

const idles: Play = async function* () {
  yield { type: 'spawned', pid: 7, startTime: '1', host: 'test' };
  yield { type: 'ended', message: 'looked at it' };
};

const settings = { limits: { ...defaultSettings('prd').limits, attemptsPerTaskMax: 100 } };

it('given iterations that claim nothing, then the end of one and the start of the next are one append', async () => {
  const [world, appends] = [makeWorld(1), [] as Types[]];
  await runWorld(world, { ...makeEngine(world, idles), ledger: watched(world, appends) }, { settings });
  const ended = appends.filter(types => types.includes('iteration.ended'));
  expect(ended.length).toBeGreaterThan(2);
  for (const types of ended.slice(0, -1)) expect(types).toContain('iteration.started');
  expect(appends.filter(types => types.includes('iteration.spawned')).every(types => types.length === 1)).toBe(true);
});

it('given tasks that are closed, then a close is stored before its mark is, and the mark with the next start', async () => {
  const [world, appends] = [makeWorld(3), [] as Types[]];
  await runWorld(world, { ...makeEngine(world, claims), ledger: watched(world, appends) });
  const [first, ...more] = appends.filter(types => types.includes('iteration.started'));
  expect(first).toEqual(['iteration.started']);
  for (const types of more) expect(types).toEqual(['tasks.saved', 'iteration.started']);
  const closes = appends.filter(types => types.includes('task.closed'));
  expect(closes).toHaveLength(3);
  for (const types of closes) expect(types).not.toContain('tasks.saved');
});

it('given listeners, then they hear of an end when it is stored, and not before', async () => {
  const [world, appends] = [makeWorld(2), [] as Types[]];
  const early: Types[number][] = [];
  const stored = (type: Types[number]): number => appends.flat().filter(each => each === type).length;
  const told = new Map<string, number>();
  const tell = ({ type }: Event): void => {
    told.set(type, (told.get(type) ?? 0) + 1);
    if ((told.get(type) ?? 0) > stored(type)) early.push(type);
  };
  const engine = makeEngine(world, claims, { notifiers: [{ tell }] });
  await runWorld(world, { ...engine, ledger: watched(world, appends) });
  expect([early, told.get('iteration.ended')]).toEqual([[], 2]);
});

it('given an append of an end and the next start that fails, then the next run finds the end in the spool, once', async () => {
  const [world, appends] = [makeWorld(1), [] as Types[]];
  const ledger = watched(world, appends, types => !types.includes('iteration.ended'));
  const failed = await runWorld(world, { ...makeEngine(world, idles), ledger }, { settings });
  expect(failed).toMatchObject({ type: 'failed', state: { live: [{ iteration: 1 }] } });
  await runWorld(world, makeEngine(world, claims), { settings });
  const events = await eventsIn(world.ledger);
  const ends = events.filter(event => event.type === 'iteration.ended' && event.iteration === 1);
  expect(ends).toMatchObject([{ outcome: 'succeeded' }]);
});

/** As a contained agent does: made at once, at work when it may. */
const waits = (begun: boolean[], before: () => Promise<void> = async () => {}): Play =>
  async function* ({ mayBegin }) {
    await before();
    yield { type: 'spawned', pid: 7, startTime: '1', host: 'test' };
    begun.push((await mayBegin) === true);
    yield { type: 'ended', message: 'looked at it' };
  };

function holding(world: World, play: Play): ReturnType<typeof makeEngine> {
  const engine = makeEngine(world, play);
  return { ...engine, performers: { one: { ...engine.performers['one']!, holds: () => true } } };
}

it('given agents that wait for their word, then an end, the next start and its process are one append, and the word comes after it', async () => {
  const [world, appends, begun] = [makeWorld(1), [] as Types[], [] as boolean[]];
  const stored = (): number => appends.flat().filter(type => type === 'iteration.spawned').length;
  const engine = holding(world, async function* (assignment, ...more) {
    for await (const activity of waits(begun)(assignment, ...more)) {
      if (activity.type === 'ended') expect(stored()).toBe(assignment.iteration);
      yield activity;
    }
  });
  await runWorld(world, { ...engine, ledger: watched(world, appends) }, { settings });
  const starts = appends.filter(types => types.includes('iteration.started'));
  expect(starts.length).toBeGreaterThan(2);
  expect(starts[0]).toEqual(['iteration.started', 'iteration.spawned']);
  for (const types of starts.slice(1)) {
    expect([types[0], ...types.slice(-2)]).toEqual(['iteration.ended', 'iteration.started', 'iteration.spawned']);
  }
  expect(begun.every(Boolean)).toBe(true);
});

it('given an append of a start and its process that fails, then nothing runs, and the next run begins it again under its number', async () => {
  const [world, begun] = [makeWorld(1), [] as boolean[]];
  const ledger = watched(world, [], types => !types.includes('iteration.ended'));
  const failed = await runWorld(world, { ...holding(world, waits(begun)), ledger }, { settings });
  expect([failed.type, begun]).toEqual(['failed', [true, false]]);
  await runWorld(world, makeEngine(world, claims), { settings });
  const events = await eventsIn(world.ledger);
  const starts = events.filter(event => event.type === 'iteration.started');
  expect(starts.map(({ iteration }) => iteration)).toEqual([1, 2]);
});

it('given a process that takes long to be made, then the end before it is stored without it', async () => {
  const [world, appends] = [makeWorld(1), [] as Types[]];
  const isStored = (): boolean => appends.some(types => types.join() === 'iteration.ended,iteration.started');
  let made = 0;
  const slow = async (): Promise<void> => {
    made += 1;
    if (made === 2) await new Promise<void>(done => world.clock.at(world.clock.now() + 5_000, done));
    if (made === 2) expect(isStored()).toBe(true);
  };
  await runWorld(world, { ...holding(world, waits([], slow)), ledger: watched(world, appends) }, { settings });
  expect([made > 2, isStored()]).toEqual([true, true]);
});
