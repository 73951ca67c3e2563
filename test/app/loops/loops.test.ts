// What looking and steering cost, counted in events that are read from the ledger: the new ones only, once they are known.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LedgerLoops } from '../../../src/app/loops/loops.ts';
import type { Escalation, Event } from '../../../src/core/event.ts';
import type { Command } from '../../../src/core/input.ts';
import { replay, saveSnapshot } from '../../../src/engine/replay.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { guidance, holderOf, loopStarted } from '../../contracts/store.ts';
import { opened } from '../../ledger/scratch.ts';

/** Every event that leaves the database passes here. */
const counter = vi.hoisted(() => ({ read: 0, runs: 0 }));
vi.mock(import('../../../src/ledger/upcast.ts'), async original => {
  const { upcast, ...rest } = await original();
  return {
    ...rest,
    upcast: stored => {
      counter.read += 1;
      return upcast(stored);
    },
  };
});
/** The engine's loop. */
vi.mock(import('../../../src/engine/run.ts'), async original => {
  counter.runs += 1;
  return original();
});

let home: string;
let ledger: Ledger;
let loops: LedgerLoops;
const dead = new Set<string>();

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'ralph-loops-'));
  ledger = await opened(join(home, 'ralph.db'), { isAlive: ({ id }) => !dead.has(id) });
  loops = new LedgerLoops({ ledger, home, env: {}, warn: sentence => expect.unreachable(sentence) });
  dead.clear();
  counter.runs = 0;
});
afterEach(async () => {
  await loops.close();
  rmSync(home, { recursive: true, force: true });
});

const question: Escalation = {
  id: 'E1',
  task: '',
  iteration: 0,
  raisedAt: 7,
  kind: 'agent',
  summary: 'Which one?',
  context: '',
  question: 'Which?',
  options: [],
};
const tell: Command = { type: 'tell', text: 'hm' };
const asked: Event = { type: 'escalation.raised', at: 7, escalation: question, because: 'asked' };

async function begin(loop: string, more: readonly Event[] = []): Promise<number> {
  const events = [loopStarted(loop), ...more];
  expect(await ledger.store.append(loop, 0, events)).toMatchObject({ ok: true });
  return events.length;
}

async function reads<Result>(work: () => Promise<Result>): Promise<readonly [Result, number]> {
  counter.read = 0;
  const result = await work();
  return [result, counter.read];
}

const words = Array.from({ length: 20 }, (_, at) => guidance(`word ${at}`));

describe('given 100 loops of 21 events', () => {
  beforeEach(async () => {
    for (let at = 0; at < 100; at += 1) await begin(`loop-${at}`, words);
  });

  it('when all are followed, then only what is new is read, and so does looking at a loop again', async () => {
    const cursor = await loops.cursor();
    const [views, first] = await reads(() => loops.list());
    expect([views.length, first]).toEqual([100, 2_100]);

    await ledger.store.append('loop-7', 21, [guidance('new')]);
    await ledger.store.append('loop-9', 21, [guidance('new'), guidance('newer')]);
    const stop = new AbortController();
    const [seen, followed] = await reads(async () => {
      const found: string[] = [];
      for await (const { loop, seq } of loops.follow({ cursor }, stop.signal)) {
        found.push(`${loop} ${seq}`);
        if (found.length === 3) stop.abort();
      }
      return found;
    });
    expect(seen).toEqual(['loop-7 22', 'loop-9 22', 'loop-9 23']);
    expect(followed).toBe(3);
    expect(await reads(async () => (await loops.view('loop-9')).seq)).toEqual([23, 2]);
    expect((await reads(() => loops.list()))[1]).toBe(1); // of loop-7
    expect((await reads(() => loops.list()))[1]).toBe(0);
  });

  it('when one is followed from a cursor, then events of the others are not read', async () => {
    const cursor = await loops.cursor();
    for (let at = 0; at < 50; at += 1) await ledger.store.append(`loop-${at}`, 21, [guidance('new')]);
    const stop = new AbortController();
    const [, followed] = await reads(async () => {
      for await (const _ of loops.follow({ cursor, loop: 'loop-3' }, stop.signal)) stop.abort();
    });
    expect(followed).toBe(1);
  });

  it('when they have snapshots, then a list replays what came after them', async () => {
    for (let at = 0; at < 100; at += 1) await saveSnapshot(ledger, `loop-${at}`, await replay(ledger, `loop-${at}`));
    await ledger.store.append('loop-7', 21, [guidance('new')]);
    const [views, count] = await reads(() => loops.list({ open: true }));
    expect([views.length, count]).toEqual([100, 1]);
  });
});

