// Checkpoints and the ledger part company, a rollback is cut, or the disk fills up: through the real binary in a real repository.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tampering, whyNoTracing } from '../ledger/run-program.ts';
import { makeStage, type Stage, until } from '../prove/stage.ts';
import { ofType } from '../prove/verdict.ts';

const noTracing = whyNoTracing();
const whenTraced = noTracing === undefined ? '' : ` [skipped: ${noTracing}]`;

let stage: Stage;
let mounted: string | undefined;
beforeEach(() => {
  stage = makeStage(2);
  git('init', '-q', '-b', 'main');
  writeFileSync(join(stage.project, '.gitignore'), '*.log\ngate\n');
  git('add', '-A');
  git('-c', 'user.name=Ann', '-c', 'user.email=ann@localhost', 'commit', '-qm', 'first');
  writeFileSync(join(stage.project, 'mine.txt'), 'not committed\n');
});
afterEach(() => {
  if (mounted !== undefined) spawnSync('sh', ['-c', 'umount --lazy "$1"', 'sh', mounted]);
  mounted = undefined;
  stage.remove();
});

function git(...args: readonly string[]): string {
  const env = { PATH: process.env['PATH'] ?? '', HOME: stage.folder, GIT_CONFIG_NOSYSTEM: '1' };
  return execFileSync('git', args, { cwd: stage.project, env, encoding: 'utf8', stdio: 'pipe' });
}

const flags = ['--no-commit', '--allow-red-start', '--yes', '--no-input'];
const run = (agent?: string) => stage.run(agent, {}, flags);
/** Where it is not killed: in a process that is warm. */
const finishes = async (agent?: string): Promise<void> => {
  const { code, errors } = await stage.runWarm(agent, flags);
  expect([code, errors]).toEqual([0, expect.not.stringContaining('internal error')]);
};

const refs = (): readonly string[] =>
  git('for-each-ref', '--format=%(objectname) %(refname)', 'refs/ralph').trim().split('\n');

/** One row, one ref, and the ref names what the row says. */
async function expectOneRefPerRow(): Promise<void> {
  const [record] = await stage.ledger();
  const made = ofType(record!.events, 'checkpoint.made');
  expect(record!.verified.ok).toBe(true);
  expect(new Set(made.map(({ ref }) => ref)).size).toBe(made.length);
  expect([...refs()].sort()).toEqual(made.map(({ commit, ref }) => `${commit} ${ref}`).sort());
}

const agentIsUp = (): Promise<void> => until('the agent is up', () => stage.starts().length > 0);

/** Killed while its first agent works, after the first checkpoint. */
async function killedAtWork(): Promise<void> {
  stage.gate();
  const running = run('prd-waits');
  await agentIsUp();
  running.child.kill('SIGKILL');
  await running.ended;
  rmSync(join(stage.project, 'gate'));
}

describe('F05: a checkpoint that the ledger knows has lost its ref', () => {
  it('gets it back at the next start, because its commit is still there', async () => {
    await killedAtWork();
    const [before] = refs();
    git('update-ref', '-d', before!.split(' ')[1]!);
    await finishes('prd-waits');
    expect(refs()).toContain(before);
    await expectOneRefPerRow();
  });

  it('is said to be missing when its commit is gone too, and the run goes on', async () => {
    await killedAtWork();
    const [before] = refs();
    const [commit, ref] = before!.split(' ') as [string, string];
    git('update-ref', '-d', ref);
    rmSync(join(stage.project, '.git', 'objects', commit.slice(0, 2), commit.slice(2)));
    await finishes('prd-waits');
    const listed = await stage.warm(['checkpoint', 'list']);
    expect(listed.output).toMatch(/missing|gone/i);
  });
});

