// Plans as files: found, approved, moved and put away, each step whole again after a crash between two of them.
import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hiddenIn, lintPlanFile, type PlanFile, readPlan } from '../../../../src/modes/plan/session/files.ts';
import { loopOfPlan, refreshDashboard } from '../../../../src/modes/plan/session/loops.ts';
import { approvePlan, findPlan, finishPlan, makeVault } from '../../../../src/modes/plan/session/vault.ts';
import { planText, type VaultPlace, vaultPlace } from './vault-kit.ts';

let place: VaultPlace;
beforeEach(() => {
  place = vaultPlace();
});
afterEach(() => place.end());

async function planAt(path: string): Promise<PlanFile> {
  const read = await readPlan(path);
  if (read.type !== 'read') throw new Error(JSON.stringify(read));
  return read.plan;
}

async function approve(path: string) {
  const { root, ledger, record } = place;
  const plan = await planAt(path);
  const loop = await loopOfPlan(ledger, plan);
  return approvePlan({ root, plan, loop, by: 'ada', because: 'she read it', record });
}

async function finish(path: string, id = 'plan_a') {
  const loop = await loopOfPlan(place.ledger, { path, id });
  return finishPlan(place.ledger, place.root, loop!);
}

describe('approving', () => {
  it('moves the plan to Approved/Plans and records who, why and the hash of exactly this text', async () => {
    const { path } = await approve(place.put('Plans/a.md', planText('plan_a')));
    expect(path).toBe(join(place.root, 'Approved/Plans/a.md'));
    expect(place.list('Plans')).toEqual([]);
    const plan = await planAt(path);
    const { state } = (await loopOfPlan(place.ledger, plan))!;
    expect(state.document.approval).toMatchObject({ hash: plan.hash, by: 'ada', because: 'she read it' });
    expect(plan.hash).toMatch(/^[0-9a-f]{64}$/);
  });

  it('gives every edit but our own marks another hash (F68)', async () => {
    const before = await planAt(place.put('Plans/a.md', planText('plan_a')));
    const edited = await planAt(place.put('Plans/b.md', planText('plan_a', '!')));
    expect(edited.hash).not.toBe(before.hash);
    const path = (await approve(before.path)).path;
    await place.run(path);
    expect(place.read('Approved/Plans/a.md')).toContain('- [x] **Step 1:**');
    expect((await planAt(path)).hash).toBe(before.hash);
  });

  it('never covers another file, and then approves nothing', async () => {
    place.put('Approved/Plans/a.md', planText('plan_other'));
    const path = place.put('Plans/a.md', planText('plan_a'));
    await expect(approve(path)).rejects.toThrow(/is there already/);
    expect(place.read('Plans/a.md')).toContain('plan_id: plan_a');
    expect(place.read('Approved/Plans/a.md')).toContain('plan_id: plan_other');
    expect(await place.ledger.store.loops()).toEqual([]);
  });

  it('puts the plan back when the yes could not be recorded', async () => {
    const { root } = place;
    const plan = await planAt(place.put('Plans/a.md', planText('plan_a')));
    const record = () => Promise.reject(new Error('no such server'));
    const approving = approvePlan({ root, plan, loop: undefined, by: 'ada', because: 'she read it', record });
    await expect(approving).rejects.toThrow('no such server');
    expect([place.list('Plans'), place.list('Approved/Plans')]).toEqual([['a.md'], []]);
  });

  it('ends a move that a crash cut between its two steps', async () => {
    const path = place.put('Plans/a.md', planText('plan_a'));
    await makeVault(place.root);
    linkSync(path, join(place.root, 'Approved/Plans/a.md'));
    await approve(path);
    expect([place.list('Plans'), place.list('Approved/Plans')]).toEqual([[], ['a.md']]);
  });

  it('is refused once the plan was carried out: no plan runs twice', async () => {
    const { path } = await approve(place.put('Plans/a.md', planText('plan_a')));
    await place.run(path);
    await finish(path);
    const again = place.put('Plans/again.md', planText('plan_a'));
    await expect(approve(again)).rejects.toThrow(/carried out by loop plan_a/);
  });
});

