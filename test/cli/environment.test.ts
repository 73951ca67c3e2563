// The user's environment as checks and agents meet it through the real command: what is passed on, what is withheld, and that it is said.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventsOf, inScratch, prd, type Scratch } from './kit.ts';
import { fakeClaude, flat, inWorkshop } from './workshop.ts';

const agent = 'read -r _; echo x >>made.txt; echo "Task $RALPH_TASK complete"';
const run = (check: string, ...more: readonly string[]): readonly string[] => [
  ...['run', 'PRD.json', '--agent-command', agent, '--verify', check, '--sandbox', 'none'],
  ...more,
];

const plain = {
  DATABASE_URL: 'postgres://ann@db/shop',
  CI: '1',
  JAVA_HOME: '/jdk',
  VIRTUAL_ENV: '/venv',
  LD_LIBRARY_PATH: '/lib/own',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  NODE_EXTRA_CA_CERTS: '/etc/ca.pem',
  DOCKER_HOST: 'unix:///run/docker.sock',
};
const credentials = {
  NPM_TOKEN: 'n',
  STRIPE_KEY: 's',
  APP_SECRET: 'a',
  DB_PASSWORD: 'd',
  AWS_PROFILE: 'p',
  GOOGLE_APPLICATION_CREDENTIALS: '/g.json',
};

/** The names of those that a program saw, of all that the user has. */
const seenBy = (place: Scratch, file: string): readonly string[] =>
  place
    .read(file)
    .split('\n')
    .map(line => line.split('=')[0]!)
    .filter(name => name in plain || name in credentials)
    .sort();

describe('a check', () => {
  const env = { ...plain, ...credentials };

  it('gets what the user has, but credentials only by --check-env; the card lists what was withheld', () =>
    inScratch(async place => {
      place.put('PRD.json', prd(['US-001']));
      const words = run('env >seen.txt', '--check-env', 'NPM_TOKEN');
      const card = flat((await place.ralph([...words, '--dry-run'], { env })).stdout);
      expect(card).toContain(
        'without APP_SECRET, AWS_PROFILE, DB_PASSWORD, GOOGLE_APPLICATION_CREDENTIALS, STRIPE_KEY (--check-env NAME)',
      );
      const told = await place.ralph(words, { env });
      expect(told.code, told.stderr).toBe(0);
      expect(seenBy(place, 'seen.txt')).toEqual([...Object.keys(plain), 'NPM_TOKEN'].sort());
    }));

  it('that fails for want of a variable says which, and the flag that gives it; with it the run is done', () =>
    inScratch(async place => {
      place.put('PRD.json', prd(['US-001']));
      const check = 'test -n "$NPM_TOKEN" || { echo "NPM_TOKEN is not set"; exit 1; }';
      const red = await place.ralph(run(check), { env });
      expect([red.code, flat(red.stderr)]).toEqual([2, expect.stringContaining('--check-env NPM_TOKEN')]);
      expect((await place.ralph(run(check, '--check-env', 'NPM_TOKEN', '--quiet'), { env })).code).toBe(0);
    }));
});

