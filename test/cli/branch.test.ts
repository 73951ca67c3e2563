// A person switches, detaches or resets while an agent works: noticed before anything is committed, said, and asked (F86).
import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inScratch, type Scratch, type Told } from './kit.ts';
import { git, loopOf, makeRepository, ok, runWith, worker } from './repository.ts';
import { flat } from './workshop.ts';

/** The worker, who waits at the gate of its task as long as there is one. */
const waiting = (place: Scratch, agent = worker): readonly string[] => {
  const gate = join(place.root, 'gate-$RALPH_TASK');
  return runWith(`if test -p "${gate}"; then cat "${gate}" >/dev/null; fi; ${agent}`).filter(
    word => word !== '--quiet',
  );
};

/** Runs it; a person acts while the agent works on the task. */
async function during(place: Scratch, words: readonly string[], act: () => unknown, task = 'US-1'): Promise<Told> {
  const gate = join(place.root, `gate-${task}`);
  execFileSync('mkfifo', [gate]);
  const told = place.ralph(words);
  const opened = await open(gate, 'w'); // as soon as the agent reads
  act();
  rmSync(gate);
  await opened.close();
  return told;
}

const tipOf = (place: Scratch, ref: string): string => git(place, 'rev-parse', ref, '--').split('\n')[0]!;
const subjects = (place: Scratch, ref: string): string => git(place, 'log', '--format=%s', ref, '--');

interface Question {
  readonly kind: string;
  readonly summary: string;
  readonly options: readonly unknown[];
}
const questions = async (place: Scratch): Promise<readonly Question[]> =>
  ((await place.json(['inbox', '--json'])) as { questions: readonly Question[] }).questions;

const switches = (place: Scratch) => () => git(place, 'switch', '-q', '-c', 'other');
const detaches = (place: Scratch) => () => git(place, 'switch', '-q', '--detach');

const acts = [
  ['switches to another branch', switches, 'HEAD is on other'],
  ['detaches', detaches, 'HEAD is on no branch'],
] as const;

describe('while an agent works in their folder, a person', () => {
  it.each(acts)('%s: nothing is committed anywhere, and the loop asks', (_what, act, said) =>
    inScratch(async place => {
      makeRepository(place, ['US-1', 'US-2']);
      const [first, words] = [tipOf(place, 'main'), waiting(place)];
      const told = await during(place, words, act(place));
      expect(told.code).toBe(5);
      expect(flat(told.stderr)).toContain(said);
      expect(flat(told.stderr)).toContain('git switch main');
      expect(git(place, 'rev-list', '--branches', 'HEAD', '--').trim()).toBe(first);
      const [question] = await questions(place);
      expect(question).toMatchObject({ kind: 'branch' });
      expect(question!.options).toHaveLength(3);
      const ids = /"id":"go-on","text":.*"id":"go-on-here","text":.*"id":"end-loop"/;
      expect((await place.ralph(['events', '--json'])).stdout).toMatch(ids);

      // As long as nobody goes back, the same command asks again.
      expect((await place.ralph(words)).code).toBe(5);
      git(place, 'switch', '-q', 'main');
      await ok(place.ralph(words));
      expect(subjects(place, 'main')).toMatch(/US-2.*\nUS-1.*\nfirst\n$/);
      const holders = git(place, 'for-each-ref', '--format=%(refname)', '--contains', 'main', 'refs/heads');
      expect(holders).toBe('refs/heads/main\n');
    }),
  );

  it('switches, and wants the loop to go on there', () =>
    inScratch(async place => {
      makeRepository(place, ['US-1', 'US-2']);
      const [first, words] = [tipOf(place, 'main'), waiting(place)];
      await during(place, words, switches(place));
      await ok(place.ralph(['answer', 'shop/E1', '--option', '2']));
      await ok(place.ralph(words));
      expect(tipOf(place, 'main')).toBe(first);
      expect(subjects(place, 'other')).toMatch(/US-2.*\nUS-1.*\nfirst\n$/);
      expect((await place.ralph(['events'])).stdout).toContain('branch.accepted');
    }));

  it('switches, and ends the loop', () =>
    inScratch(async place => {
      makeRepository(place, ['US-1']);
      const first = tipOf(place, 'main');
      await during(place, waiting(place), switches(place));
      await ok(place.ralph(['answer', 'shop/E1', '--option', '3']));
      expect(git(place, 'rev-list', '--branches', '--').trim()).toBe(first);
      expect(await questions(place)).toEqual([]);
    }));

  it('resets the branch behind what was done: it is asked before more is built on it', () =>
    inScratch(async place => {
      makeRepository(place, ['US-1', 'US-2']);
      const [first, words] = [tipOf(place, 'main'), waiting(place)];
      const told = await during(place, words, () => git(place, 'reset', '-q', '--hard', 'HEAD~'), 'US-2');
      expect(told.code).toBe(5);
      expect(flat(told.stderr)).toMatch(/main no longer holds [0-9a-f]{12}/);
      expect(tipOf(place, 'main')).toBe(first);
      git(place, 'reset', '-q', '--hard', 'main@{1}');
      await ok(place.ralph(words));
      expect(subjects(place, 'main')).toMatch(/US-2.*\nUS-1.*\nfirst\n$/);
    }));

  it('commits on the same branch: that is fine', () =>
    inScratch(async place => {
      makeRepository(place, ['US-1', 'US-2']);
      const mine = () => git(place, 'commit', '-q', '--allow-empty', '-m', 'mine');
      await ok(during(place, waiting(place), mine, 'US-2'));
      expect(subjects(place, 'main')).toMatch(/US-2.*\nmine\nUS-1.*\nfirst\n$/);
    }));

  it('rewrites it between two runs: that is fine', () =>
    inScratch(async place => {
      makeRepository(place, ['US-1', 'US-2']);
      await place.ralph([...waiting(place), '--max-iterations', '1']);
      expect(subjects(place, 'main')).toMatch(/^US-1.*\nfirst\n$/);
      git(place, 'commit', '-q', '--amend', '-m', 'mine');
      await ok(place.ralph(['resume', 'shop', '--max-iterations', '9']));
      expect(subjects(place, 'main')).toMatch(/US-2.*\nmine\nfirst\n$/);
    }));

  it('began on no branch, and goes to one: nothing lands there', () =>
    inScratch(async place => {
      makeRepository(place, ['US-1']);
      git(place, 'switch', '-q', '--detach');
      const first = tipOf(place, 'main');
      const told = await during(place, waiting(place), () => git(place, 'switch', '-q', 'main'));
      expect([told.code, flat(told.stderr)]).toEqual([5, expect.stringContaining('this loop works on no branch')]);
      expect(tipOf(place, 'main')).toBe(first);
    }));
});

