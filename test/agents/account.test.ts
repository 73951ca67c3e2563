// Proves who pays for an agent and which model works, by facts: variables that it sees, the kind of its login, its stream.
import { describe, expect, it } from 'vitest';
import type { Account, AgentCli, AgentEvent, OwnPlace, PriceBook } from '../../src/agents/agent.ts';
import { claude, claudeReader } from '../../src/agents/cli/claude.ts';
import { codex, tomlTexts } from '../../src/agents/cli/codex.ts';
import { openPriceBook } from '../../src/agents/prices.ts';
import { openMeter, openUsageReporter } from '../../src/agents/usage.ts';
import type { Usage } from '../../src/core/event.ts';
import { fieldsOf } from '../../src/text/fields.ts';

/** What `accountOf` of the app gives it, with files as they are here. */
function accountWith(
  cli: AgentCli,
  files: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string>> = {},
  args: readonly string[] = [],
): Account | undefined {
  const text = (path: string): string | undefined => files[path];
  const json = (path: string) => JSON.parse(text(path) ?? '{}');
  return cli.account?.({ environment, args, text, json });
}

describe('who pays for claude', () => {
  const login = { '.claude/.credentials.json': JSON.stringify({ claudeAiOauth: { accessToken: 'present' } }) };
  const settings = (value: unknown) => ({ ...login, '.claude/settings.json': JSON.stringify(value) });

  it.each<[string, Readonly<Record<string, string>>, Readonly<Record<string, string>>, Account]>([
    ['nobody is logged in, as far as we see', {}, {}, { billing: undefined }],
    ['its login', login, {}, { billing: 'subscription' }],
    [
      'its login elsewhere',
      { '/c/.credentials.json': login['.claude/.credentials.json'] },
      { CLAUDE_CONFIG_DIR: '/c' },
      { billing: 'subscription' },
    ],
    ['a token of a login', {}, { CLAUDE_CODE_OAUTH_TOKEN: 'x' }, { billing: 'subscription' }],
    ['a key', {}, { ANTHROPIC_API_KEY: 'x' }, { billing: 'paid' }],
    [
      'a key beside the login',
      login,
      { ANTHROPIC_API_KEY: 'x' },
      { billing: 'paid', billedInstead: 'ANTHROPIC_API_KEY' },
    ],
    ['an empty key beside the login', login, { ANTHROPIC_API_KEY: '' }, { billing: 'subscription' }],
    [
      "a gateway's token",
      login,
      { ANTHROPIC_AUTH_TOKEN: 'x' },
      { billing: 'paid', billedInstead: 'ANTHROPIC_AUTH_TOKEN' },
    ],
    ['a cloud', {}, { CLAUDE_CODE_USE_BEDROCK: '1' }, { billing: 'paid' }],
    [
      'a cloud in its settings',
      settings({ env: { CLAUDE_CODE_USE_VERTEX: '1' } }),
      {},
      { billing: 'paid', billedInstead: 'CLAUDE_CODE_USE_VERTEX' },
    ],
    [
      'a helper for keys',
      settings({ apiKeyHelper: 'present' }),
      {},
      { billing: 'paid', billedInstead: 'apiKeyHelper' },
    ],
    ['a login by another way', { '.claude/.credentials.json': '{"other":{}}' }, {}, { billing: undefined }],
  ])('%s', (_who, files, environment, account) => {
    expect(accountWith(claude, files, environment)).toEqual(account);
  });

  const billing = (events: readonly AgentEvent[]) => events.flatMap(each => (each.type === 'billing' ? [each.by] : []));
  const init = (apiKeySource?: string) => ({ type: 'system', subtype: 'init', session_id: 's', apiKeySource });
  const limits = (info: object) => ({ type: 'rate_limit_event', rate_limit_info: info });

  it.each([
    [init('ANTHROPIC_API_KEY'), ['paid']],
    [init('/login managed key'), ['paid']],
    [init('none'), []], // said of a gateway's token, too
    [init(), []],
    [limits({ status: 'allowed', isUsingOverage: false }), ['subscription']],
    [limits({ status: 'rejected', rateLimitType: 'five_hour' }), ['subscription']],
    [limits({ status: 'allowed', isUsingOverage: true }), ['paid']],
  ])('its stream tells: %j', (event, told) => {
    expect(billing(claudeReader().read(event))).toEqual(told);
  });

  it('its windows are a set, under the names that the provider gives; some plans have none', () => {
    const windows = (info: object) =>
      claudeReader()
        .read(limits(info))
        .flatMap(each => (each.type === 'windows' ? [each.windows] : []));
    expect(windows({ status: 'allowed' })).toEqual([[]]);
    const unifiedWindows = {
      five_hour: { utilization: 0.92, resetsAt: 10, status: 'allowed_warning' },
      seven_day_opus: { utilization: 1, resetsAt: 99, status: 'rejected' },
    };
    expect(windows({ status: 'rejected', resetsAt: 10, unifiedWindows })).toEqual([
      [
        { name: 'five_hour', usedFraction: 0.92, resetAtMs: 10_000, isUsedUp: false },
        { name: 'seven_day_opus', usedFraction: 1, resetAtMs: 99_000, isUsedUp: true },
      ],
    ]);
  });

  it('it works again when the last of the windows that are used up is reset', () => {
    const unifiedWindows = {
      five_hour: { resetsAt: 10, status: 'rejected' },
      seven_day: { resetsAt: 99, status: 'rejected' },
    };
    const events = claudeReader().read(limits({ status: 'rejected', resetsAt: 10, unifiedWindows }));
    expect(events.find(each => each.type === 'limit')).toMatchObject({ resetAtMs: 99_000 });
  });
});

