// Makes text from a document safe to show in a sentence, and names what a reader could not see in it.

const shownCharsMax = 40;
const unsafe =
  /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|\p{Cs}/gu;

/** One short piece of a line: quoted as JSON, cut, without control, direction-changing or invisible characters. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value !== 'string') return String(value);
  const characters = [...value.slice(0, 2 * shownCharsMax)];
  const isCut = characters.length > shownCharsMax || value.length > 2 * shownCharsMax;
  return visible(JSON.stringify(characters.slice(0, shownCharsMax).join('') + (isCut ? '…' : '')));
}

/** Escapes what a terminal would obey or hide; line breaks and tabs too. */
export function visible(text: string): string {
  return text
    .replace(/[\u0000-\u001f]/g, character => escaped(character))
    .replace(unsafe, character => escaped(character));
}

function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16)}}`;
}

// Joiners belong to emoji and to scripts that need them; between other characters they only hide something.
const joinerHome = '\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\p{M}\\p{Script=Arabic}\\p{Script=Syriac}\\ufe0f';
const hidden = new RegExp(
  `[\\u061c\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff]|[\\u{e0000}-\\u{e007f}]|(?<![${joinerHome}])[\\u200c\\u200d]`,
  'u',
);
const plain = /^[\t\n\r -~]*$/;
const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
// UTF-8 that was once read as Windows-1252: an em dash becomes â€”, an é becomes Ã©.
const mojibake = /\u00e2\u20ac|[\u00c3\u00c2][\u00a0-\u00bf]/;

/** What a reader of this text should be warned of, as the end of a sentence; undefined for plain text. */
export function suspicion(text: string): string | undefined {
  if (plain.test(text)) return undefined;
  const found = hidden.exec(text)?.[0] ?? control.exec(text)?.[0];
  if (found !== undefined) {
    const name = `U+${found.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
    const kind = hidden.test(found) ? 'an invisible or direction-changing character' : 'a control character';
    return `holds ${kind} (${name}); read it with care.`;
  }
  return mojibake.test(text) ? 'looks like UTF-8 that was once read in another encoding.' : undefined;
}
