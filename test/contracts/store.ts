// What every ledger must do, written once: a store's own test opens it and says what it cannot show.
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Event } from '../../src/core/event.ts';
import { ChainWalk } from '../../src/ledger/chain.ts';
import type { Appended, Holder, Lease, Ledger, Recorded, Store } from '../../src/ledger/ledger.ts';
import { defaultSettings } from '../../src/modes/registry.ts';
import { canonical } from '../../src/text/canonical.ts';

/** What a ledger under test is told about the world. */
export interface World {
  readonly isAlive: (holder: Holder) => boolean;
  readonly now: () => number;
}

export interface LedgerUnderTest {
  readonly ledger: Ledger;
  /** The same ledger as another process sees it. */
  another(): Promise<Ledger>;
  cleanUp(): Promise<void>;
}

/** True, or the reason why this store cannot show it. */
export interface StoreFeatures {
  readonly hashes: true | string;
  readonly silentHolders: true | string;
}

function shown(feature: true | string, title: string, story: () => Promise<void>): void {
  if (feature === true) it(title, story);
  else it.skip(`${title} [skipped: ${feature}]`, story); // the store's own features give the reason
}

export const boot = 'boot-1 pid:[1]';

export function holderOf(id: string, more: Partial<Holder> = {}): Holder {
  const pid = 1_000 + id.charCodeAt(0);
  return { id, pid, startTime: '77', host: 'here', boot, version: '1.0.0', ...more };
}

const stopAsked = (by: string): Event => ({ type: 'stop.asked', at: 5, by, because: 'asked' });
export const guidance = (text: string): Event => ({ type: 'guidance.given', at: 6, text, by: 'ann', because: 'told' });
export function loopStarted(
  loop: string,
  more: { readonly document?: string; readonly projectId?: string; readonly at?: number } = {},
): Event {
  const names = { name: `name of ${loop}`, goal: 'work', document: more.document ?? 'PRD.json', directory: 'project' };
  const ids = { projectId: more.projectId ?? 'project', taskId: 'task', by: 'ann' };
  return { type: 'loop.started', at: more.at ?? 1, loop, ...names, ...ids, settings: defaultSettings('prd') };
}
const loopEnded: Event = { type: 'loop.ended', at: 9, reason: 'goal_achieved', because: 'all tasks are done' };
const loopResumed: Event = { type: 'loop.resumed', at: 10, by: 'ann', because: 'asked' };

export async function leaseOf(store: Store, loop: string, holder: Holder): Promise<Lease> {
  const leased = await store.lease(loop, holder);
  if (!leased.ok) throw new Error(`the lease is held by ${leased.held.holder.id}`);
  return leased.lease;
}

function kindOf(appended: Appended): string {
  return appended.ok ? 'ok' : appended.failure.kind;
}

async function textsOf(store: Store, loop: string): Promise<readonly string[]> {
  return (await store.read(loop)).map(({ event }) => (event.type === 'guidance.given' ? event.text : event.type));
}

