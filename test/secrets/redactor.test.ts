import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { looksSecret, makeRedactor, makeStreamRedactor, redactDeep } from '../../src/secrets/redactor.ts';
import { redactRules } from '../../src/secrets/rules.ts';

// Key shapes are put together here so that no secret shape lies in the repository's text.
const letters = 'aB3dE6gH9jK2mN5pQ8sT1vW4xY7zC0fR';
const run = (length: number): string => letters.repeat(Math.ceil(length / letters.length)).slice(0, length);
const hex = (length: number): string => '3fa94c0be7d12856'.repeat(16).slice(0, length);
const capitals = (length: number): string => 'QK7XW2MZ5RTB4NYC'.repeat(8).slice(0, length);
const dollar = '$';
const join = (...parts: string[]): string => parts.join('');

const shaped: readonly (readonly [name: string, secret: string])[] = [
  ['anthropic-key', join('sk-', 'ant-api03-', run(93))],
  ['anthropic-key', join('sk-', 'ant-oat01-', run(80))],
  ['anthropic-key', join('sk-', 'ant-sid01-', run(80))],
  ['openrouter-key', join('sk-', 'or-v1-', hex(64))],
  ['openai-key', join('sk-', run(48))],
  ['openai-key', join('sk-', 'proj-', run(60), '_', run(40))],
  ['openai-key', join('sk-', 'svcacct-', run(60))],
  ['openai-key', join('sk-', 'admin-', run(60))],
  ['xai-key', join('xai', '-', run(80))],
  ['google-api-key', join('AI', 'za', run(35))],
  ['google-oauth', join('ya', '29.', run(60))],
  ['google-client-secret', join('GOC', 'SPX-', run(28))],
  ['github-token', join('gh', 'p_', run(36))],
  ['github-token', join('gh', 'o_', run(36))],
  ['github-token', join('gh', 'u_', run(36))],
  ['github-token', join('gh', 's_', run(36))],
  ['github-token', join('gh', 'r_', run(36))],
  ['github-token', join('github', '_pat_', run(22), '_', run(59))],
  ['gitlab-token', join('gl', 'pat-', run(20))],
  ['gitlab-token', join('gl', 'rt-', run(20))],
  ['slack-token', join('xo', 'xb-123456789012-123456789012-', run(24))],
  ['slack-token', join('xo', 'xp-123456789012-', run(32))],
  ['slack-token', join('xa', 'pp-1-A0123456789-', run(40))],
  ['aws-key-id', join('AK', 'IA', capitals(16))],
  ['aws-key-id', join('AS', 'IA', capitals(16))],
  ['azure-client-secret', join('abc', '8Q', '~', run(34))],
  ['azure-key', join(run(52), 'JQQ', 'J99', run(26))],
  ['stripe-key', join('sk', '_live_', run(24))],
  ['stripe-key', join('rk', '_live_', run(24))],
  ['webhook-secret', join('wh', 'sec_', run(32))],
  ['twilio-key', join('S', 'K', hex(32))],
  ['sendgrid-key', join('S', 'G.', run(22), '.', run(43))],
  ['mailgun-key', join('ke', 'y-', hex(32))],
  ['npm-token', join('np', 'm_', run(36))],
  ['pypi-token', join('py', 'pi-', 'AgEIcHlwaS5vcmc', run(60))],
  ['huggingface-token', join('h', 'f_', run(34))],
  ['groq-key', join('gs', 'k_', run(52))],
  ['replicate-token', join('r', '8_', run(37))],
  ['perplexity-key', join('pp', 'lx-', run(48))],
  ['nvidia-key', join('nv', 'api-', run(64))],
  ['digitalocean-token', join('dop', '_v1_', hex(64))],
  ['databricks-token', join('da', 'pi', hex(32))],
  ['vercel-token', join('vc', 'p_', run(40))],
  ['supabase-key', join('sb', 'p_', hex(40))],
  ['linear-key', join('lin', '_api_', run(40))],
  ['notion-token', join('nt', 'n_', run(46))],
  ['notion-token', join('sec', 'ret_', run(43))],
  ['docker-token', join('dckr', '_pat_', run(27))],
  ['vault-token', join('hv', 's.', run(90))],
  ['sentry-token', join('sn', 'trys_', run(90))],
  ['shopify-token', join('sh', 'pat_', hex(32))],
  ['atlassian-token', join('AT', 'ATT3', run(180))],
  ['figma-token', join('fi', 'gd_', run(40))],
  ['age-key', join('AGE-SEC', 'RET-KEY-1', capitals(58))],
  ['jwt', join('ey', 'JhbGciOiJIUzI1NiJ9.', 'ey', 'JzdWIiOiIxMjM0NTY3ODkwIn0.', run(43))],
];

