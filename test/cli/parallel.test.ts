// Work beside the user's files: a worktree of the loop's own, and tasks in parallel whose results are merged one by one.
import { execFileSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/core/event.ts';
import { startFrom } from '../git/template.ts';
import { eventsOf, inScratch, type Scratch } from './kit.ts';
import { flat } from './workshop.ts';

const stories = (count: number): string =>
  JSON.stringify({
    project: 'shop',
    description: 'a shop',
    userStories: Array.from({ length: count }, (_, n) => ({
      id: `US-${n + 1}`,
      title: `story ${n + 1}`,
      description: 'd',
      criteria: ['it is there'],
      passes: false,
    })),
  });

function git(place: Scratch, ...words: readonly string[]): string {
  const env = { ...place.env, GIT_CONFIG_NOSYSTEM: '1', GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z' };
  const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', '-c', 'init.defaultBranch=main'];
  return execFileSync('git', [...who, ...words], { cwd: place.project, env, encoding: 'utf8' });
}

/** A repository with a first commit and a person's unfinished work in it. */
function repository(place: Scratch, count: number, agent: string): readonly string[] {
  const files = { 'PRD.json': stories(count), 'shared.txt': 'first line\nsecond line\n', 'mine.txt': 'as committed\n' };
  startFrom({ ...files, '.gitignore': '.env\n' }, place.project);
  place.put('.env', 'NAME=value\n');
  place.put('mine.txt', 'not committed\n');
  place.put('new.txt', 'not even added\n');
  const program = join(place.root, 'agent');
  execFileSync('tee', [program], { input: `#!/bin/sh\nread -r _\n${agent}\necho "Task $RALPH_TASK complete"\n` });
  chmodSync(program, 0o755);
  return ['run', 'PRD.json', '--agent', 'command', '--agent-command', program, '--yes'];
}

const mergesOf = async (place: Scratch) =>
  ((await eventsOf(place)) as unknown as readonly Event[]).filter(event => event.type === 'merge.ended');

const titles = (place: Scratch): readonly string[] =>
  git(place, 'log', '--reverse', '--format=%s', 'main..ralph/shop').trim().split('\n');

describe('--parallel', () => {
  it('four tasks at a time, two of which change the same line: one goes back with both sides, and all merge green', () =>
    inScratch(async place => {
      const agent = `echo "$RALPH_TASK" > "$RALPH_TASK.txt"
case $RALPH_TASK in US-1|US-2)
  if grep -q '<<<<<<<' shared.txt; then sed -i '/^[<=>|]\\{7\\}/d' shared.txt
  else sed -i "1s/.*/first line by $RALPH_TASK/" shared.txt; fi;;
esac`;
      const words = repository(place, 4, agent);
      const head = git(place, 'rev-parse', 'HEAD');
      const told = await place.ralph([...words, '--parallel', '4', '--verify', 'test -f mine.txt']);
      expect(flat(told.stderr)).toContain('4 tasks at a time');
      expect(told.code).toBe(0);
      const merges = await mergesOf(place);
      expect(merges.map(event => event.merged).sort()).toEqual([false, true, true, true, true]);
      expect(merges.find(event => !event.merged)?.because).toContain('shared.txt');
      expect(titles(place).at(-1)).toBe('PRD.json: 4 of 4 tasks done');
      expect(titles(place).slice(0, -1).sort()).toEqual([
        'US-1: story 1',
        'US-2: story 2',
        'US-3: story 3',
        'US-4: story 4',
      ]);
      expect(git(place, 'rev-list', '--merges', 'main..ralph/shop')).toBe('');
      expect(git(place, 'log', '-1', '--format=%(trailers:key=Ralph-Task,valueonly)', 'ralph/shop~').trim()).toMatch(
        /^US-/,
      );
      const shared = git(place, 'show', 'ralph/shop:shared.txt');
      expect(shared).toContain('by US-1');
      expect(shared).toContain('by US-2');
      expect(shared).not.toContain('<<<<<<<');
      // The person's own tree: the marks of the document went to the branch.
      expect(git(place, 'rev-parse', 'HEAD')).toBe(head);
      expect(place.read('mine.txt')).toBe('not committed\n');
      expect(git(place, 'status', '--short')).toBe(' M mine.txt\n?? PROMPT.md\n?? new.txt\n');
      expect(git(place, 'worktree', 'list').trim().split('\n')).toHaveLength(2);
      expect(git(place, 'show', 'ralph/shop:PRD.json').match(/"passes":true/g)).toHaveLength(4);
    }));

  it('two results that are each green and red together: the second goes back with the output, and is done anew', () =>
    inScratch(async place => {
      const first = join(place.root, 'first'); // US-1 ends first
      const agent = `if [ "$RALPH_TASK" = US-1 ]; then echo 1 > one.txt; touch '${first}'
else until [ -f '${first}' ]; do sleep 0.1; done; fi
if [ "$RALPH_TASK" = US-1 ]; then :
elif [ -f one.txt ]; then rm -f two.txt; echo 2 > other.txt
else echo 2 > two.txt; fi`;
      const check = 'if test -f one.txt -a -f two.txt; then echo both are there; exit 1; fi';
      const words = repository(place, 2, agent);
      const told = await place.ralph([...words, '--parallel', '2', '--verify', check]);
      expect(told.code).toBe(0);
      const refused = (await mergesOf(place)).find(event => !event.merged);
      expect(refused?.because).toMatch(/together with.*both are there/s);
      expect(git(place, 'ls-tree', '--name-only', 'ralph/shop').split('\n')).toEqual(
        expect.arrayContaining(['one.txt', 'other.txt']),
      );
      expect(git(place, 'ls-tree', '--name-only', 'ralph/shop')).not.toContain('two.txt');
    }));

  it('every fork is made ready, and what the checks wrote before the first iteration is in nobody’s way', () =>
    inScratch(async place => {
      const words = repository(place, 2, 'test -f dep/one && echo "$RALPH_TASK" > "$RALPH_TASK.txt"');
      place.put('.gitignore', '.env\ndep/\n');
      git(place, 'commit', '-qam', 'ignore');
      const check = 'test -f dep/one && echo covered > coverage.txt';
      const setUp = ['--worktree-setup', 'mkdir dep && echo 1 > dep/one'];
      const told = await place.ralph([...words, '--parallel', '2', ...setUp, '--verify', check]);
      expect(told.stderr).toContain(`Running the checks once, before any work: ${check} ...`);
      expect(told.code).toBe(0);
      expect((await mergesOf(place)).map(event => event.merged)).toEqual([true, true]);
      expect(git(place, 'for-each-ref', 'refs/ralph/forks')).toBe('');
      expect(git(place, 'worktree', 'list').trim().split('\n')).toHaveLength(2);
    }));

  it('a fork that cannot be made ready is refused with the end of what was said, and tried again', () =>
    inScratch(async place => {
      const words = repository(place, 1, 'echo "$RALPH_TASK" > "$RALPH_TASK.txt"');
      const tries = join(place.root, 'tries');
      const setUp = `echo x >> ${tries}; [ $(wc -l < ${tries}) -gt 1 ] || { echo no such lock file; exit 3; }`;
      const told = await place.ralph([
        ...words,
        '--parallel',
        '2',
        '--worktree-setup',
        setUp,
        '--backoff-base',
        '10ms',
      ]);
      expect(told.stderr).toContain('no such lock file');
      expect(told.code).toBe(0);
    }));

  it('files behind a filter would be committed without it: refused, in one sentence', () =>
    inScratch(async place => {
      const words = repository(place, 1, 'true');
      place.put('.gitattributes', '*.key filter=git-crypt\n');
      place.put('a.key', 'key\n');
      git(place, 'add', '.gitattributes', 'a.key');
      git(place, 'commit', '-qm', 'keys');
      const told = await place.ralph([...words, '--parallel', '2']);
      expect(told.stderr).toContain('--parallel would commit files that stand behind a filter without it: *.key.');
      expect(told.code).toBe(2);
    }));

  it('in a folder without git it is refused before anything is written, in one sentence', () =>
    inScratch(async place => {
      place.put('PRD.json', stories(1));
      const told = await place.ralph([
        'run',
        'PRD.json',
        '--agent-command',
        'true',
        '--agent',
        'command',
        '--parallel',
        '2',
      ]);
      expect(told).toMatchObject({ code: 2, stdout: '' });
      expect(told.stderr).toContain('--parallel needs a git repository');
    }));
});

describe('--worktree', () => {
  it('works on a branch of its own, with what it needs copied and made ready; the user’s tree stays as it is', () =>
    inScratch(async place => {
      const words = repository(place, 2, 'echo "$RALPH_TASK" > "$RALPH_TASK.txt"');
      const more = ['--worktree', '--worktree-copy', '.env', '--worktree-setup', 'cp .env ready'];
      const told = await place.ralph([...words, ...more, '--verify', 'test -f .env -a -f ready']);
      expect(told.code).toBe(0);
      expect(titles(place)).toEqual(['US-1: story 1', 'US-2: story 2', 'PRD.json: 2 of 2 tasks done']);
      expect(git(place, 'status', '--short')).toBe(' M mine.txt\n?? PROMPT.md\n?? new.txt\n');
      expect(git(place, 'show', '--stat', '--format=', 'ralph/shop~')).not.toContain('ready');
    }));

  it('whose set-up fails is taken back with its branch, exit 2', () =>
    inScratch(async place => {
      const words = repository(place, 1, 'true');
      const told = await place.ralph([...words, '--worktree', '--worktree-setup', 'echo no such lock file; exit 3']);
      expect(told.code).toBe(2);
      expect(told.stderr).toContain('no such lock file');
      expect(git(place, 'branch', '--list', 'ralph/*')).toBe('');
      expect(git(place, 'worktree', 'list').trim().split('\n')).toHaveLength(1);
    }));

  it('whose folder is gone is laid out again from its branch; without its branch it is refused, and nothing is spent', () =>
    inScratch(async place => {
      const words = repository(place, 3, 'echo "$RALPH_TASK" > "$RALPH_TASK.txt"');
      const run = [...words, '--worktree', '--worktree-setup', 'cp PRD.json ready', '--verify', 'test -f ready'];
      const go = (most: number) => place.ralph(['resume', '--max-iterations', String(most)]);
      expect((await place.ralph([...run, '--max-iterations', '1'])).code).toBe(3);
      const [, tree = ''] = git(place, 'worktree', 'list', '--porcelain').match(/worktree (.*worktrees.*)/) ?? [];
      git(place, 'worktree', 'remove', '--force', tree);
      const again = await go(2);
      expect(again.stderr).toContain('note: The worktree of loop shop was gone: made again from its branch');
      expect(titles(place)).toEqual(['US-1: story 1', 'US-2: story 2']);

      git(place, 'worktree', 'remove', '--force', tree);
      git(place, 'branch', '-qD', 'ralph/shop');
      const told = await go(3);
      expect(told.stderr).toContain('ralph: The branch ralph/shop on which loop shop works is gone.');
      expect(told.code).toBe(2);
      expect((await eventsOf(place)).filter(event => event['type'] === 'iteration.started')).toHaveLength(2);
    }));
});
