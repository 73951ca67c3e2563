// Proves that a file that cannot be used as text is refused with the exact reason.
import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readText } from '../../src/documents/text-file.ts';
import { asOrdinaryUser } from './ordinary-user.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ralph-text-'));
  path = join(folder, 'file.json');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const bytesMax = 1024 * 1024;
async function reasonOf(bytes: Uint8Array): Promise<string> {
  await writeFile(path, bytes);
  const read = await readText(path, bytesMax);
  return read.type === 'text' ? `text: ${read.text}` : `${read.type}: ${read.problem.message.replace(path, 'FILE')}`;
}

it('given UTF-8 with a BOM and a written U+FFFD, then the text is all of it', async () => {
  expect(await reasonOf(Buffer.from('\uFEFFé \uFFFD 🚀'))).toBe('text: \uFEFFé \uFFFD 🚀');
});

it('given an empty file, then it is an empty text', async () => {
  expect(await reasonOf(Buffer.alloc(0))).toBe('text: ');
});

it.each([
  ['a Latin-1 é', [0x61, 0x0a, 0xe9, 0x61], 'broken: FILE is not valid UTF-8 at byte 2.'],
  ['a cut character', [0x61, 0xf0, 0x9f], 'broken: FILE is not valid UTF-8 at byte 1.'],
  [
    'a written U+FFFD before the fault',
    [0xef, 0xbf, 0xbd, 0xc3, 0xa9, 0xff],
    'broken: FILE is not valid UTF-8 at byte 5.',
  ],
  ['UTF-16 little-endian', [0xff, 0xfe, 0x7b, 0x00], 'broken: FILE is UTF-16 text, not UTF-8.'],
  ['UTF-16 big-endian', [0xfe, 0xff, 0x00, 0x7b], 'broken: FILE is UTF-16 text, not UTF-8.'],
  ['a NUL byte', [0x7b, 0x00, 0x7d], 'broken: FILE holds a NUL byte at byte 1, so it is no text.'],
])('given %s, then the fault is named by its byte', async (_name, bytes, reason) => {
  expect(await reasonOf(Uint8Array.from(bytes))).toBe(reason);
});

it('given invalid UTF-8, then the line is told too', async () => {
  await writeFile(path, Uint8Array.from([0x61, 0x0a, 0x0a, 0xe9]));
  expect(await readText(path, bytesMax)).toMatchObject({ problem: { line: 3 } });
});

it('given no file, a directory or a file that is too large, then it says which', async () => {
  expect(await readText(path, bytesMax)).toMatchObject({
    type: 'missing',
    problem: { message: `${path} does not exist.` },
  });
  await mkdir(path);
  expect(await readText(path, bytesMax)).toMatchObject({
    type: 'unusable',
    problem: { message: `${path} is a directory.` },
  });
  const large = join(folder, 'large');
  await writeFile(large, '');
  await truncate(large, bytesMax + 1);
  expect(await readText(large, bytesMax)).toMatchObject({
    type: 'unusable',
    problem: { message: `${large} is larger than 1 MB.` },
  });
});

it('given a path with control characters, then the problem shows them escaped', async () => {
  const read = await readText(join(folder, 'a\u001b[31m\nb'), bytesMax);
  expect(read.type === 'missing' && read.problem.message).toMatch(/a\\u\{1b\}\[31m\\u\{a\}b does not exist\.$/);
});

it('given a file that we may not read, then it says so', async () => {
  await writeFile(path, 'x', { mode: 0o000 });
  const read = await asOrdinaryUser(folder, () => readText(path, bytesMax));
  expect(read).toMatchObject({ type: 'unusable', problem: { message: `${path} may not be read.` } });
});
