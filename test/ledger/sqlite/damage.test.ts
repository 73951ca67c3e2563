// A damaged ledger is never trusted and never thrown away: what verifies is saved, the original is kept (F46).
import { appendFileSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StoreFailure } from '../../../src/ledger/ledger.ts';
import { lostCommits } from '../../../src/ledger/sqlite/files.ts';
import { guidance, holderOf, leaseOf, loopStarted } from '../../contracts/store.ts';
import { inScratch, open, opened } from '../scratch.ts';

const pageBytes = 4_096;
const loops = ['a', 'b', 'c'];
const eventsPerLoop = 401;
const all = loops.length * eventsPerLoop;
const mark = 'find-me';

interface DamageCase {
  readonly what: string;
  readonly damage: (bytes: Buffer) => Buffer;
  /** The least that must be saved of the 1,203 events. */
  readonly saved: number;
  readonly quickCheck?: boolean;
}

function zeroed(from: number, to: number): (bytes: Buffer) => Buffer {
  return bytes => Buffer.from(bytes).fill(0, from, to);
}

/** The page that holds the text of one event of the middle loop. */
function zeroPageWith(text: string): (bytes: Buffer) => Buffer {
  return bytes => {
    const page = Math.floor(bytes.indexOf(text) / pageBytes);
    return zeroed(page * pageBytes, (page + 1) * pageBytes)(bytes);
  };
}

const cases: readonly DamageCase[] = [
  { what: 'its header is zeroed', damage: zeroed(0, 100), saved: all },
  { what: 'its first page is zeroed', damage: zeroed(0, pageBytes), saved: all },
  {
    what: 'its magic is overwritten',
    damage: bytes => Buffer.concat([Buffer.from('not a database'), bytes.subarray(14)]),
    saved: all,
  },
  { what: 'it is cut in half', damage: bytes => bytes.subarray(0, bytes.length / 2), saved: eventsPerLoop },
  {
    what: 'it is cut within a page',
    damage: bytes => bytes.subarray(0, bytes.length - 1_000),
    saved: 2 * eventsPerLoop,
  },
  { what: 'it is cut to nothing', damage: () => Buffer.alloc(0), saved: 0 },
  { what: 'it is cut to fifty bytes', damage: bytes => bytes.subarray(0, 50), saved: 0 },
  { what: 'it is noise', damage: bytes => Buffer.from(bytes.map((_, index) => (index * 7_919 + 13) % 251)), saved: 0 },
  {
    what: 'a page of events is zeroed',
    damage: zeroPageWith(`${mark} b 40`),
    saved: 2 * eventsPerLoop + 20,
    quickCheck: true,
  },
  { what: 'the schema is noise', damage: bytes => Buffer.from(bytes).fill(0xa5, 100, pageBytes), saved: all },
];

/** Made once and copied. */
let filled: Buffer | undefined;

async function fill(path: string): Promise<void> {
  if (filled !== undefined) return writeFileSync(path, filled);
  const { store, mailbox } = await opened(path);
  for (const loop of loops) {
    const events = Array.from({ length: eventsPerLoop - 1 }, (_, index) => guidance(`${mark} ${loop} ${index + 1}`));
    await store.append(loop, 0, [loopStarted(loop), ...events]);
  }
  await mailbox.send('a', 'ann', { command: 'stop' }, 1);
  await store.close();
  filled = readFileSync(path);
}

function savedOf(failure: StoreFailure): { readonly aside: string; readonly events: number } {
  const told = /lies unchanged in (\S+); (\d+) events of (\d+) loops were saved/.exec(failure.detail);
  if (told === null) throw new Error(failure.detail);
  return { aside: told[1]!, events: Number(told[2]) };
}

/** What a process that was killed leaves behind: the files as they are while the ledger is open. */
async function killedWith(events: number): Promise<ReturnType<typeof inScratch>> {
  const [live, dead] = [inScratch(), inScratch()];
  const { store } = await opened(live.path);
  const { token } = await leaseOf(store, 'a', holderOf('ann'));
  for (let seq = 0; seq < events; seq += 1) await store.append('a', seq, [guidance(`${mark} ${seq}`)], { token });
  for (const end of ['', '-wal']) dead.write(`ralph.db${end}`, readFileSync(`${live.path}${end}`));
  await store.close();
  live.remove();
  return dead;
}