export function storeContract(
  name: string,
  open: (world: World) => Promise<LedgerUnderTest>,
  features: StoreFeatures,
): void {
  describe(`the ledger in ${name}`, () => {
    const dead = new Set<string>();
    let now = 1_000_000;
    let subject: LedgerUnderTest;
    let store: Store;
    beforeEach(async () => {
      dead.clear();
      now = 1_000_000;
      subject = await open({ isAlive: holder => !dead.has(holder.id), now: () => now });
      store = subject.ledger.store;
    });
    afterEach(() => subject.cleanUp());

    describe('appending', () => {
      it('gives back what was appended, in order, with places that grow by one', async () => {
        const appended = await store.append('a', 0, [loopStarted('a'), guidance('one')]);
        expect(appended).toMatchObject({ ok: true, seq: 2 });
        expect(await store.append('a', 2, [guidance('two')])).toMatchObject({ ok: true, seq: 3 });
        const recorded = await store.read('a');
        expect(recorded.map(({ seq }) => seq)).toEqual([1, 2, 3]);
        expect(recorded.map(({ event }) => event)).toEqual([loopStarted('a'), guidance('one'), guidance('two')]);
        expect(recorded.every(({ loop }) => loop === 'a')).toBe(true);
      });

      it.each([
        ['behind', 0],
        ['ahead', 2],
      ])('refuses an expected place that is %s, and keeps nothing of it', async (_where, expectedSeq) => {
        await store.append('a', 0, [guidance('one')]);
        expect(kindOf(await store.append('a', expectedSeq, [guidance('lost'), guidance('lost too')]))).toBe('conflict');
        expect(await textsOf(store, 'a')).toEqual(['one']);
      });

      it('forgets a loop: the list has it no more, its events stay, and another one is as it was', async () => {
        await store.append('a', 0, [loopStarted('a'), guidance('one')]);
        await store.append('b', 0, [loopStarted('b')]);
        await store.forget('a');
        await store.forget('a');
        expect((await store.loops()).map(row => row.loop)).toEqual(['b']);
        expect(await store.read('a')).toHaveLength(2);
        expect(await store.verify('a')).toMatchObject({ ok: true, events: 2 });
      });

      it('keeps loops apart', async () => {
        await store.append('a', 0, [guidance('of a')]);
        await store.append('b', 0, [guidance('of b')]);
        expect(await textsOf(store, 'a')).toEqual(['of a']);
        expect(await textsOf(store, 'b')).toEqual(['of b']);
        expect(await store.read('c')).toEqual([]);
      });

      it('answers an empty append with the head that the loop has', async () => {
        const first = await store.append('a', 0, [guidance('one')]);
        expect(await store.append('a', 1, [])).toEqual(first);
      });

      it('sees at once what another process appended, and refuses the place that is taken', async () => {
        const other = (await subject.another()).store;
        await store.append('a', 0, [guidance('ours')]);
        expect(kindOf(await other.append('a', 0, [guidance('late')]))).toBe('conflict');
        expect(kindOf(await other.append('a', 1, [guidance('theirs')]))).toBe('ok');
        expect(kindOf(await store.append('a', 1, [guidance('stale')]))).toBe('conflict');
        expect(kindOf(await store.append('a', 2, [guidance('ours again')]))).toBe('ok');
        expect(await textsOf(other, 'a')).toEqual(['ours', 'theirs', 'ours again']);
      });

      it('makes one chain without gaps of any interleaving of two writers', async () => {
        const other = (await subject.another()).store;
        let run = 0;
        const turns = fc.array(
          fc.record({ first: fc.boolean(), refreshes: fc.boolean(), count: fc.integer({ min: 1, max: 3 }) }),
          { maxLength: 12 },
        );
        await fc.assert(
          fc.asyncProperty(turns, fc.boolean(), async (steps, isLeased) => {
            run += 1;
            const loop = `race-${run}`;
            // Two processes of one session write under the same token: then only the place tells them apart.
            const options = isLeased ? { token: (await leaseOf(store, loop, holderOf('session'))).token } : {};
            const seen = [0, 0];
            let accepted = 0;
            for (const { first, refreshes, count } of steps) {
              const [writer, who] = first ? [store, 0] : [other, 1];
              if (refreshes) seen[who] = (await writer.read(loop)).length;
              const appended = await writer.append(
                loop,
                seen[who]!,
                Array.from({ length: count }, () => guidance(`${who}`)),
                options,
              );
              if (!appended.ok) expect(appended.failure.kind).toBe('conflict');
              else {
                accepted += count;
                expect(appended.seq).toBe(accepted);
                seen[who] = appended.seq;
              }
            }
            expect((await store.read(loop)).map(({ seq }) => seq)).toEqual(
              Array.from({ length: accepted }, (_, index) => index + 1),
            );
            expect(await other.verify(loop)).toMatchObject({ ok: true, events: accepted });
          }),
          { numRuns: 60 },
        );
      });
    });

    describe('reading', () => {
      it('reads in pages after a place', async () => {
        await store.append(
          'a',
          0,
          Array.from({ length: 1_200 }, (_, index) => guidance(`${index + 1}`)),
        );
        expect((await store.read('a')).length).toBe(1_000);
        expect((await store.read('a', 1_000)).map(({ seq }) => seq)[0]).toBe(1_001);
        expect((await store.read('a', 10, 3)).map(({ seq }) => seq)).toEqual([11, 12, 13]);
        expect(await store.read('a', 1_200)).toEqual([]);
      });

      it('lists loops newest first, and says which are open', async () => {
        await store.append('a', 0, [loopStarted('a', { at: 1, document: 'one.json' })]);
        await store.append('b', 0, [loopStarted('b', { at: 2, document: 'two.json' }), loopEnded]);
        const [newest, oldest] = await store.loops();
        expect(newest).toEqual({
          ...{ loop: 'b', name: 'name of b', document: 'two.json', directory: 'project' },
          ...{ startedAt: 2, seq: 2, reason: 'goal_achieved', endedAt: 9 },
        });
        expect(oldest).toMatchObject({ loop: 'a', seq: 1, reason: null, endedAt: null });
        expect((await store.loops({ open: true })).map(({ loop }) => loop)).toEqual(['a']);
        expect((await store.loops({ open: false })).map(({ loop }) => loop)).toEqual(['b']);
        expect((await store.loops({ document: 'two.json' })).map(({ loop }) => loop)).toEqual(['b']);
      });

      it('lists the loops of one project, whatever their documents are', async () => {
        await store.append('a', 0, [loopStarted('a', { at: 1, document: 'one.md', projectId: 'plan_1' })]);
        await store.append('b', 0, [loopStarted('b', { at: 2, document: 'two.md', projectId: 'plan_2' })]);
        await store.append('c', 0, [loopStarted('c', { at: 3, document: 'three.md', projectId: 'plan_1' }), loopEnded]);
        expect((await store.loops({ project: 'plan_1' })).map(({ loop }) => loop)).toEqual(['c', 'a']);
        expect((await store.loops({ project: 'plan_1', open: true })).map(({ loop }) => loop)).toEqual(['a']);
        expect(await store.loops({ project: 'plan_' })).toEqual([]);
      });

      it('lists an ended loop as open again when it was resumed', async () => {
        await store.append('a', 0, [loopStarted('a'), loopEnded]);
        await store.append('a', 2, [loopResumed]);
        expect(await store.loops()).toMatchObject([{ loop: 'a', seq: 3, reason: null, endedAt: null }]);
      });
    });

    describe('the hash chain', () => {
      shown(features.hashes, 'covers the event, its place, its loop and the hash before it', async () => {
        const appended = await store.append('a', 0, [guidance('one'), guidance('two')]);
        const walk = new ChainWalk('a');
        for (const { seq, hash, event } of await store.read('a'))
          expect(walk.step({ seq, hash, body: canonical(event) })).toBe(true);
        expect(appended).toMatchObject({ hash: walk.head });
        expect(await store.verify('a')).toEqual({ ok: true, events: 2, head: walk.head });
      });

      it('holds for a loop without events', async () => {
        expect(await store.verify('nobody')).toMatchObject({ ok: true, events: 0 });
      });
    });

    describe('leases', () => {
      it('are held by one at a time, and the second is told by whom', async () => {
        const lease = await leaseOf(store, 'a', holderOf('ann'));
        expect(lease).toMatchObject({ loop: 'a', holder: holderOf('ann') });
        const other = (await subject.another()).store;
        expect(await other.lease('a', holderOf('bob'))).toEqual({ ok: false, held: lease });
        expect(await other.holder('a')).toEqual({ lease, alive: true, renewedAt: lease.since });
        expect(await other.holder('b')).toBeUndefined();
      });

      it('are the same lease when the same process asks again', async () => {
        const lease = await leaseOf(store, 'a', holderOf('ann'));
        expect(await leaseOf(store, 'a', holderOf('ann'))).toEqual(lease);
      });

      it('pass to the next process of the same session, and fence the one before', async () => {
        const first = await leaseOf(store, 'a', holderOf('session'));
        const second = await leaseOf(store, 'a', holderOf('session', { pid: 4_242 }));
        expect(second.token).toBeGreaterThan(first.token);
        expect(kindOf(await store.append('a', 0, [guidance('late')], { token: first.token }))).toBe('fenced');
      });

      it('that are shared leave it to the expected place to tell two writers apart', async () => {
        const { token } = await leaseOf(store, 'a', holderOf('session'));
        const other = (await subject.another()).store;
        await store.append('a', 0, [guidance('one')], { token });
        await store.append('a', 1, [guidance('two')], { token });
        expect(kindOf(await other.append('a', 2, [guidance('three')], { token }))).toBe('ok');
        expect(kindOf(await store.append('a', 2, [guidance('stale')], { token }))).toBe('conflict');
        expect(kindOf(await store.append('a', 3, [guidance('four')], { token }))).toBe('ok');
        expect(await textsOf(other, 'a')).toEqual(['one', 'two', 'three', 'four']);
      });

      it('are free after release, and the token goes on growing', async () => {
        const first = await leaseOf(store, 'a', holderOf('ann'));
        await store.release(first);
        expect(await store.holder('a')).toBeUndefined();
        expect(await store.renew(first)).toBe(false);
        expect(kindOf(await store.append('a', 0, [guidance('late')], { token: first.token }))).toBe('fenced');
        const second = await leaseOf(store, 'a', holderOf('bob'));
        expect(second.token).toBeGreaterThan(first.token);
        await store.release(first);
        expect((await store.holder('a'))?.lease).toEqual(second);
      });

      it('are taken over from a dead holder, whose late writes are fenced', async () => {
        const first = await leaseOf(store, 'a', holderOf('ann'));
        await store.append('a', 0, [guidance('one')], { token: first.token });
        dead.add('ann');
        expect(await store.holder('a')).toEqual({ lease: first, alive: false, renewedAt: first.since });
        const other = (await subject.another()).store;
        const second = await leaseOf(other, 'a', holderOf('bob'));
        expect(second.token).toBeGreaterThan(first.token);
        expect(kindOf(await store.append('a', 1, [guidance('late')], { token: first.token }))).toBe('fenced');
        expect(await store.renew(first)).toBe(false);
        expect(await other.renew(second)).toBe(true);
        expect(kindOf(await other.append('a', 1, [guidance('two')], { token: second.token }))).toBe('ok');
        expect(await textsOf(store, 'a')).toEqual(['one', 'two']);
      });

      it('keep those without one out while the holder lives, and only then', async () => {
        await leaseOf(store, 'a', holderOf('ann'));
        const other = (await subject.another()).store;
        expect(kindOf(await other.append('a', 0, [guidance('intruder')]))).toBe('fenced');
        dead.add('ann');
        expect(kindOf(await other.append('a', 0, [guidance('allowed')]))).toBe('ok');
      });

      shown(features.silentHolders, 'of another boot end when their holder was silent for a minute', async () => {
        const lease = await leaseOf(store, 'a', holderOf('ann', { boot: 'another boot' }));
        dead.add('ann'); // nobody here can look at it, so what isAlive says must not count
        now += 59_000;
        expect((await store.lease('a', holderOf('bob'))).ok).toBe(false);
        expect(await store.renew(lease)).toBe(true);
        now += 59_000;
        expect((await store.lease('a', holderOf('bob'))).ok).toBe(false);
        now += 2_000;
        expect((await leaseOf(store, 'a', holderOf('bob'))).token).toBeGreaterThan(lease.token);
      });
    });

    describe('the mailbox', () => {
      it('keeps commands in order until they are taken', async () => {
        const { mailbox } = subject.ledger;
        const first = await mailbox.send('a', 'ann', { command: 'stop' }, 7);
        const second = await mailbox.send('a', 'bob', { command: 'tell', text: 'hi' }, 8);
        await mailbox.send('b', 'ann', {}, 9);
        expect(await mailbox.waiting('a')).toMatchObject([
          { id: first, loop: 'a', at: 7, by: 'ann', body: { command: 'stop' } },
          { id: second, loop: 'a', at: 8, by: 'bob', body: { command: 'tell', text: 'hi' } },
        ]);
      });

      it('gives each command to exactly one append', async () => {
        const { mailbox } = subject.ledger;
        const other = (await subject.another()).store;
        const id = await mailbox.send('a', 'ann', { command: 'stop' }, 7);
        expect(kindOf(await store.append('a', 0, [stopAsked('ann')], { takes: id }))).toBe('ok');
        expect(await mailbox.waiting('a')).toEqual([]);
        expect(kindOf(await other.append('a', 1, [stopAsked('ann')], { takes: id }))).toBe('conflict');
        expect((await store.read('a')).length).toBe(1);
      });

      it('keeps the command when the append that wanted it was refused', async () => {
        const { mailbox } = subject.ledger;
        const id = await mailbox.send('a', 'ann', { command: 'stop' }, 7);
        expect(kindOf(await store.append('a', 5, [stopAsked('ann')], { takes: id }))).toBe('conflict');
        expect((await mailbox.waiting('a')).map(mail => mail.id)).toEqual([id]);
      });

      it('wakes the one who watches when another process sends, until it stops watching', async () => {
        const { mailbox } = subject.ledger;
        const other = (await subject.another()).mailbox;
        let unwatch = (): void => {};
        const woken = new Promise<void>(resolve => {
          unwatch = mailbox.watch(resolve);
        });
        await other.send('a', 'ann', { command: 'stop' }, 7);
        await woken;
        unwatch();
        expect((await mailbox.waiting('a')).length).toBe(1);
      });
    });

    describe('snapshots', () => {
      it('give back the newest one of the same version', async () => {
        const { snapshots } = subject.ledger;
        const appended = await store.append('a', 0, [guidance('one'), guidance('two')]);
        const [first] = await store.read('a');
        await snapshots.save('a', { seq: 1, hash: first!.hash, version: 1, state: { count: 1 } });
        const newest = { seq: 2, hash: appended.ok ? appended.hash : '', version: 1, state: { count: 2 } };
        await snapshots.save('a', newest);
        expect(await snapshots.latest('a', 1)).toEqual(newest);
        expect(await snapshots.latest('a', 2)).toBeUndefined();
        expect(await snapshots.latest('b', 1)).toBeUndefined();
      });

      shown(features.hashes, 'are discarded when they do not belong to the chain', async () => {
        await store.append('a', 0, [guidance('one')]);
        await subject.ledger.snapshots.save('a', { seq: 1, hash: 'f'.repeat(64), version: 1, state: {} });
        expect(await subject.ledger.snapshots.latest('a', 1)).toBeUndefined();
      });
    });

    describe('following', () => {
      async function take(
        followed: AsyncIterable<Recorded>,
        count: number,
        meanwhile?: () => Promise<unknown>,
      ): Promise<readonly Recorded[]> {
        const taken: Recorded[] = [];
        const iterator = followed[Symbol.asyncIterator]();
        while (taken.length < count) {
          const next = iterator.next();
          if (taken.length === 0) await meanwhile?.();
          taken.push((await next).value);
        }
        await iterator.return?.();
        return taken;
      }

      it('yields what is there from a cursor on, then what is added', async () => {
        await store.append('a', 0, [guidance('one'), guidance('two')]);
        await store.append('b', 0, [guidance('three')]);
        const [first] = await store.read('a');
        const stop = new AbortController();
        const taken = await take(store.follow({ cursor: first!.cursor }, stop.signal), 4, async () => {
          await store.append('b', 1, [guidance('four')]);
          await (await subject.another()).store.append('a', 2, [guidance('five')]);
        });
        expect(taken.map(({ event }) => event)).toEqual([
          guidance('two'),
          guidance('three'),
          guidance('four'),
          guidance('five'),
        ]);
        const cursors = taken.map(({ cursor }) => cursor);
        expect(cursors).toEqual([...cursors].sort((one, other) => one - other));
      });

      it('yields only the loop asked for, from a cursor between its events', async () => {
        await store.append('a', 0, [guidance('one')]);
        await store.append('b', 0, [guidance('other')]);
        await store.append('a', 1, [guidance('two')]);
        const cursor = (await store.read('b'))[0]!.cursor;
        const taken = await take(store.follow({ cursor, loop: 'a' }, new AbortController().signal), 2, async () => {
          await store.append('b', 1, [guidance('other')]);
          await store.append('a', 2, [guidance('three')]);
        });
        expect(taken.map(({ seq }) => seq)).toEqual([2, 3]);
      });

      it('ends when told to stop, also while it waits', async () => {
        const stop = new AbortController();
        const iterator = store.follow({ cursor: 0 }, stop.signal)[Symbol.asyncIterator]();
        const waiting = iterator.next();
        stop.abort();
        expect((await waiting).done).toBe(true);
      });
    });
  });
}
