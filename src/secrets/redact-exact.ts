// Spells a known secret in the ways it travels: as it is, JSON-escaped, in base64, percent-encoded, in hexadecimal.

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Shorter values would redact ordinary words. */
const exactCharsMin = 8;

function bytesOf(text: string): number[] {
  const bytes: number[] = [];
  for (const character of text.toWellFormed()) {
    const point = character.codePointAt(0) ?? 0;
    if (point < 0x80) bytes.push(point);
    else if (point < 0x800) bytes.push(0xc0 | (point >> 6), 0x80 | (point & 63));
    else if (point < 0x10000) bytes.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63));
    else bytes.push(0xf0 | (point >> 18), 0x80 | ((point >> 12) & 63), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63));
  }
  return bytes;
}

function base64(bytes: readonly number[]): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += 3) {
    const [a = 0, b = 0, c = 0] = bytes.slice(i, i + 3);
    const bits = (a << 16) | (b << 8) | c;
    for (const shift of [18, 12, 6, 0]) text += alphabet[(bits >> shift) & 63];
  }
  return text;
}

/** The part of the base64 text that is the value's alone, for each of the three places it can have in a longer text. */
function base64Forms(bytes: readonly number[]): string[] {
  const forms = [0, 1, 2].map(before => {
    const bits = 8 * (before + bytes.length);
    return base64([...Array(before).fill(0), ...bytes]).slice([0, 2, 3][before], Math.floor(bits / 6));
  });
  const alone = base64(bytes).slice(0, Math.ceil((8 * bytes.length) / 6));
  return [...forms, alone, alone.padEnd(Math.ceil(alone.length / 4) * 4, '=')];
}

const jsonEscape = (text: string): string => JSON.stringify(text).slice(1, -1);
const asciiEscape = (text: string): string =>
  text.replace(/[^\x20-\x7e]/g, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

function formsOf(value: string): string[] {
  const bytes = bytesOf(value);
  const escaped = jsonEscape(value);
  const encoded = encodeURIComponent(value.toWellFormed());
  const strict = encoded.replace(/[!'()*]/g, mark => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
  const small = (text: string): string => text.replace(/%[0-9A-F]{2}/g, code => code.toLowerCase());
  const hex = bytes.map(byte => byte.toString(16).padStart(2, '0')).join('');
  const inBase64 = base64Forms(bytes);
  return [
    ...[value, escaped, jsonEscape(escaped), asciiEscape(escaped), escaped.replaceAll('/', '\\/')],
    ...[encoded, strict, small(encoded), small(strict), encoded.replaceAll('%20', '+'), strict.replaceAll('%20', '+')],
    ...[hex, hex.toUpperCase()],
    ...inBase64,
    ...inBase64.map(form => form.replaceAll('+', '-').replaceAll('/', '_')),
  ];
}

/** Lines of a many-line value that are telling by themselves: output is often read line by line. */
function tellingLines(value: string): string[] {
  if (!value.includes('\n')) return [];
  const lines = value.split(/\r?\n/).map(line => line.trim());
  return lines.filter(line => line.length >= 24 && !/\s/.test(line) && /[0-9]/.test(line) && /[A-Za-z]/.test(line));
}

/** Every text that gives one of the values away. */
export function exactForms(values: readonly string[], isOurs: (form: string) => boolean): readonly string[] {
  const wanted = values.flatMap(value => [value, value.trim(), ...tellingLines(value)]);
  const forms = wanted.filter(value => value.trim().length >= exactCharsMin).flatMap(formsOf);
  return [...new Set(forms)].filter(form => form.length >= exactCharsMin && !isOurs(form));
}