describe('a damaged ledger', () => {
  let scratch: ReturnType<typeof inScratch>;
  beforeEach(() => {
    scratch = inScratch();
  });
  afterEach(() => scratch.remove());

  it.each(cases)(
    'is kept aside and what verifies is saved when $what',
    async ({ damage, saved, quickCheck = false }) => {
      await fill(scratch.path);
      const damaged = damage(readFileSync(scratch.path));
      writeFileSync(scratch.path, damaged);
      const result = await open(scratch.path, { quickCheck });
      if (result.ok) throw new Error('it was not noticed');
      expect(result.failure.kind).toBe('corrupt');
      const { aside, events } = savedOf(result.failure);
      expect(readFileSync(aside).equals(damaged)).toBe(true);
      expect(events).toBeGreaterThanOrEqual(saved);
      expect(scratch.files()).toEqual(['ralph.db', basename(aside)]);

      const { store, mailbox } = await opened(scratch.path, { quickCheck: true });
      let found = 0;
      for (const loop of loops) {
        const verified = await store.verify(loop);
        expect(verified.ok).toBe(true);
        if (!verified.ok || verified.events === 0) continue;
        found += verified.events;
        expect(await store.append(loop, verified.events, [guidance('goes on')])).toMatchObject({ ok: true });
      }
      expect(found).toBe(events);
      if (events === all) {
        expect((await store.loops()).length).toBe(loops.length);
        expect(await mailbox.waiting('a')).toMatchObject([{ body: { command: 'stop' } }]);
      }
      await store.close();
    },
  );

  it('is noticed by the reader when nobody looked at every page before', async () => {
    await fill(scratch.path);
    writeFileSync(scratch.path, zeroPageWith(`${mark} b 40`)(readFileSync(scratch.path)));
    const { store } = await opened(scratch.path);
    await expect(store.read('b')).rejects.toMatchObject({ failure: { kind: 'corrupt' } });
    expect(await store.verify('b')).toMatchObject({ ok: false, detail: expect.stringContaining('cannot be read') });
    await store.close();
  });

  it('is kept under a name that nothing has yet, not even the log of an earlier one', async () => {
    await fill(scratch.path);
    writeFileSync(scratch.path, zeroed(0, 100)(readFileSync(scratch.path)));
    scratch.write('ralph.db.corrupt-1970-01-01T00-16-40-000Z-wal', Buffer.from('precious'));
    const result = await open(scratch.path);
    expect(!result.ok && basename(savedOf(result.failure).aside)).toBe('ralph.db.corrupt-1970-01-01T00-16-40-000Z-2');
  });

  it('is left as it is by one who only wants to read', async () => {
    await fill(scratch.path);
    writeFileSync(scratch.path, zeroed(0, 100)(readFileSync(scratch.path)));
    expect(await open(scratch.path, { readOnly: true })).toMatchObject({ ok: false, failure: { kind: 'corrupt' } });
    expect(scratch.files()).toEqual(['ralph.db']);
  });

  it('with an event that was tampered with gives that loop up to there when it is salvaged', async () => {
    await fill(scratch.path);
    const raw = new DatabaseSync(scratch.path);
    raw.exec("DROP TRIGGER events_never_change; UPDATE events SET body = '{}' WHERE loop = 'b' AND seq = 11");
    raw.close();
    writeFileSync(scratch.path, zeroed(0, 100)(readFileSync(scratch.path)));
    const result = await open(scratch.path);
    expect(!result.ok && savedOf(result.failure).events).toBe(2 * eventsPerLoop + 10);
  });
});

