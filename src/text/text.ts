// Text that others wrote, cut and cleaned: a bound never breaks a character, and a terminal never obeys it.

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

/** What stands in no key or token. */
const wordEdge = /[^\w\-+/=.~:%@!#$^*?\\]/;

/**
 * The end of `text`, at most `max` long, from the beginning of a line, else of a word. A secret whose beginning is cut off
 * looks like nothing, so no redactor would find the rest of it: where text is cut before it is redacted, it is cut by this.
 */
export function takeLastWhole(text: string, max: number): string {
  if (text.length <= max) return text;
  const end = takeLastCharacters(text, max);
  if (text[text.length - end.length - 1] === '\n') return end;
  const line = end.indexOf('\n');
  if (line >= 0) return end.slice(line + 1);
  const word = end.search(wordEdge);
  return word < 0 ? '' : end.slice(word);
}

/** The last lines of a text; when some are left out, under a line that says where all of them are. */
export function lastLines(text: string, linesMax: number, all: string): string {
  const lines = text.split('\n');
  if (lines.length <= linesMax) return text;
  return [`(the last ${linesMax} lines; more: ${all})`, ...lines.slice(-linesMax)].join('\n');
}

/** All on one line and without controls, at most `charsMax` long. */
export const oneLine = (text: string, charsMax = Number.POSITIVE_INFINITY): string =>
  takeCharacters(stripControls(text).replace(/\s+/g, ' ').trim(), charsMax);

const escapeCode = 0x1b;
const controls = /[\0-\x08\x0b-\x1f\x7f-\x9f]/;
const controlOrLineEnd = /[\0-\x08\x0a-\x1f\x7f-\x9f]/g;

/** What follows the introducer of a control sequence (CSI), and of any other escape sequence. */
const controlSequence = /[\x20-\x3f]*[\x40-\x7e]?/y;
const escapeSequence = /[\x20-\x2f]*[\x30-\x7e]?/y;
/** A string sequence ends at its terminator, and at a line's end too: an unclosed one must not hide the rest. */
const stringSequence = /[^\x07\x18\x1a\x1b\x9c\n]*(?:[\x07\x9c]|\x1b\\)?/y;

function after(sequence: RegExp, text: string, from: number): number {
  sequence.lastIndex = from;
  sequence.test(text);
  return sequence.lastIndex;
}

/** Where the control character or sequence that begins at `at` ends. */
function afterControl(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code === 0x9b) return after(controlSequence, text, at + 1);
  if (code === 0x90 || code === 0x98 || (code >= 0x9d && code <= 0x9f)) return after(stringSequence, text, at + 1);
  if (code !== escapeCode) return at + 1;
  const kind = text[at + 1] ?? '';
  if (kind === '[') return after(controlSequence, text, at + 2);
  if (kind !== '' && ']PX^_'.includes(kind)) return after(stringSequence, text, at + 2);
  return after(escapeSequence, text, at + 1);
}

/** The target of a terminal link (OSC 8): '' for the end of one, undefined when the sequence is none. */
function linkTarget(sequence: string): string | undefined {
  const target = /^(?:\x1b\]|\x9d)8;[^;]*;([^\x07\x1b\x9c\n]*)/.exec(sequence)?.[1];
  if (target === undefined || target === '') return target;
  const host = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]+)/i.exec(target)?.[1];
  return takeCharacters(host ?? target, 100);
}

/**
 * Without terminal sequences and control characters but `\n` and `\t`; every line end becomes `\n`. A link's text can say
 * anything, so its real host is put behind it.
 */
export function stripControls(raw: string): string {
  if (!controls.test(raw)) return raw;
  const text = raw.replace(/\r\n?/g, '\n');
  const pieces: string[] = [];
  let link = '';
  const endLink = (): void => {
    if (link !== '') pieces.push(` (${link})`);
    link = '';
  };
  let from = 0;
  for (let at = nextControl(text, from); at < text.length; at = nextControl(text, from)) {
    pieces.push(text.slice(from, at));
    const isLineEnd = text[at] === '\n';
    from = isLineEnd ? at + 1 : afterControl(text, at);
    const target = isLineEnd ? '' : linkTarget(text.slice(at, from));
    if (target !== undefined) {
      endLink(); // one that is left open ends with its line
      link = target;
    }
    if (isLineEnd) pieces.push('\n');
  }
  pieces.push(text.slice(from));
  endLink();
  return pieces.join('');
}

/** Where the next line end, control character or sequence begins. */
function nextControl(text: string, from: number): number {
  controlOrLineEnd.lastIndex = from;
  return controlOrLineEnd.exec(text)?.index ?? text.length;
}

/** A word for a POSIX shell. */
export const shellWord = (text: string): string =>
  /^[\w./+@%:=,-]+$/.test(text) && !text.startsWith('-') ? text : `'${text.replaceAll("'", "'\\''")}'`;

// Text from a document, made safe to show in a sentence; and the names of what a reader could not see in it.

const shownCharsMax = 40;
const unsafe =
  /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|[\ud800-\udfff]/gu;

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

const plain = /^[\t\n\r -~]*$/;
const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
// UTF-8 that was once read as Windows-1252: an em dash becomes â€”, an é becomes Ã©.
const mojibake = /\u00e2\u20ac|[\u00c3\u00c2][\u00a0-\u00bf]/;

/** What a reader of this text should be warned of, as the end of a sentence; undefined for plain text. */
export function suspicion(text: string): string | undefined {
  if (plain.test(text)) return undefined;
  // Joiners belong to emoji and to scripts that need them; between other characters they only hide something. The pattern is
  // made here because its Unicode classes would cost every start half a millisecond.
  const hidden =
    /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]|(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\p{M}\p{Script=Arabic}\p{Script=Syriac}])[\u200c\u200d]/u;
  const found = hidden.exec(text)?.[0] ?? control.exec(text)?.[0];
  if (found !== undefined) {
    const name = `U+${found.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
    const kind = hidden.test(found) ? 'an invisible or direction-changing character' : 'a control character';
    return `holds ${kind} (${name}); read it with care.`;
  }
  return mojibake.test(text) ? 'looks like UTF-8 that was once read in another encoding.' : undefined;
}
