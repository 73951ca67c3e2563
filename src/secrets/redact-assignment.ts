// Reads `password = "..."` in its many spellings, and tells a value that is secret from code and prose around the word.

export interface Found {
  readonly start: number;
  readonly end: number;
}

/** Any of these inside a name makes its value suspect; each is also what the scan looks for. */
export const assignmentWords: readonly string[] = [
  ...['password', 'passwd', 'passphrase', 'pwd', '_pass', '-pass', 'secret', 'token', 'credential'],
  ...['apikey', 'api_key', 'api-key', 'accesskey', 'access_key', 'access-key', 'authkey', 'auth_key', 'auth-key'],
  ...['privatekey', 'private_key', 'private-key', 'signing_key', 'signingkey', 'encryption_key', 'encryptionkey'],
];

/** How far a value is read; both patterns and loops below stop here. */
export const assignmentCharsMax = 1_024;

const word = new RegExp(`(?:${assignmentWords.join('|')})`, 'iy');
const suffix = /[\w-]{0,40}/y;
const describes =
  /(?:types?|counts?|names?|ur[il]|files?|paths?|ids?|refs?|env|fields?|length|limit|budget|usage|expir\w*|ttl|headers?|prefix|suffix|size|max|min|policy|label|hint|placeholder|regex|pattern|manager|input|endpoint)$/i;
