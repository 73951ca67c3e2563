// Markdown of a vault's notes around text that others wrote: it can become neither front matter, heading, link nor HTML.

import { oneLine, stripControls, takeCharacters, visible } from '../../../text/text.ts';

const escaped = (text: string): string => visible(text).replaceAll(/[\\`*[\]<>|~#$%=]/g, '\\$&');

/** One line, bounded; never the start of a line of its own. */
export function inline(text: string, charsMax = 300): string {
  const line = oneLine(text);
  const cut = takeCharacters(line, charsMax);
  return `${escaped(cut)}${cut.length < line.length ? '…' : ''}`;
}

const blockLinesMax = 20;

/** Several lines as a quotation. */
export function quotation(text: string): string {
  const lines = stripControls(text).trim().split('\n');
  const shown = lines.slice(0, blockLinesMax).map(line => `> ${inline(line)}`.trimEnd());
  const left = lines.length - shown.length;
  return [...shown, ...(left > 0 ? [`> (${left} more lines)`] : [])].join('\n');
}

/** A link to a note beside it, where the name can be one. */
export const noteLink = (name: string): string =>
  /^[A-Za-z0-9_][A-Za-z0-9_ .-]*$/.test(name) ? `[[${name}]]` : inline(name);

/** Values are ours: numbers, fixed words, times, ids that name files. */
export function frontMatter(fields: Readonly<Record<string, string | number | boolean>>): string {
  return ['---', ...Object.entries(fields).map(([name, value]) => `${name}: ${value}`), '---'].join('\n');
}
