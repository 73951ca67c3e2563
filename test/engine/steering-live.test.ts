// Words to a working performer, through the real loop: they reach it, or everybody knows that they did not.
import { describe, expect, it } from 'vitest';
import type { Note } from '../../src/agents/performer.ts';
import type { Event, EventOf, EventType } from '../../src/core/event.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { eventsIn, loop, makeEngine, makeWorld, type Play, runWorld, type World } from './world.ts';

const spawned = { type: 'spawned', pid: 7, startTime: '1', host: 'test' } as const;

function steerable(world: World, play: Play, more: Partial<Engine> = {}): Engine {
  const engine = makeEngine(world, play, more);
  const one = engine.performers['one']!;
  return { ...engine, performers: { one: { ...one, can: { ...one.can, steer: true } } } };
}

const of = <Type extends EventType>(events: readonly Event[], type: Type): readonly EventOf<Type>[] =>
  events.filter((event): event is EventOf<Type> => event.type === type);

const stopped = (stop: AbortSignal): Promise<void> =>
  new Promise(done => {
    if (stop.aborted) done();
    else stop.addEventListener('abort', () => done());
  });

/** Sends one command once, as soon as the agent runs. */
function tells(world: World, text: string): () => boolean {
  let sent = false;
  return () => {
    if (sent) return false;
    sent = true;
    void world.ledger.mailbox.send(loop, 'ada', { type: 'tell', text }, world.clock.now());
    return true;
  };
}

describe('ralph tell', () => {
  it('reaches a live performer that can be spoken to, and says so in the ledger', async () => {
    const world = makeWorld(1);
    const heard: Note[] = [];
    const listens: Play = async function* ({ task, notes }) {
      yield spawned;
      const note = await new Promise<Note>(done => notes?.listen(done));
      heard.push(note);
      yield { type: 'told', note: note.id };
      yield { type: 'ended', message: `Task ${task} complete` };
    };
    await runWorld(world, steerable(world, listens), { meddle: tells(world, 'keep the API') });
    expect(heard).toMatchObject([{ text: 'keep the API' }]);
    const events = await eventsIn(world.ledger);
    expect(of(events, 'guidance.delivered')).toMatchObject([{ id: 'G1', iteration: 1, delivered: true }]);
  });

  it('given one that cannot, then that is said at once, and the words stand in the next prompt', async () => {
    const world = makeWorld(1);
    const prompts: string[] = [];
    const deaf: Play = async function* ({ task, iteration, prompt }, _stop, { clock }) {
      prompts.push(prompt);
      yield spawned;
      if (iteration === 1) await new Promise<void>(done => void clock.at(clock.now() + 60_000, done));
      yield { type: 'ended', message: iteration === 1 ? 'not yet' : `Task ${task} complete` };
    };
    const prompt: Engine['prompt'] = (state, live) => ({
      text: state.memory.guidance.flatMap(one => (one.iteration === live.iteration ? [one.text] : [])).join(),
    });
    await runWorld(world, makeEngine(world, deaf, { prompt }), { meddle: tells(world, 'keep the API') });
    const events = await eventsIn(world.ledger);
    expect(of(events, 'guidance.delivered')).toMatchObject([{ delivered: false }]);
    expect(prompts).toEqual(['', 'keep the API']);
  });

  it('given a performer that ends before it took the words, then nobody calls them delivered', async () => {
    const world = makeWorld(1);
    const busy: Play = async function* ({ task, iteration }, _stop, { clock }) {
      yield spawned;
      if (iteration === 1) await new Promise<void>(done => void clock.at(clock.now() + 60_000, done));
      yield { type: 'ended', message: iteration === 1 ? 'not yet' : `Task ${task} complete` };
    };
    await runWorld(world, steerable(world, busy), { meddle: tells(world, 'keep the API') });
    const events = await eventsIn(world.ledger);
    expect(of(events, 'guidance.delivered').filter(event => event.delivered)).toEqual([]);
    expect(of(events, 'loop.ended')).toMatchObject([{ reason: 'goal_achieved' }]);
  });
});

