// The loop itself: what it does when ports break, commands come, the lease is lost and the ledger is long.
import { describe, expect, it } from 'vitest';
import type { Activity, Assignment } from '../../src/agents/performer.ts';
import type { Event } from '../../src/core/event.ts';
import { initialState, stateVersion } from '../../src/core/state.ts';
import { replay } from '../../src/engine/replay.ts';
import { evolve } from '../../src/modes/evolve.ts';
import { claims, eventsIn, loop, makeEngine, makeWorld, type Play, runWorld } from './world.ts';

const typesOf = (events: readonly Event[]): readonly string[] => events.map(event => event.type);

/** Says that it is at work, then waits for its stop. */
async function* hangs(_assignment: Assignment, stop: AbortSignal): AsyncGenerator<Activity> {
  yield { type: 'spawned', pid: 7, startTime: '1', host: 'test' };
  await new Promise<void>(done => {
    if (stop.aborted) done();
    else stop.addEventListener('abort', () => done());
  });
  yield { type: 'ended', message: 'half a thought', failure: { kind: 'stopped', detail: 'SIGTERM' } };
}

describe('a port that breaks its contract (F15)', () => {
  const broken = new Error('the notifier is broken');

  it('ends the process: the run rejects with that very error, and the next run goes on and finishes', async () => {
    const world = makeWorld(2);
    const notifiers = [
      {
        tell(event: Event): void {
          if (event.type === 'iteration.ended') throw broken;
        },
      },
    ];
    await expect(runWorld(world, makeEngine(world, claims, { notifiers }))).rejects.toBe(broken);
    const before = await eventsIn(world.ledger);
    expect(typesOf(before)).toContain('iteration.ended');
    expect(await runWorld(world, makeEngine(world, claims))).toMatchObject({ type: 'ended' });
    const events = await eventsIn(world.ledger);
    expect(events.slice(0, before.length)).toEqual(before);
    expect(events[before.length]).toMatchObject({ type: 'loop.resumed', takesOver: true });
    expect(events.filter(event => event.type === 'task.closed')).toHaveLength(2);
    expect(await world.ledger.store.verify(loop)).toMatchObject({ ok: true });
  });

  it('ends it also when a performer throws', async () => {
    const world = makeWorld(1);
    const throws: Play = async function* () {
      yield { type: 'text', text: 'hello', channel: 'output' };
      throw broken;
    };
    await expect(runWorld(world, makeEngine(world, throws))).rejects.toBe(broken);
    expect(await runWorld(world, makeEngine(world, claims))).toMatchObject({ type: 'ended' });
  });

  it('tells a full disk under the record of an iteration from a bug: the last word is recorded, the run comes back', async () => {
    const world = makeWorld(1);
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
      code: 'ENOSPC',
      syscall: 'write',
    });
    let freed = 0;
    const engine = makeEngine(world, claims, {
      spool: {
        open: () => {
          throw full;
        },
        found: () => undefined,
      },
      freeReserve: () => {
        freed += 1;
      },
    });
    expect(await runWorld(world, engine)).toMatchObject({ type: 'failed', failure: { kind: 'disk-full' } });
    expect(freed).toBe(1);
    const asked = (await eventsIn(world.ledger)).filter(event => event.type === 'escalation.raised');
    expect(asked).toMatchObject([{ escalation: { kind: 'storage', summary: 'The disk is full' } }]);
    expect(await runWorld(world, makeEngine(world, claims))).toMatchObject({ type: 'ended' });
  });
});

describe('a long ledger', () => {
  it('is resumed from a snapshot to the very state that all its events fold to', async () => {
    const world = makeWorld(3);
    const talks: Play = async function* ({ task, iteration }, _stop, { clock }) {
      for (let message = 1; message <= 950; message += 1) {
        await new Promise<void>(done => void clock.at(clock.now() + 1_000, done));
        const usage = { inputTokens: message, outputTokens: message, cacheReadTokens: 0, cacheWriteTokens: 0 };
        yield { type: 'usage', usage: { ...usage, costUsdMicros: message * iteration, estimated: false } };
      }
      yield { type: 'ended', message: `Task ${task} complete` };
    };
    const result = await runWorld(world, makeEngine(world, talks));
    expect(result).toMatchObject({ type: 'ended', state: { control: { ended: { reason: 'goal_achieved' } } } });
    const events = await eventsIn(world.ledger);
    expect(events.length).toBeGreaterThan(2_500);
    const snapshot = await world.ledger.snapshots.latest(loop, stateVersion);
    expect(snapshot?.seq).toBeGreaterThanOrEqual(2_000);
    const replayed = await replay(world.ledger, loop);
    expect(replayed.folded).toBe(events.length - snapshot!.seq);
    expect(replayed.state).toEqual(events.reduce(evolve, initialState));
    expect(result).toMatchObject({ state: replayed.state });
    const other = await replay(world.ledger, loop, stateVersion + 1);
    expect([other.folded, other.state]).toEqual([events.length, replayed.state]);
  });
});