describe('finishing', () => {
  it('writes the facts, moves a good plan to Done, cleans its state and rewrites the dashboard, as often as asked', async () => {
    const { path } = await approve(place.put('Plans/a.md', planText('plan_a')));
    await place.run(path);
    place.put('In_Progress/plan_a/state.md', 'left by a crash');
    expect(await finish(path)).toEqual({ path: join(place.root, 'Done/a.md') });
    const done = place.read('Done/a.md');
    expect(done).toMatch(/^completed_steps: 2$/m);
    expect(done).toMatch(/^status: completed$/m);
    expect(done).toMatch(/^iterations_used: 2$/m);
    expect([place.list('Approved/Plans'), place.list('In_Progress')]).toEqual([[], []]);
    expect(place.read('Logs/Plan_Execution/plan_a.md')).toContain('loop ended. Done');
    const shown = place.read('Dashboard.md');
    expect(shown).toMatch(/\| plan_a \| Onboard Acme \| completed \| 2\/2 \| 2 \| .* \| Done\/a\.md \|/);
    expect(await finish(path)).toEqual({});
    expect([place.read('Done/a.md'), place.read('Dashboard.md'), place.list('Done')]).toEqual([done, shown, ['a.md']]);
  });

  it('takes the next free name in Done', async () => {
    place.put('Done/a.md', 'somebody else’s');
    place.put('Plans/broken.md', 'plan_id: half\n');
    const { path } = await approve(place.put('Plans/a.md', planText('plan_a')));
    await place.run(path);
    expect(await finish(path)).toEqual({ path: join(place.root, 'Done/a-2.md') });
    expect(place.read('Done/a.md')).toBe('somebody else’s');
    expect(place.read('Dashboard.md')).toContain('2 plans: 1 broken, 1 completed.'); // other notes are no plans
  });

  it('leaves a plan that failed where it is and says so in it, in Needs_Action and on the dashboard', async () => {
    const { path } = await approve(place.put('Plans/a.md', planText('plan_a')));
    await place.run(path, true);
    expect(await finish(path)).toEqual({ path });
    expect(place.read('Approved/Plans/a.md')).toMatch(/^status: blocked$/m);
    expect(place.read('Approved/Plans/a.md')).toContain('- [!] **Step 1:** (FAILED)');
    expect(place.read('Needs_Action/plan_blocked_plan_a.md')).toContain('the server said no');
    expect(place.read('Dashboard.md')).toContain('| blocked | 0/2 | 2 |');
  });

  it.each(['../a.md', 'Done/a.md'])(
    'leaves a carried out plan at %s, outside of the vault or put away, where it is',
    async name => {
      const path = place.put(name, planText('plan_a'));
      const { hash } = await planAt(path);
      await place.record(path, { subject: 'plan_a', hash, by: 'ada', because: 'she read it' });
      await place.run(path);
      expect(await finish(path)).toEqual({ path });
      expect(place.read(name)).toMatch(/^status: completed$/m);
      expect(place.list('Done')).toEqual(name.startsWith('Done') ? ['a.md'] : []);
    },
  );

  it('touches no other plan that took the place of the finished one', async () => {
    const { path } = await approve(place.put('Plans/a.md', planText('plan_a')));
    await place.run(path);
    place.put('Approved/Plans/a.md', planText('plan_b'));
    expect(await finish(path)).toEqual({});
    expect(place.read('Approved/Plans/a.md')).toBe(planText('plan_b'));
  });
});

