// One live iteration under watch: signs of life, silence, and what is kept of its output and its end.
import { describe, expect, it } from 'vitest';
import type { Activity } from '../../src/agents/performer.ts';
import { claims, eventsIn, makeEngine, makeWorld, type Play, runWorld } from './world.ts';

const minuteMs = 60_000;

describe('signs of life', () => {
  it('are reported ever more rarely, once a minute at last, with how long it has been quiet, and stop with the iteration', async () => {
    const world = makeWorld(1);
    const speaksTwice: Play = async function* ({ task }, _stop, { clock }) {
      const pass = (ms: number): Promise<void> => new Promise(done => void clock.at(clock.now() + ms, done));
      yield { type: 'spawned', pid: 7, startTime: '1', host: 'test' };
      await pass(1.5 * minuteMs);
      yield { type: 'context', usedFraction: 0.25 };
      await pass(2 * minuteMs);
      yield { type: 'ended', message: `Task ${task} complete` };
    };
    expect(await runWorld(world, makeEngine(world, speaksTwice))).toMatchObject({ type: 'ended' });
    const heard = (await eventsIn(world.ledger)).flatMap(event =>
      event.type === 'iteration.heartbeat' ? [event] : [],
    );
    expect(heard.map(({ quietMs, contextUsed }) => [quietMs, contextUsed])).toEqual([
      [1_000, undefined],
      [3_000, undefined],
      [7_000, undefined],
      [15_000, undefined],
      [31_000, undefined],
      [63_000, undefined],
      [0, 0.25],
      [33_000, 0.25],
      [93_000, 0.25],
    ]);
    expect(world.clock.waiting).toBe(0);
  });
});

describe('output and end', () => {
  it('are handed to the spool before the ledger hears of the end', async () => {
    const world = makeWorld(1);
    const order: string[] = [];
    const speaks: Play = async function* ({ task }) {
      yield { type: 'text', text: 'to the point', channel: 'output' };
      yield { type: 'text', text: 'a complaint', channel: 'errors' };
      yield { type: 'ended', message: `Task ${task} complete` };
    };
    const engine = makeEngine(world, speaks, {
      spool: {
        open: iteration => {
          order.push(`open ${iteration}`);
          return { write: (text, channel) => order.push(`${channel}: ${text}`), end: () => order.push('spool ended') };
        },
        found: () => undefined,
      },
      notifiers: [{ tell: event => void (event.type === 'iteration.ended' && order.push('ledger ended')) }],
    });
    await runWorld(world, engine);
    expect(order).toEqual(['open 1', 'output: to the point', 'errors: a complaint', 'spool ended', 'ledger ended']);
  });

  it('of a performer that says nothing about its end count as a failure that is worth another try', async () => {
    const world = makeWorld(1);
    let tries = 0;
    const silent: Play = async function* (assignment): AsyncGenerator<Activity> {
      tries += 1;
      if (tries > 1) yield* claims(assignment);
    };
    expect(await runWorld(world, makeEngine(world, silent))).toMatchObject({ type: 'ended' });
    const ended = (await eventsIn(world.ledger)).flatMap(event => (event.type === 'iteration.ended' ? [event] : []));
    expect(ended).toMatchObject([{ outcome: 'failed', failure: { kind: 'unknown' } }, { outcome: 'succeeded' }]);
  });

  it('close the performer when the disk fails under them, so that no agent goes on alone', async () => {
    const world = makeWorld(1);
    let isClosed = false;
    const speaks: Play = async function* () {
      try {
        yield { type: 'text', text: 'too much', channel: 'output' };
        yield { type: 'text', text: 'never heard', channel: 'output' };
      } finally {
        isClosed = true;
      }
    };
    const gone = Object.assign(new Error('ENOENT: no such file'), { code: 'ENOENT', syscall: 'open' });
    const spool = {
      open: () => ({
        write: () => {
          throw gone;
        },
        end: () => {},
      }),
      found: () => undefined,
    };
    expect(await runWorld(world, makeEngine(world, speaks, { spool }))).toMatchObject({
      type: 'failed',
      failure: { kind: 'gone' },
    });
    expect(isClosed).toBe(true);
  });
});
