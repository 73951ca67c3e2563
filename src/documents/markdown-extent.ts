// How far an item of a checklist or a section of a plan reaches: the last line that still belongs to it.
import { heading, type MarkdownLine } from './markdown.ts';

const columnsOf = (text: string): number => /^[ \t]*/.exec(text)![0].replaceAll('\t', '    ').length;

/** The row of the last line with something in it that stands below this item. */
export function itemEnd(lines: readonly MarkdownLine[], row: number): number {
  const columns = columnsOf(lines[row]!.text);
  let end = row;
  for (let at = row + 1; at < lines.length; at += 1) {
    const { text, isCode } = lines[at]!;
    const goesOn = isCode && lines[at - 1]!.isCode;
    if (!goesOn && text.trim() !== '' && columnsOf(text) <= columns) break;
    if (text.trim() !== '') end = at;
  }
  return end;
}

/** The same for the section that this heading begins. */
export function sectionEnd(lines: readonly MarkdownLine[], row: number): number {
  const depth = heading(lines[row]!)?.depth ?? 0;
  let end = row;
  for (let at = row + 1; at < lines.length; at += 1) {
    const found = heading(lines[at]!);
    if (found !== undefined && found.depth <= depth) break;
    if (lines[at]!.text.trim() !== '') end = at;
  }
  return end;
}
