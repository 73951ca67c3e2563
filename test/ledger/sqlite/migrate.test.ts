// An older database comes to our version whole or not at all, with the old one kept; a newer one is left alone.
import { existsSync, readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Schema } from '../../../src/ledger/sqlite/create.ts';
import { currentSchema } from '../../../src/ledger/sqlite.ts';
import { guidance, holderOf, leaseOf, loopStarted } from '../../contracts/store.ts';
import { nextSchema } from '../next-schema.ts';
import { runProgram, tampering, whyNoTracing } from '../run-program.ts';
import { inScratch, open, opened } from '../scratch.ts';

const oldCopy = `ralph.db.backup-v${currentSchema.version}`;

function versionOf(path: string): number {
  const raw = new DatabaseSync(path);
  const version = raw.prepare('PRAGMA user_version').get()?.['user_version'];
  raw.close();
  return Number(version);
}

describe('migrations', () => {
  let scratch: ReturnType<typeof inScratch>;
  beforeEach(() => {
    scratch = inScratch();
  });
  afterEach(() => scratch.remove());

  async function older(): Promise<void> {
    const { store } = await opened(scratch.path);
    await store.append('a', 0, [loopStarted('a'), guidance('one'), guidance('two')]);
    await store.close();
  }

  it('are as many as the version of the schema says', async () => {
    expect(Object.keys(await currentSchema.migrations()).length).toBe(currentSchema.version);
  });

  it('lead to the very database that the batch makes at once', async () => {
    const made = async (path: string, schema: Schema) => {
      await (await opened(path, { schema })).store.close();
      const raw = new DatabaseSync(path);
      const rows = (sql: string) => raw.prepare(sql).all();
      const found = [
        rows('SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema'),
        rows('SELECT name, length(timestamp) FROM kysely_migration'),
        ...['SELECT * FROM kysely_migration_lock', 'PRAGMA user_version', 'PRAGMA journal_mode'].map(rows),
      ];
      raw.close();
      return found;
    };
    const { batch, ...stepwise } = currentSchema;
    expect(batch).toBeDefined();
    expect(await made(scratch.path, currentSchema)).toEqual(await made(`${scratch.path}-stepwise`, stepwise));
  });

  it('forget snapshots of older states, which lack what this version folds', async () => {
    const [first] = Object.entries(await currentSchema.migrations());
    const schema = { version: 1, readableFrom: 1, migrations: async () => Object.fromEntries([first!]) };
    const old = await opened(scratch.path, { schema });
    const appended = await old.store.append('a', 0, [loopStarted('a')]);
    const hash = appended.ok ? appended.hash : '';
    await old.snapshots.save('a', { seq: 1, hash, version: 1, state: {} });
    expect(await old.snapshots.latest('a', 1)).toMatchObject({ seq: 1 });
    await old.store.close();
    const { store, snapshots } = await opened(scratch.path);
    expect(await snapshots.latest('a', 1)).toBeUndefined();
    await store.close();
  });

  it('bring an older database forward, keep its events, and leave a copy of the old one', async () => {
    await older();
    const { store } = await opened(scratch.path, { schema: nextSchema });
    expect(await store.verify('a')).toMatchObject({ ok: true, events: 3 });
    expect(await store.append('a', 3, [guidance('three')])).toMatchObject({ ok: true });
    await store.close();
    expect(versionOf(scratch.path)).toBe(nextSchema.version);
    const backup = `${scratch.path}.backup-v${currentSchema.version}`;
    const old = await opened(backup);
    expect(await old.store.verify('a')).toMatchObject({ ok: true, events: 3 });
    await old.store.close();
  });

  it('do not overwrite a copy that is there already', async () => {
    await older();
    scratch.write(oldCopy, Buffer.from('precious'));
    await (await opened(scratch.path, { schema: nextSchema })).store.close();
    expect(readFileSync(`${scratch.path}${oldCopy.slice('ralph.db'.length)}`, 'utf8')).toBe('precious');
    expect(existsSync(`${scratch.path}${oldCopy.slice('ralph.db'.length)}-2`)).toBe(true);
  });

  it('make no copy of a new database', async () => {
    await (await opened(scratch.path, { schema: nextSchema })).store.close();
    expect(scratch.files()).toEqual(['ralph.db']);
  });

  it('leave the old schema as it was when one of them fails', async () => {
    await older();
    const failing = {
      version: nextSchema.version + 1,
      readableFrom: nextSchema.version + 1,
      migrations: async () => ({
        ...(await nextSchema.migrations()),
        '9999-fails': { up: () => Promise.reject(new Error('this migration fails')) },
      }),
    };
    await expect(open(scratch.path, { schema: failing })).rejects.toThrow('this migration fails');
    expect(versionOf(scratch.path)).toBe(currentSchema.version);
    const { store } = await opened(scratch.path);
    expect(await store.verify('a')).toMatchObject({ ok: true, events: 3 });
    await store.close();
    const raw = new DatabaseSync(scratch.path);
    expect(raw.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'labels'").get()).toBeUndefined();
    raw.close();
  });

  it('wait for a loop that is running on the older version, and say so (F16)', async () => {
    await older();
    const running = await opened(scratch.path);
    const lease = await leaseOf(running.store, 'a', holderOf('ann', { version: '0.9.1' }));
    expect(await open(scratch.path, { schema: nextSchema })).toMatchObject({
      ok: false,
      failure: { kind: 'busy', detail: expect.stringMatching(/^loop name of a is running on version 0\.9\.1/) },
    });
    expect(await running.store.append('a', 3, [guidance('undisturbed')], { token: lease.token })).toMatchObject({
      ok: true,
    });
    await running.store.release(lease);
    await running.store.close();
    expect(versionOf(scratch.path)).toBe(currentSchema.version);
    await (await opened(scratch.path, { schema: nextSchema })).store.close();
    expect(versionOf(scratch.path)).toBe(nextSchema.version);
  });

  it('let a command through to a loop that runs on the older version, and nothing else (F16)', async () => {
    await older();
    const running = await opened(scratch.path);
    const lease = await leaseOf(running.store, 'a', holderOf('ann', { version: '0.4.0' }));
    const schema = { ...nextSchema, readableFrom: currentSchema.version };
    expect(await open(scratch.path, { schema })).toMatchObject({ ok: false, failure: { kind: 'busy' } });
    const upgraded = await opened(scratch.path, { schema, mailToOlder: true });
    expect(await upgraded.store.lease('a', holderOf('bob'))).toMatchObject({ ok: false, held: { token: lease.token } });
    await upgraded.mailbox.send('a', 'bob', { type: 'stop' }, 1);
    expect(await running.mailbox.waiting('a')).toMatchObject([{ by: 'bob', version: 1, body: { type: 'stop' } }]);
    const busy = { kind: 'busy', hint: 'Wait for it, or stop it: ralph stop name of a' };
    expect(await upgraded.store.append('b', 0, [loopStarted('b')])).toMatchObject({ ok: false, failure: busy });
    await expect(upgraded.store.lease('b', holderOf('bob'))).rejects.toMatchObject({ failure: busy });
    const [mail] = await running.mailbox.waiting('a');
    const options = { token: lease.token, takes: mail!.id };
    expect(await running.store.append('a', 3, [guidance('stopped')], options)).toMatchObject({ ok: true });
    await running.store.release(lease);
    await running.store.close();
    await upgraded.store.close();
    expect(versionOf(scratch.path)).toBe(currentSchema.version);
    await (await opened(scratch.path, { schema, mailToOlder: true })).store.close();
    expect(versionOf(scratch.path)).toBe(nextSchema.version);
  });

  it('are not waiting for a holder that is dead', async () => {
    await older();
    const running = await opened(scratch.path);
    await leaseOf(running.store, 'a', holderOf('ann'));
    await running.store.close();
    await (await opened(scratch.path, { schema: nextSchema, isAlive: () => false })).store.close();
    expect(versionOf(scratch.path)).toBe(nextSchema.version);
  });

  it('are not needed by one who only reads tables that are the same', async () => {
    await older();
    const schema = { ...nextSchema, readableFrom: currentSchema.version };
    const { store } = await opened(scratch.path, { schema, readOnly: true });
    expect(await store.verify('a')).toMatchObject({ ok: true, events: 3 });
    await store.close();
    expect(versionOf(scratch.path)).toBe(currentSchema.version);
  });

  it('are not for one who only wants to read', async () => {
    await older();
    const before = readFileSync(scratch.path);
    expect(await open(scratch.path, { schema: nextSchema, readOnly: true })).toMatchObject({
      ok: false,
      failure: { kind: 'readonly' },
    });
    expect(readFileSync(scratch.path).equals(before)).toBe(true);
  });

  it('run once when several processes start at the same time', async () => {
    await older();
    const ran = await Promise.all(Array.from({ length: 3 }, () => runProgram('migrate', [scratch.path])));
    expect(ran.map(({ lines, errors }) => [...lines, errors])).toEqual(Array.from({ length: 3 }, () => ['ok', '']));
    expect(scratch.files().filter(name => name.includes('backup'))).toEqual([oldCopy]);
  });

  it('refuse a newer database and leave its bytes alone', async () => {
    await (await opened(scratch.path, { schema: nextSchema })).store.close();
    const before = readFileSync(scratch.path);
    expect(await open(scratch.path)).toMatchObject({
      ok: false,
      failure: { kind: 'newer', detail: expect.stringContaining(`version ${nextSchema.version}`) },
    });
    expect(readFileSync(scratch.path).equals(before)).toBe(true);
    expect(scratch.files()).toEqual(['ralph.db']);
  });

  it('refuse a newer database whose version is still in the log, and leave both files alone', async () => {
    await older();
    const newer = new DatabaseSync(scratch.path);
    newer.exec('PRAGMA user_version = 7');
    const copy = inScratch();
    for (const end of ['', '-wal']) copy.write(`ralph.db${end}`, readFileSync(`${scratch.path}${end}`));
    newer.close();
    const before = ['', '-wal'].map(end => readFileSync(`${copy.path}${end}`));
    expect(await open(copy.path)).toMatchObject({ ok: false, failure: { kind: 'newer' } });
    expect(['', '-wal'].map((end, index) => readFileSync(`${copy.path}${end}`).equals(before[index]!))).toEqual([
      true,
      true,
    ]);
    copy.remove();
  });
});

const noTracing = whyNoTracing();

/** Calls that a migration makes on the disk, and at which of them it is killed; all of them when asked to. */
const crashPoints: readonly (readonly [call: string, nth: number])[] = process.env['RALPH_EVERY_CRASH_POINT']
  ? Object.entries({ pwrite64: 120, fsync: 16, ftruncate: 8, rename: 2, unlink: 8 }).flatMap(([call, most]) =>
      Array.from({ length: most }, (_, index) => [call, index + 1] as const),
    )
  : [...[15, 45].map(nth => ['pwrite64', nth] as const), ['fsync', 5], ['rename', 1]];

describe('a ledger whose making is killed (F08)', () => {
  it.skipIf(noTracing !== undefined).each([
    ['pwrite64', 2],
    ['fsync', 4],
    ['link', 1],
  ])(`at %s %i is there whole or not at all${noTracing ? ` [skipped: ${noTracing}]` : ''}`, async (call, nth) => {
    const scratch = inScratch();
    const ran = await runProgram('migrate', [scratch.path], tampering(`${call}:signal=SIGKILL:when=${nth}`));
    expect(ran.lines).toEqual([]);
    if (existsSync(scratch.path)) expect(versionOf(scratch.path)).toBe(nextSchema.version);
    const { store } = await opened(scratch.path, { schema: nextSchema, quickCheck: true });
    expect(await store.append('a', 0, [guidance('one')])).toMatchObject({ ok: true });
    await store.close();
    scratch.remove();
  });
});

describe('a migration that is killed (F08)', () => {
  it.skipIf(noTracing !== undefined)(
    `leaves the old or the new schema, and the next start goes on${noTracing ? ` [skipped: ${noTracing}]` : ''}`,
    { timeout: 600_000 },
    async () => {
      const template = inScratch();
      const first = await opened(template.path);
      await first.store.append('a', 0, [
        loopStarted('a'),
        ...Array.from({ length: 60 }, (_, index) => guidance(`${index}`)),
      ]);
      await first.store.close();
      const bytes = readFileSync(template.path);
      template.remove();
      let kills = 0;
      for (const [call, nth] of crashPoints) {
        const scratch = inScratch();
        scratch.write('ralph.db', bytes);
        const ran = await runProgram('migrate', [scratch.path], tampering(`${call}:signal=SIGKILL:when=${nth}`));
        const wasKilled = ran.lines[0] !== 'ok';
        kills += Number(wasKilled);
        const where = `killed at ${call} ${nth}`;
        const version = versionOf(scratch.path);
        expect([currentSchema.version, nextSchema.version], where).toContain(version);
        if (version === nextSchema.version) expect(scratch.files(), where).toContain(oldCopy);
        const { store } = await opened(scratch.path, { schema: nextSchema, quickCheck: true });
        expect(await store.verify('a'), where).toMatchObject({ ok: true, events: 61 });
        await store.close();
        expect(scratch.files(), where).toContain(oldCopy);
        scratch.remove();
      }
      expect(kills).toBeGreaterThanOrEqual(3);
    },
  );
});