/** The text around the secret stays; the third column is what must be gone. */
const inContext: readonly (readonly [name: string, text: string, secret: string])[] = [
  [
    'slack-webhook',
    `https://hooks.slack${''}.com/services/T00000000/B00000000/${run(24)}`,
    `T00000000/B00000000/${run(24)}`,
  ],
  [
    'discord-webhook',
    `https://discord${''}.com/api/webhooks/123456789012345678/${run(68)}`,
    `123456789012345678/${run(68)}`,
  ],
  ['telegram-token', `bot${''}123456789:${join('A', 'A', run(33))}/getMe`, join('123456789:A', 'A', run(33))],
  ['aws-secret', `aws_secret_access${''}_key = ${run(40)}`, run(40)],
  ['azure-key', `AccountName=me;Account${''}Key=${run(86)}==;EndpointSuffix=core`, `${run(86)}==`],
  ['authorization', `Authorization: ${''}Bearer ${run(24)}`, run(24)],
  ['authorization', `"authorization":"${''}basic dXNlcjpwYXNz"`, 'dXNlcjpwYXNz'],
  ['bearer', `curl -H 'X-Auth: Bearer${''} ${run(30)}'`, run(30)],
  ['basic', `proxy says Basic${''} dXNlcjpwYXNzdzByZA==`, 'dXNlcjpwYXNzdzByZA=='],
  ['url-password', `https://me:${'hunter'}2@example.test/x`, 'hunter2'],
  ['url-password', `postgres://app:${'s3cr'}et@db.local:5432/app`, 's3cret'],
  ['url-password', `mongodb+srv://app:${'pw-'}long@cluster.test`, 'pw-long'],
  ['url-password', `redis://:${'only'}pass1@cache:6379/0`, 'onlypass1'],
  ['assignment', `PASSWORD=${'hunter'}2`, 'hunter2'],
  ['assignment', `export DB_PASSWORD='${'correct'}horse'`, 'correcthorse'],
  ['assignment', `"password": "${'hunter'}2"`, 'hunter2'],
  ['assignment', `{\\"password\\": \\"${'hunter'}2\\"}`, 'hunter2'],
  ['assignment', `password: ${'s3cr'}etpw`, 's3cretpw'],
  ['assignment', `const apiKey = "${run(24)}";`, run(24)],
  ['assignment', `const token: string = '${run(24)}';`, run(24)],
  ['assignment', `API_KEY=${run(32)}`, run(32)],
  ['assignment', `x-api-key: ${run(32)}`, run(32)],
  ['assignment', `client_secret = ${run(32)}`, run(32)],
  ['assignment', `GET /x?access_token=${run(32)}&page=2`, run(32)],
  ['assignment', `tool --token ${run(20)} --verbose`, run(20)],
  ['assignment', `tool --db-password ${'hunter'}22 run`, 'hunter22'],
  ['assignment', `<password>${'hunter'}2</password>`, 'hunter2'],
  ['assignment', `SMTP_PASS=${'abc'}123xyz`, 'abc123xyz'],
  ['assignment', `db_password = ${'S3cret'}Passw0rd!`, 'S3cretPassw0rd!'],
  ['openai-key', `key sk-${'aB3dE6gH9jK2'}`, join('sk-', 'aB3dE6gH9jK2')],
  ['xai-key', `key xai-${run(20)}`, join('xai-', run(20))],
  ['bearer', `Bearer ${'ab12'}cd34ef`, 'ab12cd34ef'],
  ['assignment', `ANTHROPIC_API_KEY=${'ab12'}cd`, 'ab12cd'],
  ['assignment', `AWS_SECRET_ACCESS_KEY=${run(12)}`, run(12)],
  ['assignment', `- name: DB_PASSWORD\n  value: ${run(16)}`, run(16)],
  ['assignment', `{"name":"API_SECRET","value":"${run(20)}"}`, run(20)],
  ['assignment', `machine a.test login me password ${run(16)}`, run(16)],
  ['assignment', `a.test:5432:app:me:${run(12)}`, run(12)],
  ['assignment', `cb%3Faccess_token%3D${run(28)}%26x`, `${run(28)}%26x`],
  ['assignment', `API_TOKEN=${run(8)}.${run(20)}`, `${run(8)}.${run(20)}`],
  ['user-password', `curl -u ci:${run(12)} https://a.test`, run(12)],
  ['flag-password', `sshpass -p ${run(10)} ssh b`, run(10)],
  [
    'github-token',
    Buffer.from(join('gh', 'p_', run(36))).toString('base64'),
    Buffer.from(join('gh', 'p_', run(36))).toString('base64'),
  ],
];

