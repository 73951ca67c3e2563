// Proves that a file is replaced whole or not at all, under the permissions and links that real folders have.
import { chmod, lstat, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { replaceFile } from '../../src/documents/replace-file.ts';
import { identify } from '../../src/documents/text-file.ts';
import { asOrdinaryUser } from './ordinary-user.ts';

let folder: string;
let path: string;
const after = Buffer.from('after');
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ralph-replace-'));
  path = join(folder, 'file');
  await writeFile(path, 'before');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it('gives the identity that the file has from now on', async () => {
  expect(await replaceFile(path, after)).toEqual({ type: 'replaced', identity: await identify(path) });
  expect(await readFile(path, 'utf8')).toBe('after');
});

it('is a new file under the old name: who reads the old one reads it to its end', async () => {
  const before = await stat(path);
  await replaceFile(path, after);
  expect((await stat(path)).ino).not.toBe(before.ino);
});

it('replaces only the version that was expected', async () => {
  const expected = await identify(path);
  await writeFile(path, 'somebody else');
  expect(await replaceFile(path, after, { expected })).toEqual({ type: 'changed' });
  expect(await readFile(path, 'utf8')).toBe('somebody else');
  expect(await readdir(folder)).toEqual(['file']);
});

it('makes a missing file with the mode that it is given', async () => {
  await rm(path);
  await replaceFile(path, after, { mode: 0o604 });
  expect((await stat(path)).mode & 0o777).toBe(0o604);
});

it('puts a missing file back behind its link', async () => {
  const link = join(folder, 'link');
  await symlink('file', link);
  await rm(path);
  await replaceFile(link, after);
  expect((await lstat(link)).isSymbolicLink()).toBe(true);
  expect(await readFile(path, 'utf8')).toBe('after');
});

describe('without permission', () => {
  it('a file that we may not write is left alone although its folder would let us replace it', async () => {
    // For root's file 644 is read-only to others; as an ordinary user we take the bit from ourselves.
    await chmod(path, process.getuid?.() === 0 ? 0o644 : 0o444);
    await asOrdinaryUser(folder, async () => {
      await expect(replaceFile(path, after)).rejects.toMatchObject({ code: 'EACCES' });
    });
    expect(await readFile(path, 'utf8')).toBe('before');
  });

  it('a file in a read-only folder is left alone, and no other file is left behind', async () => {
    await chmod(path, 0o666);
    await chmod(folder, 0o555);
    await asOrdinaryUser(folder, async () => {
      await expect(replaceFile(path, after)).rejects.toMatchObject({ code: 'EACCES' });
    });
    await chmod(folder, 0o755);
    expect(await readFile(path, 'utf8')).toBe('before');
    expect(await readdir(folder)).toEqual(['file']);
  });
});
