// The watch of approved plans, on a real folder: each plan becomes one loop, once, whatever was cut and whoever else is there.
import { mkdirSync, renameSync, rmSync, symlinkSync, watch as watchFolder, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freshHolder } from '../../../../src/app/app.ts';
import type { Event } from '../../../../src/core/event.ts';
import {
  startApprovedPlan,
  type WatchNeeds,
  watchOnce,
  watchPlans,
} from '../../../../src/modes/plan/commands/watch.ts';
import { makeVault } from '../../../../src/modes/plan/session/vault.ts';
import { UsageError } from '../../../../src/text/errors.ts';
import { planText, type VaultPlace, vaultPlace } from '../session/vault-kit.ts';

let place: VaultPlace;
let said: string[];
beforeEach(async () => {
  place = vaultPlace();
  said = [];
  await makeVault(place.root);
});
afterEach(() => place.end());

const needs = (part: Partial<WatchNeeds> = {}): WatchNeeds => ({
  ledger: place.ledger,
  root: place.root,
  say: text => void said.push(text),
  run: path => place.run(path),
  record: place.record,
  name: (_path, id) => id,
  areConfined: async () => false,
  answer: async () => {},
  waiting: new Set(),
  ...part,
});
const never = new AbortController().signal;
const once = (part: Partial<WatchNeeds> = {}): Promise<number> => watchOnce(needs(part), never);
/** The first events of a loop that nobody has begun. */
async function approvalOf(id: string) {
  await place.record('/nowhere/plan.md', { subject: id, hash: 'h', by: 'ada', because: 'so' });
  return place.ledger.store.read(`loop-${id}`);
}
const approvalsOf = async (loop: string) =>
  (await place.ledger.store.read(loop)).map(({ event }) => event).filter(event => event.type === 'approval.given');

