// Cuts and cleans text that others wrote, so that a bound never breaks a character and a terminal never obeys it.

const joiner = 0x200d;
const stepsBackMax = 32; // a base with more marks than this is noise; then only the surrogate pair is kept whole

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function splitsPair(text: string, at: number): boolean {
  return isLowSurrogate(text.charCodeAt(at)) && isHighSurrogate(text.charCodeAt(at - 1));
}

/** Belongs to the character before it: combining marks, variation selectors, joiner, skin tones, flag tags. */
function joinsPrevious(text: string, at: number): boolean {
  const point = text.codePointAt(at) ?? 0;
  if (point < 0x300) return false;
  if (point === joiner || (point >= 0x1f3fb && point <= 0x1f3ff) || (point >= 0xe0020 && point <= 0xe007f)) return true;
  return /^\p{M}/u.test(String.fromCodePoint(point));
}

function splitsCharacter(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false;
  return splitsPair(text, at) || text.charCodeAt(at - 1) === joiner || joinsPrevious(text, at);
}

/** The beginning of `text`, at most `max` UTF-16 units, never ending inside a character. */
export function takeCharacters(text: string, max: number): string {
  if (!(max > 0)) return '';
  if (text.length <= max) return text;
  const wanted = Math.floor(max);
  let cut = wanted;
  while (cut > 0 && wanted - cut < stepsBackMax && splitsCharacter(text, cut)) cut -= 1;
  if (cut === 0 || splitsCharacter(text, cut)) cut = splitsPair(text, wanted) ? wanted - 1 : wanted;
  return text.slice(0, cut);
}

/** The end of `text`, at most `max` UTF-16 units, never beginning inside a character. */
export function takeLastCharacters(text: string, max: number): string {
  if (!(max > 0)) return '';
  if (text.length <= max) return text;
  let cut = text.length - Math.floor(max);
  while (splitsCharacter(text, cut)) cut += 1;
  return text.slice(cut);
}

/** All on one line and without controls, at most `charsMax` long. */
export const oneLine = (text: string, charsMax = Number.POSITIVE_INFINITY): string =>
  takeCharacters(stripControls(text).replace(/\s+/g, ' ').trim(), charsMax);

const escapeCode = 0x1b;
const bellCode = 0x07;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const controls = /[\0-\x08\x0b-\x1f\x7f-\x9f]/;

/** Where a control sequence's parameters and final byte end. */
function afterParameters(text: string, from: number, lowest: number, highest: number, finalLowest: number): number {
  let at = from;
  while (text.charCodeAt(at) >= lowest && text.charCodeAt(at) <= highest) at += 1;
  const final = text.charCodeAt(at);
  return final >= finalLowest && final <= 0x7e ? at + 1 : at;
}

/** A string sequence ends at its terminator, and at a line's end too: an unclosed one must not hide the rest. */
function afterString(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === bellCode || code === 0x9c) return at + 1;
    if (code === escapeCode) return text[at + 1] === '\\' ? at + 2 : at;
    if (code === lineFeed || code === carriageReturn || code === 0x18 || code === 0x1a) return at;
  }
  return text.length;
}

/** Where the control character or sequence that begins at `at` ends. */
function afterControl(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code === 0x9b) return afterParameters(text, at + 1, 0x20, 0x3f, 0x40);
  if (code === 0x90 || code === 0x98 || (code >= 0x9d && code <= 0x9f)) return afterString(text, at + 1);
  if (code !== escapeCode) return at + 1;
  const kind = text[at + 1] ?? '';
  if (kind === '[') return afterParameters(text, at + 2, 0x20, 0x3f, 0x40);
  if (kind !== '' && ']PX^_'.includes(kind)) return afterString(text, at + 2);
  return afterParameters(text, at + 1, 0x20, 0x2f, 0x30);
}

function isControl(code: number): boolean {
  return (code < 0x20 && code !== lineFeed && code !== 0x09) || (code >= 0x7f && code <= 0x9f);
}

/** The target of a terminal link (OSC 8): '' for the end of one, undefined when the sequence is none. */
function linkTarget(sequence: string): string | undefined {
  const target = /^(?:\x1b\]|\x9d)8;[^;]*;([^\x07\x1b\x9c\n\r]*)/.exec(sequence)?.[1];
  if (target === undefined || target === '') return target;
  const host = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]+)/i.exec(target)?.[1];
  return takeCharacters(host ?? target, 100);
}

/**
 * Without terminal sequences and control characters but `\n` and `\t`; every line end becomes `\n`. A link's text can say
 * anything, so its real host is put behind it.
 */
export function stripControls(text: string): string {
  if (!controls.test(text)) return text;
  const kept: string[] = [];
  let link = '';
  let from = 0;
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    const endsLink = link !== '' && (code === lineFeed || code === carriageReturn); // one that is left open ends with its line
    if (!isControl(code) && !endsLink) {
      at += 1;
      continue;
    }
    if (at > from) kept.push(text.slice(from, at));
    if (endsLink) {
      kept.push(` (${link})`);
      link = '';
    }
    if (code === lineFeed) {
      kept.push('\n');
      at += 1;
    } else if (code === carriageReturn) {
      if (text.charCodeAt(at + 1) !== lineFeed) kept.push('\n');
      at += 1;
    } else {
      const end = afterControl(text, at);
      const target = linkTarget(text.slice(at, end));
      if (target !== undefined) {
        if (link !== '') kept.push(` (${link})`);
        link = target;
      }
      at = end;
    }
    from = at;
  }
  kept.push(text.slice(from));
  if (link !== '') kept.push(` (${link})`);
  return kept.join('');
}

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
