// Who wins when several sources set the same thing, and what the environment and .env may say.
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ConfigRequest, resolveConfig } from '../../src/config/resolve.ts';
import { defaultSettings, modeName, modeNames, usualMode } from '../../src/modes/registry.ts';

const now = Date.parse('2026-03-01T12:00:00Z');
let root: string;
let directory: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'ralph-resolve-'));
  directory = join(root, 'project');
  mkdirSync(directory);
  mkdirSync(join(root, 'user'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const resolve = (some: Partial<ConfigRequest> = {}) =>
  resolveConfig({ mode: usualMode, flags: {}, env: {}, directory, userDirectory: join(root, 'user'), now, ...some });

async function good(some: Partial<ConfigRequest> = {}) {
  const result = await resolve(some);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result;
}

async function messages(some: Partial<ConfigRequest> = {}): Promise<string[]> {
  const result = await resolve(some);
  return result.ok ? [] : result.problems.map(problem => problem.message);
}

const dotEnv = (text: string) => writeFileSync(join(directory, '.env'), text);

describe('precedence', () => {
  test('flags beat the environment, that .env, that the project file, that the user file, that the preset', async () => {
    writeFileSync(
      join(root, 'user', 'config.json'),
      '{"maxIterations": 1, "maxErrors": 1, "maxAttempts": 1, "noProgress": 1, "contextChars": 1}',
    );
    writeFileSync(
      join(directory, 'ralph.config.json'),
      '{"maxIterations": 2, "maxErrors": 2, "maxAttempts": 2, "noProgress": 2}',
    );
    dotEnv('RALPH_MAX_ITERATIONS=3\nRALPH_MAX_ERRORS=3\nRALPH_MAX_ATTEMPTS=3\n');
    const env = { RALPH_MAX_ITERATIONS: '4', RALPH_MAX_ERRORS: '4' };
    const { config, sources } = await good({ env, flags: { maxIterations: '5' } });
    expect(config).toMatchObject({
      maxIterations: 5,
      maxErrors: 4,
      maxAttempts: 3,
      noProgress: 2,
      contextChars: 1,
      stuckThreshold: 3,
    });
    expect(sources).toMatchObject({
      maxIterations: 'flag',
      maxErrors: 'environment',
      maxAttempts: '.env',
      noProgress: 'project file',
      contextChars: 'user file',
      stuckThreshold: 'preset',
    });
  });

  test.each(modeNames)('with nothing set, mode %s gets exactly its preset', async mode => {
    const { settings, sources, notices } = await good({ mode: modeName(mode) });
    expect(settings).toEqual(defaultSettings(mode));
    expect(new Set(Object.values(sources))).toEqual(new Set(['preset']));
    expect(notices).toEqual([]);
  });

  test('retries of a plan are attempts after the first, and mean nothing elsewhere', async () => {
    const flags = { retries: '2', maxAttempts: '7' };
    expect((await good({ mode: modeName('plan'), flags })).settings.limits.attemptsPerTaskMax).toBe(3);
    expect((await good({ flags })).settings.limits.attemptsPerTaskMax).toBe(7);
  });

  test('each setting reaches the core’s settings in its unit', async () => {
    const { settings, config } = await good({
      flags: {
        maxIterations: '7',
        maxCost: '$2',
        maxTokens: '1000',
        maxDuration: '1h',
        deadline: '2026-03-01T13:00:00Z',
        iterationTimeout: '5m',
        maxErrors: '2',
        noProgress: '4',
        maxAttempts: '6',
        maxAverageDuration: '3m',
        stuckThreshold: '8',
        promise: 'FIN',
        agentCommand: 'my-agent',
        verify: ['npm test', 'make'],
        verifyTimeout: '9s',
        requireChecks: true,
        contextChars: '900',
        backoffBase: '10ms',
        project: 'shop',
        taskId: 'S-1',
        name: 'x',
        onEscalation: 'skip',
      },
    });
    expect(settings).toMatchObject({
      limits: {
        iterationsMax: 7,
        costUsdMicrosMax: 2_000_000,
        tokensMax: 1_000,
        durationMsMax: 3_600_000,
        deadlineAt: now + 3_600_000,
        iterationMsMax: 300_000,
        consecutiveErrorsMax: 2,
        noProgressIterations: 4,
        attemptsPerTaskMax: 6,
        averageIterationMsMax: 180_000,
      },
      sameErrorsToEscalate: 8,
      promise: 'FIN',
      performers: ['command'],
      checks: ['npm test', 'make'],
      contextCharsMax: 900,
      backoffBaseMs: 10,
    });
    expect(config).toMatchObject({
      verifyTimeout: 9_000,
      requireChecks: true,
      project: 'shop',
      taskId: 'S-1',
      onEscalation: 'skip',
    });
  });

  test('a script or a command says which agent is meant; the one closer to the command line wins', async () => {
    writeFileSync(join(root, 'user', 'config.json'), '{"agentCommand": "my-agent"}');
    expect((await good()).settings.performers).toEqual(['command']);
    expect((await good({ flags: { script: 'a.json' } })).settings.performers).toEqual(['scripted']);
    expect((await good({ flags: { agent: 'codex' } })).settings.performers).toEqual(['codex']);
  });

  test('flags that name different agents are refused; a command that takes over later is named as that', async () => {
    const refused = ['--agent and --script name different agents.'];
    expect(await messages({ flags: { script: 'a.json', agent: 'codex' } })).toEqual(refused);
    expect(await messages({ flags: { script: 'a.json', agentCommand: 'x' } })).toEqual([
      '--agent-command and --script name different agents.',
    ]);
    const later = { agent: 'codex', fallback: 'command', agentCommand: 'x' };
    expect((await good({ flags: later })).settings.performers).toEqual(['codex', 'command']);
  });

  test('a single-valued flag given twice is refused', async () => {
    expect(await messages({ flags: { maxCost: ['1', '2'] } })).toEqual([
      '--max-cost: it is given 2 times; give it once.',
    ]);
  });

  test('problems of all sources are told together', async () => {
    writeFileSync(join(directory, 'ralph.config.json'), '{"maxErrors": 0}');
    expect(await messages({ flags: { maxCost: 'x' }, env: { RALPH_MAX_TOKENS: 'y' } })).toHaveLength(3);
  });
});

describe('B02: unlimited', () => {
  const all = { maxIterations: 'unlimited', maxCost: 'unlimited', maxTokens: 'unlimited', maxDuration: 'unlimited' };

  test('B02: it is refused when nothing else bounds the loop', async () => {
    const result = await resolve({ flags: all });
    expect(result).toMatchObject({
      ok: false,
      problems: [{ message: expect.stringContaining('only with another limit set'), fix: expect.any(String) }],
    });
  });

  test.each([
    { maxIterations: '3' },
    { maxCost: '3' },
    { maxTokens: '3' },
    { maxDuration: '3s' },
    { deadline: '2026-03-02T00:00:00Z' },
  ])('B02: with %j it is allowed', async limit => {
    expect(await resolve({ flags: { ...all, ...limit } })).toMatchObject({ ok: true });
  });
});

describe('B13: the name', () => {
  test('B13: the slug made is shown, whatever source it came from', async () => {
    const notice = 'The loop\'s name "../../Add Login" is written as add-login.';
    expect((await good({ flags: { name: '../../Add Login' } })).notices).toEqual([notice]);
    expect((await good({ env: { RALPH_NAME: '../../Add Login' } })).notices).toEqual([notice]);
    writeFileSync(join(directory, 'ralph.config.json'), '{"name": "../../Add Login"}');
    const fromFile = await good();
    expect(fromFile.notices).toEqual([notice]);
    expect(fromFile.config.name).toBe('add-login');
    expect((await good({ flags: { name: 'plain' } })).notices).toEqual([]);
  });
});

describe('B16: the environment', () => {
  test.each([
    [{ RALPH_MAX_COST: 'abc' }, 'RALPH_MAX_COST: "abc" is not an amount in dollars'],
    [{ RALPH_MAX_COST: '' }, 'RALPH_MAX_COST: "" is not an amount in dollars'],
    [{ RALPH_MAX_ITERATIONS: '0' }, 'RALPH_MAX_ITERATIONS: "0" is not a whole number'],
    [{ MAX_ITERATIONS: '1e3' }, 'MAX_ITERATIONS: "1e3" is not a whole number'],
    [{ RALPH_REQUIRE_CHECKS: 'yes' }, 'RALPH_REQUIRE_CHECKS: "yes" is neither'],
  ])('B16: %j is refused by its own name', async (env, why) => {
    const problems = await messages({ env });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(why);
  });

  test('B16: lists are read: names by comma, commands by line', async () => {
    const { config } = await good({ env: { RALPH_AGENT_ENV: 'LANG,TZ', RALPH_VERIFY: 'npm test\n\nmake check\n' } });
    expect(config).toMatchObject({ agentEnv: ['LANG', 'TZ'], verify: ['npm test', 'make check'] });
  });

  test('B19: a secret in a wrong variable is not repeated', async () => {
    const problems = await messages({ env: { RALPH_MAX_COST: `sk-ant-api03-${'aB3dE5gH7j'.repeat(9)}-x` } });
    expect(problems[0]).toContain('RALPH_MAX_COST: (hidden');
    expect(problems[0]).not.toContain('aB3d');
  });
});

describe('seed names', () => {
  test.each([
    [
      'prd',
      { MAX_ITERATIONS: '9' },
      { maxIterations: 9 },
      'MAX_ITERATIONS is read as RALPH_MAX_ITERATIONS; please use the new name.',
    ],
    [
      'prd',
      { STUCK_THRESHOLD: '4' },
      { stuckThreshold: 4 },
      'STUCK_THRESHOLD is read as RALPH_STUCK_THRESHOLD; please use the new name.',
    ],
    [
      'plan',
      { MAX_PLAN_ITERATIONS: '8' },
      { maxIterations: 8 },
      'MAX_PLAN_ITERATIONS is read as RALPH_MAX_ITERATIONS; please use the new name.',
    ],
    [
      'plan',
      { PLAN_RETRY_ATTEMPTS: '2' },
      { retries: 2 },
      'PLAN_RETRY_ATTEMPTS is read as RALPH_RETRIES; please use the new name.',
    ],
    [
      'prd',
      { MAX_ITERATIONS: '9', RALPH_MAX_ITERATIONS: '5' },
      { maxIterations: 5 },
      'MAX_ITERATIONS is ignored, because RALPH_MAX_ITERATIONS is set.',
    ],
    [
      'plan',
      { MAX_ITERATIONS: '9', RALPH_MAX_ITERATIONS: '5' },
      { maxIterations: 5 },
      'MAX_ITERATIONS is ignored, because RALPH_MAX_ITERATIONS is set.',
    ],
  ] as const)('in mode %s %j is read with a notice', async (mode, env, values, notice) => {
    const { config, notices } = await good({ mode: modeName(mode), env });
    expect(config).toMatchObject(values);
    expect(notices).toEqual([notice]);
  });

  test('the names of plan mode are not looked at in another mode', async () => {
    const { settings, notices } = await good({ env: { MAX_PLAN_ITERATIONS: 'x', PLAN_RETRY_ATTEMPTS: 'y' } });
    expect(settings).toEqual(defaultSettings('prd'));
    expect(notices).toEqual([]);
  });

  test('the new name in .env wins over the seed name in the environment', async () => {
    dotEnv('RALPH_MAX_ITERATIONS=5\n');
    const { config, sources } = await good({ env: { MAX_ITERATIONS: '9' } });
    expect(config.maxIterations).toBe(5);
    expect(sources.maxIterations).toBe('.env');
  });
});

describe('B17: .env', () => {
  test('B17: export, quotes, comments, several lines, CRLF and a byte order mark are parsed', async () => {
    dotEnv(
      '\ufeffexport RALPH_MAX_COST="2.50"\r\n# note\r\nRALPH_PROMISE=\'ALL DONE\' # so\r\nRALPH_VERIFY="npm test\r\nmake"\r\nRALPH_PROJECT=shop\r\n',
    );
    const { config, sources, notices } = await good();
    expect(config).toMatchObject({
      maxCost: 2_500_000,
      promise: 'ALL DONE',
      verify: ['npm test', 'make'],
      project: 'shop',
    });
    expect(sources.promise).toBe('.env');
    expect(notices).toEqual([]);
  });

  test('B17: nothing in it is executed or expanded', async () => {
    const mark = join(root, 'executed');
    dotEnv(`RALPH_PROMISE=$(touch ${mark})\nRALPH_PROJECT="\`touch ${mark}\`"\nRALPH_TASK_ID=$HOME\n`);
    const { config } = await good({ env: { HOME: '/h' } });
    expect(config).toMatchObject({ promise: `$(touch ${mark})`, project: `\`touch ${mark}\``, taskId: '$HOME' });
    expect(existsSync(mark)).toBe(false);
  });

  test('B17: only our names are looked at, and the process’s environment is not changed', async () => {
    dotEnv('PATH=/evil\nAPI_KEY=x\nNODE_OPTIONS=--bad\n__proto__=x\nRALPH_MAX_ERRORS=2\nRALPH_HOME=/evil\n');
    const before = { ...process.env };
    const { config } = await good();
    expect(config.maxErrors).toBe(2);
    expect({ ...process.env }).toEqual(before);
  });

  test('B16, B17: a wrong value names the variable and the file', async () => {
    dotEnv('RALPH_MAX_COST=abc\n');
    expect(await messages()).toEqual([expect.stringMatching(/^RALPH_MAX_COST in \.env: "abc" is not an amount/)]);
  });

  test('B29: a project’s .env cannot set what belongs to the user', async () => {
    dotEnv('RALPH_AGENT_COMMAND=evil\nRALPH_AGENT_ENV=TOKEN\n');
    const { config, notices } = await good();
    expect(config.agentCommand).toBeUndefined();
    expect(config.agentEnv).toEqual([]);
    expect(notices).toHaveLength(2);
    expect(notices[0]).toContain('.env: RALPH_AGENT_COMMAND is ignored here');
  });

  test('B30: a .env that leads out of the project is not read, with a notice', async () => {
    writeFileSync(join(root, 'secrets'), 'RALPH_MAX_ATTEMPTS=2\n');
    symlinkSync('../secrets', join(directory, '.env'));
    const { config, notices } = await good();
    expect(config.maxAttempts).toBe(5);
    expect(notices).toEqual([expect.stringContaining('leads out of the project')]);
  });

  test('a folder called .env (a Python environment) is none of our business', async () => {
    mkdirSync(join(directory, '.env'));
    expect((await good()).notices).toEqual([]);
  });

  test('B26: a .env that is not UTF-8 is not read, with a notice', async () => {
    writeFileSync(join(directory, '.env'), Buffer.from([0x41, 0x3d, 0xff]));
    expect((await good()).notices).toEqual(['.env is not valid UTF-8 at byte 2. It is not used.']);
  });
});
