// The disk fills up, fails, goes read-only, or the ledger vanishes and rots: a run stops with one clear sentence.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { strangersCanRead } from '../documents/ordinary-user.ts';
import { tampering, whyNoTracing } from '../ledger/run-program.ts';
import { makeStage, type Stage, until } from '../prove/stage.ts';
import { checkFinished, checkNobodyLeft, ofType } from '../prove/verdict.ts';

const noTracing = whyNoTracing();
const whenTraced = noTracing === undefined ? '' : ` [skipped: ${noTracing}]`;
const isRoot = process.getuid?.() === 0;

let stage: Stage;
let isMounted = false;
beforeEach(() => {
  stage = makeStage(2);
});
afterEach(() => {
  if (isMounted) spawnSync('sh', ['-c', 'umount --lazy "$1"', 'sh', stage.home]);
  isMounted = false;
  stage.remove();
});

const agentIsUp = (): Promise<void> => until('the agent is up', () => stage.starts().length > 0);

/** The same command without the fault reaches the end, and nothing that was recorded is lost. */
async function expectResumed(agent = 'prd-works'): Promise<void> {
  const { code, errors } = await stage.runWarm(agent);
  expect([code, errors]).toEqual([0, expect.not.stringContaining('internal error')]);
  await checkFinished(stage, 2, readFileSync(stage.document, 'utf8'));
}

describe('the ledger is deleted under a live run (F21)', () => {
  it.each([
    ['the database', () => [join(stage.home, 'ralph.db')]],
    ['the database and its log', () => ['', '-wal', '-shm'].map(end => join(stage.home, `ralph.db${end}`))],
    ['the whole of RALPH_HOME', () => [stage.home]],
  ])(
    '%s: stops within the iteration, says what is gone, and makes no empty ledger in its place',
    async (_name, paths) => {
      stage.gate();
      const running = stage.run('prd-waits');
      await agentIsUp();
      for (const path of paths()) rmSync(path, { recursive: true, force: true });
      const { code, errors } = await running.ended;
      expect(code).toBe(2);
      expect(errors).toContain('deleted or replaced while it was in use');
      expect(errors).not.toContain('internal error');
      expect(existsSync(join(stage.home, 'ralph.db'))).toBe(false);
      expect(stage.starts()).toEqual(['1 US-001']);
      await checkNobodyLeft(stage, []);
    },
  );

  it('the whole of RALPH_HOME while the agent ends: the same sentence, not an internal error', async () => {
    stage.gate();
    const running = stage.run('prd-waits');
    await agentIsUp();
    rmSync(stage.home, { recursive: true });
    stage.openGate();
    const { code, errors } = await running.ended;
    expect([code, errors]).toEqual([2, expect.stringContaining('deleted or replaced while it was in use')]);
    expect(errors).not.toContain('internal error');
    expect(existsSync(join(stage.home, 'ralph.db'))).toBe(false);
  });
});

/** A disk of its own for RALPH_HOME; says why not, where none can be had. */
function smallDisk(megabytes: number): string | undefined {
  mkdirSync(stage.home);
  const mounted = spawnSync('sh', [
    '-c',
    'mount -t tmpfs -o "size=$1m" ralph-test "$2"',
    'sh',
    String(megabytes),
    stage.home,
  ]);
  if (mounted.status !== 0) return `mount: ${mounted.stderr}`.trim();
  isMounted = true;
  return undefined;
}

function fillDisk(): void {
  spawnSync('sh', ['-c', 'cat /dev/zero >"$1"', 'sh', join(stage.home, 'filler')]);
}

async function expectDiskFull(running: ReturnType<Stage['run']>): Promise<void> {
  const { code, errors } = await running.ended;
  expect([code, errors]).toEqual([5, expect.stringMatching(/full|space/i)]);
  expect(errors).not.toContain('internal error');
  await checkNobodyLeft(stage, []);
  const [record] = await stage.ledger();
  expect(record!.verified.ok).toBe(true);
  expect(ofType(record!.events, 'escalation.raised').map(event => event.escalation)).toMatchObject([
    { kind: 'storage', summary: 'The disk is full' },
  ]);
  const inbox = await stage.warm(['inbox']);
  expect(inbox.output).toContain('The disk is full');
}