describe('--once', () => {
  it('starts what was moved there, approved by file move, and puts it away', async () => {
    place.put('Approved/Plans/a.md', planText('plan_a'));
    place.put('Approved/Plans/b.md', planText('plan_b', '', false));
    place.put('Plans/c.md', planText('plan_c', '', false));
    expect(await once()).toBe(0);
    expect(place.list('Done')).toEqual(['a.md', 'b.md']);
    expect(place.list('Plans')).toEqual(['c.md']);
    expect(place.effects).toHaveLength(4);
    expect(await approvalsOf('loop-plan_a')).toMatchObject([
      { subject: 'plan_a', by: 'file move', because: expect.stringContaining('by file move') },
    ]);
    expect(place.read('Dashboard.md')).toContain('3 plans: 1 awaiting approval, 2 completed.');
  });

  it('given a crash before the loop began, then it begins once; after the loop ended, it is only put away', async () => {
    const path = place.put('Approved/Plans/a.md', planText('plan_a'));
    await expect(once({ run: () => Promise.reject(new Error('crash')) })).rejects.toThrow('crash');
    await expect(
      once({
        async run(given) {
          await place.run(given);
          throw new Error('crash');
        },
      }),
    ).rejects.toThrow('crash');
    expect(place.has('Approved/Plans/a.md')).toBe(true);
    expect(await once()).toBe(0);
    expect(place.list('Done')).toEqual(['a.md']);
    expect(place.effects).toEqual([path, path]);
    expect(await place.ledger.store.loops()).toHaveLength(1);
    expect(await approvalsOf('loop-plan_a')).toHaveLength(1);
  });

  it('given a plan that was carried out and comes back under any name, then it does not run again', async () => {
    place.put('Approved/Plans/a.md', planText('plan_a'));
    await once();
    place.put('Approved/Plans/copy.md', planText('plan_a'));
    expect(await once()).toBe(2);
    expect(place.effects).toHaveLength(2);
    expect(place.read('Needs_Action/plan_blocked_copy.md')).toContain('carried out already');
  });

  it('given a cyclic plan and a good one, then plan_blocked names the first and the second runs', async () => {
    const cyclic = planText('plan_a').replace('Dependencies: none', 'Dependencies: step_2');
    place.put('Approved/Plans/a.md', cyclic);
    place.put('Approved/Plans/b.md', planText('plan_b'));
    expect(await once()).toBe(2);
    expect(place.read('Needs_Action/plan_blocked_plan_a.md')).toMatch(/step_1.*step_2/);
    expect(place.list('Done')).toEqual(['b.md']);
    expect(place.read('Approved/Plans/a.md')).toBe(cyclic);
  });

  it('given an edit after the approval, then it waits for a new one and the others go on (F68)', async () => {
    const path = place.put('Approved/Plans/a.md', planText('plan_a'));
    await once({ run: async () => 130 });
    place.put('Approved/Plans/a.md', planText('plan_a', ' and all my money'));
    place.put('Approved/Plans/b.md', planText('plan_b'));
    expect(await once()).toBe(5);
    expect(place.effects.filter(one => one === path)).toEqual([]);
    expect(place.read('Needs_Action/plan_blocked_plan_a.md')).toContain(
      'edited after it had been approved (by file move)',
    );
    expect(place.list('Done')).toEqual(['b.md']);
  });

  it('given boxes that nobody has a record of, then it waits for a person and the dashboard says so (B48)', async () => {
    const ticked = planText('plan_a').replace('- [ ] **Step 1', '- [x] **Step 1');
    place.put('Approved/Plans/a.md', ticked);
    expect(await once()).toBe(5);
    expect(place.read('Needs_Action/plan_blocked_plan_a.md')).toMatch(
      /no record of that.*approve plan\\?_a --accept-ticked/,
    );
    expect(place.read('Dashboard.md')).toMatch(/\| plan_a \|.*\| blocked \|/);
    expect([place.effects, place.read('Approved/Plans/a.md')]).toEqual([[], ticked]);
  });

  it('given a plan that cannot be started here, then it is said where people look, and the others go on', async () => {
    const first = place.put('Approved/Plans/a.md', planText('plan_a'));
    place.put('Approved/Plans/b.md', planText('plan_b'));
    const run = async (path: string): Promise<number> => {
      if (path === first) throw new UsageError('No agent is installed.', 'Install one.', 7);
      return place.run(path);
    };
    expect(await once({ run })).toBe(7);
    expect(place.read('Needs_Action/plan_blocked_plan_a.md')).toContain('- No agent is installed. Install one.');
    expect(place.list('Done')).toEqual(['b.md']);
  });

  it('given folders in the place of the views, then it is said, and every plan is handled', async () => {
    rmSync(join(place.root, 'Dashboard.md'), { force: true });
    for (const name of ['Dashboard.md', 'Needs_Action/plan_blocked_bad.md', 'Logs/Plan_Execution/plan_b.md'])
      mkdirSync(join(place.root, name), { recursive: true });
    place.put('Approved/Plans/bad.md', 'no plan\n');
    place.put('Approved/Plans/c.md', planText('plan_b'));
    expect(await once()).toBe(2);
    expect(place.list('Done')).toEqual(['c.md']);
    expect(said.filter(line => line.includes('Not written'))).toHaveLength(3);
  });

  it('given a plan whose folder the system refuses, then it is said of that one, and the others go on', async () => {
    const first = place.put('Approved/Plans/a.md', planText('plan_a'));
    place.put('Approved/Plans/b.md', planText('plan_b'));
    const run = async (path: string): Promise<number> => {
      if (path === first) await stat(join(place.root, 'nowhere'));
      return place.run(path);
    };
    expect(await once({ run })).toBe(5);
    expect(place.read('Needs_Action/plan_blocked_plan_a.md')).toContain('ENOENT');
    expect(place.list('Done')).toEqual(['b.md']);
  });

  it.each([
    ['an agent at work who could have put it there, then a person is asked', 'claude', {}, false, []],
    ['an agent who cannot write there, then the move is a yes', 'claude', {}, true, ['b.md']],
    ['an agent who works elsewhere, then the move is a yes', 'claude', { directory: '/elsewhere' }, false, ['b.md']],
    ['an action at work, then the move is a yes', 'mcp:mail', {}, false, ['b.md']],
  ] as const)('given a new plan and %s', async (_case, performer, more, confined, done) => {
    const at = Date.now();
    const base = { at, iteration: 3, task: 'step_1', performer };
    const [started] = (await approvalOf('plan_a')).map(({ event }) => event);
    const directory = dirname(place.root);
    const document = 'directory' in more ? '/elsewhere/prd.json' : join(directory, 'prd.json');
    const other = { ...started, at: at - 1, loop: 'other', name: 'other', document, directory, ...more } as Event;
    await place.append('other', [
      other,
      { type: 'iteration.started', ...base, holder: 'h', attempt: 1, because: 'ready' },
      { type: 'iteration.heartbeat', at: at + 60_000, iteration: 3, quietMs: 0 },
    ]);
    place.put('Approved/Plans/b.md', planText('plan_b'));
    expect(await once({ areConfined: async () => confined })).toBe(done.length === 0 ? 5 : 0);
    expect(place.list('Done')).toEqual(done);
    const note = 'Needs_Action/plan_blocked_plan_b.md';
    if (done.length === 0) expect(place.read(note)).toMatch(/agent of loop other .*approve plan\\?_b/);
  });

  it('given a link instead of a file, then it is no plan', async () => {
    symlinkSync(place.put('Plans/a.md', planText('plan_a')), join(place.root, 'Approved/Plans/a.md'));
    expect(await startApprovedPlan(needs(), join(place.root, 'Approved/Plans/a.md'))).toBe(0);
    expect(await once()).toBe(0);
    expect([place.effects, await place.ledger.store.loops()]).toEqual([[], []]);
  });

  it('given somebody else at the same plan, then it is left to them', async () => {
    const path = place.put('Approved/Plans/a.md', planText('plan_a'));
    await place.ledger.store.lease('plan:plan_a', await freshHolder());
    expect(await startApprovedPlan(needs(), path)).toBe(9);
    expect(await place.ledger.store.loops()).toEqual([]);
  });

  it('given a plan that fails, then it stays, and is not tried again by itself', async () => {
    place.put('Approved/Plans/a.md', planText('plan_a'));
    expect(await once({ run: path => place.run(path, true) })).toBe(6);
    expect(await once()).toBe(0);
    expect(place.effects).toHaveLength(2);
    expect(place.has('Approved/Plans/a.md')).toBe(true);
  });
});