const networks = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];
const authorities = [
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE', 'GIT_SSL_CAINFO'],
];
const models = [
  ...['ANTHROPIC_DEFAULT_OPUS_MODEL', 'ANTHROPIC_DEFAULT_SONNET_MODEL', 'ANTHROPIC_DEFAULT_HAIKU_MODEL'],
  ...['CLAUDE_CODE_SUBAGENT_MODEL', 'MAX_THINKING_TOKENS', 'API_TIMEOUT_MS'],
];
/** The switch of each cloud, and what belongs to it. */
const clouds = {
  CLAUDE_CODE_USE_BEDROCK: [
    ...['AWS_REGION', 'AWS_PROFILE', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'],
    ...['AWS_BEARER_TOKEN_BEDROCK', 'ANTHROPIC_BEDROCK_BASE_URL'],
  ],
  CLAUDE_CODE_USE_VERTEX: ['CLOUD_ML_REGION', 'ANTHROPIC_VERTEX_PROJECT_ID', 'GOOGLE_APPLICATION_CREDENTIALS'],
  CLAUDE_CODE_USE_FOUNDRY: ['ANTHROPIC_FOUNDRY_API_KEY', 'ANTHROPIC_FOUNDRY_RESOURCE', 'ANTHROPIC_FOUNDRY_BASE_URL'],
} as const;
const byFlagAlone = ['SSH_AUTH_SOCK', 'XDG_RUNTIME_DIR', 'DOCKER_HOST', 'DIRENV_DIR', 'DIRENV_DIFF', 'DATABASE_URL'];

describe('an agent', () => {
  const cloudNames = Object.values(clouds).flat();
  const all = [...networks, ...authorities, ...models, ...byFlagAlone, ...cloudNames];
  const env = Object.fromEntries(all.map(name => [name, `value-of-${name}`]));
  const cases: readonly (readonly [string, Readonly<Record<string, string>>, readonly string[], readonly string[]])[] =
    [
      ['by default the way to its model and its own settings', {}, [], []],
      ...Object.entries(clouds).map(
        ([name, names]) => [`while ${name} is on the credentials of that cloud`, { [name]: '1' }, [], names] as const,
      ),
      ['with --agent-env what is named there', {}, byFlagAlone.flatMap(name => ['--agent-env', name]), byFlagAlone],
    ];

  it.concurrent.each(cases)('gets %s, and nothing else', (_what, on, flags, more) =>
    inWorkshop(async place => {
      place.install(
        'claude',
        fakeClaude(
          `require('node:fs').writeFileSync('seen.json', JSON.stringify(Object.keys(process.env))); say('Task US-001 complete')`,
        ),
      );
      const words = ['run', '--agent', 'claude', '--detect-checks', 'none', '--quiet', '--sandbox', 'none', ...flags];
      const told = await place.ralph(words, { env: { ...env, ...on, ...place.path } });
      expect(told.code, told.stderr).toBe(0);
      const seen = (JSON.parse(place.read('seen.json')) as string[]).filter(name => all.includes(name));
      expect(seen.sort()).toEqual([...networks, ...authorities, ...models, ...more].sort());
    })(),
  );

  it('that fails for want of a variable is reported with its name and the flag', () =>
    inScratch(async place => {
      place.put('PRD.json', prd(['US-001']));
      const fails = 'read -r _; echo "DATABASE_URL is not set" >&2; exit 1';
      const words = ['run', 'PRD.json', '--agent-command', fails, '--max-iterations', '1', '--backoff-base', '1ms'];
      const told = await place.ralph(words, { env });
      expect(flat(told.stderr)).toContain('--agent-env DATABASE_URL');
    }));

  it('that is a Node program and crashes is reported by its error line, and other crashes are other errors', () =>
    inScratch(async place => {
      place.put('PRD.json', prd(['US-001']));
      place.put('agent.mjs', "throw new RangeError(['one', 'two', 'three'][process.env.RALPH_ITERATION - 1]);\n");
      const words = ['run', 'PRD.json', '--agent-command', `read -r _; exec node ${join(place.project, 'agent.mjs')}`];
      const told = await place.ralph([...words, '--max-iterations', '3', '--backoff-base', '1ms']);
      expect([told.code, told.stderr]).toEqual([3, expect.stringContaining('RangeError: two')]);
      expect(told.stderr).not.toContain('Node.js v');
      const ended = (await eventsOf(place)).filter(one => one['type'] === 'iteration.ended');
      expect(ended.map(one => (one['failure'] as { detail: string }).detail)).toEqual(
        ['one', 'two', 'three'].map(word => `exit code 1: RangeError: ${word}`),
      );
    }));

  it(
    'says in which permission mode it runs, and that is shown',
    inWorkshop(async place => {
      const says = `print({ type: 'system', subtype: 'init', session_id: 's', model, permissionMode: 'acceptEdits' }); say('Task US-001 complete')`;
      place.install('claude', fakeClaude(says));
      const words = ['run', '--agent', 'claude', '--detect-checks', 'none', '--quiet'];
      expect((await place.ralph(words, { env: place.path })).code).toBe(0);
      expect((await place.ralph(['explain', 'shop'])).stdout).toContain('permission mode acceptEdits');
    }),
  );
});
