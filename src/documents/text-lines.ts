// Walks a text line by line with the place and the indentation of each, for formats that people write by hand.

export interface TextLine {
  readonly start: number;
  /** Behind the last character, before the line break. */
  readonly end: number;
  readonly text: string;
  /** In columns; a tab goes on to the next multiple of four, as in Markdown. */
  readonly indent: number;
}

export function* textLines(text: string, from: number): Generator<TextLine> {
  let start = from;
  while (start < text.length) {
    const feed = text.indexOf('\n', start);
    const next = feed === -1 ? text.length : feed + 1;
    let end = feed === -1 ? text.length : feed;
    if (end > start && text[end - 1] === '\r') end--;
    const line = text.slice(start, end);
    yield { start, end, text: line, indent: indentOf(line) };
    start = next;
  }
}

function indentOf(line: string): number {
  let column = 0;
  for (let at = 0; at < line.length; at++) {
    if (line[at] === ' ') column++;
    else if (line[at] === '\t') column += 4 - (column % 4);
    else break;
  }
  return column;
}
