// Proves how sentences stand on a terminal: broken between words and set in, and untouched wherever nobody looks.
import { describe, expect, it } from 'vitest';
import { folded } from '../../src/cli/terminal.ts';

const terminal = { isTTY: true, columns: 40 };
const sentence = 'Done: 1/1 tasks done, 1 iteration, $0.00, verified: false';

describe('sentences of ours', () => {
  it.each([
    ['', '', 'a sentence'],
    ['ralph: ', '       ', 'a complaint'],
    ['note: ', '      ', 'a notice'],
    ['  ', '    ', 'a hint'],
    ['  process    ', '             ', 'a fact with its name'],
  ])('given %j before it, when it is longer than the line, then the rest begins below %j (%s)', (start, below) => {
    const lines = folded(`${start}${sentence}`, terminal).split('\n');
    expect(lines.length).toBeGreaterThan(1);
    expect(lines[0]?.startsWith(`${start}Done: `)).toBe(true);
    for (const line of lines) expect(line.length).toBeLessThan(40);
    for (const line of lines.slice(1)) expect(line).toMatch(new RegExp(`^${below}\\S`));
    expect(lines.map(line => line.trim()).join(' ')).toBe(`${start}${sentence}`.trim());
  });

  it('given no terminal, then not a byte differs', () => {
    const text = `  ${sentence} ${sentence}\n`;
    expect(folded(text, { isTTY: false, columns: 40 })).toBe(text);
    expect(folded(text, { columns: 40 } as NodeJS.WriteStream)).toBe(text);
  });

  it('given several lines, then each is broken for itself, and short ones stay', () => {
    expect(folded(`short\n  ${sentence}\n\n  end`, terminal)).toBe(
      'short\n  Done: 1/1 tasks done, 1 iteration,\n    $0.00, verified: false\n\n  end',
    );
  });

  it('given a path longer than the line, then it stays in one piece, to be copied', () => {
    const path = `/home/ada/${'deep/'.repeat(10)}PRD.json`;
    expect(folded(`Its last good version: ${path}`, terminal)).toBe(`Its last good version:\n${path}`);
  });

  it('given painted text, then its colours stay', () => {
    const painted = `\x1b[1m${sentence} and more words than fit\x1b[22m`;
    expect(folded(painted, terminal)).toBe(painted);
  });
});