describe('what a subscription covers', () => {
  const prices: PriceBook = { costUsdMicros: ({ input }) => input, windowTokens: () => undefined, knows: () => true };
  const used = (input: number) =>
    ({ type: 'usage', tokens: { input, output: 0, cacheRead: 0, cacheWrite: 0 } }) as const;
  const meter = () => openMeter(prices, 'm');

  it('is all of it when that is known before', () => {
    const usage = openMeter(prices, 'm', false, 'subscription').usage(used(10));
    expect(usage).toMatchObject({ costUsdMicros: 10, unbilledUsdMicros: 10 });
  });

  it('is all of it when the stream says so late', () => {
    const one = meter();
    expect(one.usage(used(10))?.unbilledUsdMicros).toBeUndefined();
    expect(one.billed('subscription')).toMatchObject({ costUsdMicros: 10, unbilledUsdMicros: 10 });
    expect(one.usage(used(15))).toMatchObject({ costUsdMicros: 15, unbilledUsdMicros: 15 });
  });

  it('ends where the provider bills what goes beyond it', () => {
    const one = openMeter(prices, 'm', false, 'subscription');
    one.usage(used(10));
    one.billed('paid');
    expect(one.usage(used(25))).toMatchObject({ costUsdMicros: 25, unbilledUsdMicros: 10 });
  });

  it('is nothing for a key, whatever the files said', () => {
    const one = openMeter(prices, 'm', false, 'subscription');
    one.billed('paid');
    expect(one.usage(used(25))?.unbilledUsdMicros).toBeUndefined();
  });
});

it('a cost that claude states without a list by model is taken as stated', async () => {
  const meter = openMeter(await openPriceBook(), undefined, true);
  const reader = claudeReader();
  let last: Usage | undefined;
  const feed = (event: Readonly<Record<string, unknown>>): void => {
    for (const heard of reader.read(event)) if (heard.type === 'usage') last = meter.usage(heard) ?? last;
  };
  const counts = { input_tokens: 1_000, output_tokens: 10 };
  feed({ type: 'stream_event', event: { type: 'message_start', message: { id: 'm', model: 'not-a-known-one' } } });
  feed({ type: 'stream_event', event: { type: 'message_delta', usage: counts } });
  feed({ type: 'result', subtype: 'success', result: 'done', total_cost_usd: 0.25, usage: counts });
  expect(meter.end() ?? last).toMatchObject({ costUsdMicros: 250_000, estimated: false, inputTokens: 1_000 });
  expect(last?.boundUsdMicros).toBeUndefined();
});

