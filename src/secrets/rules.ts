// Rules for secrets: one row for each shape, found by a literal and confirmed by a bounded pattern; families of keys come as data.
import { alphabets, families } from './families.ts';
import { places } from './places.ts';
import type { RedactRule } from './rule.ts';
import { telling } from './values.ts';

/** Words in a row: a long name. */
const sentence = /(?:[a-z]{2,20}_){3}|(?:[a-z]{2,20}-){4}/;

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
    accepts: secret => {
      const rest = secret.slice(literals.find(literal => secret.startsWith(literal))?.length);
      return telling(rest) && !sentence.test(rest);
    },
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
const alphanumerics = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

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
    name: 'mailgun-key',
    literals: ['mailgun'],
    anyCase: true,
    pattern: /mailgun[^\n]{0,160}?(?<![\w-])([0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8})(?![\w-])/iy,
    group: 1,
  },
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
    pattern: /\/api\/webhooks\/([0-9]{15,22}\/[A-Za-z0-9_-]{40,100})/y,
    group: 1,
  },
  {
    // No letter of a token's alphabet may stand before it, so a run is tried once; the segments need no bound.
    name: 'jwt',
    literals: ['eyJ'],
    pattern:
      /(?<!(?<!\\|%[0-9A-F])[A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.(?:eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]{0,8192})?|[A-Za-z0-9_-]{0,1024}(?:\.[A-Za-z0-9_-]{8,8192}){3})/y,
  },
  // A bot's token begins with its id in base64, and most ids begin with 1.
  {
    name: 'discord-token',
    literals: [...alphanumerics].map(letter => `MT${letter}`),
    pattern: /MT[\w-]{22,26}\.[\w-]{6}\.[\w-]{27,40}/y,
  },
  {
    name: 'deepl-key',
    literals: [':fx'],
    inWord: true,
    charsBeforeMax: 36,
    pattern: /(?<=[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):fx(?!\w)/y,
  },
  {
    name: 'private-key',
    literals: ['Private-Lines: '],
    pattern:
      /Private-Lines: [0-9]{1,3}(?:\\{0,3}[rn]|\s){1,4}((?:[A-Za-z0-9+/=]{1,76}(?:\\{1,3}[rn]|\s){1,4}){1,80}(?:Private-MAC: [0-9a-f]{40,64})?)/y,
    group: 1,
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
  { name: 'airtable-token', literals: ['_mmk'], inWord: true, charsBeforeMax: 40, pattern: /_mmk(?![A-Za-z0-9])/y },
  {
    name: 'newrelic-key',
    literals: ['NRAL'],
    inWord: true,
    charsBeforeMax: 40,
    pattern: /(?<=[0-9a-f]{30}(?:FFFF)?)NRAL/y,
  },
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
    pattern: /(?<=[\w+/-]{24})(?:\+A|A)[A-Za-z]{2,3}[\w-]{4,12}={0,2}(?![A-Za-z0-9+/])/y,
    charsBeforeMax: 80,
    before: /[\w+/-]/,
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
  ...places,
];