const ordinary: readonly string[] = [
  'commit 9fceb02d0ae598e95dc970b74767f19372d61af8',
  'id 550e8400-e29b-41d4-a716-446655440000',
  `sha256:${hex(64)}`,
  `integrity sha512-${run(86)}==`,
  'open the password reset page and try again',
  'Password: required',
  'the token is invalid or has expired',
  'Task US-001 complete',
  '<promise>DONE</promise>',
  'const token = getToken()',
  'const token = await session.token2.read();',
  'let password = user.password;',
  'password: string;',
  'password: z.string().min(8),',
  '{ type: "password", name: "password" }',
  'if (token === "abc12345678") return;',
  'secret = process.env.CLIENT_SECRET_2024_VALUE',
  `API_KEY=${dollar}{ANTHROPIC_API_KEY_2}`,
  'api_key: "YOUR_API_KEY_1234567"',
  'token: "<token>"',
  'password=********',
  'max_tokens=4096 input_tokens: 123456 output_tokens: 789',
  '"token_count": "123abc456def789"',
  'tokenizer = "cl100k_base_model"',
  'token_type: "bearer2024"',
  'PWD=/home/me/project2',
  'secretName: my-secret-2024-production',
  'password_file=/run/secrets/db2.txt',
  'https://example.test:8080/path@2x.png',
  'http://localhost:3000/a?b=c&d=e',
  'git@github.com:owner/repository.git',
  `postgres://app:${dollar}{DB_PASSWORD}@db/app`,
  'Basic functionality works and basic understanding2 helps',
  'bearer authentication-is-described-below',
  `Authorization: Bearer ${dollar}{token}`,
  "headers: { Authorization: 'Bearer ' + token }",
  'disk-usage and risk-assessment-of-the-task-at-hand-for-all',
  'sk-learn-estimators-and-other-tools',
  'npm_config_registry=https://registry.npmjs.test/',
  'hf_transfer is enabled; hf_hub_download_with_progress_and_more_words',
  'src/secrets/rules.ts:12:5 error TS2345: Argument of type string',
  'node_modules/.bin/vitest run --reporter=dot',
  '-----BEGIN CERTIFICATE-----',
  "text.startsWith('-----BEGIN PRIVATE KEY-----') || other(text)",
  'wasm-opt --pass-arg=imports2@env.await -O2',
  "header '-----BEGIN PRIVATE KEY-----' is what a_long_identifier_of_the_code_looks_for",
  'Token::new("parser", 12345678)',
  'for (const token of tokens) count += token.length;',
  '2026-01-02T03:04:05.678Z INFO request 12345 took 67 ms',
  'secret santa: everyone draws a name',
  'The API key is read from the file that you name.',
  'password: "Your password must have 8 characters"',
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ',
  'AKIA is the prefix of an access key id',
];

