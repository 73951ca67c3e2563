// Proves that a file that cannot be used as text is refused with the exact reason, and that the user's instructions are created
// once, re-read when changed and never lost to a broken file.
import { mkdir, mkdtemp, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkInstructions, instructionsReader, readText } from '../../src/documents/text-file.ts';
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

const ours = (at: string) => ({ path: at, text: 'Ours.', isWritten: true });

describe('reading instructions', () => {
  it('given none and a mode that writes none, then the default holds and no file appears', async () => {
    expect(await instructionsReader({ ...ours(path), isWritten: false })()).toBe('Ours.');
    await expect(readFile(path)).rejects.toThrow();
  });

  it('given none, then the default is written once and never again', async () => {
    const instructions = instructionsReader(ours(path));
    expect(await instructions()).toBe('Ours.');
    expect(await readFile(path, 'utf8')).toBe('Ours.');
    await rm(path);
    expect(await instructions()).toBe('Ours.');
    await expect(readFile(path)).rejects.toThrow();
  });

  it('given a start that was cut while it wrote them, then the next one writes them whole and leaves nothing beside', async () => {
    const draft = join(dirname(path), `.${basename(path)}.ralph-new`);
    await writeFile(draft, 'Ou');
    expect(await checkInstructions(path)).toEqual([]); // the file itself was never there in halves
    expect(await instructionsReader(ours(path))()).toBe('Ours.');
    expect(await readFile(path, 'utf8')).toBe('Ours.');
    await expect(readFile(draft)).rejects.toThrow();
  });

  it('given the user’s own, then it is theirs, without the BOM, read again only when it changed', async () => {
    let reads = 0;
    await writeFile(path, '\uFEFFTheirs.');
    const instructions = instructionsReader(ours(path), (from, bytesMax) => {
      reads++;
      return readText(from, bytesMax);
    });
    expect(await instructions()).toBe('Theirs.');
    expect(await instructions()).toBe('Theirs.');
    expect(reads).toBe(1);
    await writeFile(path, 'Theirs, second version.');
    expect(await instructions()).toBe('Theirs, second version.');
  });

  it('given a link to nowhere, then nothing is written through it', async () => {
    const elsewhere = join(folder, 'elsewhere');
    await symlink(elsewhere, path);
    expect(await instructionsReader(ours(path))()).toBe('Ours.');
    await expect(readFile(elsewhere)).rejects.toThrow();
  });

  it('given a folder that cannot be written, then the default serves all the same', async () => {
    const instructions = instructionsReader(ours(join(folder, 'nowhere', 'PROMPT.md')));
    expect(await instructions()).toBe('Ours.');
    await mkdir(join(folder, 'nowhere'));
    await writeFile(join(folder, 'nowhere', 'PROMPT.md'), 'Theirs.');
    expect(await instructions()).toBe('Theirs.');
  });

  it('given a file that became empty or binary, then the last good text holds', async () => {
    await writeFile(path, 'Theirs.');
    const instructions = instructionsReader(ours(path));
    await instructions();
    await writeFile(path, ' \n');
    expect(await instructions()).toBe('Theirs.');
    await writeFile(path, Uint8Array.from([0, 1, 2]));
    expect(await instructions()).toBe('Theirs.');
  });
});

describe('checking instructions', () => {
  const messages = async () => (await checkInstructions(path)).map(problem => problem.message.replace(path, 'FILE'));

  it('given none or good ones, then there is no problem and nothing is written', async () => {
    expect(await messages()).toEqual([]);
    await expect(readFile(path)).rejects.toThrow();
    await writeFile(path, 'Theirs.');
    expect(await messages()).toEqual([]);
  });

  it('given an empty, a binary, a badly encoded or a huge file, then it says which', async () => {
    await writeFile(path, '\uFEFF \n');
    expect(await messages()).toEqual(['FILE is empty.']);
    await writeFile(path, Uint8Array.from([0x7f, 0x45, 0x00]));
    expect(await messages()).toEqual(['FILE holds a NUL byte at byte 2, so it is no text.']);
    await writeFile(path, Uint8Array.from([0x61, 0xff]));
    expect(await messages()).toEqual(['FILE is not valid UTF-8 at byte 1.']);
    await truncate(path, 1024 * 1024 + 1);
    expect(await messages()).toEqual(['FILE is larger than 1 MB.']);
  });
});
