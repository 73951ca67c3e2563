// `ralph demo`: the first thing a newcomer runs must work, tell the truth about itself and leave nothing behind.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { binary, eventually, inScratch, pinnedNode, type Scratch, type Told } from '../kit.ts';

const repository = dirname(dirname(binary));
const systemPath = process.env['PATH'] ?? '';

/** Every program of this machine but git. */
function pathWithoutGit(place: Scratch): string {
  const folder = join(place.root, 'programs');
  mkdirSync(folder);
  for (const from of systemPath.split(delimiter).filter(existsSync)) {
    for (const name of readdirSync(from)) {
      if (!name.startsWith('git') && !existsSync(join(folder, name))) symlinkSync(join(from, name), join(folder, name));
    }
  }
  return folder;
}

/** `text` runs in git's place; `$real` is the real one. */
function pathWithGit(place: Scratch, text: string): string {
  const folder = join(place.root, 'programs');
  mkdirSync(folder);
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  writeFileSync(join(folder, 'git'), `#!/bin/sh\nreal='${real}'\n${text}\n`);
  chmodSync(join(folder, 'git'), 0o755);
  return `${folder}${delimiter}${systemPath}`;
}

function leavesNothing(place: Scratch): void {
  expect(readdirSync(place.temporary)).toEqual([]);
  expect(readdirSync(place.project)).toEqual([]);
  expect(readdirSync(place.env['HOME'] ?? '')).toEqual([]);
  expect(existsSync(place.home)).toBe(false);
}

