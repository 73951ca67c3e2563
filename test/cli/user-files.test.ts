// What a loop leaves in the user's folder, and that it is said: PROMPT.md, an uncommitted document, a branch to merge.
import { utimesSync } from 'node:fs';
import { join } from 'node:path';
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
    expect(
      stderr.match(/PRD\.json is in no commit of this loop: it was not committed when the loop began/g),
    ).toHaveLength(1);
    expect(git(place, 'log', '--format=', '--name-only', '-3')).not.toContain('PRD.json');
  }));

it.each([['--worktree'], ['--parallel=2']])(
  'given %s, then the card names what is written, a plain merge brings work and marks, and nothing is left',
  flag =>
    inScratch(async place => {
      makeRepository(place, ['US-1', 'US-2']);
      const agent = 'read -r _; echo x > "$RALPH_TASK.txt"; echo "Task $RALPH_TASK complete"';
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
    const agent = 'read -r _; echo x > "$RALPH_TASK.txt"; echo "Task $RALPH_TASK complete"';
    await ok(place.ralph([...runWith(agent), '--worktree']));
    expect(place.read('PRD.json')).toContain('My story');
    expect(passes(place)).toEqual([true]);
    git(place, 'merge', '-q', 'ralph/shop');
    expect(place.read('PRD.json')).toContain('My story');
  }));

it('given files behind a filter, then they are committed as git add would, and nobody calls them dirty', () =>
  inScratch(async place => {
    makeRepository(place, ['US-1']);
    place.put('.gitattributes', '*.bin filter=upper\n');
    place.put('old.bin', 'old\n');
    git(place, 'config', 'filter.upper.clean', 'tr a-z A-Z');
    git(place, 'config', 'filter.upper.smudge', 'tr A-Z a-z');
    git(place, 'add', '.gitattributes', 'old.bin');
    git(place, 'commit', '-qm', 'filtered');
    utimesSync(join(place.project, 'old.bin'), 1, 1);
    const agent = 'read -r _; echo new > new.bin; echo more >> old.bin; echo "Task $RALPH_TASK complete"';
    const { stderr } = await ok(place.ralph(runWith(agent).filter(word => word !== '--quiet')));
    expect(stderr).not.toContain('yours');
    expect(git(place, 'show', 'HEAD:new.bin', 'HEAD:old.bin')).toBe('NEW\nOLD\nMORE\n');
    expect(git(place, 'status', '--short')).toBe(' M b.txt\n?? PROMPT.md\n?? u.txt\n');
    await ok(place.ralph(['undo', '--yes']));
    expect([place.read('old.bin'), filesOf(place)['new.bin']]).toEqual(['old\n', undefined]);
  }));

it('given commit.gpgsign and commit hooks, then the card says in one line that commits of a loop have neither', () =>
  inScratch(async place => {
    makeRepository(place, ['US-1', 'US-2', 'US-3']);
    const said = async (): Promise<string> => {
      const { stdout, stderr } = await place.ralph([...run, '--dry-run']);
      return flat(stdout + stderr);
    };
    expect(await said()).not.toContain('Commits of a loop');
    git(place, 'config', 'commit.gpgsign', 'true');
    expect(await said()).toContain('Commits of a loop are not signed (commit.gpgsign): do that when you merge');
    git(place, 'config', 'core.hooksPath', '.husky');
    expect((await said()).match(/not signed \(commit.gpgsign\) and made without commit hooks/g)).toHaveLength(1);
    git(place, 'config', 'commit.gpgsign', 'false');
    expect(await said()).toContain('Commits of a loop are made without commit hooks');
    await ok(place.ralph(runWith(worker)));
    expect(git(place, 'log', '-1', '--format=%G?').trim()).toBe('N');
  }));

it("checkpoints stay out of a person's log by one word, and nothing of ours is in notes", () =>
  inScratch(async place => {
    makeRepository(place, ['US-1']);
    await ok(place.ralph(runWith(worker)));
    const log = (...which: readonly string[]): string => git(place, 'log', '--format=%s', ...which);
    expect(log('--exclude=refs/ralph/*', '--all')).toBe(log('main'));
    expect(log('--branches', '--tags', '--remotes')).toBe(log('main'));
    expect(git(place, 'for-each-ref', 'refs/notes')).toBe('');
  }));

it('given a second RALPH_HOME, and then deleted refs of checkpoints, then each is said with what to do', () =>
  inScratch(async place => {
    makeRepository(place, ['US-1', 'US-2']);
    await place.ralph([...runWith(worker), '--max-iterations', '1']);
    const other = { env: { RALPH_HOME: join(place.root, 'other') } };
    const told = await place.start([...run, '--max-iterations', '1'], other).ended;
    expect(flat(told.stderr)).toContain('holds checkpoints of 1 loop that are not in');
    expect(flat(told.stderr)).toContain('git for-each-ref refs/ralph');

    for (const ref of git(place, 'for-each-ref', '--format=%(refname)', 'refs/ralph').trim().split('\n'))
      git(place, 'update-ref', '-d', ref);
    const again = await place.ralph(['resume', 'shop', '--max-iterations', '2']);
    expect(flat(again.stderr)).toMatch(/Checkpoints of this loop: made the refs of \d checkpoints anew/);
  }));

it('given a refused claim, then the next prompt names the files of that attempt, but not PRD.json, which Ralph marks', () =>
  inScratch(async place => {
    makeRepository(place, ['US-1', 'US-2']);
    const agent = 'cat >"../$RALPH_TASK.prompt"; echo x > "$RALPH_TASK.txt"; echo "Task $RALPH_TASK complete"';
    const words = ['run', 'PRD.json', '--agent-command', agent, '--verify', 'test ! -f US-2.txt', '--quiet'];
    await place.ralph([...words, '--max-iterations', '3']);
    const prompt = place.read('../US-2.prompt');
    expect(prompt).toMatch(/changed by them and are not committed\. .*\n> US-2\.txt\n\n/);
  }));

it('given --worktree and a dry run, then the branch of a loop without a name yet is called ralph/NAME', () =>
  inScratch(async place => {
    makeRepository(place, ['US-1']);
    const told = await ok(place.ralph([...run, '--worktree', '--dry-run']));
    expect(flat(told.stdout)).toContain('branch ralph/NAME;');
  }));
