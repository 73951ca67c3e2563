// Proves that a document which an iteration spoiled although it can be read is put back, that nobody's words are lost, and that
// what a document calls done without a record of it is told.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { editedTask, unrecordedTicks } from '../../src/documents/damage.ts';
import type { TaskSource } from '../../src/documents/document.ts';
import { fileSource } from '../../src/documents/file.ts';
import { prompt } from '../../src/documents/formats/prompt.ts';
import { spec } from '../core/given.ts';

const text = '---\nmax_iterations: 5\n---\n# Build it\n\n- [ ] TASK_COMPLETE\n';
const easier = text.replace('Build it', 'Say done');

let folder: string;
let path: string;
let source: TaskSource;
const backupPath = () => join(folder, 'home', 'document.edited');
const onDisk = () => readFile(path, 'utf8');

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ralph-damage-'));
  path = join(folder, 'PROMPT.md');
  await writeFile(path, text);
  source = fileSource({ path, format: prompt, copyPath: join(folder, 'home', 'document'), damage: editedTask });
  await source.load();
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it('given another text, title or limit while an iteration ran, then the next save puts it back and saves the edit beside our copy', async () => {
  for (const edited of [easier, text.replace('5', '0'), `${text}\nand more\n`]) {
    await writeFile(path, edited);
    expect(await source.load(true)).toMatchObject({ type: 'loaded', isDamaged: true });
    expect(await onDisk()).toBe(edited);
    const restored = `PROMPT.md is the task itself and was edited while an iteration ran, so Ralph put its last good version back and kept the edited one as ${backupPath()}.`;
    expect(await source.save([])).toMatchObject({ type: 'saved', restored });
    expect([await onDisk(), await readFile(backupPath(), 'utf8')]).toEqual([text, edited]);
    expect(await source.load()).toEqual({ type: 'unchanged' });
  }
});

it('given only a ticked box, then that stands and is told', async () => {
  await writeFile(path, text.replace('[ ]', '[x]'));
  const loaded = await source.load(true);
  expect(loaded).toMatchObject({ type: 'loaded', document: { tasks: [{ done: true }] } });
  expect(loaded).not.toHaveProperty('isDamaged');
});

it('given an edit while no iteration ran, then it is taken, and later iterations are held to it', async () => {
  await writeFile(path, easier);
  expect(await source.load()).not.toHaveProperty('isDamaged');
  await writeFile(path, text);
  expect(await source.load(true)).toMatchObject({ isDamaged: true });
  await source.save([]);
  expect(await onDisk()).toBe(easier);
});

it('given a mark for the task in the same moment, then the text that is put back bears it', async () => {
  await writeFile(path, easier);
  await source.load(true);
  await source.save([{ id: 'prompt', done: true, skipped: false }]);
  expect(await onDisk()).toBe(text.replace('[ ]', '[x]'));
});

it('given that somebody writes the file once more before it is put back, then that is not overwritten unseen', async () => {
  await writeFile(path, easier);
  await source.load(true);
  const later = text.replace('Build it', 'Build it well');
  await writeFile(path, later);
  expect(await source.save([])).toMatchObject({ type: 'saved' });
  expect(await onDisk()).toBe(later);
});

it('given tasks that are over without a record, then they are named; with one, nothing is said (B48)', () => {
  const tasks = [spec('A', { done: true }), spec('B', { skipped: true }), spec('C')];
  expect(unrecordedTicks(tasks, new Set())).toEqual([
    '2 of 3 tasks (A, B) are marked as done or skipped already, without a record of it, and will not be worked on. Open again what is not done; --accept-ticked says that they are right, and this note is left out.',
  ]);
  expect(unrecordedTicks(tasks, new Set(['A']))).toEqual([
    expect.stringMatching(/^Task B is marked as done or skipped/),
  ]);
  expect(unrecordedTicks(tasks, new Set(['A', 'B']))).toEqual([]);
});