function showsTheTour(told: Told): void {
  expect(told.code).toBe(0);
  expect(told.stderr).toMatch(/^Ralph demo\. The agent is SCRIPTED: [\s\S]*no model is called, no key is\sneeded/);
  expect(told.stderr).not.toContain('red at the start'); // the first words to a newcomer are no failure
  const looks = told.stderr.match(/note: .*protected.*/g);
  expect(looks).toEqual([expect.stringContaining('were put back: run-tests.sh')]);
  expect(told.stderr).toContain('✗ the claim was refused: the check "sh run-tests.sh" failed');
  expect(told.stderr).toContain('? E1 needs you (deviation, US-003)');
  expect(told.stderr).toContain('E1 answered by');
  expect(told.stderr).not.toMatch(/\bE2 needs/);
  expect(told.stderr).toMatch(/the ledger's \d+ events verify/);
  expect(told.stderr).toContain('What next');
  const next = told.stderr.slice(told.stderr.indexOf('What next')).split('\n');
  expect(next.map(line => line.replace(repository, '')).filter(line => line.length > 79)).toEqual([]);
}

/** What a machine without a usable git sees: the same tour without the way back, and why. */
function showsItWithoutUndo(told: Told, why: string): void {
  showsTheTour(told);
  expect(told.stderr).toContain(`note: no commits and no undo in this demo: ${why}.\n`);
  expect(told.stderr).toContain('not a git repository: NO undo');
  expect(told.stderr).not.toMatch(/crash|rollback|committed|ralph undo/);
  expect(told.stdout).toBe('Done: 4 of 4 tasks done, 6 iterations, $0.2050; 1 proven, 3 with checks still green.\n');
}

describe('ralph demo', () => {
  const tour = (place: Scratch, flags: readonly string[], PATH: string) =>
    place.ralph(['demo', ...flags], { env: { PATH } }).then(told => {
      showsTheTour(told);
      expect(told.stderr.match(/US-00\d: \d files committed \([0-9a-f]{12}\)/g)).toHaveLength(4);
      expect(told.stderr).toMatch(
        /iteration 5 failed: .*\n.*Iteration 6: US-003 .*\n.*iteration 6 failed: .*\n.*checkpoint \d restored, 1 file put back.*2 errors in a row.*\n {2}demo: a rollback: /,
      );
      expect(told.stderr).toMatch(/cost {2}█+░+ {2}\$0\.27 of \$0\.50/);
      expect(told.stderr).toMatch(/\n {2}ralph diff .*\n {2}ralph undo /);
      expect(told.stdout).toBe('Done: 4 of 4 tasks done, 8 iterations, $0.27; 3 proven, 1 with checks still green.\n');
      leavesNothing(place);
      return told.stderr.slice(told.stderr.indexOf('What next')).split('\n').slice(1);
    });

  it.concurrent('shows the whole tour and removes it; what it names next can be typed, first of all how ralph comes onto PATH', () =>
    inScratch(async place => {
      const told = await tour(place, ['--fast'], systemPath);
      const [line = ''] = told;
      const typed = ['-c', `${line}\nralph --version`];
      expect(execFileSync('sh', typed, { env: { PATH: systemPath }, encoding: 'utf8' })).toMatch(/^\d+\.\d+\.\d+\n$/);
      for (const named of told.flatMap(one => /^ {2}(\/\S+\.md) +#/.exec(one)?.[1] ?? []))
        expect(existsSync(named)).toBe(true);
    }));

  it.concurrent('shows it as slowly as people read; where ralph is on PATH, nothing is said of that', () =>
    inScratch(async place => {
      const folder = join(place.root, 'with-ralph');
      mkdirSync(folder);
      symlinkSync(join(repository, 'bin', 'ralph'), join(folder, 'ralph'));
      const [first] = await tour(place, [], `${folder}${delimiter}${systemPath}`);
      expect(first).toMatch(/^ {2}ralph doctor/);
    }));

  it.concurrent('its commits are in a repository of its own, under a name of its own, until Ctrl-C removes it all', () =>
    inScratch(async place => {
      const settled = join(place.root, 'settled');
      mkdirSync(settled);
      writeFileSync(join(settled, '.gitconfig'), '[author]\n\tname = Somebody\n\temail = somebody@localhost\n');
      const live = place.start(['demo'], { env: { HOME: settled } });
      await live.says('Iteration 2: US-002');
      live.child.kill('SIGSTOP'); // so that the agent does not get further while we look
      const project = join(place.temporary, readdirSync(place.temporary)[0] ?? '', 'greeter');
      const env = { PATH: systemPath, HOME: place.root };
      const log = execFileSync('git', ['log', '--format=%an: %s'], { cwd: project, env, encoding: 'utf8' });
      live.child.kill('SIGCONT');
      live.child.kill('SIGINT');
      expect(log).toBe('Ralph: US-001: Greet the world\nRalph: Before the loop\n');
      expect((await live.ended).code).toBe(130);
      leavesNothing(place);
    }));

  it.concurrent('Ctrl-C before the loop has begun leaves nothing behind either', () =>
    inScratch(async place => {
      const PATH = pathWithGit(place, `: > ${join(place.root, 'called')}; exec sleep 3`);
      const live = place.start(['demo'], { env: { PATH } });
      await eventually('git is called', () => existsSync(join(place.root, 'called')));
      live.child.kill('SIGINT');
      expect((await live.ended).code).toBe(130);
      expect(live.said()).not.toContain('Iteration');
      leavesNothing(place);
    }));

  it.concurrent('with few open files allowed it is refused in a sentence, and makes nothing', () =>
    inScratch(async place => {
      const words = ['-c', 'ulimit -n 24; exec "$@"', 'sh', pinnedNode, binary, 'demo', '--fast'];
      const told = spawnSync('sh', words, { cwd: place.project, env: place.env, encoding: 'utf8' });
      expect([told.status, told.stdout, told.stderr]).toEqual([2, '', expect.stringContaining('Type ulimit -n 1024')]);
      leavesNothing(place);
    }));

  it.concurrent('without git it runs all the same and says in one line what is not shown', () =>
    inScratch(async place => {
      const told = await place.ralph(['demo', '--fast'], { env: { PATH: pathWithoutGit(place) } });
      showsItWithoutUndo(told, 'git is not installed');
      leavesNothing(place);
    }));

  it.concurrent('with a git that is too old to be kept from running hooks it does without git', () =>
    inScratch(async place => {
      const PATH = pathWithGit(place, 'unset GIT_CONFIG_COUNT; exec "$real" "$@"');
      showsItWithoutUndo(await place.start(['demo', '--fast'], { env: { PATH } }).ended, 'git is older than 2.31');
    }));

  it.concurrent('with a git that cannot commit it does without git, and no half-made repository is used', () =>
    inScratch(async place => {
      const PATH = pathWithGit(
        place,
        'case $1 in commit) echo "fatal: no room" >&2; exit 128; esac; exec "$real" "$@"',
      );
      showsItWithoutUndo(await place.start(['demo', '--fast'], { env: { PATH } }).ended, 'no room');
    }));

  it.concurrent('--ascii draws it with plain characters; a repository around the scratch folder is not touched', () =>
    inScratch(async place => {
      const env = { PATH: systemPath, HOME: place.root };
      const git = (...words: string[]): string =>
        execFileSync('git', words, { cwd: place.temporary, env, encoding: 'utf8' });
      git('init', '-q');
      const refs = (): string => git('for-each-ref') + git('status', '--porcelain', '--untracked-files=all');
      const before = refs();
      const told = await place.start(['demo', '--fast', '--ascii']).ended;
      expect(told.stdout).toMatch(/^Done: 4 of 4 tasks done, 8 iterations/);
      expect(told.stdout + told.stderr).toMatch(/^[\n -~]*$/);
      expect(told.stderr).toMatch(/checkpoint \d restored/);
      expect(refs()).toBe(before);
      const PATH = pathWithGit(place, 'unset GIT_CONFIG_COUNT; exec "$real" "$@"');
      const refused = await place.start(['demo', '--fast'], { env: { PATH } }).ended;
      expect(refused.code).toBe(2);
      expect(refused.stderr).toMatch(/\nralph: This git is older than 2\.31 .*\n {2}Update git/);
      expect(refs()).toBe(before);
      expect(readdirSync(place.temporary)).toEqual(['.git']);
    }));
});
