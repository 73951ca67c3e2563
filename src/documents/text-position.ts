// Turns an offset into the line and column that an editor shows, and finds what a failed merge left behind.
import { byteOrderMark } from './json.ts';

export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** Both count from 1; columns count UTF-16 units, as most editors do; a BOM takes no column. */
export function positionAt(text: string, offset: number): TextPosition {
  let line = 1;
  let lineStart = text.startsWith(byteOrderMark) ? 1 : 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) {
    line++;
    lineStart = at + 1;
  }
  return { line, column: Math.max(1, offset - lineStart + 1) };
}

const markers = ['<<<<<<<', '|||||||', '=======', '>>>>>>>'];

/** The offset of the first merge-conflict marker at the start of a line. */
export function conflictOffset(text: string): number | undefined {
  const start = text.startsWith(byteOrderMark) ? 1 : 0;
  if (markers.some(marker => text.startsWith(marker, start))) return start;
  const found = markers.map(marker => text.indexOf(`\n${marker}`)).filter(at => at !== -1);
  return found.length === 0 ? undefined : Math.min(...found) + 1;
}
