// Lets people write comments and trailing commas in config files (B27): blanks them out, so that every offset stays.

export type Stripped =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly message: string; readonly offset: number };

/** Strict JSON of the same length; line breaks stay where they were. */
export function withoutComments(text: string): Stripped {
  const units = text.split('');
  /** Offset of a comma that may turn out to be a trailing one. */
  let comma: number | undefined;
  let last = '';
  for (let at = 0; at < text.length; at++) {
    const unit = text[at]!;
    if (unit === '/' && (text[at + 1] === '/' || text[at + 1] === '*')) {
      const end = commentEnd(text, at);
      if (end === undefined) return { ok: false, message: 'this comment is not closed; end it with */', offset: at };
      for (let i = at; i < end; i++) if (text[i] !== '\n' && text[i] !== '\r') units[i] = ' ';
      at = end - 1;
    } else if (!' \t\r\n'.includes(unit)) {
      if ((unit === '}' || unit === ']') && comma !== undefined) units[comma] = ' ';
      comma = unit === ',' && !'[{,'.includes(last) ? at : undefined;
      last = unit;
      if (unit === '"') at = stringEnd(text, at) - 1;
    }
  }
  return { ok: true, text: units.join('') };
}

function commentEnd(text: string, at: number): number | undefined {
  if (text[at + 1] === '/') {
    const end = /[\r\n]/g;
    end.lastIndex = at;
    return end.exec(text)?.index ?? text.length;
  }
  const end = text.indexOf('*/', at + 2);
  return end === -1 ? undefined : end + 2;
}

/** Just behind the closing quote; an open string ends with its line, and the parser will say so. */
export function stringEnd(text: string, at: number): number {
  for (let i = at + 1; i < text.length; i++) {
    const unit = text[i];
    if (unit === '\\') i++;
    else if (unit === '"') return i + 1;
    else if (unit === '\n' || unit === '\r') return i;
  }
  return text.length;
}