describe('the disk is full (F38)', () => {
  it.for(['prd-waits', 'prd-chatters'])(
    'stops, records the question in the reserve, exits 5, and goes on when there is room: agent %s',
    async (agent, { skip }) => {
      const why = isRoot ? smallDisk(8) : 'only root may mount';
      if (why !== undefined) skip(why);
      stage.gate();
      const running = stage.run(agent);
      await agentIsUp();
      fillDisk();
      stage.openGate();
      await expectDiskFull(running);
      expect(stage.starts()).toHaveLength(1);
      rmSync(join(stage.home, 'filler'));
      await expectResumed(agent);
    },
  );

  it.skipIf(noTracing !== undefined)(`is the same when only the ledger meets it${whenTraced}`, async () => {
    const full = tampering('pwrite64:error=ENOSPC:when=60', [join(stage.home, 'ralph.db-wal')]);
    await expectDiskFull(stage.run('prd-works', { before: full }));
    await expectResumed();
  });
});

describe('the disk fails (F40)', () => {
  it.skipIf(noTracing !== undefined)(
    `a sync that fails ends the run, exit 1, and the next start verifies and goes on${whenTraced}`,
    async () => {
      const failing = tampering('fsync,fdatasync:error=EIO:when=9', [join(stage.home, 'ralph.db-wal')]);
      const { code, errors } = await stage.run('prd-works', { before: failing }).ended;
      expect([code, errors]).toEqual([1, expect.stringContaining('The disk reported an error')]);
      await checkNobodyLeft(stage, await stage.ledger());
      await expectResumed();
    },
  );
});

describe('a home that cannot be written (F41)', () => {
  const asNobody = isRoot ? ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'] : [];

  // Root writes everywhere, so it becomes another user, who must be able to read this clone.
  it.runIf(!isRoot || strangersCanRead(import.meta.filename)).each(['a new one', 'one with a ledger'])(
    'is refused at the start with its path and the fix, exit 2: %s (needs a clone that others can read when root)',
    async kind => {
      if (kind === 'one with a ledger') expect((await stage.runWarm()).code).toBe(0);
      else mkdirSync(stage.home);
      const before = await stage.ledger();
      chmodSync(stage.folder, 0o755);
      chmodSync(stage.home, 0o555);
      const { code, errors } = await stage.run('prd-works', { before: asNobody }, ['--new']).ended;
      expect([code, errors]).toEqual([2, expect.stringContaining(stage.home)]);
      expect(errors).toContain('set RALPH_HOME');
      chmodSync(stage.home, 0o700);
      expect(await stage.ledger()).toEqual(before);
    },
  );
});

describe('no file descriptors left (F42)', () => {
  const under = (limit: number): readonly string[] => [
    ...['sh', '-c', 'ulimit -n "$1"; shift; exec "$@"', 'sh', String(limit)],
  ];

  it.each([24, 40, 127])('ulimit -n %i is answered by a sentence before anything is begun', async limit => {
    const { code, errors } = await stage.run('prd-works', { before: under(limit) }).ended;
    expect([code, errors]).toEqual([
      2,
      `ralph: This shell lets a program open only ${limit} files at once, and a loop needs 128.\n` +
        '  Type ulimit -n 1024, then the same command again.\n',
    ]);
    expect([stage.starts(), await stage.ledger()]).toEqual([[], []]);
    await expectResumed();
  });

  it.each([22, 28])('%i of them: nothing recorded is lost, and with more the work is finished', async limit => {
    const running = stage.run('prd-works', { before: under(limit) }, ['--backoff-base', '1s']);
    let isOver = false;
    void running.ended.then(() => {
      isOver = true;
    });
    const failures = async (): Promise<number> =>
      ofType((await stage.ledger())[0]?.events ?? [], 'iteration.ended').filter(({ failure }) => failure !== undefined)
        .length;
    await until('it gave up or backs off', async () => isOver || (await failures().catch(() => 0)) > 0);
    running.child.kill('SIGTERM');
    expect((await running.ended).code).not.toBe(0);
    const acknowledged = (await stage.ledger())[0]?.events ?? [];
    expect(ofType(acknowledged, 'iteration.ended').every(({ failure }) => failure?.detail.includes('EMFILE'))).toBe(
      true,
    );
    await expectResumed();
    expect((await stage.ledger())[0]!.events.slice(0, acknowledged.length)).toEqual(acknowledged);
  });
});