describe('the model of codex', () => {
  const config = (text: string) => ({ '.codex/config.toml': text });
  const profiles =
    'profile = "quick"\nmodel = "gpt-5"\n[profiles.quick] # fast\nmodel = \'gpt-5.6-luna\'\n[profiles.deep]\nmodel="gpt-5.6-sol"\n';

  it.each<[string, Readonly<Record<string, string>>, readonly string[], string, string]>([
    ['is its default', {}, [], 'gpt-6.1-sol', 'its default'],
    ['stands in its settings', config('model = "gpt-5.4" # mine\n'), [], 'gpt-5.4', 'its config.toml'],
    ['stands in its profile', config(profiles), [], 'gpt-5.6-luna', 'its config.toml'],
    ['stands in the profile that is asked for', config(profiles), ['-p', 'deep'], 'gpt-5.6-sol', 'its config.toml'],
    ['is asked for', config(profiles), ['--model=gpt-5.2'], 'gpt-5.2', '--agent-args'],
    ['is set by an argument', config(profiles), ['-c', 'model="gpt-5.1"'], 'gpt-5.1', '--agent-args'],
    ['is not that of another table', config('[tui]\nmodel = "gpt-5.4"\n'), [], 'gpt-6.1-sol', 'its default'],
  ])('%s', (_where, files, args, name, from) => {
    expect(accountWith(codex, files, {}, args)?.model).toEqual({ name, from });
  });

  it('is not read out of a text of many lines', () => {
    const text = 'developer_instructions = """\nmodel = "gpt-5"\n"""\nmodel = "gpt-5.4"\n';
    expect([...tomlTexts(text)]).toEqual([['model', 'gpt-5.4']]);
  });

  it('sets its price: by the list, not at an upper bound many times as high', async () => {
    const prices = await openPriceBook();
    const order = { prompt: '', args: [], folder: '', isRoot: false };
    const usageWith = (account: Account | undefined): Usage | undefined => {
      let last: Usage | undefined;
      const reporter = openUsageReporter({ cli: codex, prices, launchOrder: order, account }, told => {
        if (told.type === 'usage') last = told.usage;
      });
      reporter.onEvent({ type: 'usage', tokens: { input: 1_904_000, output: 0, cacheRead: 0, cacheWrite: 0 } });
      return last;
    };
    expect(usageWith({})).toMatchObject({ costUsdMicros: 57_120_000, boundUsdMicros: 57_120_000, estimated: true });
    const known = usageWith(accountWith(codex, config('model = "gpt-5"\n')));
    expect(known).toMatchObject({
      costUsdMicros: prices.costUsdMicros({ input: 1_904_000, output: 0, cacheRead: 0, cacheWrite: 0 }, 'gpt-5'),
      estimated: true,
    });
    expect(known?.boundUsdMicros).toBeUndefined();
  });
});

describe('who pays for codex', () => {
  const login = (value: unknown) => ({ '.codex/auth.json': JSON.stringify(value) });
  const chatGpt = login({ auth_mode: 'chatgpt', OPENAI_API_KEY: null, tokens: { id_token: 'present' } });

  it.each<[string, Readonly<Record<string, string>>, Readonly<Record<string, string>>, Omit<Account, 'model'>]>([
    ['nobody knows', {}, {}, { billing: undefined }],
    ['a ChatGPT plan', chatGpt, {}, { billing: 'subscription' }],
    [
      'a ChatGPT plan, as older versions wrote it',
      login({ OPENAI_API_KEY: null, tokens: {} }),
      {},
      { billing: 'subscription' },
    ],
    [
      'a key that was logged in with',
      login({ auth_mode: 'apikey', OPENAI_API_KEY: 'present' }),
      {},
      { billing: 'paid' },
    ],
    ['a key, as older versions wrote it', login({ OPENAI_API_KEY: 'present', tokens: {} }), {}, { billing: 'paid' }],
    ['a key instead of the plan', chatGpt, { CODEX_API_KEY: 'x' }, { billing: 'paid', billedInstead: 'CODEX_API_KEY' }],
    ['a key of another program', chatGpt, { OPENAI_API_KEY: 'x' }, { billing: 'subscription' }],
    ['a provider of their own', { ...chatGpt, '.codex/config.toml': 'model_provider = "mine"\n' }, {}, {}],
  ])('%s', (_who, files, environment, account) => {
    const { model: _model, ...rest } = accountWith(codex, files, environment) ?? {};
    expect(rest).toEqual(account);
  });
});

describe('what claude asks a person when it is new', () => {
  const place = (files: Record<string, object>, environment: Record<string, string> = {}): OwnPlace => ({
    environment,
    args: [],
    text: () => undefined,
    json: path => fieldsOf(files[path]),
  });
  const asked = (...given: Parameters<typeof place>) => claude.firstQuestions?.(place(...given), '/projects/shop/web');
  const trusted = { hasTrustDialogAccepted: true };
  const warned = { '.claude/settings.json': { skipDangerousModePermissionPrompt: true } };

  it('is its set-up, the folder, the key and the bypass, each until it was answered', () => {
    expect(asked({}, { ANTHROPIC_API_KEY: 'x' })).toHaveLength(4);
    const settled = { '.claude.json': { hasCompletedOnboarding: true, projects: { '/projects/shop': trusted } } };
    expect(asked({ ...settled, ...warned })).toEqual([]); // a folder above is trusted: so is this one
    expect(asked(settled)).toEqual([expect.stringContaining('"No, exit" is selected; choose "Yes, I accept"')]);
    const elsewhere = { '.claude.json': { hasCompletedOnboarding: true, projects: { '/projects/sho': trusted } } };
    expect(asked({ ...elsewhere, ...warned })).toEqual([expect.stringContaining('trust this folder')]);
  });

  it('is looked for where its own folder was moved to', () => {
    const moved = { CLAUDE_CONFIG_DIR: '/c' };
    const files = {
      '/c/.claude.json': { hasCompletedOnboarding: true, projects: { '/': trusted } },
      '/c/settings.json': { skipDangerousModePermissionPrompt: true },
    };
    expect(asked(files, moved)).toEqual([]);
  });
});