const pem = (kind: string): string =>
  [
    `-----BEGIN ${kind}PRIVATE`,
    ` KEY-----\n${run(64)}\n${run(64)}\n${run(20)}\n-----END ${kind}PRIVATE`,
    ' KEY-----',
  ].join('');

describe('the redactor', () => {
  const redact = makeRedactor([]);

  it('has enough to be judged by', () => {
    expect(redactRules.length).toBeGreaterThanOrEqual(30);
    expect(shaped.length + inContext.length).toBeGreaterThanOrEqual(60);
    expect(ordinary.length).toBeGreaterThanOrEqual(40);
  });

  it.each(shaped)('hides a %s wherever it stands', (name, secret) => {
    for (const [before, after] of [
      ['', ''],
      ['the key is ', ', keep it'],
      ['(', ')'],
      ['{"text":"line\\n', '\\nmore"}'],
      ['\x1b[31m', '\x1b[0m'],
      ['word\x1b[1m', '\x1b[0mword'],
      ['key%3D', ' '],
    ] as const) {
      const out = redact(`${before}${secret}${after}`);
      expect(out).toContain(`[redacted:${name}]`);
      expect(out).not.toContain(secret.slice(-12));
      expect(out.startsWith(before) || before.includes('\x1b')).toBe(true);
    }
    expect(looksSecret(`--goal=${secret}`)).toBe(true);
  });

  it.each(shaped)('hides a %s that is coloured in the middle', (_name, secret) => {
    const middle = secret.length >> 1;
    for (const colour of ['\x1b[32m', '\\u001b[1;32m']) {
      const out = redact(`key ${secret.slice(0, middle)}${colour}${secret.slice(middle)} end`);
      expect(out).not.toContain(secret.slice(-12));
      expect(out).toMatch(/^key .*\[redacted:[a-z-]+\].* end$/);
    }
  });

  it.each(inContext)('hides the value of a %s and keeps what stands around it', (name, text, secret) => {
    const out = redact(`start ${text}\nnext line`);
    expect(out).toBe(`start ${text.replace(secret, `[redacted:${name}]`)}\nnext line`);
  });

  it.each(ordinary)('leaves ordinary text alone: %s', text => {
    expect(redact(text)).toBe(text);
    expect(redact(`before\n${text}\nafter`)).toBe(`before\n${text}\nafter`);
    expect(looksSecret(text)).toBe(false);
  });

  it.each(['', 'RSA ', 'EC ', 'OPENSSH ', 'ENCRYPTED '])('hides a %sprivate key over its lines', kind => {
    expect(redact(`a\n${pem(kind)}\nb`)).toBe('a\n[redacted:private-key]\nb');
    expect(redact(JSON.stringify({ key: `${pem(kind)}\n` }))).toBe('{"key":"[redacted:private-key]\\n"}');
    expect(redact(pem(kind).replaceAll('\n', '\n  12 | '))).toBe('[redacted:private-key]');
    const unclosed = pem(kind).slice(0, -30);
    expect(redact(`a\n${unclosed}`)).toBe('a\n[redacted:private-key]');
  });

  it('hides a very long value to its end', () => {
    const long = `${run(700)}+${run(900)}`;
    expect(redact(`token="${long}" next`)).toBe('token="[redacted:assignment]" next');
    expect(redact(`TOKEN=${long}\nnext`)).toBe('TOKEN=[redacted:assignment]\nnext');
    expect(redact(`${join('gh', 'p_', run(900))} next`)).toBe('[redacted:github-token] next');
  });

  it('keeps a secret hidden in a text that is all one hostile run', () => {
    for (const piece of [
      join('sk-', 'proj-'),
      'eyJ',
      '-eyJ',
      '://',
      'token=',
      '-----BEGIN PRIVATE KEY-----',
      '"password":"',
    ]) {
      const hostile = piece.repeat(20_000);
      expect(redact(redact(hostile))).toBe(redact(hostile));
    }
  });
});