describe('links that lead out of the vault', () => {
  const outside = (name: string): string => join(dirname(place.root), name);

  it('are not followed by a view: not by the dashboard, the log or a note', async () => {
    const { path } = await approve(place.put('Plans/a.md', planText('plan_a')));
    await place.run(path, true);
    mkdirSync(outside('logs'));
    for (const name of ['mine', 'notes']) writeFileSync(outside(name), 'mine');
    mkdirSync(join(place.root, 'Needs_Action'), { recursive: true });
    for (const [target, name] of [
      ['mine', 'Dashboard.md'],
      ['notes', 'Needs_Action/plan_blocked_plan_a.md'],
      ['logs', 'Logs'],
    ] as const) {
      rmSync(join(place.root, name), { recursive: true, force: true });
      symlinkSync(outside(target), join(place.root, name));
    }
    await finish(path);
    expect([readFileSync(outside('mine'), 'utf8'), readFileSync(outside('notes'), 'utf8')]).toEqual(['mine', 'mine']);
    expect(readdirSync(outside('logs'))).toEqual([]);
    expect(await refreshDashboard(place.ledger, place.root)).toContain('Dashboard.md is no plain file');
  });

  it('take no plan away: it stays where it ran, and that is said', async () => {
    const { path } = await approve(place.put('Plans/a.md', planText('plan_a')));
    await place.run(path);
    mkdirSync(outside('attic'));
    rmSync(join(place.root, 'Done'), { recursive: true, force: true });
    symlinkSync(outside('attic'), join(place.root, 'Done'));
    expect(await finish(path)).toEqual({ path, problem: expect.stringContaining('leads out of the vault') });
    expect([readdirSync(outside('attic')), place.list('Approved/Plans')]).toEqual([[], ['a.md']]);
  });

  it('make no vault, and approve nothing', async () => {
    mkdirSync(outside('attic'));
    const path = place.put('Plans/a.md', planText('plan_a'));
    rmSync(join(place.root, 'Approved'), { recursive: true, force: true });
    symlinkSync(outside('attic'), join(place.root, 'Approved'));
    await expect(approve(path)).rejects.toThrow(/leads out of the vault/);
    await expect(makeVault(place.root)).rejects.toThrow(/Approved is a link that leads out/);
    expect([readdirSync(outside('attic')), place.list('Plans')]).toEqual([[], ['a.md']]);
  });
});

describe('finding', () => {
  it('takes a file, an id or a file name, and says when several are meant', async () => {
    const path = place.put('Plans/a.md', planText('plan_a'));
    const directory = dirname(place.root);
    for (const word of ['vault/Plans/a.md', 'plan_a', 'a.md', 'a'])
      expect(await findPlan(directory, place.root, word)).toBe(path);
    await expect(findPlan(directory, place.root, 'plan_x')).rejects.toThrow(/There is no plan "plan_x"/);
    place.put('Pending_Approval/b.md', planText('plan_a'));
    await expect(findPlan(directory, place.root, 'plan_a')).rejects.toThrow(/Several plans are called plan_a/);
  });

  it('gives a broken plan the name that it gives itself', async () => {
    const broken = planText('plan_a').replace('Dependencies: none', 'Dependencies: step_2');
    const path = place.put('Plans/odd name.md', broken);
    expect(await readPlan(path)).toMatchObject({ type: 'broken', id: 'plan_a' });
    expect((await lintPlanFile(path)).problems.length).toBeGreaterThan(0);
    expect(await readPlan(place.put('Plans/empty.md', ''))).toMatchObject({ type: 'broken', id: 'empty' });
  });
});

it('names every comment and every invisible character of a plan (B50, B51)', () => {
  const text = 'a <!-- one --> b\nplain\n<!-- two\nhidden line\n-->\nend\u200b <!-- x\r\nlast -->';
  expect(hiddenIn(text)).toEqual([
    'Line 1 holds a comment that a rendered page hides: a <!-- one --> b',
    'Line 3 holds a comment that a rendered page hides: <!-- two',
    'Line 4 holds a comment that a rendered page hides: hidden line',
    'Line 5 holds a comment that a rendered page hides: -->',
    'Line 6 holds a comment that a rendered page hides: end\\u{200b} <!-- x',
    expect.stringMatching(/^Line 6 holds an invisible .*U\+200B.* It says: end\\u\{200b\}/),
    'Line 7 holds a comment that a rendered page hides: last -->',
  ]);
});
