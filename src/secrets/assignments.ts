// Assignments: a name that says what it holds, and the value behind it, however text, code and configuration write the two.
import type { Found } from './rule.ts';
import { camelCase, entropy, looksRandom } from './values.ts';

const words = (...parts: readonly string[]): readonly string[] => parts.join(' ').split(' ');

/** Any of these inside a name makes its value suspect; each is also what the scan looks for. */
export const assignmentWords = words(
  'password passwd passphrase passcode requirepass storepass keypass sshpass masterauth passwort kennwort pass pwd _pw -pw',
  'psk secret token credentials credential creds apikey api_key api-key accesskey authkey privatekey private_key private-key',
  'signingkey encryptionkey recovery_code backup_code key auth pat signature sig salt license jwt bearer cookie seed',
);

/** These are parts of other words: a name must have them whole, as a word of its own. */
const wholeWord = /^(?:pass|psk|key|auth|pat|sig|salt|creds|jwt|bearer|cookie|seed)$/i;
/** Values behind these are secrets only when they look it. */
const weakWord = /^(?:key|auth|pat|signature|sig|salt|license|jwt|bearer|cookie|seed)$/i;
/** Keys that open nothing. */
const openKeys = new Set(
  words(
    'public pub primary foreign partition sort cache hash row routing object s3 idempotency index group dict map socket query',
    'lookup unique composite event react item column field json translation i18n locale message kms host ssh registry config',
    'setting did restore',
  ),
);
const lastWord = /(?:[A-Z]?[a-z0-9]{1,20}|[A-Z0-9]{1,20})(?=[_.-]?$)/;

/** How far a value is read; both patterns and loops below stop here. */
export const assignmentCharsMax = 1_024;