describe('known values', () => {
  const value = 'p@ss/w"rd + ünï\\x';
  const redact = makeRedactor([value, 'short']);
  const base64 = Buffer.from(value).toString('base64');

  it.each([
    ['as it is', value],
    ['escaped in JSON', JSON.stringify(value).slice(1, -1)],
    ['escaped in JSON within JSON', JSON.stringify(JSON.stringify(value)).slice(3, -3)],
    ['in base64', base64],
    ['in base64url', Buffer.from(value).toString('base64url')],
    ['percent-encoded', encodeURIComponent(value)],
    ['percent-encoded in small letters', encodeURIComponent(value).replace(/%../g, code => code.toLowerCase())],
    ['in hexadecimal', Buffer.from(value).toString('hex')],
  ])('are hidden %s', (_how, spelled) => {
    expect(redact(`a ${spelled} b`)).toBe('a [redacted:known-value] b');
  });

  it('are hidden inside the base64 of a longer text', () => {
    for (const user of ['a', 'ab', 'abc']) {
      const whole = Buffer.from(`${user}:${value}:rest`).toString('base64');
      const out = redact(whole);
      expect(out).toContain('[redacted:known-value]');
      expect(Buffer.from(out.replace(/\[.*\]/, ''), 'base64').toString()).not.toContain(value.slice(2, -2));
    }
  });

  it('shorter than 8 characters are ordinary words', () => {
    expect(redact('a short text')).toBe('a short text');
  });

  it('that our own marks contain cannot be hidden by them', () => {
    expect(makeRedactor(['redacted'])('[redacted:jwt] redacted')).toBe('[redacted:jwt] redacted');
  });

  it('never survive, and redacting again changes nothing', () => {
    const part = fc.string({ minLength: 8, maxLength: 24, unit: 'binary' }).filter(text => text.trim().length >= 8);
    const around = fc.string({ maxLength: 30, unit: 'binary' });
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 1, maxLength: 4 }),
        fc.array(around, { maxLength: 6 }),
        (values, pieces) => {
          const redactAll = makeRedactor(values);
          const text = pieces.flatMap((piece, i) => [piece, values[i % values.length] ?? '']).join('');
          const out = redactAll(text);
          for (const each of values) expect(out.includes(each)).toBe(false);
          expect(redactAll(out)).toBe(out);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('are hidden together with everything else in any mixture, at once and for good', () => {
    const redactAll = makeRedactor([value, 'aaaaaaaa']);
    const atoms = [
      ...shaped.map(row => row[1]),
      ...inContext.map(row => row[1]),
      ...ordinary,
      value,
      'aaaaaaaa',
      pem(''),
    ];
    const glue = fc.constantFrom(
      '',
      ' ',
      '\n',
      '"',
      '=',
      ':',
      '[redacted:jwt]',
      '\x1b[0m',
      '-',
      '_',
      'x',
      '\\n',
      '@',
      "'",
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...atoms), glue), { maxLength: 8 }), parts => {
        const out = redactAll(parts.flat().join(''));
        expect(redactAll(out)).toBe(out);
        expect(out).not.toContain(value);
      }),
      { numRuns: 300 },
    );
  });
});

describe('a long text', () => {
  it('is searched without a seam: a key is found wherever it lies, also behind characters of any width', () => {
    const [key, value] = [shaped[0]?.[1] ?? '', 'пароль—密码—😀'];
    const redact = makeRedactor([value]);
    for (const filler of ['a ', 'é ', '密 '])
      for (let before = 16_340; before < 16_390; before += 1) {
        const start = filler.repeat(before).slice(0, before - 1);
        expect(redact(`${start} ${key} ${value}`)).toBe(`${start} [redacted:anthropic-key] [redacted:known-value]`);
      }
  });
});

