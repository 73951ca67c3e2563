// Transcripts of sessions: read from the end, at most a megabyte of them, whatever lies at their path.
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isEndOf, openSettled, openTranscript, type Transcript } from '../../src/hook/transcript.ts';

const folder = (): string => mkdtempSync(join(tmpdir(), 'transcript-'));
const lines = (...all: readonly object[]): string => all.map(line => `${JSON.stringify(line)}\n`).join('');
const text = (id: string, ...parts: readonly string[]): object[] =>
  parts.map(part => ({
    type: 'assistant',
    timestamp: '2026-01-15T12:00:00.000Z',
    message: { id, role: 'assistant', model: 'm', content: [{ type: 'text', text: part }], usage },
  }));
const usage = { input_tokens: 10, output_tokens: 2, cache_read_input_tokens: 3, cache_creation_input_tokens: 4 };
const tool = (id: string): object => ({
  type: 'assistant',
  message: { id, role: 'assistant', content: [{ type: 'tool_use', name: 'Bash', input: {} }], usage },
});
const typed = (words: string): object => ({ type: 'user', message: { role: 'user', content: words } });

function at(content: string): Transcript {
  const path = join(folder(), 't.jsonl');
  writeFileSync(path, content);
  const opened = openTranscript(path);
  if (!opened.ok) throw new Error(opened.problem);
  return opened.transcript;
}

it('joins the text parts of the last assistant message, each on a line of its own in the file (F64)', () => {
  const found = at(lines(...text('m1', 'before'), tool('m2'), ...text('m2', 'first', 'second'), typed('no')));
  expect(found.lastMessage()).toBe('first\nsecond');
});

it("reads the seed's own form, and that of the other agents", () => {
  expect(at(lines({ role: 'assistant', message: { content: [{ type: 'text', text: 'seed' }] } })).lastMessage()).toBe(
    'seed',
  );
  const payload = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'codex' }] };
  expect(at(lines({ type: 'response_item', payload })).lastMessage()).toBe('codex');
  const own = { id: '1', type: 'gemini', content: 'gemini', tokens: { input: 12, output: 5, cached: 2 }, model: 'g' };
  expect(at(lines({ id: '0', type: 'user', content: [{ text: 'hi' }] }, own)).lastMessage()).toBe('gemini');
});

it.each([
  ['only tools', lines(tool('m1'))],
  ['only the user', lines(typed('hello'))],
  ['only a subagent', lines(...text('m1', 'mine').map(one => ({ ...one, isSidechain: true })))],
  ['no JSON', 'garbage\n{"type":\n'],
  ['nothing', ''],
])('finds no message where there is %s', (_what, content) => {
  expect(at(content).lastMessage()).toBeUndefined();
});

it('tells what the user typed from what a hook, a command or a tool put there', () => {
  const others = ['Stop hook feedback:\nGo on', '<command-name>/x</command-name>'].map(typed);
  const result = { type: 'user', message: { role: 'user', content: [{ type: 'tool_result', content: 'x' }] } };
  const meta = { ...typed('caveat'), isMeta: true };
  expect(at(lines(typed('use tabs'), ...others, result, meta)).lastTyped('p1')).toBe('use tabs');
  const told = [
    { ...typed('use tabs'), promptId: 'p1' },
    { ...typed('<command-message>ralph:health-status</command-message>'), promptId: 'p2' },
  ];
  const [first, second] = ['p1', 'p2'].map(prompt => at(lines(...told)).lastTyped(prompt));
  expect([first, second]).toEqual(['use tabs', undefined]);
});

it('counts each message once, although every part of it says its tokens, and each tool', () => {
  const found = at(lines(...text('m1', 'a', 'b'), tool('m2'), tool('m2'), ...text('m3', 'c')));
  const { usage: counted, tools, offset, isBehind } = found.since(0);
  expect(
    counted.map(({ message, input, output, cacheRead, cacheWrite }) => [message, input, output, cacheRead, cacheWrite]),
  ).toEqual([
    ['m1', 10, 2, 3, 4],
    ['m2', 10, 2, 3, 4],
    ['m3', 10, 2, 3, 4],
  ]);
  expect([tools, offset, isBehind]).toEqual([2, found.size, false]);
});

