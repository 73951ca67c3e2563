// Proves that the user's instructions are created once, re-read when changed and never lost to a broken file.
import { mkdir, mkdtemp, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkInstructions, instructionsReader, readText } from '../../src/documents/text-file.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ralph-instructions-'));
  path = join(folder, 'PROMPT.md');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

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
