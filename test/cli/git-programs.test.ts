// How often git is started for one iteration that works, claims, is checked, marked, checkpointed and committed: counted.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, it } from 'vitest';
import { Ground } from '../bench/loops/ground.ts';
import { countIterations } from '../bench/loops/programs.ts';
import { whyNoTracing } from '../ledger/run-program.ts';
import { inScratch } from './kit.ts';
import { git, makeRepository, ok, runWith, worker } from './repository.ts';

/** A git before the real one on PATH, that writes down how it was called. */
function countedGit(folder: string, path: string): { readonly PATH: string; calls(): readonly string[] } {
  mkdirSync(folder);
  const log = join(folder, 'log');
  const program = join(folder, 'git');
  writeFileSync(
    program,
    `#!/bin/sh\nprintf '%s\\n' "$(printf '%s' "$*" | tr '\\n' ' ')" >>'${log}'\nPATH='${path}' exec git "$@"\n`,
  );
  chmodSync(program, 0o755);
  return { PATH: `${folder}${delimiter}${path}`, calls: () => readFileSync(log, 'utf8').trim().split('\n') };
}

/** `update-index --add` of `-c a=b update-index -z --add ...`. */
const nameOf = (call: string): string => call.replace(/^(-c \S+ )*/, '').split(' ', 1)[0]!;

it('one default iteration starts these gits and no other', () =>
  inScratch(async place => {
    makeRepository(place, ['US-001', 'US-002', 'US-003', 'US-004']);
    const counted = countedGit(join(place.project, '..', 'counted'), place.env['PATH'] ?? '');
    await ok(place.ralph(runWith(worker), { env: { PATH: counted.PATH } }));
    expect(git(place, 'log', '--format=%s').trim().split('\n')).toHaveLength(5);
    const calls = counted.calls().map(nameOf);
    const ends = calls.flatMap((name, at) => (name === 'add' ? [at] : [])); // the last of a commit
    expect(calls.slice(ends[1]! + 1, ends[2]! + 1)).toEqual([
      ...['ls-files', 'update-index', 'write-tree'], // a checkpoint
      ...['ls-files'], // whether the check changed something
      ...['update-index', 'add'], // the user's index follows it
    ]);
    // For the whole loop; a hash-object for files and one for commits.
    const standing = ['cat-file', 'hash-object', 'hash-object', 'mktree', 'update-ref'];
    expect(calls.filter(name => standing.includes(name)).sort()).toEqual(standing);
  }));

it('where files were only edited, their checkpoint starts one git: the private index need not follow', () =>
  inScratch(async place => {
    makeRepository(place, ['US-001', 'US-002', 'US-003', 'US-004']);
    const counted = countedGit(join(place.project, '..', 'counted'), place.env['PATH'] ?? '');
    const editor = 'read -r _; echo "$RALPH_TASK" >> a.txt; echo "Task $RALPH_TASK complete"';
    await ok(place.ralph(runWith(editor), { env: { PATH: counted.PATH } }));
    const calls = counted.calls().map(nameOf);
    const ends = calls.flatMap((name, at) => (name === 'add' ? [at] : []));
    expect(calls.slice(ends[1]! + 1, ends[2]! + 1)).toEqual(['ls-files', 'ls-files', 'update-index', 'add']);
  }));

it('a start in a repository asks these gits before its first agent, and none of them twice', () =>
  inScratch(async place => {
    makeRepository(place, ['US-001']);
    const counted = countedGit(join(place.project, '..', 'counted'), place.env['PATH'] ?? '');
    const agent = `echo agent >>'${join(place.project, '..', 'counted', 'log')}'; ${worker}`;
    await ok(place.ralph(runWith(agent), { env: { PATH: counted.PATH } }));
    const all = counted.calls();
    const before = all.slice(0, all.indexOf('agent'));
    expect(before.map(nameOf).sort()).toEqual([
      ...['cat-file', 'config', 'config', 'hash-object'], // of the user and of the private git; for commits
      ...['ls-files', 'ls-files'], // the user's index, what is untracked
      ...['ls-files', 'ls-files'], // what is changed, what is tracked although ignored
      ...['rev-parse', 'status'],
      ...['update-index', 'update-index', 'update-index'], // the private index: its entries, its times, what is changed
      ...['update-ref', 'write-tree'],
    ]);
    expect(new Set(before).size).toBe(before.length);
  }));

const noTracing = whyNoTracing();

it.skipIf(noTracing !== undefined)(
  `one default iteration starts at most 8 gits and 4 other programs, and syncs at most 8 times${noTracing === undefined ? '' : ` [skipped: ${noTracing}]`}`,
  async () => {
    const ground = new Ground();
    try {
      const build = { name: 'this', root: join(import.meta.dirname, '..', '..') };
      for (const { git: gits, other, fsyncs } of await countIterations(build, ground)) {
        expect(gits.length, gits.join('\n')).toBeLessThanOrEqual(8);
        expect(other.length, other.join('\n')).toBeLessThanOrEqual(4);
        expect(fsyncs).toBeLessThanOrEqual(8);
      }
    } finally {
      ground.remove();
    }
  },
);
