// Disks fill up, fail and go read-only, other processes write at the same time: each ends as a value with a way out.
import { mkdirSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { failureOf } from '../../../src/ledger/sqlite/connection.ts';
import { networkFileSystem, networkTypeName } from '../../../src/ledger/sqlite/files.ts';
import { guidance } from '../../contracts/store.ts';
import { runProgram, tampering, whyNoTracing } from '../run-program.ts';
import { inScratch, open, opened } from '../scratch.ts';

const noTracing = whyNoTracing();
const whenTraced = noTracing === undefined ? '' : ` [skipped: ${noTracing}]`;

let scratch: ReturnType<typeof inScratch>;
beforeEach(() => {
  scratch = inScratch();
});
afterEach(() => scratch.remove());

async function countOf(loop: string): Promise<number> {
  const { store } = await opened(scratch.path, { quickCheck: true });
  const verified = await store.verify(loop);
  await store.close();
  if (!verified.ok) throw new Error(verified.detail);
  return verified.events;
}

function thrownBy(work: () => void): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('many processes at once', () => {
  it('make and write one ledger without a single error (F43)', async () => {
    const writers = Array.from({ length: 10 }, (_, index) =>
      runProgram('append', [scratch.path, 'shared', '50', `writer-${index}`]),
    );
    const ran = await Promise.all(writers);
    expect(ran.map(({ errors }) => errors).join('')).toBe('');
    expect(ran.flatMap(({ lines }) => lines)).toEqual(Array.from({ length: 500 }, () => 'ok'));
    expect(await countOf('shared')).toBe(500);
    expect(scratch.files()).toEqual(['ralph.db']);
  });

  it('are heard by a follower in this one', async () => {
    const { store } = await opened(scratch.path);
    const stop = new AbortController();
    const program = runProgram('append', [scratch.path, 'a', '20', 'child']);
    const heard: number[] = [];
    for await (const { seq } of store.follow({ cursor: 0, loop: 'a' }, stop.signal)) {
      heard.push(seq);
      if (heard.length === 20) stop.abort();
    }
    expect(heard).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    await program;
    await store.close();
  });

  it('that never let go end in a failure, not in a wait without end', async () => {
    const { store } = await opened(scratch.path, { busyMsMax: 50 });
    const hog = new DatabaseSync(scratch.path);
    hog.exec('BEGIN IMMEDIATE');
    expect(await store.append('a', 0, [guidance('one')])).toMatchObject({ ok: false, failure: { kind: 'busy' } });
    hog.exec('ROLLBACK');
    hog.close();
    expect(await store.append('a', 0, [guidance('one')])).toMatchObject({ ok: true, seq: 1 });
    await store.close();
  });
});

describe('a full disk (F38)', () => {
  it('is told apart from every other error of SQLite and of the file system', () => {
    const small = new DatabaseSync(scratch.path);
    small.exec('CREATE TABLE rows (body TEXT); PRAGMA max_page_count = 3');
    const [real, system] = [
      thrownBy(() => small.exec('INSERT INTO rows VALUES (zeroblob(100000))')),
      new Error('no space'),
    ];
    small.close();
    const failures = [real, Object.assign(system, { code: 'ENOSPC', errno: -28 })].map(error =>
      failureOf(error, scratch.path),
    );
    const failure = { kind: 'disk-full', hint: expect.stringContaining(scratch.folder) };
    expect(failures).toMatchObject([failure, failure]);
  });

  it.skipIf(noTracing !== undefined)(`loses nothing that was acknowledged${whenTraced}`, async () => {
    await (await opened(scratch.path)).store.close();
    const before = tampering('pwrite64:error=ENOSPC:when=14..17', [`${scratch.path}-wal`]);
    const { lines } = await runProgram('append', [scratch.path, 'a', '12', 'child'], before);
    expect(lines[0]).toBe('ok');
    expect(lines).toContain('disk-full');
    expect(lines.at(-1)).toBe('ok');
    expect(new Set(lines)).toEqual(new Set(['ok', 'disk-full']));
    expect(await countOf('a')).toBe(lines.filter(line => line === 'ok').length);
  });
});

describe('a failing disk (F40)', () => {
  it.skipIf(noTracing !== undefined)(
    `is believed at once: nothing is tried again after a sync failed${whenTraced}`,
    async () => {
      await (await opened(scratch.path)).store.close();
      const before = tampering('fdatasync,fsync:error=EIO:when=6', [`${scratch.path}-wal`]);
      const { lines } = await runProgram('append', [scratch.path, 'a', '12', 'child'], before);
      const good = lines.indexOf('io');
      expect(good).toBeGreaterThan(0);
      expect(lines.slice(0, good)).toEqual(Array.from({ length: good }, () => 'ok'));
      expect(lines.slice(good)).toEqual(Array.from({ length: 12 - good }, () => 'io'));
      const events = await countOf('a');
      expect([good, good + 1]).toContain(events); // the one that failed may have reached the disk after all
    },
  );
});

describe('a place that cannot be written (F41)', () => {
  it.skipIf(noTracing !== undefined).each(['EROFS', 'EACCES'])(
    `is refused at the start with its path and the fix: %s${whenTraced}`,
    async error => {
      await (await opened(scratch.path)).store.close();
      const before = tampering(`access,faccessat,faccessat2:error=${error}`, [scratch.path]);
      const { lines } = await runProgram('append', [scratch.path, 'a', '1', 'child'], before);
      expect(lines).toEqual(['readonly', expect.stringContaining(scratch.path), expect.stringContaining('RALPH_HOME')]);
    },
  );

  it.skipIf(noTracing !== undefined)(`is refused also when the ledger is not there yet${whenTraced}`, async () => {
    const path = `${scratch.folder}/new/ralph.db`;
    const { lines } = await runProgram('append', [path, 'a', '1', 'child'], tampering('mkdir,mkdirat:error=EROFS'));
    expect(lines[0]).toBe('readonly');
    expect(scratch.files()).toEqual([]);
  });

  it('is a failure, not a crash, when a folder lies where the ledger should', async () => {
    mkdirSync(scratch.path);
    expect(await open(scratch.path)).toMatchObject({ ok: false, failure: { kind: 'io' } });
  });
});

describe('no file descriptors left (F42)', () => {
  it('does not stop an open ledger, and a second one fails as a value', async () => {
    const limited = ['sh', '-c', 'ulimit -n 64; exec "$@"', 'sh'];
    const { lines, errors } = await runProgram('fill-descriptors', [scratch.path], limited);
    expect(errors).toBe('');
    expect(lines).toEqual(['EMFILE', 'ok', 'io']);
    expect(await countOf('a')).toBe(1);
  });
});

describe('a network file system (F45)', () => {
  it.each([
    [0x6969, 'NFS'],
    [0xff534d42, 'CIFS'],
    [0xff534d42 | 0, 'CIFS'],
    [0x517b, 'SMB'],
    [0x01021997, '9p'],
    [0x65735546, 'FUSE'],
    [0xef53, undefined], // ext4
    [0x01021994, undefined], // tmpfs
    [0x794c7630, undefined], // overlayfs
    [0x9123683e, undefined], // btrfs
  ])('of type %i is %s', (type, name) => {
    expect(networkTypeName(type)).toBe(name);
  });

  it('is looked for in the nearest folder that exists', () => {
    const asked: string[] = [];
    const found = networkFileSystem('/far/away/ralph.db', folder => {
      asked.push(folder);
      if (folder !== '/') throw new Error('ENOENT');
      return 0x6969;
    });
    expect(found).toBe(process.platform === 'linux' ? 'NFS' : undefined);
    if (process.platform === 'linux') expect(asked).toEqual(['/far/away', '/far', '/']);
  });

  it.skipIf(noTracing !== undefined || process.platform !== 'linux')(
    `is not found where this test runs, so that ledgers open${whenTraced}`,
    () => {
      expect(networkFileSystem(scratch.path)).toBeUndefined();
    },
  );
});
