// What cannot be undone is asked for by the loop's name: `ralph loops rm` and `ralph checkpoint prune`.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { binary, eventually, hangingAgent, inScratch, pinnedNode, type Scratch } from '../kit.ts';
import { filesOf, git, makeRepository, ok, runWith, worker } from '../repository.ts';
import { openTerminal, quoted } from '../terminal.ts';

const refs = (place: Scratch): string => git(place, 'for-each-ref', '--format=%(refname)', 'refs/ralph', 'refs/heads');
const inHome = (place: Scratch, name: string): readonly string[] =>
  existsSync(join(place.home, name)) ? readdirSync(join(place.home, name)) : [];
const rm = (...more: readonly string[]): readonly string[] => ['loops', 'rm', 'shop', ...more];

describe('a loop that is over', () => {
  it('is removed by its name: refs and folders go, files and commits stay, and its document can begin anew', () =>
    inScratch(async place => {
      makeRepository(place, ['US-1', 'US-2']);
      await ok(place.ralph([...runWith(worker), '--max-iterations', '1']).then(told => ({ ...told, code: 0 })));
      const [files, head, before] = [filesOf(place), git(place, 'rev-parse', 'HEAD'), refs(place)];

      const dry = await ok(place.ralph(rm('--dry-run')));
      expect(dry.stderr).toContain(join(place.home, 'loops'));
      expect([refs(place), inHome(place, 'loops').length]).toEqual([before, 1]);

      for (const words of [rm(), rm('--confirm', 'shopp')]) {
        const refused = await place.ralph(words);
        expect(refused.code).toBe(2);
        expect(refused.stderr).toContain('ype: ralph loops rm shop --confirm shop');
        expect([refs(place), inHome(place, 'loops').length]).toEqual([before, 1]);
      }

      const told = await ok(place.ralph(rm('--confirm', 'shop')));
      expect(told.stderr).toMatch(/Loop shop is removed: \d refs in git/);
      expect([refs(place), inHome(place, 'loops')]).toEqual(['refs/heads/main\n', []]);
      expect([filesOf(place), git(place, 'rev-parse', 'HEAD')]).toEqual([files, head]);
      expect((await place.ralph(['loops', 'list'])).stdout).toBe('');
      expect((await place.ralph(rm('--confirm', 'shop'))).code).toBe(2);

      await ok(place.ralph(runWith(worker)));
      expect((await ok(place.ralph(['audit', 'verify', 'shop']))).code).toBe(0);
    }));

  it.each([
    ['--worktree', 'unmerged'],
    ['--worktree', 'merged'],
    ['--parallel=2', 'merged'],
  ])(
    'given %s and a branch that is %s, then its worktrees go, and the branch only where nothing is lost',
    (flag, how) =>
      inScratch(async place => {
        makeRepository(place, ['US-1', 'US-2']);
        const agent = 'read -r _; echo x > "$RALPH_TASK.txt"; echo "Task $RALPH_TASK complete"';
        await ok(place.ralph([...runWith(agent), flag]));
        if (how === 'merged') git(place, 'merge', '-q', 'ralph/shop');
        const { stderr } = await ok(place.ralph(rm('--confirm', 'shop')));
        expect(inHome(place, 'worktrees')).toEqual([]);
        expect(git(place, 'worktree', 'list').trim().split('\n')).toHaveLength(1);
        expect(refs(place)).toBe(`refs/heads/main\n${how === 'merged' ? '' : 'refs/heads/ralph/shop\n'}`);
        expect(stderr.includes('git branch -D ralph/shop')).toBe(how !== 'merged');
      }),
  );
});

it('a loop at work is never removed', () =>
  inScratch(async place => {
    makeRepository(place, ['US-1']);
    const { command, gone } = hangingAgent(place);
    const live = place.start(runWith(command).filter(word => word !== '--quiet'));
    await live.says('Iteration 1');
    const refused = await place.ralph(rm('--confirm', 'shop'));
    expect(refused).toMatchObject({ code: 9, stderr: expect.stringContaining('End it first: ralph stop shop') });
    await ok(place.ralph(['stop', 'shop']));
    await live.ended;
    await gone();
    await ok(place.ralph(rm('--confirm', 'shop')));
  }));

it('checkpoint prune asks for the name too: --yes is no longer enough', () =>
  inScratch(async place => {
    makeRepository(place, ['US-1', 'US-2', 'US-3', 'US-4']);
    await ok(place.ralph(runWith(worker)));
    const before = refs(place);
    const refused = await place.ralph(['checkpoint', 'prune', '--keep', '1']);
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('type: ralph checkpoint prune shop --keep 1 --confirm shop'),
    });
    expect((await place.ralph(['checkpoint', 'prune', '--keep', '1', '--yes'])).code).toBe(2);
    expect(refs(place)).toBe(before);
  }));

it('at a terminal Enter alone means no, and the name means yes', () =>
  inScratch(async place => {
    makeRepository(place, ['US-1']);
    await ok(place.ralph(runWith(worker)));
    const line = quoted([pinnedNode, binary, ...rm()]);
    const terminal = openTerminal(
      place,
      place.root,
      `${line}; echo "first $?"; ${line}; echo "second $?"; exec cat`,
      80,
    );
    try {
      await terminal.shows('Type shop to do it, or only Enter to leave:');
      terminal.keys('Enter');
      await terminal.shows('first 130');
      expect(terminal.screen()).toContain('Nothing was changed.');
      await eventually('the question comes back', () => terminal.screen().split('Type shop to do it').length === 3);
      terminal.keys('shop', 'Enter');
      await terminal.shows('second 0');
      expect(refs(place)).toBe('refs/heads/main\n');
    } finally {
      terminal.end();
    }
  }));