describe('a write-ahead log', () => {
  it('of a killed process is read whole', async () => {
    const scratch = await killedWith(30);
    expect(lostCommits(scratch.path)).toBe(0);
    const { store } = await opened(scratch.path, { quickCheck: true });
    expect(await store.verify('a')).toMatchObject({ ok: true, events: 30 });
    await store.close();
    scratch.remove();
  });

  it('that ends in a half-written commit is read up to there without complaint', async () => {
    const scratch = await killedWith(30);
    const log = readFileSync(`${scratch.path}-wal`);
    writeFileSync(`${scratch.path}-wal`, log.subarray(0, log.length - 2_000));
    const { store } = await opened(scratch.path, { quickCheck: true });
    expect(await store.verify('a')).toMatchObject({ ok: true, events: 29 });
    await store.close();
    scratch.remove();
  });

  it('with noise behind its last commit is read without complaint, as SQLite leaves old frames there', async () => {
    const scratch = await killedWith(30);
    appendFileSync(`${scratch.path}-wal`, Buffer.alloc(3 * (pageBytes + 24), 0x5a));
    const { store } = await opened(scratch.path, { quickCheck: true });
    expect(await store.verify('a')).toMatchObject({ ok: true, events: 30 });
    await store.close();
    scratch.remove();
  });

  it.each([
    ['whose header is noise', (log: Buffer) => Buffer.from(log).fill(0x5a, 0, 32), false],
    [
      'that is noise in the middle',
      (log: Buffer) => Buffer.from(log).fill(0x5a, log.length / 2, log.length / 2 + 9_000),
      true,
    ],
    ['that lost one bit of an early frame', (log: Buffer) => Buffer.from(log).fill(log[100]! ^ 1, 100, 101), true],
  ])(
    '%s is kept aside with its database, because commits would be lost without a word',
    async (_what, damage, quickCheck) => {
      const scratch = await killedWith(30);
      const log = damage(readFileSync(`${scratch.path}-wal`));
      writeFileSync(`${scratch.path}-wal`, log);
      const result = await open(scratch.path, { quickCheck });
      if (result.ok) throw new Error('it was not noticed');
      const { aside, events } = savedOf(result.failure);
      expect(readFileSync(`${aside}-wal`).equals(log)).toBe(true);
      expect(existsSync(aside)).toBe(true);
      const { store } = await opened(scratch.path, { quickCheck: true });
      expect(await store.verify('a')).toMatchObject({ ok: true, events });
      await store.close();
      scratch.remove();
    },
  );

  it('without its database is kept aside and not read into a new one', async () => {
    const scratch = await killedWith(30);
    const log = readFileSync(`${scratch.path}-wal`);
    const orphaned = inScratch();
    orphaned.write('ralph.db-wal', log);
    const result = await open(orphaned.path);
    if (result.ok) throw new Error('it was not noticed');
    expect(readFileSync(`${savedOf(result.failure).aside}-wal`).equals(log)).toBe(true);
    const { store } = await opened(orphaned.path, { quickCheck: true });
    expect(await store.read('a')).toEqual([]);
    await store.close();
    orphaned.remove();
    scratch.remove();
  });

  it('is not called damaged while another process writes it', async () => {
    const scratch = inScratch();
    const writer = await opened(scratch.path);
    for (let seq = 0; seq < 40; seq += 1) {
      await writer.store.append('a', seq, [guidance('x'.repeat(60_000))]);
      expect(lostCommits(scratch.path)).toBe(0);
      const reader = await opened(scratch.path, { quickCheck: true, readOnly: true });
      expect((await reader.store.read('a')).length).toBe(seq + 1);
      await reader.store.close();
    }
    await writer.store.close();
    scratch.remove();
  });
});

describe('a ledger that is cut while it is open (F90)', () => {
  const half = (path: string): void => truncateSync(path, Math.floor(statSync(path).size / 2));
  const cuts: readonly (readonly [string, string, (path: string) => void])[] = [
    ['the log to nothing', '-wal', path => truncateSync(path, 0)],
    ['the log in half', '-wal', half],
    ['the log by its last page', '-wal', path => truncateSync(path, statSync(path).size - pageBytes)],
    ['the database in half', '', half],
    ['the database to nothing', '', path => truncateSync(path, 0)],
    ['the shared index to nothing', '-shm', path => truncateSync(path, 0)],
    ['all of it to nothing', '', path => ['', '-wal', '-shm'].forEach(end => void truncateSync(`${path}${end}`, 0))],
  ];
  const sizes = (path: string): readonly number[] => ['', '-wal'].map(end => statSync(`${path}${end}`).size);

  it.each(cuts)('%s: the next append says so and writes nothing', async (_what, end, cut) => {
    const scratch = inScratch();
    try {
      const { store } = await opened(scratch.path);
      const lease = await leaseOf(store, 'a', holderOf('one'));
      for (let seq = 0; seq < 30; seq += 1)
        await store.append('a', seq, [guidance(`event ${seq}`)], { token: lease.token });
      if (end === '') new DatabaseSync(scratch.path).exec('PRAGMA wal_checkpoint(PASSIVE)');
      cut(`${scratch.path}${end}`);
      const before = sizes(scratch.path);
      const appended = await store.append('a', 30, [guidance('one more')], { token: lease.token });
      expect(appended).toMatchObject({
        ok: false,
        failure: { kind: 'corrupt', detail: expect.stringContaining('was cut while it was in use') },
      });
      expect(sizes(scratch.path)).toEqual(before);
      await store.close();
    } finally {
      scratch.remove();
    }
  });

  it('but a log that another process emptied, as it may, is none', async () => {
    const scratch = inScratch();
    try {
      const { store } = await opened(scratch.path);
      for (let seq = 0; seq < 30; seq += 1) await store.append('a', seq, [guidance(`event ${seq}`)]);
      const other = new DatabaseSync(scratch.path);
      other.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      expect(await store.append('a', 30, [guidance('one')])).toMatchObject({ ok: true });
      other.close();
      expect(await store.append('a', 31, [guidance('two')])).toMatchObject({ ok: true });
      await store.close();
    } finally {
      scratch.remove();
    }
  });
});