const word = new RegExp(`(?:${assignmentWords.join('|')})`, 'iy');
const suffix = /[\w-]{0,40}/y;
/** Names that end so tell of a secret, and hold none: `token_count`. */
const describing = words(
  'types? counts? names? ur[il] files? paths? ids? refs? env fields? length limit budget usage expir\\w* ttl headers? prefix suffix',
  'size max min policy label hint placeholder regex pattern manager input endpoint arn cookie storage_?key version class store kind',
  'vault ring code method mode scheme provider enabled required server domain algorithm format value_?from rotation scopes?',
  'timeout at by on check dir host port user generator regexp rate args? date age status templates? views? pages? screen form',
  'selector validators? hashers? encoder stdin fd prompt script hook handler text title message column table flow identity',
  'time timestamp',
);
const describes = new RegExp(`(?:${describing.join('|')})$`, 'i');
const separator =
  /\\{0,3}["'`]?\]?[ \t]{0,20}(?::[ \t]{0,2}(?:string|str|String|&str)[ \t]{0,2}(?==)|)(?::=|=>|=(?![=>])|%3D|:(?![:/])|>(?=[^<\n]{4,256}<\/))[ \t]{0,20}(?:(?:String::from|SecretString::from|Some|Secret|SecretStr|str)\()?/iy;
/** Name and value as two arguments, two fields of JSON or XML, or two lines of YAML; and what a function is called with. */
const pairSeparator =
  /\\{0,3}["'`],[ \t]{0,4}(?:\\{0,3}["']value\\{0,3}["'][ \t]{0,2}:[ \t]{0,4})?(?=\\{0,3}["'`])|["'][ \t]{1,4}(?:\w{1,20}:)?value=(?=["'])|\((?=\\{0,3}["'`])|["']?[ \t]{0,4}\r?\n[ \t]{0,40}value:[ \t]{1,4}/y;
/** An element of XML with attributes, the pairs of a property list, a cell of a table: the value needs no quotes. */
const cellSeparator =
  /["']?(?:[ \t]{1,4}[\w:]{1,40}=["'][^"'<>\n]{0,60}["']){0,3}[ \t]{0,4}>(?=[^<\n]{4,256}<\/)|<\/key>\s{0,40}<string>|["'`*]{0,3}[ \t]{0,20}\|(?<=^[ \t]{0,20}\|[^|\n]{0,120}\|)[ \t]{0,20}(?=[^\s|])/my;
/** SQL, netrc, Dockerfile: only blanks between; and a sentence that says it. */
const blankSeparator = /[ \t]{1,20}(?:(?:is|was)[ \t]{1,4})?(?![-=:|>&<])/y;
/** A value that passes through a function. */
const call = /[A-Za-z_][\w.:]{0,40}\((?=\\{0,3}["'`])/y;
const flagSeparator = /[ \t]{1,4}(?!-)/y;
const opening = /\\{0,3}["'`]/y;
/** What ends a value without quotes. A table: a pattern would remember each character for the way back. */
const ends = new Uint8Array(0x80);
for (const character of '\t\n\v\f\r "\'`,;<>(){}[]|&\\') ends[character.charCodeAt(0)] = 1;
const isEnd = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at);
  return code < 0x80 ? ends[code] === 1 : /\s/.test(text[at]!);
};
const placeholder =
  /^(?:\$(?:[{($]|[A-Za-z_]\w*(?:[/:.}-]|$))|%(?:[({]|[A-Z_]+%)|\{|<|\[|\)[?.;,:)]|#[0-9a-f]{3,8}$|arn:|\*+$|[x-]+$|0x[0-9a-f]{1,16}$|\.{2,}|-+$|_+$|\*\w+$|your|my[-_]|example|sample|dummy|fake|insert[-_]|replace|put[-_]|change[-_]?me|todo|fixme|null|undefined|none|true$|false$|data\.|var\.|local\.|settings\.|process\.|import\.|os\.|env[.:(]|secrets?\.|vars\.|config\.|self\.|this\.|test$|redacted)/i;
const pathOrUrl = /^(?:[a-z][a-z0-9+.-]*:\/\/|\.{0,2}\/[^/]*[/.]|~\/|[A-Za-z]:\\|[\w./-]*\/[\w-]+\.[a-z]{2,5}$)/;
const identifierPath = /^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$/;
const ordinaryWords = new Set(
  words(
    'pass postgres admin root guest user username prompt ask file none string text password passwd required optional',
    'hidden number boolean object invalid missing empty incorrect wrong secret token unknown default field input',
    'value current-password new-password forgot reset unset plain bcrypt argon2 sha256 sha512 scrypt development',
    'testing staging production changeit supersecret mysecretpassword letmein mypassword administrator postgresql',
    'database passwort kennwort senha contrasena wachtwoord adgangskode passord heslo salasana parola sifre passcode',
    'passphrase variable undefined sensitive encrypted disabled enabled',
  ),
);

const hasDigit = (text: string): boolean => /[0-9]/.test(text);
const hasLetter = (text: string): boolean => /[A-Za-z]/.test(text);

/** How a value stands behind its name; a `setting` is tight too, and its name is in capitals or a flag: no name of code. */
type Style = 'quoted' | 'setting' | 'tight' | 'loose' | 'pair';

const phrase = /^[a-z]{3,9}(?: [a-z]{3,9}){3,9}$/;
const sentenceWords =
  /\b(?:the|and|are|not|you|your|for|with|from|this|that|was|has|have|had|must|may|can|should|will|please|enter|use|too|been|does|did|its|all|any|one|new|old|when|than|then|password|passphrase|token|secret|key)\b/;
/** Words drawn by dice, as managers make them. */
const isPassphrase = (value: string): boolean => phrase.test(value) && !sentenceWords.test(value);

/** Words of other languages: a label, not a value. */
const isForeignWord = (value: string): boolean => /[^\x00-\x7f]/.test(value) && !/[0-9!-/:-@]/.test(value);

const isOrdinary = (value: string): boolean =>
  (/\s/.test(value) && !isPassphrase(value)) ||
  isForeignWord(value) ||
  placeholder.test(value) ||
  (pathOrUrl.test(value) && !/^[\w+/]{20,}={1,2}$/.test(value)) ||
  (value.length < 24 && ordinaryWords.has(value.toLowerCase()));

/** Words with hyphens and a number: `db-credentials-2`. */
const wordsOnly = /^[a-z]+(?:[-_.][a-z]+)*(?:[-_.]?v?[0-9]{1,4})?$/i;

const lettersOnly = /^[a-z]+(?:-[a-z]+)*$/i;
/** Nobody can say four consonants in a row; in most words of code there are none. */
const isUnspoken = (value: string): boolean =>
  value.length >= 10 &&
  lettersOnly.test(value) &&
  (camelCase.test(value) ? /[b-df-hj-np-tv-xz]{4}/ : /[b-df-hj-np-tv-xz]{4}/i).test(value);
/** What only names a variable: `DB_PASSWORD`. */
const variableName = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;

type Kind = 'password' | 'secret' | 'weak';

const kindOf = (found: string): Kind =>
  /^p(?!at$|riv)|^kenn|^master|pass$|pw$/i.test(found) ? 'password' : weakWord.test(found) ? 'weak' : 'secret';

/** What only looks like a value: a path of names in code. */
const isCode = (value: string, isRandom: boolean): boolean =>
  identifierPath.test(value) && !(isRandom && value.length >= 16);

function isPassword(value: string, style: Style, isRandom: boolean): boolean {
  if (style === 'quoted') return value.length >= 4;
  if (isCode(value, isRandom)) return false;
  if (style === 'pair') return value.length >= 8 && isRandom;
  if (style === 'loose') return value.length >= 16 && isRandom;
  if (style === 'setting' && value.length >= 8 && lettersOnly.test(value)) return true;
  return isRandom || (hasDigit(value) && hasLetter(value)) || /^[0-9]{4,}$|[!@#$%^*]/.test(value) || isUnspoken(value);
}

/** How long a token without other signs is at least, and how many bits each character has. */
const tokenLimits: Readonly<Partial<Record<Style, { readonly chars: number; readonly bits: number }>>> = {
  quoted: { chars: 8, bits: 0 },
  setting: { chars: 8, bits: 2.5 },
  tight: { chars: 12, bits: 3 },
};

function isToken(value: string, style: Style, isRandom: boolean): boolean {
  const isMixed = hasDigit(value) && hasLetter(value);
  if (isCode(value, isRandom)) return style === 'quoted' && isMixed && !wordsOnly.test(value);
  if (value.length >= 16 && (isRandom || (style !== 'pair' && isUnspoken(value)))) return true;
  const limit = tokenLimits[style];
  if (limit === undefined || value.length < limit.chars || wordsOnly.test(value)) return false;
  return (isMixed || isRandom) && entropy(value) >= limit.bits;
}

/** A key of anything: only what has no shape of a file or a path. */
const isWeakSecret = (value: string, isRandom: boolean): boolean =>
  value.length >= 16 &&
  isRandom &&
  (!identifierPath.test(value) || value.split('.').some(part => part.length >= 16 && looksRandom(part))) &&
  !/\.[a-z]{1,4}$|^[a-z]+\/[a-z]+\//.test(value);

/** Shorter ones are none, whatever they look like. */
const charsMin: Readonly<Record<Kind, number>> = { password: 4, secret: 8, weak: 16 };

function isSecretValue(kind: Kind, value: string, style: Style): boolean {
  if (value.length < charsMin[kind]) return false;
  if (isOrdinary(value) || (kind !== 'password' && /\s/.test(value)) || (style === 'pair' && variableName.test(value)))
    return false;
  const isRandom = looksRandom(value);
  if (kind === 'password') return isPassword(value, style, isRandom);
  return kind === 'weak' ? isWeakSecret(value, isRandom) : isToken(value, style, isRandom);
}

function matchAt(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

/** Where the value without quotes ends that begins at `from`; -1 when it is shorter than three characters. */
function bareEnd(text: string, from: number): number {
  const last = Math.min(text.length, from + assignmentCharsMax);
  let end = from;
  while (end < last && !isEnd(text, end)) end += 1;
  return end < from + 3 ? -1 : end;
}

function isNameWord(text: string, at: number, found: string): boolean {
  if (!wholeWord.test(found)) return true;
  const before = text[at - 1] ?? '';
  if (/[a-z]/.test(before) ? !/[A-Z]/.test(text[at] ?? '') : /[A-Z]/.test(before)) return false;
  if (!/^key$/i.test(found)) return true;
  // Alone it is the key of anything, but in the address of a request.
  return (
    /[\w.?&-]/.test(before) &&
    !openKeys.has(lastWord.exec(text.slice(Math.max(0, at - 21), at))?.[0].toLowerCase() ?? '')
  );
}

/** The suspect word at `at`, or none. */
const wordAt = (text: string, at: number): string => text.slice(at, Math.max(at, matchAt(word, text, at)));

/** Where the name that holds a suspect word at `at` ends, or -1 when the name only describes (`token_count`, `tokenizer`). */
function nameEnd(text: string, at: number, found: string): number {
  if (found === '' || !isNameWord(text, at, found)) return -1;
  const wordEnd = at + found.length;
  const end = matchAt(suffix, text, wordEnd);
  const rest = text.slice(wordEnd, end);
  if (rest === '') return end;
  if (/^[_-]/.test(text[at] ?? '')) return -1;
  const isNewWord = /^[_\-0-9]/.test(rest) || (/^[A-Z]/.test(rest) && /[a-z]/.test(text[wordEnd - 1] ?? ''));
  return isNewWord && !describes.test(rest) ? end : -1;
}

function isFlag(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 42), at);
  return /(?:^|[\s"'`])--?[\w-]{0,40}$/.test(before);
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

/** A name with a suspect word, and where it ends. */
interface Name {
  readonly at: number;
  readonly end: number;
  readonly found: string;
  readonly kind: Kind;
}

/** In capitals, or a flag. */
const isSetting = (text: string, { found, at }: Name): boolean => found === found.toUpperCase() || isFlag(text, at);

/** What may stand between a name and its value begins with one of these. */
const separators = new Set([...'\t\n\r "%\'(*,:<=>\\]`|'].map(sign => sign.charCodeAt(0)));
const separates = (text: string, at: number): boolean => separators.has(text.charCodeAt(at));

function nameAt(text: string, at: number): Name | undefined {
  const found = wordAt(text, at);
  const end = nameEnd(text, at, found);
  return end < 0 || !separates(text, end) ? undefined : { at, end, found, kind: kindOf(found) };
}

/** `passed ? "pass" : "fail"` */
const isChoice = (text: string, at: number): boolean => /\?[ \t]{0,4}["'`]$/.test(text.slice(Math.max(0, at - 6), at));

const accepted = (text: string, value: Found, kind: Kind, style: Style): Found | undefined =>
  isSecretValue(kind, text.slice(value.start, value.end), style) ? value : undefined;

/** The secret value of the assignment whose name has a suspect word at `at`. */
export function findAssignment(text: string, at: number): Found | undefined {
  const name = nameAt(text, at);
  if (name === undefined || isChoice(text, at)) return undefined;
  const separated = matchAt(separator, text, name.end);
  const from = separated < 0 && isFlag(text, at) ? matchAt(flagSeparator, text, name.end) : separated;
  if (from < 0) return findApart(text, name);
  // One of many parts between colons: `arn:aws:secretsmanager:…:secret:prod/db`.
  if (text[at - 1] === ':' && from === name.end + 1 && text[name.end] === ':') return undefined;
  const quoted = quotedAt(text, from);
  if (quoted !== undefined) return accepted(text, quoted, name.kind, 'quoted');
  const called = matchAt(call, text, from);
  if (called > 0) return accepted(text, quotedAt(text, called)!, name.kind, 'pair');
  return bareValue(text, name, from, separated < 0 || separated === name.end + 1);
}

/** The value that stands apart from its name: in an argument, a field, a cell or a line of its own, or behind blanks. */
function findApart(text: string, { at, end: name, kind }: Name): Found | undefined {
  const paired = matchAt(pairSeparator, text, name);
  const celled = paired < 0 ? matchAt(cellSeparator, text, name) : -1;
  const from = Math.max(paired, celled) < 0 ? matchAt(blankSeparator, text, name) : Math.max(paired, celled);
  if (from < 0) return undefined;
  const quoted = quotedAt(text, from);
  if (quoted !== undefined) return accepted(text, quoted, kind, 'pair');
  const isLine = paired >= 0 && /name:[ \t]*["']?[\w.-]*$/i.test(text.slice(Math.max(0, at - 60), at));
  const end = bareEnd(text, from);
  if (/^\w+=/.test(text.slice(from, from + 24))) return undefined;
  if ((paired >= 0 && !isLine) || end < 0 || /[(.[;]/.test(text[end] ?? '')) return undefined;
  return accepted(text, { start: from, end }, kind, 'pair');
}

/** Between quotes, or between the tags of XML. */
function quotedAt(text: string, from: number): Found | undefined {
  const opened = matchAt(opening, text, from);
  if (opened > 0) return quotedValue(text, opened);
  const isTag = text[from - 1] === '>' && text[from - 2] !== '=';
  return isTag ? { start: from, end: text.indexOf('<', from) } : undefined;
}

const isBlank = (text: string, at: number): boolean => /\s/.test(text[at] ?? '\n');
const startsLine = (text: string, nameEnd: number): boolean =>
  /(?:^|\n)[ \t]*(?:export |set |ENV |- )?[\w.-]{1,80}$/.test(text.slice(Math.max(0, nameEnd - 100), nameEnd));

/** Where the value of a setting ends that has signs in it: it fills its line, without quotes and braces. */
function lineValueEnd(text: string, from: number): number {
  let end = from;
  while (end - from < 256 && !isBlank(text, end) && !/["'`\\]/.test(text[end]!)) end += 1;
  return /^[ \t]*(?:$|\r?\n)/.test(text.slice(end, end + 8)) &&
    !/[;,)]$|[;&][\w-]+[=:]|[${]\{/.test(text.slice(from, end))
    ? end
    : from;
}

/** Where the value without quotes ends that begins at `from`; -1 when there is none, or code that calls something. */
function valueEnd(text: string, nameEnd: number, from: number): number {
  const end = bareEnd(text, from);
  if (end < 0 || text[end] === '(' || text[end] === '[') return -1;
  // An id and its secret: `1234567890123|secret`.
  if (text[end] === '|' && /^[0-9]{10,20}$/.test(text.slice(from, end))) return Math.max(end, bareEnd(text, end + 1));
  return !isBlank(text, end) && startsLine(text, nameEnd) ? lineValueEnd(text, end) : end;
}

function bareValue(text: string, name: Name, from: number, isTight: boolean): Found | undefined {
  let end = valueEnd(text, name.end, from);
  if (end < 0) return undefined;
  // YAML, INI and headers: nothing but the value stands behind the sign.
  const fillsLine = /^[ \t]*(?:$|[\r\n]|\\[nr]|#)/.test(text.slice(end, end + 8));
  const isPlain = fillsLine && (name.kind === 'password' || /:[ \t]*$/.test(text.slice(name.end, from)));
  while (end > from && !(fillsLine && name.kind === 'password') && /[.:!?]/.test(text[end - 1] ?? '')) end -= 1;
  const close = isTight && isSetting(text, name) ? 'setting' : 'tight';
  return accepted(text, { start: from, end }, name.kind, isTight || isPlain ? close : 'loose');
}

/** Whether a field of parsed data is a secret by its name: what `"name": "value"` would be in text. */
export function isSecretField(name: string, value: string): boolean {
  if (value.length < 4 || name.length > 80) return false;
  for (let at = 0; at < name.length; at += 1) {
    const found = wordAt(name, at);
    if (nameEnd(name, at, found) === name.length && !/^(?:key|sig|signature)$/i.test(found))
      return isSecretValue(kindOf(found), value, 'quoted');
  }
  return false;
}