describe('watching', () => {
  /** Runs the watch in the background; `ran` waits for the loop of a plan. */
  async function watching(part: Partial<WatchNeeds> = {}) {
    const stop = new AbortController();
    const waiting = new Map<string, () => void>();
    const { promise: ready, resolve } = Promise.withResolvers<void>();
    const finished = watchPlans(
      needs({
        ...part,
        say(text) {
          said.push(text);
          for (const [word, wake] of waiting) if (said.some(line => line.includes(word))) wake();
        },
      }),
      stop.signal,
      resolve,
    );
    await Promise.race([ready, finished]);
    const says = (word: string): Promise<void> =>
      new Promise(wake => {
        waiting.set(word, wake);
        if (said.some(line => line.includes(word))) wake();
      });
    return { stop, finished, says };
  }

  it('starts a plan that is moved in, and one that is written slowly only when it is whole', async () => {
    const { promise: both, resolve } = Promise.withResolvers<void>();
    const watch = await watching({
      async run(path) {
        const code = await place.run(path);
        if (place.effects.length === 4) resolve();
        return code;
      },
    });
    const text = planText('plan_slow');
    const slow = join(place.root, 'Approved/Plans/slow.md');
    const { promise: noticed, resolve: notice } = Promise.withResolvers<void>();
    const own = watchFolder(join(place.root, 'Approved/Plans'), () => notice());
    writeFileSync(slow, text.slice(0, 200));
    await noticed;
    for (let turns = 0; turns < 50; turns += 1) await stat(slow); // whoever takes it half written does so meanwhile
    own.close();
    renameSync(place.put('Plans/a.md', planText('plan_a')), join(place.root, 'Approved/Plans/a.md'));
    writeFileSync(slow, text);
    await both;
    watch.stop.abort();
    await watch.finished;
    expect(place.list('Done')).toEqual(['a.md', 'slow.md']);
    expect(said.join('\n')).not.toContain('does not run');
  });

  it('goes on with a plan as soon as its loop was answered, and looks again when a broken one is mended', async () => {
    const path = place.put('Approved/Plans/a.md', planText('plan_a'));
    const cyclic = planText('plan_b').replace('Dependencies: none', 'Dependencies: step_2');
    place.put('Approved/Plans/b.md', cyclic);
    const { promise: both, resolve } = Promise.withResolvers<void>();
    let runs = 0;
    const watch = await watching({
      async run(given) {
        if (given === path && runs++ === 0) return 5;
        const code = await place.run(given);
        if (place.effects.length === 4) resolve();
        return code;
      },
    });
    await watch.says('plan_b does not run');
    await place.append('loop-plan_a', [{ type: 'loop.resumed', at: 1, by: 'ada', because: 'answered' }]);
    await place.ledger.mailbox.send('loop-plan_a', 'ada', { type: 'resume' }, 1);
    place.put('Approved/Plans/b.md', planText('plan_b'));
    await both;
    watch.stop.abort();
    await watch.finished;
    expect(place.list('Done').toSorted()).toEqual(['a.md', 'b.md']);
  });
});