const separator =
  /\\{0,3}["'`]?\]?[ \t]{0,4}(?::[ \t]{0,2}(?:string|str|String|&str)[ \t]{0,2}(?==)|)(?::=|=>|=(?![=>])|:(?![:/])|>(?=[^<\n]{4,256}<\/))[ \t]{0,4}/y;
const flagSeparator = /[ \t]{1,4}(?!-)/y;
const opening = /\\{0,3}["'`]/y;
const bare = new RegExp(`[^\\s"'\`,;<>(){}[\\]|&\\\\]{6,${assignmentCharsMax}}`, 'y');
const placeholder =
  /^(?:\$|%[({A-Z]|\{|<|\[|\*+$|x+$|\.{2,}|-+$|_+$|your|my[-_]|example|change-?me|todo|fixme|null|undefined|none|true|false|process\.|import\.|os\.|env[.:(]|secrets?\.|vars\.|config\.|self\.|this\.|test$|redacted)/i;
const pathOrUrl = /^(?:[a-z][a-z0-9+.-]*:\/\/|\.{0,2}\/[^/]*[/.]|~\/|[A-Za-z]:\\)/;
const identifierPath = /^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$/;
const ordinaryWords = new Set(
  'string,text,password,passwd,required,optional,hidden,number,boolean,object,invalid,missing,empty,incorrect,wrong,secret,token,unknown,default,field,input,value,current-password,new-password,forgot,reset,unset,plain,bcrypt,argon2,sha256,sha512,scrypt'.split(
    ',',
  ),
);

/** Bits per character. */
function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

const hasDigit = (text: string): boolean => /[0-9]/.test(text);
const hasLetter = (text: string): boolean => /[A-Za-z]/.test(text);

/** Random text changes between small, capital and digit at every second character; a camel-case name does not. */
function looksRandom(text: string): boolean {
  const changes = text.match(/[a-z](?=[A-Z0-9])|[A-Z](?=[a-z0-9])|[0-9](?=[A-Za-z])/g)?.length ?? 0;
  return entropy(text) >= 3 && (changes >= text.length * 0.4 || (text.match(/[0-9]/g)?.length ?? 0) >= 3);
}

type Style = 'quoted' | 'tight' | 'loose';

function isSecretValue(isPassword: boolean, value: string, style: Style): boolean {
  if (/\s/.test(value) || placeholder.test(value) || pathOrUrl.test(value)) return false;
  if (ordinaryWords.has(value.toLowerCase())) return false;
  const isMixed = hasDigit(value) && hasLetter(value);
  if (style === 'quoted') {
    if (isPassword) return value.length >= 4;
    return value.length >= 8 && (isMixed || (value.length >= 20 && looksRandom(value)));
  }
  if (identifierPath.test(value)) return false;
  if (style === 'tight' && isPassword) return isMixed || /^[0-9]+$/.test(value) || /[!@#$%^*]/.test(value);
  if (style === 'tight') return value.length >= 12 && isMixed && entropy(value) >= 3;
  return value.length >= 16 && isMixed && looksRandom(value);
}

function matchAt(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

/** Where the name that holds a suspect word at `at` ends, or -1 when the name only describes (`token_count`, `tokenizer`). */
function nameEnd(text: string, at: number): number {
  const wordEnd = matchAt(word, text, at);
  if (wordEnd < 0) return -1;
  const end = matchAt(suffix, text, wordEnd);
  const rest = text.slice(wordEnd, end);
  if (rest === '') return end;
  if (/^[_-]/.test(text[at] ?? '')) return -1;
  const isNewWord = /^[_\-0-9]/.test(rest) || (/^[A-Z]/.test(rest) && /[a-z]/.test(text[wordEnd - 1] ?? ''));
  return isNewWord && !describes.test(rest) ? end : -1;
}

function isFlag(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 42), at);
  return /(?:^|[\s"'`])--[\w-]{0,40}$/.test(before);
}

function quotedValue(text: string, opened: number): Found {
  const quote = text[opened - 1];
  const isEscaped = text[opened - 2] === '\\';
  const last = Math.min(text.length, opened + assignmentCharsMax);
  let end = opened;
  while (end < last && text[end] !== quote && text[end] !== '\n') end += !isEscaped && text[end] === '\\' ? 2 : 1;
  end = Math.min(end, last);
  while (isEscaped && end > opened && text[end - 1] === '\\') end -= 1;
  return { start: opened, end };
}

/** The secret value of the assignment whose name has a suspect word at `at`. */
export function findAssignment(text: string, at: number): Found | undefined {
  const name = nameEnd(text, at);
  if (name < 0) return undefined;
  const isPassword = /^[_-]?p/i.test(text.slice(at, at + 2)) && !/^private/i.test(text.slice(at, at + 7));
  let from = matchAt(separator, text, name);
  let isTight = from === name + 1;
  if (from < 0) {
    if (!isFlag(text, at)) return undefined;
    from = matchAt(flagSeparator, text, name);
    isTight = true;
    if (from < 0) return undefined;
  }
  const opened = matchAt(opening, text, from);
  if (opened > 0) {
    const found = quotedValue(text, opened);
    return isSecretValue(isPassword, text.slice(found.start, found.end), 'quoted') ? found : undefined;
  }
  if (text[from - 1] === '>' && text[from - 2] !== '=') {
    const end = text.indexOf('<', from);
    return isSecretValue(isPassword, text.slice(from, end), 'quoted') ? { start: from, end } : undefined;
  }
  let end = matchAt(bare, text, from);
  if (end < 0 || text[end] === '(' || text[end] === '[') return undefined;
  while (end > from && /[.:!?]/.test(text[end - 1] ?? '')) end -= 1;
  // YAML and header style: nothing but the value stands after the colon.
  const fillsLine = text[from - 1] !== '=' && /^[ \t]*(?:$|[\r\n]|\\[nr])/.test(text.slice(end, end + 8));
  const style: Style = isTight || (fillsLine && /:[ \t]*$/.test(text.slice(name, from))) ? 'tight' : 'loose';
  return isSecretValue(isPassword, text.slice(from, end), style) ? { start: from, end } : undefined;
}

/** Whether a field of parsed data is a secret by its name: what `"name": "value"` would be in text. */
export function isSecretField(name: string, value: string): boolean {
  if (value.length < 4 || name.length > 80) return false;
  for (let at = 0; at < name.length; at += 1) {
    if (matchAt(word, name, at) >= 0 && nameEnd(name, at) === name.length) {
      return isSecretValue(/pass|pwd/i.test(name.slice(at, at + 5)), value, 'quoted');
    }
  }
  return false;
}
