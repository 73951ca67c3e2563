// Proves how sentences stand on a terminal: broken between words and set in, and untouched wherever nobody looks.
import { describe, expect, it } from 'vitest';
import { beTold, fitted, folded, hanging, isColored, shownOn, wrapped } from '../../src/cli/terminal.ts';
import { columnsOf, padColumns, takeColumns } from '../../src/text/columns.ts';

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

describe('text that is wider than it is long', () => {
  it.each([
    ['plain', 5],
    ['日本語：テスト', 14],
    ['한국어', 6],
    ['✅ done', 7],
    ['❤️ 👍🏽 🇩🇪', 8],
    ['e\u0301 · ─ …', 7],
    ['ｱｲｳ', 3],
  ])('%s takes %i columns', (text, columns) => {
    expect(columnsOf(text)).toBe(columns);
    expect(columnsOf(padColumns(text, 20))).toBe(20);
  });

  it('is cut before the character that no longer fits, and keeps the marks of the last one', () => {
    expect(takeColumns('日本語', 5)).toBe('日本');
    expect(takeColumns('ae\u0301b', 2)).toBe('ae\u0301');
    expect(fitted('日本語のテスト', 10, { ascii: false })).toBe('日本語の…');
    expect(fitted('日本語のテスト', 14, { ascii: false })).toBe('日本語のテスト');
  });

  it('is wrapped by columns, also without a space in it', () => {
    const lines = wrapped(`${'漢字'.repeat(20)} end`, 30);
    expect(lines.map(columnsOf)).toEqual([30, 30, 24]);
    expect(lines.join('')).toBe(`${'漢字'.repeat(20)} end`);
  });

  it('below a wide beginning the next line begins under its end', () => {
    expect(hanging('日本 ', 'one two three four five six', 26)).toBe('日本 one two three four\n     five six');
  });
});

describe('color', () => {
  const terminal = { isTTY: true };
  const pipe = { isTTY: false };

  it.each<[string, NodeJS.ProcessEnv, boolean, boolean]>([
    ['nothing', {}, true, false],
    ['NO_COLOR', { NO_COLOR: '1' }, false, false],
    ['an empty NO_COLOR', { NO_COLOR: '' }, true, false],
    ['CLICOLOR=0', { CLICOLOR: '0' }, false, false],
    ['CLICOLOR=1', { CLICOLOR: '1' }, true, false],
    ['CLICOLOR_FORCE=1', { CLICOLOR_FORCE: '1' }, true, true],
    ['CLICOLOR_FORCE=1 and NO_COLOR', { CLICOLOR_FORCE: '1', NO_COLOR: '1' }, false, false],
    ['CLICOLOR_FORCE=0', { CLICOLOR_FORCE: '0' }, true, false],
    ['FORCE_COLOR=1', { FORCE_COLOR: '1' }, true, true],
    ['TERM=dumb', { TERM: 'dumb' }, false, false],
  ])('given %s, then each stream is decided for itself', (_what, env, atTerminal, inPipe) => {
    expect([isColored(terminal, env), isColored(pipe, env)]).toEqual([atTerminal, inPipe]);
  });

  it('given --no-color, then nothing forces it', () => {
    beTold({ color: false, input: true });
    expect(isColored(terminal, { CLICOLOR_FORCE: '1' })).toBe(false);
    beTold({ color: true, input: true });
  });

  it('given a stream without color, then no escape code reaches it, whoever painted the text', () => {
    expect(shownOn('\x1b[1mcard\x1b[22m', { isTTY: false } as NodeJS.WriteStream)).toBe('card');
  });
});
