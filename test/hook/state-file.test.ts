// The state file of a loop in a session: golden texts, lines of dashes in the prompt, and what is no state file.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ralphLoop } from '../../src/documents/formats/ralph-loop.ts';
import { readStateFile, removeStateFile, stateFilePath, stateText, writeStateFile } from '../../src/hook/state-file.ts';

const folder = (): string => mkdtempSync(join(tmpdir(), 'state-'));
const state = {
  isActive: true,
  iteration: 3,
  iterationsMax: 50,
  promise: 'DONE',
  startedAt: Date.UTC(2026, 0, 15, 12),
  session: 'abc',
  loop: 'parser',
};
const prompt = 'Your task prompt goes here\n\n---\n\nand on\n---\nand on';
const golden = `---
active: true
iteration: 3
max_iterations: 50
completion_promise: "DONE"
started_at: "2026-01-15T12:00:00Z"
session_id: "abc"
loop: "parser"
---

${prompt}
`;

it('is the form of seed 001, with the session and the loop beside it', () => {
  expect(stateText(state, prompt)).toBe(golden);
});

it('is read back as it was written, lines of dashes in the prompt too', () => {
  const directory = folder();
  expect(writeStateFile(directory, state, prompt)).toBeUndefined();
  const read = readStateFile(directory);
  expect(read).toEqual({
    values: {
      active: 'true',
      iteration: '3',
      max_iterations: '50',
      completion_promise: 'DONE',
      started_at: '2026-01-15T12:00:00Z',
      session_id: 'abc',
      loop: 'parser',
    },
    prompt: `${prompt}\n`,
  });
  expect(readdirSync(join(directory, '.claude'))).toEqual(['ralph-loop.local.md']);
});

it('is read by sed and awk, which is what such files are made for', () => {
  const directory = folder();
  writeStateFile(directory, state, prompt);
  const sh = (line: string): string =>
    execFileSync('sh', ['-c', `${line} "$0"`, stateFilePath(directory)], { encoding: 'utf8' }).trim();
  expect(sh(`sed -n 's/^iteration: *//p'`)).toBe('3');
  expect(sh(`sed -n 's/^completion_promise: *"\\(.*\\)"$/\\1/p'`)).toBe('DONE');
  expect(sh(`awk '/^---$/{i++} i>=2' `)).toBe(`---\n\n${prompt}`);
});

it('is counted without a change of its prompt, and goes', () => {
  const directory = folder();
  writeStateFile(directory, state, prompt);
  writeStateFile(
    directory,
    { ...state, iteration: 4, isActive: false },
    (readStateFile(directory) as { prompt: string }).prompt,
  );
  expect(readFileSync(stateFilePath(directory), 'utf8')).toBe(
    golden.replace('active: true', 'active: false').replace('iteration: 3', 'iteration: 4'),
  );
  removeStateFile(directory);
  expect(readStateFile(directory)).toBeUndefined();
});

it('is a document that ralph run reads, too', () => {
  expect(ralphLoop.recognises('ralph-loop.local.md', golden)).toBe(true);
  const parsed = ralphLoop.parse(golden);
  expect(parsed.ok && parsed.document.tasks[0]?.description).toBe(prompt);
  expect(parsed.ok && parsed.document.defaults).toEqual({ promise: 'DONE', iterationsMax: 50 });
});

it('takes one of the official plugin: other keys, other quotes, line ends of Windows', () => {
  const directory = folder();
  mkdirSync(join(directory, '.claude'));
  const text =
    "---\r\nactive: true\r\niteration: 1\r\nmax_iterations: 0\r\ncompletion_promise: 'ALL DONE'\r\n---\r\n\r\nDo it\r\n";
  writeFileSync(stateFilePath(directory), text);
  expect(readStateFile(directory)).toEqual({
    values: { active: 'true', iteration: '1', max_iterations: '0', completion_promise: 'ALL DONE' },
    prompt: 'Do it\r\n',
  });
});

it.each([
  ['no front matter', 'Do it\n'],
  ['front matter that never ends', '---\nactive: true\n\nDo it\n'],
  ['no prompt', '---\nactive: true\n---\n\n'],
  ['front matter that begins later', 'x\n---\nactive: true\n---\n\nDo it\n'],
])('is broken: %s', (_what, text) => {
  const directory = folder();
  mkdirSync(join(directory, '.claude'));
  writeFileSync(stateFilePath(directory), text);
  expect(readStateFile(directory)).toBe('broken');
});

it('never goes through a link', () => {
  const [directory, other] = [folder(), folder()];
  symlinkSync(other, join(directory, '.claude'));
  expect(writeStateFile(directory, state, prompt)).toMatch(/is a link/);
  expect(readdirSync(other)).toEqual([]);
  const second = folder();
  mkdirSync(join(second, '.claude'));
  writeFileSync(join(other, 'mine'), 'mine');
  symlinkSync(join(other, 'mine'), stateFilePath(second));
  expect(readStateFile(second)).toBe('broken');
});
