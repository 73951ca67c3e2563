// Which loop a command comes out of, by ancestors, session or namespace: what the ledger says of living processes (F34).
import { expect, it } from 'vitest';
import { loopAbove } from '../../src/app/inside-agent.ts';
import type { Holder } from '../../src/ledger/ledger.ts';
import { memoryLedger } from '../../src/ledger/memory.ts';
import type { Ancestry } from '../../src/processes/tree.ts';
import { Story } from '../core/given.ts';

const here = { host: 'here', boot: 'boot-1 pid:[1]' };
const holder: Holder = { id: 'h', pid: 100, startTime: '5000', host: 'here', boot: here.boot, version: '1' };
const agent = { pid: 200, startTime: '6000', host: 'here' };
const nobody: Ancestry = { above: [{ pid: 1, startTime: '1' }], session: 77 };

/** A held loop with one iteration at work. */
async function held(by: Partial<Holder> = {}, isAlive = true) {
  const ledger = memoryLedger({ isAlive: () => isAlive });
  const story = new Story();
  story.when({ type: 'begin', task: 'A', performer: 'claude', holder: 'h' });
  story.when({ type: 'spawned', iteration: 1, ...agent });
  await ledger.store.append('loop-0001', 0, story.events);
  await ledger.store.lease('loop-0001', { ...holder, ...by });
  return ledger;
}

const theIteration = { row: { name: 'shop' }, live: { iteration: 1, performer: 'claude' } };

it('a person who started nothing of it is outside', async () => {
  expect(await loopAbove(await held(), nobody, here)).toBeUndefined();
});

it.each<[string, Partial<Ancestry>]>([
  ['below its process', { above: [{ pid: 300, startTime: '7000' }, agent] }],
  ['in its session, when its process is gone', { session: 200 }],
])('%s we are inside that iteration', async (_where, part) => {
  expect(await loopAbove(await held(), { ...nobody, ...part }, here)).toMatchObject(theIteration);
});

it('below the process of an iteration whose Ralph died we are still inside it', async () => {
  const ledger = await held({}, false);
  expect(await loopAbove(ledger, { ...nobody, above: [agent] }, here)).toMatchObject(theIteration);
});

it('below Ralph itself we are inside the loop, of which iteration nobody knows: a check', async () => {
  const found = await loopAbove(await held(), { ...nobody, above: [{ pid: 100, startTime: '5000' }] }, here);
  expect(found).toMatchObject({ row: { name: 'shop' } });
  expect(found?.live).toBeUndefined();
});

it.each<[string, Ancestry, string]>([
  [
    'the number of its process, started at another time',
    { ...nobody, above: [{ ...agent, startTime: '6001' }] },
    here.boot,
  ],
  ['a process of another boot', { ...nobody, above: [agent] }, 'boot-2 pid:[1]'],
  ['the number of its session in another namespace', { ...nobody, session: 200 }, 'boot-1 pid:[2]'],
])('%s is somebody else', async (_what, us, boot) => {
  expect(await loopAbove(await held(), us, { ...here, boot })).toBeUndefined();
});

it.each([
  ['a moment after its process began', '6003', 1],
  ['long after: a check', '60000', undefined],
])('a namespace of ours that began %s', async (_when, namespaceSince, iteration) => {
  const found = await loopAbove(await held(), { ...nobody, namespaceSince }, { ...here, boot: 'boot-1 pid:[2]' });
  expect(found?.row.name).toBe('shop');
  expect(found?.live?.iteration).toBe(iteration);
});

it('a namespace of ours that is older than the loop belongs to another one', async () => {
  expect(await loopAbove(await held(), { ...nobody, namespaceSince: '4000' }, here)).toBeUndefined();
});