describe('redacting data', () => {
  const redact = makeRedactor(['known-secret-value']);

  it('returns the same object when there is nothing to hide', () => {
    const data = { a: ['x', { b: 1, c: null }], d: true };
    expect(redactDeep(data, redact)).toBe(data);
  });

  it('changes only the branches that hold a secret', () => {
    const data = { clean: { a: 1 }, dirty: ['ok', { text: 'a known-secret-value b' }] };
    const out = redactDeep(data, redact);
    expect(out).toEqual({ clean: { a: 1 }, dirty: ['ok', { text: 'a [redacted:known-value] b' }] });
    expect(out.clean).toBe(data.clean);
    expect(data.dirty[1]).toEqual({ text: 'a known-secret-value b' });
  });

  it('hides a field whose name says that it is secret', () => {
    const data = {
      password: 'hunter2',
      apiKey: run(20),
      token_count: '12',
      tokens: 'abc12345',
      password_hint: 'my cat',
    };
    expect(redactDeep(data, redact)).toEqual({
      ...data,
      password: '[redacted:assignment]',
      apiKey: '[redacted:assignment]',
    });
  });

  it('survives any depth and a hostile key', () => {
    let deep: unknown = 'known-secret-value';
    for (let i = 0; i < 100_000; i += 1) deep = [deep];
    let out = redactDeep(deep, redact);
    while (Array.isArray(out)) out = out[0];
    expect(out).toBe('[redacted:known-value]');
    const hostile: unknown = JSON.parse('{"__proto__": {"x": "known-secret-value"}}');
    expect(JSON.stringify(redactDeep(hostile, redact))).toBe('{"__proto__":{"x":"[redacted:known-value]"}}');
  });
});

describe('redacting a stream (B66)', () => {
  const redact = makeRedactor(['known-secret-value']);
  const secret = join('gh', 'p_', run(36));

  it('gives what redacting the whole gives, wherever the chunks are cut', () => {
    const lines = [
      'plain',
      `key ${secret} end`,
      pem('RSA '),
      'known-secret-value',
      'password=hunter22',
      '',
      'last',
      `- name: API_TOKEN\n  value: ${run(20)}`,
    ];
    fc.assert(
      fc.property(
        fc.shuffledSubarray(lines),
        fc.array(fc.nat(400), { maxLength: 12 }),
        fc.boolean(),
        (chosen, cuts, closes) => {
          const text = chosen.join('\n') + (closes ? '\n' : '');
          const stream = makeStreamRedactor(redact);
          let out = '';
          let from = 0;
          for (const cut of [...cuts].sort((a, b) => a - b)) {
            out += stream.push(text.slice(from, cut));
            from = Math.max(from, cut);
          }
          out += stream.push(text.slice(from)) + stream.end();
          expect(out).toBe(redact(text));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('lets finished lines through at once and holds the unfinished one', () => {
    const stream = makeStreamRedactor(redact);
    expect(stream.push('one\ntwo')).toBe('one\n');
    expect(stream.push(' more\n')).toBe('two more\n');
    expect(stream.end()).toBe('');
  });

  it('stays bounded on a line without end and still finds what lies across a flush', () => {
    const stream = makeStreamRedactor(redact);
    const text = `${'x '.repeat(32_000)}${secret}${' y'.repeat(32_000)}${secret}${' z'.repeat(40_000)}`;
    let out = '';
    let heldMax = 0;
    let given = 0;
    for (let at = 0; at < text.length; at += 1_000) {
      given += Math.min(1_000, text.length - at);
      out += stream.push(text.slice(at, at + 1_000));
      heldMax = Math.max(heldMax, given - out.length);
    }
    out += stream.end();
    expect(out).toBe(redact(text));
    expect(heldMax).toBeLessThan(70_000);
  });
});
