// The tools of a person's program over the door to loops: they look, pause and say something, and never decide.
import { expect, it } from 'vitest';
import { openLoops } from '../../src/index.ts';
import { operatorCalls } from '../../src/mcp-server/operator.ts';
import { tools } from '../../src/mcp-server/tools.ts';
import { claims, eventsIn, makeEngine, makeWorld, type Play, runWorld } from '../engine/world.ts';
import { answerOf, clientOf, eras } from './client.ts';

/** Asks in its first iteration. */
const asks: Play = async function* () {
  yield { type: 'ended', message: '<escalate type="stuck">\n<summary>Which colour?</summary>\n</escalate>' };
};

it.each(eras)('every tool of an operator, in the %s era', async era => {
  const world = makeWorld(1);
  await runWorld(world, makeEngine(world, asks));
  const loops = await openLoops({ home: '/nowhere', ledger: world.ledger });
  const calls = operatorCalls({ loops: async () => loops, directory: '.', by: 'ada (mcp)' });
  const client = await clientOf('operator', calls, era);
  const call = (name: string, given: Record<string, unknown> = {}) => answerOf(client, name, given);
  expect((await client.listTools()).tools.map(one => one.name)).toEqual(
    tools.filter(one => one.role === 'operator').map(one => one.name),
  );

  expect(await call('list_loops', { open: true })).toMatchObject({
    loops: [{ name: 'loop-1', state: 'not-running', tasks: { done: 0, total: 1 }, questions: 1 }],
    more: 0,
  });
  expect(await call('loop_status', { loop: 'loop-1' })).toMatchObject({ name: 'loop-1', tasks: { total: 1 } });
  expect(await call('list_inbox')).toMatchObject({
    questions: [{ loop: 'loop-1', summary: 'Which colour?', answerWith: 'ralph answer loop-1/E1' }],
  });
  const page = await call('get_events', { loop: 'loop-1', most: 2 });
  expect(page).toMatchObject({ events: [{ seq: 1, type: 'loop.started' }, { seq: 2 }], next: 2 });
  expect(await call('get_events', { loop: 'loop-1', after: 3 })).toMatchObject({ events: [{ seq: 4 }, {}] });
  expect(await call('get_diff', { loop: 'loop-1' })).toBe('refused');

  expect(await call('nudge', { loop: 'loop-1', text: 'take red' })).toMatchObject({ became: 'decided' });
  expect(await call('nudge', { loop: 'loop-1', text: 'take red', task: 'T9' })).toBe('no-task');
  expect(await call('pause', { loop: 'loop-1' })).toMatchObject({ became: 'decided' });
  expect((await eventsIn(world.ledger)).slice(-2)).toMatchObject([
    { type: 'guidance.given', by: 'ada (mcp)', text: 'take red' },
    { type: 'loop.paused', by: 'ada (mcp)', now: false },
  ]);

  for (const [name, given, kind] of [
    ['pause', {}, 'wrong-arguments'],
    ['loop_status', { loop: 'nobody' }, 'refused'],
    ['report_done', { task: 'T1', evidence: [] }, '-32602 not-your-role'],
    ['answer', { loop: 'loop-1', question: 'E1' }, '-32602 unknown-tool'],
  ] as const)
    expect(await call(name, given)).toBe(kind);
  await client.close();
  await loops.close();
});

it('no tool of either role answers, approves, or changes limits, criteria or checks', () => {
  expect(tools.filter(one => !('looks' in one)).map(one => one.name)).toEqual([
    ...['report_progress', 'report_done', 'report_obstacle', 'request_human', 'note_decision'],
    ...['pause', 'nudge'],
  ]);
});

it('an operator says that a loop is over, as the door says it', async () => {
  const world = makeWorld(1);
  await runWorld(world, makeEngine(world, claims));
  const loops = await openLoops({ home: '/nowhere', ledger: world.ledger });
  const calls = operatorCalls({ loops: async () => loops, directory: '.', by: 'ada' });
  expect(await calls.pause({ loop: 'loop-1' })).toEqual({
    problem: { kind: 'ended', message: 'Loop loop-1 has ended.' },
  });
});