describe('a handoff', () => {
  const fillsUp = (obeys: boolean): Play =>
    async function* ({ task, iteration, notes }, stop) {
      yield spawned;
      if (iteration > 1) {
        yield { type: 'ended', message: `Task ${task} complete` };
        return;
      }
      yield { type: 'context', usedFraction: 0.9 };
      const asked = new Promise<Note>(done => notes?.listen(done));
      const note = await asked;
      expect(note).toMatchObject({ urgent: true });
      yield { type: 'told', note: note.id };
      if (!obeys) await stopped(stop);
      const failure = obeys ? {} : { failure: { kind: 'stopped' as const, detail: 'SIGTERM' } };
      yield { type: 'ended', message: '<report>{"pending": ["the page"]}</report>', ...failure };
    };

  it.each([
    [true, 'it stopped as asked'],
    [false, 'it was interrupted'],
  ])('reaches a live performer whose context is full (it obeys: %s), and a fresh one finishes', async (obeys, how) => {
    const world = makeWorld(1);
    await runWorld(world, steerable(world, fillsUp(obeys)));
    const events = await eventsIn(world.ledger);
    expect(of(events, 'iteration.nudged')).toMatchObject([{ level: 'handoff', delivered: true }]);
    const [first, second] = of(events, 'iteration.ended');
    expect(first).toMatchObject({ outcome: 'handed-off', handoff: 'context_threshold' });
    expect(first?.because).toContain(how);
    expect(first?.durationMs).toBe(obeys ? 0 : 60_000);
    expect(second).toMatchObject({ outcome: 'succeeded' });
  });
});

describe('at a terminal', () => {
  it('given an open question, then no round begins before it is answered: both would read the same keys', async () => {
    const world = makeWorld(2);
    const order: string[] = [];
    const asksOnce: Play = async function* ({ task, iteration }) {
      order.push(`${task} works`);
      yield spawned;
      const message = iteration === 1 ? '<escalate type="stuck">\n<summary>?</summary>\n</escalate>' : '';
      yield { type: 'ended', message: message || `Task ${task} complete` };
    };
    const ask: Engine['ask'] = async () => {
      order.push('asked');
      return { kind: 'retry' };
    };
    await runWorld(world, makeEngine(world, asksOnce, { interactive: true, onEscalation: 'wait', ask }));
    expect(order).toEqual(['T1 works', 'asked', 'T1 works', 'T2 works']);
  });

  it('given a person at it, then nobody claims to have told the agent anything, and silence is no bad sign', async () => {
    const world = makeWorld(1);
    const sits: Play = async function* ({ task }, _stop, { clock }) {
      yield spawned;
      await new Promise<void>(done => void clock.at(clock.now() + 100 * 60_000, done));
      yield { type: 'ended', message: `Task ${task} complete` };
    };
    await runWorld(world, steerable(world, sits, { interactive: true }), { meddle: tells(world, 'keep the API') });
    const events = await eventsIn(world.ledger);
    expect(of(events, 'guidance.delivered')).toMatchObject([{ delivered: false }]);
    expect(of(events, 'iteration.nudged')).toEqual([]);
  });
});

describe('tool calls and limits', () => {
  it('stand in the log as lines of their own', async () => {
    const world = makeWorld(1);
    let log = '';
    const works: Play = async function* ({ task }) {
      yield { type: 'text', text: 'I look', channel: 'output' };
      yield { type: 'tool', name: 'Bash', detail: 'npm test\nand more' };
      yield { type: 'tool', name: 'Read', detail: 'a.ts' };
      yield { type: 'ended', message: `Task ${task} complete` };
    };
    const spool: Engine['spool'] = {
      open: () => ({
        write: text => {
          log += text;
        },
        end: () => {},
      }),
      found: () => undefined,
    };
    await runWorld(world, makeEngine(world, works, { spool }));
    expect(log).toBe('I look\n[Bash] npm test\n[Read] a.ts\n');
  });

  it('given a reset time that came as an event of its own, then the wait lasts until then', async () => {
    const world = makeWorld(1);
    const resetAtMs = world.clock.now() + 3_600_000;
    const limited: Play = async function* ({ task, iteration }) {
      yield spawned;
      if (iteration === 1) yield { type: 'limit', resetAtMs, detail: 'five_hour' };
      const failure = { failure: { kind: 'rate-limit' as const, detail: 'limit reached' } };
      yield { type: 'ended', message: `Task ${task} complete`, ...(iteration === 1 ? failure : {}) };
    };
    await runWorld(world, makeEngine(world, limited));
    const events = await eventsIn(world.ledger);
    expect(of(events, 'iteration.ended')[0]).toMatchObject({ waitFor: 'limit-reset', waitUntil: resetAtMs });
    expect(of(events, 'iteration.started')[1]?.at).toBe(resetAtMs);
  });
});
