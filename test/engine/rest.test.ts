// The loop rests when it has nothing to do, whatever state it is in: timers, signals and the agent's end need the thread.
import { expect, it } from 'vitest';
import { noUsage } from '../../src/core/state.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { withAppend } from '../simulate/other-append.ts';
import { makeEngine, makeWorld, type Play, runWorld } from './world.ts';

const turnsMax = 100_000;

it('also after the ledger failed and other processes go on writing to it', async () => {
  const world = makeWorld(1);
  const { store, mailbox } = world.ledger;
  let isLost = false;
  let changed: () => void = () => {};
  const ledger: Ledger = {
    ...withAppend(world.ledger, async (...call) =>
      isLost ? { ok: false, failure: { kind: 'fenced', detail: 'taken', hint: '' } } : store.append(...call),
    ),
    mailbox: {
      send: (...call) => mailbox.send(...call),
      waiting: loop => mailbox.waiting(loop),
      watch: told => {
        changed = told;
        return () => {};
      },
    },
  };
  const endsSlowly: Play = async function* (_assignment, stop) {
    yield { type: 'spawned', pid: 7, startTime: '1', host: 'test' };
    isLost = true;
    yield { type: 'usage', usage: { ...noUsage, costUsdMicros: 1 } };
    await new Promise<void>(done => (stop.aborted ? done() : stop.addEventListener('abort', () => done())));
    changed();
    for (let turn = 0; turn < 3; turn += 1) await new Promise(done => setImmediate(done));
    yield { type: 'ended', message: '', failure: { kind: 'stopped', detail: 'TERM' } };
  };
  // Each turn of the loop looks at the interrupt: without a rest it looks without end, and no immediate ever runs.
  let turns = 0;
  const { signal } = new AbortController();
  const interrupt = new Proxy(signal, {
    get(target, key) {
      turns += 1;
      if (turns > turnsMax) throw new Error(`${turnsMax} turns without a rest`);
      const value = Reflect.get(target, key, target) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const result = await runWorld({ ...world, ledger }, makeEngine({ ...world, ledger }, endsSlowly), { interrupt });
  expect(result).toMatchObject({ type: 'failed', failure: { kind: 'fenced' } });
});