describe('F06: killed between the ref and the ledger', () => {
  /** A git that kills Ralph as soon as the ref of the second checkpoint is there: it listens to the one that moves refs. */
  function deadlyGit(): string {
    const folder = join(stage.folder, 'bin');
    mkdirSync(folder);
    const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    const script = `#!/bin/sh
case "$*" in *--stdin*update-ref* | *update-ref*--stdin*) ;; *) exec ${real} "$@" ;; esac
while IFS= read -r line; do
  echo "$line"
  case "$line" in "update refs/ralph/"*"/2 "*) ref=\${line#update }; ref=\${ref%% *} ;; esac
  if [ "$line" = commit ] && [ -n "$ref" ]; then
    until [ -e "$GIT_DIR/$ref" ]; do :; done
    kill -9 "$(cat "${stage.folder}/pid")"
  fi
done | ${real} "$@"
`;
    writeFileSync(join(folder, 'git'), script, { mode: 0o755 });
    return `${folder}:${process.env['PATH'] ?? ''}`;
  }

  it('the next checkpoint takes the ref over: never two rows for one ref', async () => {
    stage.gate();
    const running = stage.run('prd-waits', { env: { PATH: deadlyGit() } }, flags);
    writeFileSync(join(stage.folder, 'pid'), String(running.child.pid));
    await agentIsUp();
    stage.openGate();
    expect((await running.ended).signal).toBe('SIGKILL');
    const [record] = await stage.ledger();
    expect([ofType(record!.events, 'checkpoint.made').length, refs().length]).toEqual([1, 2]);
    await finishes('prd-waits');
    await expectOneRefPerRow();
  });
});

const restoreFirst = ['checkpoint', 'restore', '1', '--yes'];

describe('F07: ralph checkpoint restore is killed', () => {
  const work = (): readonly boolean[] =>
    ['US-001', 'US-002'].map(id => existsSync(join(stage.project, 'work', `${id}.txt`)));
  const mine = (): string => readFileSync(join(stage.project, 'mine.txt'), 'utf8');

  it.skipIf(noTracing !== undefined).each(['unlink', 'rename'])(
    `at the first %s of any of its processes: all or nothing after running again, and undone by the checkpoint before it${whenTraced}`,
    async call => {
      await finishes();
      const before = refs().length;
      await stage.ralph(restoreFirst, { before: tampering(`${call}:signal=SIGKILL:when=1`) }).ended;
      const { code, output, errors } = await stage.warm(restoreFirst);
      expect([code, `${output}${errors}`]).toEqual([0, expect.not.stringContaining('internal error')]);
      expect([work(), mine()]).toEqual([[false, false], 'not committed\n']);
      await expectOneRefPerRow();
      const held = refs().map(row => git('ls-tree', '-r', '--name-only', row.split(' ')[0]!));
      expect(held.slice(before).some(files => files.includes('work/US-002.txt'))).toBe(true);
    },
  );
});

describe('F39: the disk is full when git writes objects', () => {
  /** The objects of the repository on a disk of their own, or why there is none. */
  function smallDisk(): string | undefined {
    const objects = join(stage.project, '.git/objects');
    renameSync(objects, `${objects}.old`);
    mkdirSync(objects);
    const done = spawnSync('sh', ['-c', 'mount -t tmpfs -o size=1m ralph-test "$1"', 'sh', objects], {
      encoding: 'utf8',
    });
    if (done.status === 0) mounted = objects;
    cpSync(`${objects}.old`, objects, { recursive: true });
    return done.status === 0 ? undefined : `mount: ${done.stderr}`;
  }

  it('the checkpoint fails, the run stops with the question, there is no half ref, and with room it goes on', async ({
    skip,
  }) => {
    const why = smallDisk();
    if (why !== undefined) skip(why);
    stage.gate();
    const running = run('prd-waits');
    await agentIsUp();
    spawnSync('sh', ['-c', 'cat /dev/zero >filler'], { cwd: mounted });
    stage.openGate();
    const { code, errors } = await running.ended;
    expect([code, errors]).toEqual([5, expect.stringMatching(/disk is full/i)]);
    expect(errors).not.toContain('internal error');
    expect(refs()).toHaveLength(1);
    const [record] = await stage.ledger();
    expect(ofType(record!.events, 'escalation.raised').map(event => event.escalation)).toMatchObject([
      { kind: 'storage' },
    ]);
    rmSync(join(mounted!, 'filler'));
    await finishes('prd-waits');
    await expectOneRefPerRow();
  });
});