it('goes on where it stopped, and leaves a half line for the next time', () => {
  const path = join(folder(), 't.jsonl');
  writeFileSync(path, lines(...text('m1', 'a')));
  const look = (from: number) => {
    const opened = openTranscript(path);
    if (!opened.ok) throw new Error(opened.problem);
    return opened.transcript.since(from);
  };
  const first = look(0);
  const [line] = text('m2', 'b').map(one => lines(one));
  appendFileSync(path, line!.slice(0, 50));
  const half = look(first.offset);
  appendFileSync(path, line!.slice(50));
  const second = look(half.offset);
  expect([first, half, second].map(one => one.usage.map(({ message }) => message))).toEqual([['m1'], [], ['m2']]);
});

it('counts the tokens of Codex and Gemini without what came from a cache twice', () => {
  const info = { last_token_usage: { input_tokens: 12, cached_input_tokens: 2, output_tokens: 5 } };
  const codex = at(
    lines({ timestamp: '2026-01-01T00:00:00Z', type: 'event_msg', payload: { type: 'token_count', info } }),
  );
  const own = { id: '1', type: 'gemini', content: 'x', tokens: { input: 12, output: 5, cached: 2 }, model: 'g' };
  for (const found of [codex, at(lines(own))])
    expect(found.since(0).usage).toMatchObject([{ input: 10, output: 5, cacheRead: 2, cacheWrite: 0 }]);
});

it('reads at most a megabyte of half a gigabyte, all looks of one call together', async () => {
  const path = join(folder(), 'large.jsonl');
  writeFileSync(path, '');
  truncateSync(path, 500 * 2 ** 20); // sparse: holes are read as zeros
  appendFileSync(path, `\n${lines(...text('m9', 'the last one'))}`);
  const opened = await openSettled(path, 'another message that never comes');
  if (!opened.ok) throw new Error(opened.problem);
  const { transcript } = opened;
  expect(transcript.lastMessage()).toBe('the last one');
  transcript.lastTyped('');
  expect(transcript.since(0).isBehind).toBe(true);
  expect(transcript.bytesRead()).toBeLessThanOrEqual(1_000_000);
  expect(transcript.bytesRead()).toBeGreaterThan(100_000);
  transcript.close();
});

it('catches up with all of it where there is time', () => {
  const path = join(folder(), 'long.jsonl');
  writeFileSync(path, lines(...Array.from({ length: 8_000 }, (_, n) => text(`m${n}`, 'x'.repeat(500))).flat()));
  const opened = openTranscript(path);
  if (!opened.ok) throw new Error(opened.problem);
  const { transcript } = opened;
  const hurried = transcript.since(0);
  expect(hurried.isBehind).toBe(true);
  const rest = transcript.since(hurried.offset, true);
  expect(hurried.usage.length + rest.usage.length).toBe(8_000);
  expect(rest.offset).toBe(transcript.size);
});

it('waits a moment for a host that writes later than it calls (F64)', async () => {
  const path = join(folder(), 't.jsonl');
  writeFileSync(path, lines(...text('m1', 'the one before')));
  setImmediate(() => appendFileSync(path, lines(...text('m2', 'the last one'))));
  const opened = await openSettled(path, 'the last one');
  expect(opened.ok && opened.transcript.lastMessage()).toBe('the last one');
});

it('knows the last message among those that are told together', () => {
  const last = 'All is well.\n\n<promise>DONE</promise>';
  expect(isEndOf(last, `before\n${last} DONE</promise>`)).toBe(true);
  expect(isEndOf('before', `before\n${last} DONE</promise>`)).toBe(false);
  expect(isEndOf('', 'x')).toBe(false);
});

it.each([
  ['a folder', (path: string) => mkdirSync(path)],
  ['nothing', () => {}],
  ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
])('refuses %s at once (B70)', (_what, make) => {
  const path = join(folder(), 'x');
  make(path);
  expect(openTranscript(path)).toEqual({ ok: false, problem: expect.stringContaining(path) });
});

it('refuses what belongs to somebody else (B70)', () => {
  const path = join(folder(), 't.jsonl');
  writeFileSync(path, '');
  const own = process.getuid;
  try {
    process.getuid = () => 54_321;
    expect(openTranscript(path)).toEqual({ ok: false, problem: expect.stringContaining('belongs to somebody else') });
  } finally {
    process.getuid = own;
  }
});

it('refuses a device and no path at all (B70)', () => {
  expect(openTranscript('/dev/zero').ok).toBe(false);
  expect(openTranscript('').ok).toBe(false);
});