const treeOf = (place: Scratch): string => join(place.home, 'worktrees', loopOf(place));
const ownFile = 'read -r _; echo x > "$RALPH_TASK.txt"; echo "Task $RALPH_TASK complete"';

describe('while an agent works in the worktree of the loop', () => {
  it.each([['--worktree'], ['--parallel=2']])(
    'given %s, a person switches there: nothing lands, and it is asked',
    flag =>
      inScratch(async place => {
        makeRepository(place, ['US-1', 'US-2']);
        const words = [...waiting(place, ownFile), flag];
        const told = await during(place, words, () => git(place, '-C', treeOf(place), 'switch', '-q', '-c', 'other'));
        expect([told.code, flat(told.stderr)]).toEqual([5, expect.stringContaining('HEAD is on other')]);
        expect(git(place, 'log', '--format=%s', 'other', '--')).not.toContain('US-1');
        git(place, '-C', treeOf(place), 'switch', '-q', 'ralph/shop');
        const tip = tipOf(place, 'other');
        await ok(place.ralph(words));
        expect(tipOf(place, 'other')).toBe(tip);
        expect(subjects(place, 'ralph/shop')).toMatch(/US-1: /);
      }),
  );

  it.each([['--worktree'], ['--parallel=2']])(
    'given %s, a person deletes it: it is made again from the last checkpoint, and asked (F87)',
    flag =>
      inScratch(async place => {
        makeRepository(place, ['US-1', 'US-2']);
        const words = [...waiting(place, ownFile), flag];
        const told = await during(place, words, () => rmSync(treeOf(place), { recursive: true }), 'US-2');
        const said = 'The worktree of this loop was deleted while it was at work';
        expect([told.code, flat(told.stderr)]).toEqual([5, expect.stringContaining(said)]);
        expect(readdirSync(treeOf(place))).toContain('a.txt');
        // What was done in a fork is there; what was done in the worktree is lost, and the claim is not believed.
        if (flag === '--worktree') {
          expect((await place.ralph(words)).stderr).toContain('nothing was changed for it');
          await ok(place.ralph(['answer', 'shop/E2', '--option', '1']));
        }
        await ok(place.ralph(words));
        expect(git(place, 'ls-tree', '--name-only', 'ralph/shop')).toContain('US-1.txt\nUS-2.txt\n');
      }),
  );

  it('its folder, or also what Ralph knows of it, is deleted between two runs: it is made again', () =>
    inScratch(async place => {
      makeRepository(place, ['US-1']);
      const agent = runWith('read -r _; echo half > half.txt; exit 1');
      await place.ralph([...agent, '--worktree', '--max-iterations', '1']);
      const folder = treeOf(place);
      for (const [round, gone] of [[folder], [folder, `${folder}.json`]].entries()) {
        for (const path of gone) rmSync(path, { recursive: true });
        const told = await place.ralph(['diff', 'shop']);
        expect(told.stderr).toContain('The worktree of loop shop is gone');
        expect(told.stderr).toContain('ralph resume shop');
        const again = await place.ralph(['resume', 'shop', '--max-iterations', `${round + 2}`]);
        expect(again.stderr).toContain('made again from its branch ralph/shop and checkpoint');
        expect(readdirSync(folder)).toContain('half.txt'); // not committed: from the checkpoint
      }
    }));
});

describe('a start that is killed while it prepares the worktree of its loop (F87)', () => {
  it.each([
    ['at its set-up', ['--worktree', '--worktree-setup']],
    ['at its first checks', ['--worktree', '--verify']],
    ['at its first checks in a fork', ['--parallel=2', '--verify']],
  ])('%s leaves nothing behind after the next one', (_when, flags) =>
    inScratch(async place => {
      makeRepository(place, ['US-1']);
      const gate = join(place.root, 'gate');
      execFileSync('mkfifo', [gate]);
      const words = runWith(ownFile);
      const live = place.start([...words, ...flags, `cat ${gate}`]);
      const opened = await open(gate, 'w');
      live.child.kill('SIGKILL');
      await live.ended;
      await opened.close();
      expect(git(place, 'branch', '--list', 'ralph/*')).toContain('ralph/shop');

      await ok(place.ralph([...words, flags[0]!]));
      expect(git(place, 'for-each-ref', '--format=%(refname)', 'refs/heads')).toBe(
        'refs/heads/main\nrefs/heads/ralph/shop\n',
      );
      expect(git(place, 'worktree', 'list').trim().split('\n')).toHaveLength(2);
      expect(readdirSync(join(place.home, 'loops'))).toHaveLength(1);
      const kept = readdirSync(join(place.home, 'worktrees')).filter(name => !name.startsWith(loopOf(place)));
      expect(kept).toEqual([]);
    }),
  );
});