describe('an answer', () => {
  it('given a loop that nobody runs, then it is decided with one replay, without an engine, and shown in its folder', async () => {
    const length = await begin('shop', [asked, ...words]);
    const [sent, count] = await reads(async () => {
      expect((await loops.view('shop')).questions.map(one => one.id)).toEqual(['E1']);
      const answer = { kind: 'text', text: 'the first' } as const;
      const became = await loops.send('shop', { type: 'answer', escalation: 'E1', answer }, 'ada');
      expect((await loops.view('shop')).questions).toEqual([]);
      return became;
    });
    expect(sent).toEqual({ became: 'decided' });
    const added = (await loops.view('shop')).seq - length;
    expect(added).toBeGreaterThan(0);
    expect(count).toBe(length + added);
    expect(counter.runs).toBe(0);
    const file = JSON.parse(readFileSync(join(home, 'loops', 'shop', 'status.json'), 'utf8'));
    expect(file).toMatchObject({ loop_id: 'shop', holder: null });
    expect(await ledger.store.holder('shop')).toBeUndefined();
  });
});

describe('a command', () => {
  const stop = { type: 'stop' } as const;
  const ended: Event = { type: 'loop.ended', at: 8, reason: 'explicit_stop', because: 'asked' };

  it.each([
    ['a loop that there is not', 'nothing', stop, 'no-loop'],
    ['a stop of a loop that has ended', 'over', stop, 'ended'],
    ['words to a loop that has ended', 'over', { type: 'tell', text: 'hm' }, 'ended'],
    ['a pause of a loop that has ended', 'over', { type: 'pause', now: false }, 'ended'],
    ['an answer to no question', 'shop', { type: 'answer', escalation: 'E9', answer: { kind: 'skip' } }, 'no-question'],
    ['words about no task', 'shop', { type: 'tell', text: 'hm', task: 'T9' }, 'no-task'],
    ['a task that there is not', 'shop', { type: 'task', act: 'skip', task: 'T9' }, 'no-task'],
  ] as const)(
    'given %s, then it is refused with the reason, and nothing is recorded',
    async (_what, loop, command, why) => {
      await begin('shop', [asked]);
      await begin('over', [ended]);
      const cursor = await loops.cursor();
      expect(await loops.send(loop, command, 'ada')).toEqual({ became: 'refused', why });
      expect(await loops.cursor()).toBe(cursor);
      expect(await ledger.mailbox.waiting(loop)).toEqual([]);
    },
  );

  it('given nothing to say, then that is done; given a restore among others, then none of them is taken', async () => {
    await ledger.store.append('shop', 0, [loopStarted('shop')]);
    expect(await loops.send('shop', [], 'ada')).toEqual({ became: 'decided' });
    const to = { checkpoint: 'c', number: 1, commit: 'x', tree: 'y', left: [] };
    const restore: Command = { type: 'restore', to, because: 'so' };
    for (const both of [
      [restore, tell],
      [tell, restore],
    ])
      await expect(loops.send('shop', both, 'ada')).rejects.toThrow('A restore is sent alone.');
    expect((await loops.view('shop')).seq).toBe(1);
  });

  it('given a loop that is held, then its holder takes it; given one whose holder is dead, then it is decided', async () => {
    const seq = await begin('shop', [asked]);
    const leased = await ledger.store.lease('shop', holderOf('ann'));
    if (!leased.ok) throw new Error('held');
    const { promise: came, resolve } = Promise.withResolvers<void>();
    const unwatch = ledger.mailbox.watch(resolve);
    const taking = came.then(async () => {
      unwatch();
      const [mail] = await ledger.mailbox.waiting('shop');
      return ledger.store.append('shop', seq, [guidance('taken')], { token: leased.lease.token, takes: mail!.id });
    });
    expect(await loops.send('shop', { type: 'tell', text: 'hm' }, 'ada')).toEqual({ became: 'taken' });
    expect(await taking).toMatchObject({ ok: true });
    expect((await loops.view('shop')).liveness).toMatchObject({ is: 'held', holder: { id: 'ann' } });
    dead.add('ann');
    expect((await loops.view('shop')).liveness).toEqual({ is: 'nobody' });
    expect(await loops.send('shop', { type: 'tell', text: 'hm' }, 'ada')).toEqual({ became: 'decided' });
  });

  it('given mail that a dead holder left, then it is decided with the next command, in its place', async () => {
    await begin('shop', [asked]);
    await ledger.mailbox.send('shop', 'bob', { type: 'tell', text: 'left behind' }, 1);
    expect(await loops.send('shop', { type: 'pause', now: false }, 'ada')).toEqual({ became: 'decided' });
    const events = (await loops.events('shop', 2)).map(({ event }) => event);
    expect(events).toMatchObject([
      { type: 'loop.paused', by: 'ada' },
      { type: 'guidance.given', by: 'bob' },
    ]);
    expect(await ledger.mailbox.waiting('shop')).toEqual([]);
  });

  it('given a ledger that cannot be written, then it has failed, with the failure', async () => {
    await begin('shop', [asked]);
    const store = { ...ledger.store, append: async () => ({ ok: false as const, failure }) };
    const failure = { kind: 'io' as const, detail: 'the disk reported an error', hint: 'Check it.' };
    const broken = new LedgerLoops({ ledger: { ...ledger, store }, home, env: {}, warn: () => {} });
    expect(await broken.send('shop', { type: 'tell', text: 'hm' }, 'ada')).toEqual({ became: 'failed', failure });
    expect(await ledger.store.holder('shop')).toBeUndefined();
  });
});
