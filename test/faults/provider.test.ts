// The provider and the budget, through the real loop: limits that reset, bursts of overload, revoked logins, spent money.
import { describe, expect, it } from 'vitest';
import type { Event, EventOf, EventType } from '../../src/core/event.ts';
import type { FailureKind } from '../../src/core/failure.ts';
import { noUsage } from '../../src/core/state.ts';
import { defaultSettings } from '../../src/modes/registry.ts';
import { eventsIn, makeEngine, makeWorld, type Play, runWorld } from '../engine/world.ts';

const of = <Type extends EventType>(events: readonly Event[], type: Type): readonly EventOf<Type>[] =>
  events.filter((event): event is EventOf<Type> => event.type === type);

const spawned = { type: 'spawned', pid: 7, startTime: '1', host: 'test' } as const;

/** Fails so often, then works. */
const failsAtFirst = (kind: FailureKind, times: number, more: { readonly resetAfterMs?: number } = {}): Play =>
  async function* ({ task, iteration }, _stop, { clock }) {
    yield spawned;
    const { resetAfterMs } = more;
    const reset = resetAfterMs === undefined ? {} : { resetAtMs: clock.now() + resetAfterMs };
    const failure = iteration <= times ? { failure: { kind, detail: `${kind} of the provider`, ...reset } } : {};
    yield { type: 'ended', message: iteration <= times ? '' : `Task ${task} complete`, ...failure };
  };

describe('a limit with a reset time (F54)', () => {
  it('is waited for without a single call, is no error, and the loop goes on alone', async () => {
    const world = makeWorld(1);
    const hour = 3_600_000;
    const result = await runWorld(world, makeEngine(world, failsAtFirst('rate-limit', 1, { resetAfterMs: 5 * hour })));
    expect(result).toMatchObject({
      type: 'ended',
      state: { streaks: { errors: 0 }, control: { ended: { reason: 'goal_achieved' } } },
    });
    const events = await eventsIn(world.ledger);
    const [first, second] = of(events, 'iteration.started');
    expect(second!.at - first!.at).toBe(5 * hour);
    expect(of(events, 'escalation.raised')).toEqual([]);
  });

  it('survives a restart: the next process waits for the same time', async () => {
    const world = makeWorld(1);
    const interrupt = new AbortController();
    const play = failsAtFirst('rate-limit', 1, { resetAfterMs: 3_600_000 });
    const meddle = (): boolean => {
      if (interrupt.signal.aborted) return false;
      if (world.spooled.size > 0) interrupt.abort('Ctrl-C');
      return world.spooled.size > 0;
    };
    const first = await runWorld(world, makeEngine(world, play), { interrupt: interrupt.signal, meddle });
    expect(first.type).toBe('interrupted');
    await runWorld(world, makeEngine(world, play));
    const [limited, again] = of(await eventsIn(world.ledger), 'iteration.started');
    expect(again!.at - limited!.at).toBe(3_600_000);
  });
});

describe('a burst of overload (F55)', () => {
  it('opens the breaker, sends one probe at a time, and closes it when one is served', async () => {
    const world = makeWorld(3);
    const { breaker } = defaultSettings('prd');
    await runWorld(world, makeEngine(world, failsAtFirst('overloaded', 4)), { settings: { parallel: 3 } });
    const events = await eventsIn(world.ledger);
    const tripped = of(events, 'performer.tripped');
    expect(tripped.length).toBeGreaterThanOrEqual(2);
    const [open] = tripped;
    const probes = of(events, 'iteration.started').filter(event => event.at >= open!.until);
    expect(probes[0]!.at).toBe(open!.until);
    expect(open!.until - open!.at).toBe(breaker.cooldownMs);
    const after = of(events, 'iteration.started').filter(event => event.at > open!.at && event.at < open!.until);
    expect(after).toEqual([]);
    expect(probes.filter(event => event.at === probes[0]!.at)).toHaveLength(1);
    expect(of(events, 'performer.recovered')).toHaveLength(1);
    expect(of(events, 'loop.ended')).toMatchObject([{ reason: 'goal_achieved' }]);
  });

  it('waits a little longer each time, never the same for two loops', async () => {
    const world = makeWorld(1);
    await runWorld(world, makeEngine(world, failsAtFirst('overloaded', 2)));
    const waits = of(await eventsIn(world.ledger), 'iteration.ended').flatMap(event =>
      event.waitUntil === undefined ? [] : [event.waitUntil - event.at],
    );
    expect(waits).toHaveLength(2);
    expect(waits.every(ms => ms > 0 && ms <= 60_000)).toBe(true);
    expect(waits[0]).not.toBe(waits[1]);
  });
});

describe('a login that is revoked (F56)', () => {
  it.each(['auth', 'billing'] as const)('asks for a person after one call (%s), and calls nobody else', async kind => {
    const world = makeWorld(2);
    const result = await runWorld(world, makeEngine(world, failsAtFirst(kind, 99)));
    expect(result.type).toBe('waiting');
    const events = await eventsIn(world.ledger);
    expect(of(events, 'iteration.started')).toHaveLength(1);
    expect(of(events, 'escalation.raised')).toMatchObject([{ escalation: { kind: 'agent' } }]);
  });
});

describe('money that runs out in the middle of an iteration (F59)', () => {
  it('given many messages in one second, then none of them waits: the limit is overrun by one at most', async () => {
    const world = makeWorld(1);
    let sent = 0;
    const hasty: Play = async function* (_assignment, stop) {
      yield spawned;
      for (let message = 1; message <= 50 && !stop.aborted; message += 1) {
        sent = message;
        yield { type: 'usage', usage: { ...noUsage, costUsdMicros: message * 100_000 } };
        await new Promise(done => setImmediate(done));
      }
      yield { type: 'ended', message: '', failure: { kind: 'stopped', detail: 'SIGTERM' } };
    };
    const limits = { ...defaultSettings('prd').limits, costUsdMicrosMax: 1_000_000 };
    const noTimePasses = (): boolean => sent < 50;
    const result = await runWorld(world, makeEngine(world, hasty), { settings: { limits }, meddle: noTimePasses });
    expect(result).toMatchObject({ state: { control: { ended: { reason: 'budget_exhausted' } } } });
    expect(sent).toBeLessThan(20);
  });

  it('stops the performer at once: the overshoot is that of one message, and it is recorded', async () => {
    const world = makeWorld(1);
    const spends: Play = async function* (_assignment, stop, { clock }) {
      yield spawned;
      for (let message = 1; !stop.aborted; message += 1) {
        await new Promise<void>(done => {
          const cancel = clock.at(clock.now() + 1_000, done);
          stop.addEventListener('abort', () => {
            cancel();
            done();
          });
        });
        if (!stop.aborted) yield { type: 'usage', usage: { ...noUsage, costUsdMicros: message * 300_000 } };
      }
      yield { type: 'ended', message: '', failure: { kind: 'stopped', detail: 'SIGTERM' } };
    };
    const limits = { ...defaultSettings('prd').limits, costUsdMicrosMax: 1_000_000 };
    const result = await runWorld(world, makeEngine(world, spends), { settings: { limits } });
    expect(result).toMatchObject({
      state: { control: { ended: { reason: 'budget_exhausted' } }, spend: { usage: { costUsdMicros: 1_200_000 } } },
    });
    const events = await eventsIn(world.ledger);
    expect(of(events, 'budget.alerted')).toHaveLength(1);
    expect(of(events, 'iteration.ended')).toMatchObject([{ outcome: 'interrupted' }]);
  });
});
