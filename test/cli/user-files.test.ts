// What a loop leaves in the user's folder, and that it is said: PROMPT.md, an uncommitted document, a branch to merge.
import { expect, it } from 'vitest';
import { inScratch } from './kit.ts';
import { filesOf, git, makeRepository, ok, passes, runWith, worker } from './repository.ts';
import { flat } from './workshop.ts';

const run = runWith(worker).filter(word => word !== '--quiet');

it('given no PROMPT.md, then it is said that one is made; given one, then nothing', () =>
  inScratch(async place => {
    makeRepository(place, ['US-1']);
    expect((await ok(place.ralph(run))).stderr).toContain(
      'note: PROMPT.md is made beside PRD.json: every agent gets it',
    );
    expect(place.read('PROMPT.md')).not.toBe('');
    git(place, 'checkout', '-q', 'HEAD~', 'PRD.json');
    expect((await ok(place.ralph(run))).stderr).not.toContain('PROMPT.md is made');
  }));

it('given a PRD.json that was never committed, then it is said once that no commit holds it', () =>
  inScratch(async place => {
    makeRepository(place, ['US-1', 'US-2', 'US-3']);
    git(place, 'rm', '-q', '--cached', 'PRD.json');
    git(place, 'commit', '-qm', 'without it');
    const { stderr } = await ok(place.ralph(run));
    expect(stderr.match(/US-\d: 2 files committed/g)).toHaveLength(3);
    expect(stderr.match(/PRD\.json is in no commit of this loop: it was not committed when that began/g)).toHaveLength(
      1,
    );
    expect(git(place, 'log', '--format=', '--name-only', '-3')).not.toContain('PRD.json');
  }));

it.each([['--worktree'], ['--parallel=2']])(
  'given %s, then the card names what is written, a plain merge brings work and marks, and nothing is left',
  flag =>
    inScratch(async place => {
      makeRepository(place, ['US-1', 'US-2']);
      const agent = 'cat >/dev/null; echo x > "$RALPH_TASK.txt"; echo "Task $RALPH_TASK complete"';
      const words = [...runWith(agent).filter(word => word !== '--quiet'), flag];
      const before = filesOf(place);
      const told = await ok(place.ralph(words));
      expect(flat(told.stderr)).toContain('of your files only PRD.json and PROMPT.md are written');
      expect(told.stderr).toContain('git merge ralph/shop');
      expect(filesOf(place)).toEqual({ ...before, 'PROMPT.md': expect.any(String) });
      expect(git(place, 'show', '-s', '--format=%s', 'ralph/shop')).toBe('PRD.json: 2 of 2 tasks done\n');

      const again = await ok(place.ralph(words));
      expect(again.stderr).toContain('Nothing to do: its tasks are done on the branch ralph/shop.');

      git(place, 'commit', '-q', '--allow-empty', '-m', 'meanwhile');
      git(place, 'merge', '-q', '--no-edit', 'ralph/shop');
      expect(git(place, 'status', '--short')).toBe(' M b.txt\n?? PROMPT.md\n?? u.txt\n');
      expect(passes(place)).toEqual([true, true]);
      expect((await ok(place.ralph(words))).stderr).toContain('Nothing to do: every task of');
    }),
);

it('given --worktree and a PRD.json with edits of a person, then these stay, and the merge is not in their way', () =>
  inScratch(async place => {
    makeRepository(place, ['US-1']);
    place.put('PRD.json', place.read('PRD.json').replace('Story US-1', 'My story'));
    const agent = 'cat >/dev/null; echo x > "$RALPH_TASK.txt"; echo "Task $RALPH_TASK complete"';
    await ok(place.ralph([...runWith(agent), '--worktree']));
    expect(place.read('PRD.json')).toContain('My story');
    expect(passes(place)).toEqual([true]);
    git(place, 'merge', '-q', 'ralph/shop');
    expect(place.read('PRD.json')).toContain('My story');
  }));