describe('commands of other processes', () => {
  it('are each taken exactly once, in order, also when they come while the loop is busy', async () => {
    const world = makeWorld(1);
    let sent = 0;
    const meddle = (): boolean => {
      if (sent >= 40) return false;
      sent += 1;
      void world.ledger.mailbox.send(loop, 'human', { type: 'tell', text: `word ${sent}` }, world.clock.now());
      return true;
    };
    const slow: Play = async function* ({ task }, _stop, { clock }) {
      await new Promise<void>(done => void clock.at(clock.now() + 1_000, done));
      yield { type: 'ended', message: `Task ${task} complete` };
    };
    expect(await runWorld(world, makeEngine(world, slow), { meddle })).toMatchObject({ type: 'ended' });
    const words = (await eventsIn(world.ledger)).flatMap(event =>
      event.type === 'guidance.given' ? [event.text] : [],
    );
    expect(words).toEqual(Array.from({ length: 40 }, (_, at) => `word ${at + 1}`));
    expect(await world.ledger.mailbox.waiting(loop)).toEqual([]);
  });

  it('that end the loop reach a live agent', async () => {
    const world = makeWorld(1);
    let isSent = false;
    const meddle = (): boolean => {
      if (isSent) return false;
      isSent = true;
      void world.ledger.mailbox.send(loop, 'human', { type: 'stop' }, world.clock.now());
      return true;
    };
    expect(await runWorld(world, makeEngine(world, hangs), { meddle })).toMatchObject({
      type: 'ended',
      state: { control: { ended: { reason: 'explicit_stop' } } },
    });
  });
});

describe('the funnel of redaction', () => {
  it('leaves names and places of a loop as they are: what was rewritten could not be found again', async () => {
    const world = makeWorld(1);
    const redact = (text: string): string => text.replaceAll(/PRD|loop|goal|test/g, '***');
    await runWorld(world, makeEngine(world, claims, { redact }));
    const [started] = await eventsIn(world.ledger);
    expect(started).toMatchObject({ type: 'loop.started', name: loop, document: 'PRD.json', goal: '***' });
  });
});

describe('a lease that is lost', () => {
  it('is noticed when it cannot be renewed, before anything is written', async () => {
    const world = makeWorld(1);
    world.ledger.store.renew = async () => false;
    const failure = { kind: 'fenced', detail: 'another process took this loop over' };
    expect(await runWorld(world, makeEngine(world, hangs))).toMatchObject({ type: 'failed', failure });
  });

  it('stops the live agent, and not one event more is written by the old holder', async () => {
    const world = makeWorld(1);
    const engine = makeEngine(world, hangs);
    const successor = { ...engine.holder, id: 'successor', pid: 2 };
    let countAtTakeOver = 0;
    const meddle = (): boolean => {
      if (countAtTakeOver > 0) return false;
      void eventsIn(world.ledger).then(async events => {
        if (!typesOf(events).includes('iteration.spawned') || countAtTakeOver > 0) return;
        countAtTakeOver = events.length;
        await world.ledger.store.lease(loop, successor);
      });
      return true;
    };
    const result = await runWorld(world, engine, { meddle });
    expect(result).toMatchObject({ type: 'failed', failure: { kind: 'fenced' } });
    expect(countAtTakeOver).toBeGreaterThan(0);
    expect(await eventsIn(world.ledger)).toHaveLength(countAtTakeOver);
    expect(await world.ledger.store.holder(loop)).toMatchObject({ lease: { holder: { id: 'successor' } } });
  });
});
