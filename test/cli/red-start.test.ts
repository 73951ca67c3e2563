// Before the first iteration: the checks run once, can be stopped, and leave nothing behind when no loop begins.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually, inScratch, prd, type Scratch } from './kit.ts';
import { git, makeRepository, ok, runWith, worker } from './repository.ts';

const folders = (place: Scratch, name: string): readonly string[] =>
  existsSync(join(place.home, name)) ? readdirSync(join(place.home, name)) : [];

const run = (check: string, ...more: readonly string[]): readonly string[] => [
  'run',
  'PRD.json',
  '--agent-command',
  worker,
  '--verify',
  check,
  ...more,
];

describe('given checks that run before any work', () => {
  it.each([
    ['SIGINT', 130, '--worktree'],
    ['SIGTERM', 143, '--worktree'],
    ['SIGINT', 130, '--parallel=2'],
  ] as const)('when %s comes, then they end, exit %i, and nothing is left of the loop (%s)', (signal, code, where) =>
    inScratch(async place => {
      makeRepository(place, ['US-001']);
      const up = join(place.root, 'up');
      const live = place.start(run(`echo half > half.txt; echo up > ${up}; sleep 3600`, where));
      await live.says('Running the checks once, before any work: echo half');
      await eventually('the check is at work', () => existsSync(up));
      live.child.kill(signal);
      const told = await live.ended;
      expect(told.stderr).toContain('ralph: Stopped before any work: no loop was begun.\n');
      expect(told.code).toBe(code);
      expect(git(place, 'branch', '--list', 'ralph/*')).toBe('');
      expect(git(place, 'worktree', 'list').trim().split('\n')).toHaveLength(1);
      expect([folders(place, 'loops'), folders(place, 'worktrees')]).toEqual([[], []]);
    }),
  );

  it('when one fails, then the run is refused and the folder of the loop is gone; --quiet announces nothing', () =>
    inScratch(async place => {
      makeRepository(place, ['US-001']);
      place.put('verify.sh', 'exit 1\n');
      const told = await place.ralph(run('sh verify.sh', '--quiet'));
      expect(told.stderr).not.toContain('Running the checks');
      expect(told.code).toBe(2);
      expect(folders(place, 'loops')).toEqual([]);
    }));
});

describe('given a loop at work in a folder', () => {
  it('when another is to begin there, then it is refused with 9; in a worktree of its own it may', () =>
    inScratch(async place => {
      makeRepository(place, ['US-001']);
      place.put('other.json', prd(['US-009'], { project: 'other' }));
      const live = place.start(runWith(`${worker}; echo at work > up; until [ -f go ]; do sleep 0.05; done`));
      await eventually('it is at work', () => existsSync(join(place.project, 'up')));
      const other = ['run', 'other.json', '--agent-command', worker, '--quiet'];
      const told = await place.ralph(other);
      expect(told.stderr).toContain(`ralph: Loop shop is at work in this folder (process ${live.child.pid})`);
      expect(told.code).toBe(9);
      await ok(place.ralph([...other, '--worktree']));
      place.put('go', '');
      expect((await live.ended).code).toBe(0);
      await ok(place.ralph(['run', 'other.json', '--agent-command', worker, '--quiet', '--new']));
    }));
});
