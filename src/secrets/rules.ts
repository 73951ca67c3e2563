// Rules for secrets: one row for each shape, found by a literal and confirmed by a bounded pattern; families of keys come as data.
import { alphabets, families } from './families.ts';

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
  /** What these are, when not letters, digits and `_-`. */
  readonly before?: RegExp;
  readonly accepts?: (secret: string) => boolean;
}

/** Two digits, or capitals among small letters: no word of a text. */
const telling = (secret: string): boolean =>
  (secret.match(/[0-9]/g)?.length ?? 0) > 1 ||
  (/[a-z][A-Z]/.test(secret) && /[A-Z][a-z]/.test(secret)) ||
  /^[A-Z0-9-]{14,}$/.test(secret);
const hasBoth = (secret: string): boolean => /[0-9]/.test(secret) && /[A-Za-z]/.test(secret);
const mixed = (secret: string): boolean => /[0-9=]/.test(secret) && /[a-z]/.test(secret) && /[A-Z]/.test(secret);
const literalPassword = (secret: string): boolean =>
  !/^(?:\$|%[({]|\{|\[|<|\*+$|x+$|\.+$|(?:my|your|db|the)?[-_]?(?:pass|password|pwd|passwd|secret|token)$)/i.test(
    secret,
  );
const flagPassword = (secret: string): boolean =>
  /[0-9]|[a-z][A-Z]/.test(secret) && literalPassword(secret) && !/[/.\\]\w+$/.test(secret);
/** Of `-u a:b`; two numbers are ids, and ports. */
const userPassword = (secret: string): boolean =>
  literalPassword(secret) && /[^0-9a-z_-]|[0-9].*[a-z]|[a-z].*[0-9]/.test(secret);

/** A key that begins with one of these literals and goes on with a run of at least `charsMin`. */
function key(name: string, literals: readonly string[], charsMin: number, run: string): RedactRule {
  let made: RegExp | undefined;
  return {
    ...{ name, literals },
    // Made when it is first tried: most never are, and each start would pay for all.
    get pattern() {
      const starts = (): string => literals.map(literal => literal.replace(/[.+$|]/g, '\\$&')).join('|');
      made ??= new RegExp(`(?:${starts()})${run}{${charsMin},400}`, 'y');
      return made;
    },
    accepts: secret => telling(secret.slice(literals.find(literal => secret.startsWith(literal))?.length)),
  };
}

/** The same in base64, as configurations of clusters have it: what the beginning alone decides, then a run. */
function inBase64({ name, literals }: RedactRule, charsMin: number): readonly RedactRule[] {
  const long = literals.filter(literal => literal.length >= 4);
  const starts = long.map(one =>
    Buffer.from(one)
      .toString('base64')
      .slice(0, Math.floor((one.length * 8) / 6)),
  );
  if (starts.length === 0) return [];
  const chars = Math.floor((charsMin * 4) / 3);
  return [
    {
      name,
      literals: starts,
      pattern: new RegExp(`(?:${starts.join('|').replaceAll('+', '\\+')})[A-Za-z0-9+/]{${chars},1600}={0,2}`, 'y'),
    },
  ];
}

const rowsOfFamilies: readonly RedactRule[] = families.map(([name, starts, charsMin, alphabet]) =>
  key(name, starts.split(' '), charsMin, alphabets[alphabet ?? 'W']),
);
/** For whom clusters and pipelines keep keys in base64 again and again; each more costs every text some time. */
const encoded = new Set(
  'anthropic-key openai-key google-api-key github-token gitlab-token slack-token stripe-key npm-token'.split(' '),
);
const encodedRows = families.flatMap(([name, , charsMin], at) =>
  encoded.has(name) ? inBase64(rowsOfFamilies[at]!, charsMin) : [],
);

const hex = '[0-9a-f]';

/** Order decides the name when two rows match at one place. */
export const redactRules: readonly RedactRule[] = [
  ...rowsOfFamilies,
  ...encodedRows,
  {
    name: 'slack-webhook',
    literals: ['hooks.slack.com/'],
    pattern: /hooks\.slack\.com\/(?:services|workflows|triggers)\/([A-Za-z0-9/_-]{20,200})/y,
    group: 1,
  },
  {
    name: 'aws-secret',
    literals: ['secret_access_key', 'secretaccesskey', 'secret-access-key'],
    anyCase: true,
    inWord: true,
    pattern:
      /secret[_-]?access[_-]?key\\{0,3}["']?(?:[ \t]{0,4}[:=]|[ \t])[ \t]{0,4}\\{0,3}["']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])/iy,
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
  key(
    'twilio-key',
    [...'0123456789abcdef'].map(digit => `SK${digit}`),
    31,
    hex,
  ),
  key('mailgun-key', ['key-'], 32, hex),
  {
    name: 'telegram-token',
    literals: [':AA'],
    inWord: true,
    charsBeforeMax: 10,
    before: /[0-9]/,
    pattern: /(?<=(?<![0-9])[0-9]{8,10}):AA[A-Za-z0-9_-]{32,34}/y,
  },
  { name: 'firebase-key', literals: [':APA91b'], inWord: true, charsBeforeMax: 14, pattern: /:APA91b[\w-]{60,300}/y },
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
      /authorization\\{0,3}["']?[ \t]{0,4}[:=,][ \t]{0,4}\\{0,3}["']?(?:bearer|basic|token|apikey|digest)(?:[ \t]{1,4}|%20)(?:token=["']?)?([^\s"'`,;\\$<>{}()[\]*]{6,2048})/iy,
    group: 1,
    accepts: literalPassword,
  },
  {
    // Any other scheme, and none.
    name: 'authorization',
    literals: ['authorization'],
    anyCase: true,
    inWord: true,
    pattern:
      /authorization\\{0,3}["']?[ \t]{0,4}[:=,][ \t]{0,4}\\{0,3}["']?(?:[a-z][a-z-]{2,24}[ \t]{1,4})?(?:(?:token|key)=["']?)?([^\s"'`,;\\$<>{}()[\]*]{12,2048})/iy,
    group: 1,
    accepts: secret => hasBoth(secret) && telling(secret),
  },
  {
    name: 'bearer',
    literals: ['bearer ', 'bearer%20'],
    anyCase: true,
    pattern: /bearer(?: {1,4}|%20)([A-Za-z0-9._~+/-]{10,2048}={0,2})/iy,
    group: 1,
    accepts: secret => hasBoth(secret) && telling(secret),
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
  {
    name: 'url-password',
    literals: ['://'],
    inWord: true,
    pattern: /:\/\/([A-Za-z0-9_-]{20,256})(?::x-oauth-basic)?@(?![\w.-]{0,40}sentry)/y,
    group: 1,
    accepts: telling,
  },
  {
    // curl, wget, http: `-u name:password`.
    name: 'user-password',
    literals: [' -u', '--user ', '--user=', '--proxy-user'],
    inWord: true,
    pattern: /(?: -u|--(?:proxy-)?user)[ =]{0,2}["']?[\w.@+/-]{1,80}:([^\s"'`$<>{}]{3,256})/y,
    group: 1,
    accepts: userPassword,
  },
  {
    name: 'flag-password',
    literals: [
      'sshpass',
      'mysql',
      'mariadb',
      'docker login',
      'podman login',
      'registry login',
      'az login',
      'redis-cli',
      'mongosh',
      'mongodump',
      'ldapsearch',
      'ldapadd',
      'ldapmodify',
    ],
    inWord: true,
    pattern:
      /[a-z-]+(?: login)?[^\n|;]{0,120}? -[pawP](?:[ =]?["']([^"'\n]{4,128})["']|[ =]?([^\s"'`$<>{}|;=-][^\s"'`$<>{}|;]{3,128}))/y,
    group: 1,
    accepts: flagPassword,
  },
  { name: 'flag-password', literals: ['-pass'], pattern: /-pass(?:in|out)?[ =]["']?pass:([^\s"']{4,128})/y, group: 1 },
  {
    name: 'flag-password',
    literals: ['htpasswd -'],
    pattern: /htpasswd -\w*b\w* \S{1,200} \S{1,80} ["']?([^\s"']{4,128})/y,
    group: 1,
    accepts: literalPassword,
  },
  {
    name: 'assignment',
    literals: ['IDENTIFIED BY'],
    anyCase: true,
    pattern: /identified by (?:password )?["']([^"'\n]{4,128})["']/iy,
    group: 1,
    accepts: literalPassword,
  },
  {
    name: 'assignment',
    literals: ['ConvertTo-SecureString'],
    anyCase: true,
    pattern: /convertto-securestring (?:-string )?["']([^"'$\n]{4,256})["']/iy,
    group: 1,
  },
  // The file .pgpass: host:port:database:user:password.
  {
    name: 'assignment',
    literals: [':5432:', ':*:'],
    inWord: true,
    pattern: /:(?:5432|\*):[^:\s]{1,64}:[^:\s]{1,64}:([^\s:]{4,128})(?=\s|$|\\)/y,
    group: 1,
    accepts: literalPassword,
  },
  // The seven of the first patterns that say nothing of length.
  {
    name: 'assignment',
    literals: ['ANTHROPIC_API_KEY=', 'AWS_SECRET_ACCESS_KEY='],
    inWord: true,
    pattern: /[A-Z_]+KEY=["']?([^\s"'`$<>{}()[\]*]{4,1024})/y,
    group: 1,
    accepts: secret => telling(secret) || (hasBoth(secret) && !/^(?:your|my|sk-ant-\.)/i.test(secret)),
  },
  // A private key in base64; certificates and public keys begin alike.
  {
    name: 'private-key',
    literals: ['LS0tLS1CRUdJTi'],
    inWord: true,
    pattern: /LS0tLS1CRUdJTi(?!BDRVJU|BQVUJM|BSU0EgUFVC|BQR1AgUFVC)[A-Za-z0-9+/\n]{60,16384}={0,2}/y,
  },
  {
    name: 'jwt',
    literals: ['ZXlKaGJHY2lPaU', 'ZXlKMGVYQWlPaU', 'ZXlKcmFXUWlPaU'],
    pattern: /ZXlK[A-Za-z0-9+/]{60,8192}={0,2}/y,
  },
  {
    name: 'discord-token',
    literals: ['.login('],
    inWord: true,
    pattern: /\.login\(["'`]([\w.-]{50,100})["'`]/y,
    group: 1,
    accepts: telling,
  },
  { name: 'airtable-token', literals: ['_mmk'], inWord: true, charsBeforeMax: 40, pattern: /_mmk(?![A-Za-z0-9])/y },
  { name: 'newrelic-key', literals: ['NRAL'], inWord: true, charsBeforeMax: 40, pattern: /(?<=[0-9a-f]{30})NRAL/y },
  {
    name: 'terraform-token',
    literals: ['.atlasv1.'],
    inWord: true,
    charsBeforeMax: 14,
    pattern: /\.atlasv1\.[\w-]{40,100}/y,
  },
  {
    name: 'azure-key',
    literals: ['+ACR', '+ASt', '+ABa', '+AMC', '+ASb', '+AEh', '+ARm', 'AzFu', 'AzSe', 'AzCa', 'ACDb', 'APIM', 'AIoT'],
    inWord: true,
    pattern: /(?<=[A-Za-z0-9+/]{24})(?:\+A|A)[A-Za-z]{2,3}[A-Za-z0-9]{4,12}={0,2}(?![A-Za-z0-9+/])/y,
    charsBeforeMax: 80,
    before: /[\w+/]/,
  },
  {
    name: 'mailchimp-key',
    literals: ['-us'],
    inWord: true,
    charsBeforeMax: 32,
    pattern: /(?<=(?<![0-9a-f])[0-9a-f]{32})-us[0-9]{1,2}(?![0-9a-z])/y,
  },
  {
    name: 'stripe-key',
    literals: ['_secret_'],
    inWord: true,
    charsBeforeMax: 40,
    pattern: /(?<=(?:pi|seti|cs|src)_[A-Za-z0-9]{14,30})_secret_[A-Za-z0-9]{16,60}/y,
  },
  { name: 'salesforce-token', literals: ['00D'], pattern: /00D[A-Za-z0-9]{12,15}![A-Za-z0-9._]{60,120}/y },
  {
    name: 'teams-webhook',
    literals: ['/IncomingWebhook/'],
    inWord: true,
    pattern: /\/IncomingWebhook\/([0-9a-f]{32}(?:\/[0-9a-f-]{36})?)/y,
    group: 1,
  },
  {
    name: 'zapier-webhook',
    literals: ['hooks.zapier.com/hooks/catch/'],
    inWord: true,
    pattern: /hooks\.zapier\.com\/hooks\/catch\/([\w/]{12,60})/y,
    group: 1,
  },
  {
    name: 'url-signature',
    literals: ['?code=', '&code='],
    inWord: true,
    pattern: /[?&]code=([\w%+/-]{40,200}={0,2})/y,
    group: 1,
    accepts: telling,
  },
  {
    name: 'basic',
    literals: ['AUTH PLAIN ', 'AUTH LOGIN '],
    pattern: /AUTH (?:PLAIN|LOGIN) ([A-Za-z0-9+/]{8,512}={0,2})/y,
    group: 1,
    accepts: mixed,
  },
  {
    name: 'cookie',
    literals: ['cookie'],
    anyCase: true,
    inWord: true,
    pattern:
      /cookies?\\{0,3}["']?[ \t]{0,4}[:=,]?[ \t]{0,4}\\{0,3}["']?(?:[\w.-]{1,60}=[^\s;"'=]{0,15};[ ]?){0,12}[\w.-]{1,60}=([^\s"'`$<>{}]{16,512}(?:; [\w.-]{1,60}=[^\s;"'`$<>{}]{16,512}){0,12})/iy,
    group: 1,
    accepts: telling,
  },
];

export interface Found {
  readonly start: number;
  readonly end: number;
}
