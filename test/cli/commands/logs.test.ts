// Proves what people see of an agent's output: whole lines, no control sequences, repetition folded.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LogLines } from '../../../src/cli/output/agent-output.ts';

function shown(...chunks: readonly string[]): string {
  const lines = new LogLines();
  return chunks.map(chunk => lines.push(chunk)).join('') + lines.end();
}

describe('the log of an agent', () => {
  it('given 10,000 identical lines, then they are folded with their count (B68)', () => {
    expect(shown('start\n', 'retrying\n'.repeat(10_000), 'end\n')).toBe(
      'start\nretrying\nretrying\n  [the same line 9998 times more]\nend\n',
    );
  });

  it('given two identical lines, or empty ones, then they are shown as they are', () => {
    expect(shown('a\na\nb\n\n\n\n\nc\n')).toBe('a\na\nb\n\n\n\n\nc\n');
    expect(shown('a\na\na\n')).toBe('a\na\n  [the same line 1 time more]\n');
  });

  it('given a control sequence that is cut by a chunk, then nothing of it is shown (B62)', () => {
    expect(shown('safe \x1b', ']0;title\x07 text\x1b[3', '1m red\n')).toBe('safe  text red\n');
    expect(shown('one\rtwo\n')).toBe('one\ntwo\n');
  });

  it('given a last line without its end, then it is shown at the end', () => {
    const lines = new LogLines();
    expect(lines.push('one\ntw')).toBe('one\n');
    expect(lines.push('o')).toBe('');
    expect(lines.end()).toBe('two\n');
    expect(lines.end()).toBe('');
  });

  it('given any text in any chunks, then the chunks do not matter, and no control is left', () => {
    const part = fc.constantFrom(
      'a',
      'b\n',
      '\n',
      'same\nsame\nsame\n',
      '\x1b[31m',
      '\x1b]8;;https://x\x07',
      '\r',
      'é',
    );
    fc.assert(
      fc.property(fc.array(part), fc.array(fc.nat(40)), (parts, cuts) => {
        const text = parts.join('');
        const at = [...new Set(cuts.filter(cut => cut < text.length))].sort((one, two) => one - two);
        const chunks = [0, ...at].map((from, n) => text.slice(from, at[n] ?? text.length));
        expect(shown(...chunks)).toBe(shown(text));
        expect(shown(text)).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f]/);
      }),
    );
  });
});
