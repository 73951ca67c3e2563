// A real run is killed at seeded moments and at chosen system calls; `npm run prove` does the same by the hundred.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { holdsBack } from '../../src/processes/spawn.ts';
import { whyNoTracing } from '../ledger/run-program.ts';
import { crash, type Undisturbed, undisturbed } from '../prove/crashes.ts';
import { makeStage, type Stage } from '../prove/stage.ts';
import { crashAt, tracing } from '../prove/syscalls.ts';
import { checkFinished, checkNobodyLeft, ofType } from '../prove/verdict.ts';

const noTracing = whyNoTracing();
const whenTraced = noTracing === undefined ? '' : ` [skipped: ${noTracing}]`;

let like: Undisturbed;
beforeAll(async () => {
  like = await undisturbed(2);
});

describe('a run that is killed at a random moment and run again', () => {
  it.each([1, 2])('ends as if nothing had happened: seed %i', async seed => {
    const { kills, iterations } = await crash(seed, like);
    expect(kills).toBeGreaterThan(0);
    expect(iterations).toBeGreaterThanOrEqual(like.stories);
  });
});

interface Commits {
  readonly documentText: string;
  /** For each commit to the log: how many writes lie before its sync, the last of them being the one that commits. */
  readonly writes: readonly number[];
}

async function commitsOfOneStory(): Promise<Commits> {
  const stage = makeStage(1);
  onTestFinished(() => stage.remove());
  const log = join(stage.folder, 'trace');
  const only = ['-P', join(stage.home, 'ralph.db-wal')];
  const before = ['strace', '-qq', ...only, '-e', 'trace=pwrite64,fsync,fdatasync', '-e', 'signal=none', '-o', log];
  expect((await stage.run('prd-works', { before }).ended).code).toBe(0);
  let count = 0;
  const writes: number[] = [];
  for (const line of readFileSync(log, 'latin1').split('\n')) {
    if (line.startsWith('pwrite64(')) count += 1;
    else if (/^f(data)?sync\(/.test(line)) writes.push(count);
  }
  return { documentText: readFileSync(stage.document, 'utf8'), writes };
}

type Moment = 'made, not stored' | 'intent stored' | 'spawned, not stored' | 'ended, not stored' | 'another';

async function momentOf(stage: Stage, isBeforeCommit: boolean): Promise<Moment> {
  const [record] = await stage.ledger();
  const last = record?.events.at(-1)?.type;
  if (last === 'iteration.started') return isBeforeCommit ? 'spawned, not stored' : 'intent stored';
  const isThere = (name: string): boolean =>
    existsSync(join(stage.home, 'loops', record?.loop ?? '', 'iterations', '1', name));
  if (isBeforeCommit && last?.startsWith('iteration.') === false && isThere('prompt.md')) return 'made, not stored';
  const isEnded = isThere('ended.json');
  return last === 'iteration.spawned' && isEnded ? 'ended, not stored' : 'another';
}

/** Kills at one commit, looks, runs again, and says at which moment of the iteration it was. */
async function killAtCommit(sync: number, isBeforeCommit: boolean, { documentText, writes }: Commits): Promise<Moment> {
  const stage = makeStage(1);
  onTestFinished(() => stage.remove());
  const file = 'ralph.db-wal';
  const point = isBeforeCommit
    ? { call: 'pwrite64', threads: false, count: writes[sync]!, file }
    : { call: 'fsync', threads: false, count: sync + 1, file };
  const { signal } = await stage.run('prd-works', { before: tracing(stage, point) }).ended;
  expect(signal).toBe('SIGKILL');
  const moment = await momentOf(stage, isBeforeCommit);
  await checkNobodyLeft(stage, await stage.ledger());
  const startedBefore = stage.starts().length;
  expect((await stage.runWarm()).code).toBe(0);
  const { events } = await checkFinished(stage, 1, documentText);
  const begun = ofType(events, 'iteration.started');
  const outcomes = ofType(events, 'iteration.ended').map(event => event.outcome);
  if (moment === 'another') return moment;
  expect(outcomes, moment).toEqual(['succeeded']);
  if (moment === 'ended, not stored') {
    expect([begun.length, stage.starts()]).toEqual([1, ['1 US-001']]);
  } else if (moment === 'made, not stored') {
    expect([startedBefore, begun.length, stage.starts()]).toEqual([0, 1, ['1 US-001']]);
  } else {
    expect(begun.map(({ iteration, attempt, again }) => [iteration, attempt, again])).toEqual([
      [1, 1, undefined],
      [1, 1, true],
    ]);
    expect(stage.starts().length - startedBefore).toBe(1);
  }
  return moment;
}

describe('a run that is killed at a chosen system call', () => {
  it.skipIf(noTracing !== undefined).each([
    { call: 'link', threads: false, count: 1 },
    { call: 'rename', threads: false, count: 2 },
    { call: 'rename', threads: true, count: 1 },
  ])(`ends as if nothing had happened: $call $count, in any thread: $threads${whenTraced}`, async point => {
    expect(await crashAt(point, like)).toBe(true);
  });

  it.skipIf(noTracing !== undefined)(
    `F01 F02 F04: goes on with the same iteration, not counted twice, and reads an end that was not recorded yet${whenTraced}`,
    async () => {
      const commits = await commitsOfOneStory();
      // The log's first syncs are its header, the leases and the start; the iteration's life comes after them.
      let sync = 5;
      const comesTo = async (wanted: Moment, isBeforeCommit: boolean): Promise<boolean> => {
        for (; sync < commits.writes.length; sync += 1)
          if ((await killAtCommit(sync, isBeforeCommit, commits)) === wanted) return true;
        return false;
      };
      // Where a process waits for its record, its start and it are one commit, and before that it did nothing.
      const beforeWork: readonly (readonly [Moment, boolean])[] = holdsBack({})
        ? [['made, not stored', true]]
        : [
            ['intent stored', false],
            ['spawned, not stored', true],
          ];
      for (const [moment, isBeforeCommit] of beforeWork) expect(await comesTo(moment, isBeforeCommit)).toBe(true);
      expect(await comesTo('ended, not stored', true)).toBe(true);
    },
  );
});
