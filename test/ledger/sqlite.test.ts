// The ledger in SQLite keeps the contract of all ledgers, and its file is private, append-only and tamper-evident.
import { chmodSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { walBytes } from '../../src/ledger/sqlite/files.ts';
import { guidance, holderOf, leaseOf, loopStarted, storeContract } from '../contracts/store.ts';
import { inScratch, open, opened } from './scratch.ts';

storeContract(
  'SQLite',
  async world => {
    const scratch = inScratch();
    const ledgers: Ledger[] = [];
    const another = async (): Promise<Ledger> => {
      const ledger = await opened(scratch.path, world);
      ledgers.push(ledger);
      return ledger;
    };
    const ledger = await another();
    const cleanUp = async (): Promise<void> => {
      for (const each of ledgers) await each.store.close();
      scratch.remove();
    };
    return { ledger, another, cleanUp };
  },
  { hashes: true, silentHolders: true },
);

function removeAll(path: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`);
}

describe('the file of the ledger', () => {
  let scratch: ReturnType<typeof inScratch>;
  beforeEach(() => {
    scratch = inScratch();
  });
  afterEach(() => scratch.remove());

  it('is for its owner only, in a folder for its owner only, with full durability', async () => {
    const ledger = await opened(scratch.path);
    await ledger.store.append('a', 0, [guidance('one')]);
    expect(statSync(scratch.folder).mode & 0o777).toBe(0o700);
    for (const end of ['', '-wal', '-shm']) expect(statSync(`${scratch.path}${end}`).mode & 0o777).toBe(0o600);
    await ledger.store.close();
    const raw = new DatabaseSync(scratch.path);
    expect(raw.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    raw.close();
  });

  it('is for its owner only again when somebody opened it to others', async () => {
    await (await opened(scratch.path)).store.close();
    chmodSync(scratch.path, 0o644);
    await (await opened(scratch.path)).store.close();
    expect(statSync(scratch.path).mode & 0o777).toBe(0o600);
  });

  it('leaves nothing but itself behind when it was made and closed', async () => {
    await (await opened(scratch.path)).store.close();
    expect(scratch.files()).toEqual(['ralph.db']);
  });

  it('has an empty log after its holder closed it, also while a reader is still there', async () => {
    const reader = await opened(scratch.path);
    const holder = await opened(scratch.path);
    await holder.store.append('a', 0, [guidance('one')]);
    expect(walBytes(scratch.path)).toBeGreaterThan(0);
    await holder.store.close();
    expect(walBytes(scratch.path)).toBe(0);
    expect((await reader.store.read('a')).length).toBe(1);
    await reader.store.close();
  });

  it.each([
    ['changed', "UPDATE events SET body = '{}'"],
    ['removed', 'DELETE FROM events'],
  ])('does not let an event be %s', async (_how, sql) => {
    const { store } = await opened(scratch.path);
    await store.append('a', 0, [guidance('one')]);
    await store.close();
    const raw = new DatabaseSync(scratch.path);
    expect(() => raw.exec(sql)).toThrow('events are only ever added');
    raw.close();
  });

  it.each([
    [
      'whose content was changed',
      "UPDATE events SET body = replace(body, 'two', 'TWO') WHERE seq = 2",
      2,
      /event 2 was changed/,
    ],
    ['that is missing', 'DELETE FROM events WHERE seq = 2', 2, /event 2 is missing: after event 1 comes event 3/],
    ['that was moved to another place', 'UPDATE events SET seq = 9 WHERE seq = 3', 3, /event 3 is missing/],
    [
      'that comes from another loop',
      "UPDATE events SET loop = 'a', seq = 4 WHERE loop = 'b'",
      4,
      /event 4 was changed/,
    ],
    [
      'whose bytes are no text of ours',
      "UPDATE events SET body = x'ff00' WHERE seq = 1 AND loop = 'a'",
      1,
      /event 1 was changed/,
    ],
  ])('names the first event %s', async (_what, sql, seq, detail) => {
    const { store } = await opened(scratch.path);
    await store.append('a', 0, [guidance('one'), guidance('two'), guidance('three')]);
    await store.append('b', 0, [guidance('of b')]);
    expect(await store.verify('a')).toMatchObject({ ok: true, events: 3 });
    const raw = new DatabaseSync(scratch.path);
    raw.exec(`DROP TRIGGER events_never_change; DROP TRIGGER events_never_leave; ${sql}`);
    raw.close();
    expect(await store.verify('a')).toEqual({ ok: false, seq, detail: expect.stringMatching(detail) });
    await store.close();
  });

  it('is verified across pages', async () => {
    const { store } = await opened(scratch.path);
    await store.append(
      'a',
      0,
      Array.from({ length: 2_500 }, (_, index) => guidance(`${index}`)),
    );
    expect(await store.verify('a')).toMatchObject({ ok: true, events: 2_500 });
    await store.close();
  });

  it('can be read by one who may not write, who is told so when trying', async () => {
    const writer = await opened(scratch.path);
    await writer.store.append('a', 0, [loopStarted('a')]);
    const reader = await opened(scratch.path, { readOnly: true });
    expect(await reader.store.loops()).toMatchObject([{ loop: 'a' }]);
    expect(await reader.store.append('a', 1, [guidance('no')])).toMatchObject({
      ok: false,
      failure: { kind: 'readonly' },
    });
    await writer.store.append('a', 1, [guidance('yes')]);
    expect((await reader.store.read('a')).length).toBe(2);
    await reader.store.close();
    await writer.store.close();
  });

  it('is not made by one who only wants to read', async () => {
    expect(await open(scratch.path, { readOnly: true })).toMatchObject({ ok: false, failure: { kind: 'gone' } });
    expect(existsSync(scratch.path)).toBe(false);
  });

  it('keeps everything when its holder never closed it', async () => {
    const { store } = await opened(scratch.path);
    const lease = await leaseOf(store, 'a', holderOf('ann'));
    await store.append('a', 0, [guidance('one')], { token: lease.token });
    await store.append('a', 1, [guidance('two')], { token: lease.token });
    const copy = inScratch();
    for (const end of ['', '-wal']) copy.write(`ralph.db${end}`, readFileSync(`${scratch.path}${end}`));
    const after = await opened(copy.path, { quickCheck: true });
    expect(await after.store.verify('a')).toMatchObject({ ok: true, events: 2 });
    await after.store.close();
    await store.close();
    copy.remove();
  });

  it.each([
    ['deleted', (path: string) => rmSync(path)],
    ['deleted with its log', removeAll],
    ['left without its log', (path: string) => rmSync(`${path}-wal`)],
  ])('that was %s while in use is never written again nor made anew (F21)', async (_how, remove) => {
    const { store, mailbox } = await opened(scratch.path);
    await store.append('a', 0, [guidance('one')]);
    remove(scratch.path);
    const files = scratch.files();
    const appended = await store.append('a', 1, [guidance('two')]);
    expect(appended).toMatchObject({
      ok: false,
      failure: { kind: 'gone', detail: expect.stringContaining(scratch.path) },
    });
    await expect(mailbox.send('a', 'ann', {}, 1)).rejects.toMatchObject({ failure: { kind: 'gone' } });
    await expect(store.lease('a', holderOf('ann'))).rejects.toMatchObject({ failure: { kind: 'gone' } });
    expect(scratch.files()).toEqual(files);
    await store.close();
    expect(existsSync(scratch.path)).toBe(files.includes('ralph.db'));
  });

  it('that was replaced while in use is not mistaken for its successor (F21)', async () => {
    const { store } = await opened(scratch.path);
    await store.append('a', 0, [guidance('one')]);
    removeAll(scratch.path);
    const successor = await opened(scratch.path);
    expect(await store.append('a', 1, [guidance('two')])).toMatchObject({ ok: false, failure: { kind: 'gone' } });
    expect(await successor.store.loops()).toEqual([]);
    await successor.store.close();
    await store.close();
  });

  it('wakes a follower when it is gone, who then learns why', async () => {
    const { store } = await opened(scratch.path);
    const next = store.follow({ cursor: 0 }, new AbortController().signal)[Symbol.asyncIterator]().next();
    rmSync(scratch.path);
    await expect(next).rejects.toMatchObject({ failure: { kind: 'gone' } });
    await store.close();
  });

  it('lets a follower end when it is closed', async () => {
    const { store } = await opened(scratch.path);
    const next = store.follow({ cursor: 0 }, new AbortController().signal)[Symbol.asyncIterator]().next();
    await store.close();
    expect((await next).done).toBe(true);
  });
});
