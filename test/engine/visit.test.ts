// A visit: a process that is only here for a moment, for work that goes on outside (ADR 9). The same loop, limits and checks.
import { expect, it } from 'vitest';
import { sessionHolder } from '../../src/core/event.ts';
import type { CheckOutcome } from '../../src/core/input.ts';
import type { Settings } from '../../src/core/settings.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { type RunOptions, runLoop } from '../../src/engine/run.ts';
import { defaultSettings } from '../../src/modes/registry.ts';
import { claims, eventsIn, loop, makeEngine, makeWorld, type Play } from './world.ts';

function session(changes: Partial<Settings> = {}, more: Partial<Engine> = {}) {
  const world = makeWorld(2);
  const prompts: string[] = [];
  const leave: Play = async function* ({ prompt }) {
    prompts.push(prompt);
    yield { type: 'left' };
  };
  const facts = { name: loop, goal: 'test', document: 'PRD.json', directory: '.', projectId: '', taskId: '' };
  const settings = { ...defaultSettings('prd'), performers: ['one'], ...changes };
  let isBegun = false;
  /** Each is a process of its own, with the session's id. */
  const visit = async (options: RunOptions['visit'], rest: Partial<RunOptions> = {}) => {
    const engine = makeEngine(world, leave, more);
    const holder = { ...engine.holder, id: sessionHolder('abc'), pid: prompts.length + 100 };
    const start = { type: 'start' as const, loop, ...facts, settings, by: 'test' };
    const first = isBegun ? [] : [start];
    isBegun = true;
    const interrupt = new AbortController().signal;
    return runLoop({ ...engine, holder }, loop, { interrupt, first, visit: options, ...rest });
  };
  const said = (message: string) => visit({ outcome: { message }, begins: true });
  return { world, prompts, visit, said, events: () => eventsIn(world.ledger) };
}

it('hands the first task out, stays its holder, and takes what was said as the end of that iteration', async () => {
  const { world, said, visit, prompts, events } = session();
  expect((await visit({ begins: true })).type).toBe('left');
  expect(prompts).toEqual(['work']);
  expect((await world.ledger.store.holder(loop))?.lease.holder.id).toBe('session:abc');
  expect((await said('Task T1 complete')).type).toBe('left');
  const { type, state } = (await said('Task T2 complete\n\n<promise>DONE</promise>')) as never as {
    type: string;
    state: { control: { ended?: { reason: string } } };
  };
  expect([type, state.control.ended?.reason]).toEqual(['ended', 'goal_achieved']);
  const all = await events();
  expect(all.filter(one => one.type === 'iteration.started').map(one => one.iteration)).toEqual([1, 2]);
  expect(all.filter(one => one.type === 'iteration.ended').map(one => one.outcome)).toEqual(['succeeded', 'succeeded']);
});

it('records the next turn before it is asked for, so that a crash in between is the same turn again', async () => {
  const { visit, said, events } = session();
  await visit({ begins: true });
  await said('not yet');
  // The hook died after this and never answered: the session ends, and comes back.
  const before = (await events()).filter(one => one.type === 'iteration.started').length;
  await said('and now Task T1 complete');
  const started = (await events()).filter(one => one.type === 'iteration.started');
  expect([before, started.length]).toEqual([2, 3]);
  expect(started.some(one => one.again)).toBe(false);
});

it('hands out one thing at a time, also where others may work side by side, and writes nothing where nothing is to be done', async () => {
  const { world, said, visit, prompts, events } = session({ parallel: 2 });
  await visit({ begins: true });
  expect(prompts.length).toBe(1);
  expect((await events()).filter(one => one.type === 'iteration.started').length).toBe(1);
  expect((await said('Task T1 complete')).type).toBe('left');
  await said('Task T2 complete');
  const count = (await events()).length;
  expect((await visit({ begins: true })).type).toBe('ended');
  expect((await events()).length).toBe(count);
  expect((await world.ledger.store.holder(loop))?.alive ?? false).toBe(false);
});

it('ends at its limit of iterations, which counts each turn once', async () => {
  const limits = { ...defaultSettings('prd').limits, iterationsMax: 3 };
  const { visit, said, events } = session({ limits });
  await visit({ begins: true });
  expect([(await said('1')).type, (await said('2')).type, (await said('3')).type]).toEqual(['left', 'left', 'ended']);
  expect((await events()).at(-1)).toMatchObject({ type: 'loop.ended', reason: 'max_iterations' });
});

it('checks a claim itself, and tells the next turn why it was refused', async () => {
  let passes = false;
  const outcome = (): CheckOutcome => ({ name: 'tests', passed: passes, detail: 'two are red', durationMs: 1 });
  const { visit, said, events } = session(
    { checks: ['tests'] },
    { checks: [{ name: 'tests', run: async () => outcome() }] },
  );
  await visit({ begins: true });
  expect((await said('Task T1 complete')).type).toBe('left');
  expect((await events()).filter(one => one.type === 'task.closed')).toEqual([]);
  passes = true;
  await said('Task T1 complete');
  expect((await events()).filter(one => one.type === 'task.closed')).toMatchObject([{ task: 'T1', verified: true }]);
});

it('begins nothing when it is told so, but still takes what was said and proves it', async () => {
  const { visit, events } = session();
  await visit({ begins: true });
  const result = await visit({ outcome: { message: 'Task T1 complete' }, begins: false });
  expect(result.type).toBe('waiting');
  expect((await events()).filter(one => one.type === 'task.closed')).toMatchObject([{ task: 'T1' }]);
});

it('does not wait for a pause, a back-off or a person to be over', async () => {
  const { visit, events } = session();
  await visit({ begins: true });
  const pause = { type: 'command' as const, command: { type: 'pause' as const, now: false }, by: 'me' };
  expect((await visit({ outcome: { message: 'x' }, begins: true }, { first: [pause] })).type).toBe('waiting');
  const count = (await events()).length;
  expect((await visit({ begins: true })).type).toBe('waiting');
  expect((await events()).length).toBe(count);
  const resume = { type: 'command' as const, command: { type: 'resume' as const }, by: 'me' };
  expect((await visit({ begins: true }, { first: [resume] })).type).toBe('left');
  const failure = { kind: 'overloaded' as const, detail: '529' };
  expect((await visit({ outcome: { message: '', failure }, begins: true })).type).toBe('waiting');
  expect((await events()).filter(one => one.type === 'iteration.ended').at(-1)?.outcome).toBe('failed');
});

it('counts the turn of a session that somebody else takes over from, and begins a new one', async () => {
  const { world, visit, events } = session();
  await visit({ begins: true });
  const lease = (await world.ledger.store.holder(loop))!.lease;
  await world.ledger.store.release(lease);
  const result = await runLoop(makeEngine(world, claims), loop, { interrupt: new AbortController().signal });
  expect(result.type).toBe('ended');
  const ended = (await events()).filter(one => one.type === 'iteration.ended');
  expect(ended.map(one => one.outcome)).toEqual(['interrupted', 'succeeded', 'succeeded']);
  expect(ended[0]?.because).toMatch(/session abc left it/);
});

it('is no sign of standing still that nobody heard of the session for an hour', async () => {
  const { world, visit, said, events } = session();
  await visit({ begins: true });
  world.clock.skip(3_600_000);
  await said('Task T1 complete');
  expect((await events()).some(one => one.type === 'iteration.nudged')).toBe(false);
});
