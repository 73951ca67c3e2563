// Proves the records of checkpoints on disk: whole, private, and taken only while they are what the ledger says.
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newestVerified, type RecordRow, readRecord, sha256Of, writeRecord } from '../../src/engine/checkpoints.ts';
import { checkpointRecord, recordText } from '../../src/views/checkpoint-record.ts';
import { Story, t0 } from '../core/given.ts';

let folder = '';
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'ralph-records-')), 'loop');
});
afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

const textOf = (number: number): string => {
  const facts = { checkpoint: `cp-${number}`, number, label: 'é 😀', at: t0, iteration: 0 };
  const anchor = { sequence: number, hash: 'h' };
  return recordText(
    checkpointRecord(new Story().state, { ...facts, anchor, changes: [], toolCalls: 0, lastChecks: [] }),
  );
};

const pathOf = (number: number): string => join(folder, 'checkpoints', `${number}.json`);

const written = async (numbers: readonly number[]): Promise<RecordRow[]> => {
  const rows: RecordRow[] = [];
  for (const number of numbers) rows.push({ number, sha256: await writeRecord(folder, number, textOf(number)) });
  return rows;
};

describe('given a record that was written', () => {
  it('then the file holds its bytes, for its owner alone, and its hash is what any tool computes', async () => {
    const [row] = await written([1]);
    const bytes = readFileSync(pathOf(1));
    expect(bytes.toString('utf8')).toBe(textOf(1));
    expect(row?.sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
    expect(row?.sha256).toBe(sha256Of(textOf(1)));
    expect(statSync(pathOf(1)).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'checkpoints')).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(folder, 'checkpoints'))).toEqual(['1.json']);
  });

  it('when it is read, then it comes back as it was', async () => {
    const [row] = await written([3]);
    expect(await readRecord(folder, row!)).toEqual({ ok: true, record: JSON.parse(textOf(3)) });
  });

  it('when the same number is written again, then the new one replaces it whole (F06)', async () => {
    const [old] = await written([1]);
    writeFileSync(pathOf(1), 'x'.repeat(100_000));
    const [row] = await written([1]);
    expect(row).toEqual(old);
    expect(await readRecord(folder, row!)).toMatchObject({ ok: true });
  });

  it('when the folder cannot be made, then the system’s own error is thrown, as the engine expects', async () => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'checkpoints'), '');
    await expect(writeRecord(folder, 1, 'x')).rejects.toMatchObject({ code: 'EEXIST', syscall: 'mkdir' });
  });

  it.each([-1, 1.5, Number.NaN])('when its number would be %s, then it is a bug', async number => {
    await expect(writeRecord(folder, number, 'x')).rejects.toThrow('no checkpoint has the number');
    await expect(readRecord(folder, { number, sha256: '' })).rejects.toThrow('no checkpoint has the number');
  });
});

describe('given the records of a loop', () => {
  const damages: readonly (readonly [string, (path: string) => void, string])[] = [
    ['missing', path => rmSync(path), 'its file is missing'],
    ['longer by a byte', path => appendFileSync(path, ' '), 'its SHA-256 is not the one in the ledger'],
    ['cut', path => truncateSync(path, 100), 'its SHA-256 is not the one in the ledger'],
    ['empty', path => truncateSync(path, 0), 'its SHA-256 is not the one in the ledger'],
    [
      'a link to the same bytes',
      path => {
        writeFileSync(join(folder, 'elsewhere'), readFileSync(path));
        rmSync(path);
        symlinkSync(join(folder, 'elsewhere'), path);
      },
      'its file is a link',
    ],
    [
      'a folder',
      path => {
        rmSync(path);
        mkdirSync(path);
      },
      'its file is no file',
    ],
    ['larger than any record', path => truncateSync(path, 5 * 1024 * 1024), 'its file is too large to be a record'],
  ];

  it('when all are whole, then the newest by number is taken, whatever the order of the rows', async () => {
    const rows = await written([2, 10, 9]);
    expect(await newestVerified(folder, rows)).toBe(10);
  });

  it.each(damages)('when the newest is %s, then the one before is taken and the damage is named', async (...row) => {
    const [_name, damage, problem] = row;
    const rows = await written([1, 2, 3]);
    damage(pathOf(3));
    expect(await newestVerified(folder, rows)).toBe(2);
    expect(await readRecord(folder, rows[2]!)).toEqual({ ok: false, problem });
  });

  it('when none is whole or there is none, then nothing is taken', async () => {
    expect(await newestVerified(folder, [])).toBeUndefined();
    const rows = await written([1, 2]);
    rmSync(pathOf(1));
    appendFileSync(pathOf(2), 'x');
    expect(await newestVerified(folder, rows)).toBeUndefined();
  });

  it('when a number has two rows, then the later one holds', async () => {
    const [row] = await written([1]);
    expect(await newestVerified(folder, [{ number: 1, sha256: 'old' }, row!])).toBe(1);
    expect(await newestVerified(folder, [row!, { number: 1, sha256: 'new' }])).toBeUndefined();
  });

  it('when two files were exchanged, then neither is taken', async () => {
    const rows = await written([1, 2]);
    const first = readFileSync(pathOf(1));
    writeFileSync(pathOf(1), readFileSync(pathOf(2)));
    writeFileSync(pathOf(2), first);
    expect(await newestVerified(folder, rows)).toBeUndefined();
  });
});
