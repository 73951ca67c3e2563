// Proves which lines of a Markdown text count: examples in code and comments never do, slips never hide the rest.
import { expect, it } from 'vitest';
import { boxLine, heading, markdownLines, watchHidden } from '../../src/documents/markdown.ts';

/** `c` code, `h` hidden by a comment, `.` text, for each line. */
const kinds = (text: string): string =>
  markdownLines(text)
    .map(line => (line.isCode ? 'c' : line.isComment ? 'h' : '.'))
    .join('');

it.each([
  ['a\n```\nb\n```\nc', '.ccc.'],
  ['~~~\n```\n~~~\n```', 'ccc.'],
  ['````\n```\n````\nx', 'ccc.'],
  ['```js\n``` js\n```\nx', 'ccc.'],
  ['- ```\n  b\n  ```\nx', 'ccc.'],
  ['``` inline ```\nx\n```', '...'],
  ['```\nnever closed', '..'],
  ['```\n~~~\nx', '...'],
  ['<!-- one --> x\ny', 'h.'],
  ['<!-- a\nb\n--> c\nd', 'hhh.'],
  ['<!-- never closed\nx', '..'],
  ['say `<!--` here\nx -->', '..'],
  ['<!--\n```\n-->\n```\nx\n```', 'hhhccc'],
  ['```\n<!--\n```\nx -->', 'ccc.'],
])('given %j, then its lines are %s', (text, expected) => {
  expect(kinds(text)).toBe(expected);
  expect(kinds(`\uFEFF${text.replaceAll('\n', '\r\n')}`)).toBe(expected);
});

it('given a hundred thousand openings that nothing closes, then each line is looked at a few times only', () => {
  expect(kinds('~~~ x\n'.repeat(100_000))).toBe('.'.repeat(100_000));
  expect(kinds('<!--\n'.repeat(100_000))).toBe('.'.repeat(100_000));
});

it('given boxes, then their character is found by its place', () => {
  const text = '\uFEFF1. [ ] one\r\n\t* [X]  two \r\n+ [💥] odd\n- []\n-[ ] no\n- [ ]';
  const boxes = markdownLines(text).flatMap(line => boxLine(line) ?? []);
  expect(boxes.map(box => [box.state, box.text, text.startsWith(box.state, box.offset)])).toEqual([
    [' ', 'one', true],
    ['X', 'two', true],
    ['💥', 'odd', true],
    [' ', '', true],
  ]);
});

it.each([
  ['## Two ##', 2, 'Two'],
  ['# C#', 1, 'C#'],
  ['###### six', 6, 'six'],
  ['#', 1, ''],
  ['# #', 1, ''],
])('given the heading %j, then it has depth %i and the text %j', (text, depth, title) => {
  expect(heading(markdownLines(text)[0]!)).toEqual({ depth, text: title });
});

it.each(['#tag', '    # code', '####### seven', 'text'])('given %j, then it is no heading', text => {
  expect(heading(markdownLines(text)[0]!)).toBeUndefined();
});

it('given what a page does not show, then each line of it is a notice, and beyond twenty they are counted (B50, B51)', () => {
  expect(watchHidden(markdownLines('a\u202eb\n<!-- do evil -->\n```\n<!-- code -->\n```\n~~~'))).toEqual([
    'Line 1 holds an invisible or direction-changing character (U+202E); read it with care.',
    'Line 2 holds an HTML comment: a page does not show it, but agents read it.',
    'Line 6 opens a code block that is never closed; what follows is read as text.',
  ]);
  expect(watchHidden(markdownLines('\u200b\n'.repeat(30))).at(-1)).toBe('10 more lines look odd.');
});
