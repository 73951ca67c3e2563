// Rules for secrets: one row for each shape of key, found by a literal and confirmed by a bounded pattern, and assignments.

/**
 * A row is found by one of its `literals` (same case unless `anyCase`), then `pattern` must match from the literal on.
 * Patterns are sticky, bounded, and ask for nothing after an open-ended run, so a failed match costs a constant.
 */
export interface RedactRule {
  readonly name: string;
  readonly pattern: RegExp;
  readonly literals: readonly string[];
  readonly anyCase?: boolean;
  /** The capture group that is the secret; the whole match when absent. */
  readonly group?: number;
  /** Whether a letter or digit may stand directly before. */
  readonly inWord?: boolean;
  /** How many letters, digits and `_-` directly before the literal belong to the secret, at most. */
  readonly charsBeforeMax?: number;
  readonly accepts?: (secret: string) => boolean;
}

const notWords = (secret: string): boolean => /[0-9A-Z]/.test(secret);
const mixed = (secret: string): boolean => /[0-9=]/.test(secret) && /[a-z]/.test(secret) && /[A-Z]/.test(secret);
const literalPassword = (secret: string): boolean => !/^(?:\$|%[({]|\{|\*+$|x+$|\.+$)/i.test(secret);

/** A key that begins with one of these literals and goes on with a run of at least `charsMin`. */
function key(name: string, literals: readonly string[], charsMin: number, run = '[A-Za-z0-9_-]'): RedactRule {
  const starts = literals.map(literal => literal.replace(/[.+$]/g, '\\$&')).join('|');
  return { name, literals, pattern: new RegExp(`(?:${starts})${run}{${charsMin},300}`, 'y'), accepts: notWords };
}

const letters = '[A-Za-z0-9]';
const hex = '[0-9a-f]';

/** Order decides the name when two rows match at one place. */
export const redactRules: readonly RedactRule[] = [
  key('anthropic-key', ['sk-ant-'], 16),
  key('openrouter-key', ['sk-or-'], 20),
  key('openai-key', ['sk-proj-', 'sk-svcacct-', 'sk-admin-', 'sk-None-'], 20),
  key('openai-key', ['sk-'], 20, letters),
  key('xai-key', ['xai-'], 40, letters),
  key('google-api-key', ['AIza'], 35),
  key('google-api-key', ['AQ.Ab'], 30),
  key('google-oauth', ['ya29.'], 20, '[A-Za-z0-9_.-]'),
  key('google-client-secret', ['GOCSPX-'], 20),
  key('github-token', ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], 30, letters),
  key('github-token', ['github_pat_'], 22, '\\w'),
  key(
    'gitlab-token',
    ['glpat-', 'gldt-', 'glrt-', 'glcbt-', 'glptt-', 'glsoat-', 'glimt-', 'glagent-', 'glft-'],
    20,
    '[\\w.-]',
  ),
  key(
    'slack-token',
    ['xoxb-', 'xoxp-', 'xoxa-', 'xoxr-', 'xoxs-', 'xoxe-', 'xoxe.', 'xoxc-', 'xoxd-', 'xapp-'],
    20,
    '[\\w.%-]',
  ),
  {
    name: 'slack-webhook',
    literals: ['hooks.slack.com/'],
    pattern: /hooks\.slack\.com\/(?:services|workflows|triggers)\/([A-Za-z0-9/_-]{20,200})/y,
    group: 1,
  },
  key('aws-key-id', ['AKIA', 'ASIA', 'ABIA', 'ACCA'], 16, '[A-Z2-7]'),
  {
    name: 'aws-secret',
    literals: ['secret_access_key', 'secretaccesskey', 'secret-access-key'],
    anyCase: true,
    inWord: true,
    pattern:
      /secret[_-]?access[_-]?key\\{0,3}["']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}["']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])/iy,
    group: 1,
  },
  {
    name: 'azure-key',
    literals: ['AccountKey=', 'SharedAccessKey=', 'SharedSecret='],
    inWord: true,
    pattern: /(?:AccountKey|SharedAccessKey|SharedSecret)=([A-Za-z0-9+/%]{20,200}={0,2})/y,
    group: 1,
  },
  { name: 'azure-key', literals: ['JQQJ99'], inWord: true, charsBeforeMax: 64, pattern: /JQQJ99[A-Za-z0-9]{20,60}/y },
  { name: 'azure-client-secret', literals: ['8Q~'], inWord: true, charsBeforeMax: 5, pattern: /8Q~[\w.~-]{31,40}/y },
  {
    name: 'azure-signature',
    literals: ['&sig=', '?sig='],
    pattern: /[&?]sig=([A-Za-z0-9%+/]{30,120}={0,2})/y,
    group: 1,
  },
  key('stripe-key', ['sk_live_', 'rk_live_', 'sk_test_', 'rk_test_', 'sk_org_'], 16),
  key('webhook-secret', ['whsec_'], 20, '[A-Za-z0-9+/=]'),
  key(
    'twilio-key',
    [...'0123456789abcdef'].map(digit => `SK${digit}`),
    31,
    hex,
  ),
  key('sendgrid-key', ['SG.'], 40, '[\\w.-]'),
  key(
    'mailgun-key',
    [...'0123456789abcdef'].map(digit => `key-${digit}`),
    31,
    hex,
  ),
  key('npm-token', ['npm_'], 36, letters),
  key('pypi-token', ['pypi-AgE', 'pypi-AgN'], 30),
  key('huggingface-token', ['hf_', 'api_org_'], 30, letters),
  key('groq-key', ['gsk_'], 40, letters),
  key('replicate-token', ['r8_'], 30, letters),
  key('perplexity-key', ['pplx-'], 32, letters),
  key('cerebras-key', ['csk-'], 32, letters),
  key('nvidia-key', ['nvapi-'], 40),
  key('tavily-key', ['tvly-'], 24),
  key('langsmith-key', ['lsv2_pt_', 'lsv2_sk_'], 32, '\\w'),
  key('digitalocean-token', ['dop_v1_', 'doo_v1_', 'dor_v1_'], 40, hex),
  key('databricks-token', ['dapi'], 32, '[0-9a-f-]'),
  key('vercel-token', ['vcp_', 'vci_', 'vca_', 'vcr_', 'vck_', 'vercel_blob_rw_'], 24, '\\w'),
  key('supabase-key', ['sbp_', 'sb_secret_'], 20),
  key('linear-key', ['lin_api_', 'lin_oauth_'], 30, letters),
  key('notion-token', ['ntn_', 'secret_'], 40, letters),
  key('docker-token', ['dckr_pat_', 'dckr_oat_'], 20),
  key('vault-token', ['hvs.', 'hvb.', 'hvr.'], 24),
  key('doppler-token', ['dp.pt.', 'dp.st.', 'dp.ct.', 'dp.sa.'], 30, '[\\w.]'),
  key('grafana-token', ['glsa_', 'glc_'], 30, '[A-Za-z0-9_+/=]'),
  key('sentry-token', ['sntrys_', 'sntryu_'], 40, '[A-Za-z0-9_+/=]'),
  key('newrelic-key', ['NRAK-'], 24, '[A-Z0-9]'),
  key('shopify-token', ['shpat_', 'shpca_', 'shppa_', 'shpss_'], 30, '[0-9a-fA-F]'),
  key('atlassian-token', ['ATATT3', 'ATCTT3', 'ATBB'], 24, '[A-Za-z0-9_=-]'),
  key('figma-token', ['figd_'], 30),
  key('postman-key', ['PMAK-'], 40),
  key('netlify-token', ['nfp_'], 30, letters),
  key('heroku-key', ['HRKU-'], 30),
  key('fly-token', ['fm2_', 'fo1_'], 30, '[A-Za-z0-9_+/=,-]'),
  key('planetscale-token', ['pscale_tkn_', 'pscale_pw_', 'pscale_oauth_'], 30, '[\\w.-]'),
  key('rubygems-key', ['rubygems_'], 40, hex),
  key('onepassword-token', ['ops_eyJ'], 40),
  key('age-key', ['AGE-SECRET-KEY-1', 'AGE-PLUGIN-'], 40, '[A-Z0-9-]'),
  {
    name: 'telegram-token',
    literals: [':AA'],
    inWord: true,
    pattern: /(?<=(?<![0-9])[0-9]{8,10}):(AA[A-Za-z0-9_-]{32,34})/y,
    group: 1,
  },
  {
    name: 'discord-webhook',
    literals: ['/api/webhooks/'],
    inWord: true,
    pattern: /\/api\/webhooks\/[0-9]{15,22}\/([A-Za-z0-9_-]{40,100})/y,
    group: 1,
  },
  {
    // No letter of a token's alphabet may stand before it, so a run is tried once; the segments need no bound.
    name: 'jwt',
    literals: ['eyJ'],
    pattern:
      /(?<!(?<!\\|%[0-9A-F])[A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]{0,8192})?/y,
  },
  {
    name: 'authorization',
    literals: ['authorization'],
    anyCase: true,
    inWord: true,
    pattern:
      /authorization\\{0,3}["']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}["']?(?:bearer|basic|token|apikey|digest)[ \t]{1,4}([^\s"'`,;\\$<>{}()[\]*]{8,2048})/iy,
    group: 1,
  },
  {
    name: 'bearer',
    literals: ['bearer '],
    anyCase: true,
    pattern: /bearer {1,4}([A-Za-z0-9._~+/-]{16,2048}={0,2})/iy,
    group: 1,
    accepts: secret => /[0-9]/.test(secret) && /[A-Za-z]/.test(secret),
  },
  {
    name: 'basic',
    literals: ['basic '],
    anyCase: true,
    pattern: /basic {1,4}([A-Za-z0-9+/]{12,512}={0,2})/iy,
    group: 1,
    accepts: mixed,
  },
  {
    // Also every database address: postgres, mysql, mongodb, redis, amqp.
    name: 'url-password',
    literals: ['://'],
    inWord: true,
    pattern: /:\/\/[^\s/?#@:"'`<>\\]{0,128}:([^\s/@"'`<>\\]{1,256})@/y,
    group: 1,
    accepts: literalPassword,
  },
];

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

const isOrdinary = (value: string): boolean =>
  /\s/.test(value) || placeholder.test(value) || pathOrUrl.test(value) || ordinaryWords.has(value.toLowerCase());

function isSecretValue(isPassword: boolean, value: string, style: Style): boolean {
  if (isOrdinary(value)) return false;
  const isMixed = hasDigit(value) && hasLetter(value);
  if (style === 'quoted' && isPassword) return value.length >= 4;
  if (style === 'quoted') return value.length >= 8 && (isMixed || (value.length >= 20 && looksRandom(value)));
  if (identifierPath.test(value)) return false;
  if (style === 'loose') return value.length >= 16 && isMixed && looksRandom(value);
  if (isPassword) return isMixed || /^[0-9]+$|[!@#$%^*]/.test(value);
  return value.length >= 12 && isMixed && entropy(value) >= 3;
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
  const separated = matchAt(separator, text, name);
  const from = separated < 0 && isFlag(text, at) ? matchAt(flagSeparator, text, name) : separated;
  if (from < 0) return undefined;
  const isTight = separated < 0 || separated === name + 1;
  const quoted = quotedAt(text, from);
  if (quoted === undefined) return bareValue(text, { name, from, isTight, isPassword });
  return isSecretValue(isPassword, text.slice(quoted.start, quoted.end), 'quoted') ? quoted : undefined;
}

/** Between quotes, or between the tags of XML. */
function quotedAt(text: string, from: number): Found | undefined {
  const opened = matchAt(opening, text, from);
  if (opened > 0) return quotedValue(text, opened);
  const isTag = text[from - 1] === '>' && text[from - 2] !== '=';
  return isTag ? { start: from, end: text.indexOf('<', from) } : undefined;
}

interface BareValue {
  readonly name: number;
  readonly from: number;
  readonly isTight: boolean;
  readonly isPassword: boolean;
}

function bareValue(text: string, { name, from, isTight, isPassword }: BareValue): Found | undefined {
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
