// The real programs of the live suite: pinned versions, where they lie in their package, and how each is pointed at the mock.
import type { Step } from './mock.ts';
import type { Needs } from './place.ts';

interface Place {
  /** A throw-away HOME. */
  readonly home: string;
  readonly url: string;
}

/** What makes an agent work without network or account. */
export interface Stage {
  readonly environment: Readonly<Record<string, string>>;
  /** Relative to HOME. */
  readonly files: Readonly<Record<string, string>>;
  /** For `ralph run`. */
  readonly words: readonly string[];
}

export interface LiveAgent {
  readonly name: string;
  readonly packageName: string;
  readonly version: string;
  /** Inside node_modules, best first: native programs are taken directly, as no install script is run. */
  readonly programs: readonly string[];
  stage(place: Place): Stage;
  /** It gives a price itself; otherwise ours is an estimate. */
  readonly statesCost: boolean;
  /** Words reach it while it works. */
  readonly canSteer: boolean;
  readonly limit: Limit;
  readonly overloadStatus: number;
  /** A login by subscription instead of a key, where it can be played. */
  readonly subscription?: Pick<Needs, 'environment' | 'without'>;
  /** It does not name its model in its stream: the file of its own where that stands, and a line that names one. */
  readonly ownModel?: { readonly path: string; readonly line: (model: string) => string };
  /** For an agent that does not give up by itself when nobody answers. */
  readonly refusedWords?: readonly string[];
}

/** How its provider says that a limit is reached, and what the agent passes on of that. */
interface Limit {
  step(resetAtMs: number): Step;
  /** How exactly the agent tells the reset, if it does. */
  readonly tells: 'second' | 'minute' | 'nothing';
  /** How far the reset is ahead. */
  readonly aheadMs: number;
  readonly environment?: Readonly<Record<string, string>>;
  readonly without?: readonly string[];
}

const plainStep = (resetAtMs: number): Step => ({ error: 429, message: 'Rate limit reached', resetAtMs });

const machine = `${process.platform}-${process.arch}`;

const dummyLogin = {
  environment: { CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-dummy' },
  without: ['ANTHROPIC_API_KEY'],
};

const claude: LiveAgent = {
  name: 'claude',
  packageName: '@anthropic-ai/claude-code',
  version: '2.1.325',
  programs: [`@anthropic-ai/claude-code-${machine}/claude`],
  stage: ({ url }) => ({
    environment: { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'sk-ant-dummy' },
    files: {},
    words: ['--model', 'claude-sonnet-4-5'],
  }),
  statesCost: true,
  canSteer: true,
  limit: {
    step: resetAtMs => ({ windowUsedUpUntilMs: resetAtMs }),
    tells: 'second',
    aheadMs: 6_000,
    ...dummyLogin,
  },
  subscription: dummyLogin,
  overloadStatus: 529,
};

const codex: LiveAgent = {
  name: 'codex',
  packageName: '@openai/codex',
  version: '0.166.0',
  programs: ['@openai/codex/bin/codex.js'],
  stage: ({ url, home }) => ({
    environment: { OPENAI_API_KEY: 'sk-dummy', CODEX_HOME: `${home}/.codex` },
    files: {
      '.codex/config.toml': [
        'model_provider = "mock"',
        'features.plugins = false', // without a network it waits five seconds for them
        '[model_providers.mock]',
        'name = "mock"',
        `base_url = "${url}/v1"`,
        'env_key = "OPENAI_API_KEY"',
        'wire_api = "responses"',
        'request_max_retries = 1', // ours is the policy; only the user's own file can say so to codex
        'stream_max_retries = 1',
        '',
      ].join('\n'),
    },
    words: ['--model', 'gpt-5.4'],
  }),
  statesCost: false,
  canSteer: false,
  limit: {
    step: resetAtMs => ({
      error: 429,
      message: 'The usage limit has been reached',
      code: 'usage_limit_reached',
      resetAtMs,
    }),
    tells: 'minute',
    aheadMs: 180_000,
  },
  ownModel: { path: '.codex/config.toml', line: model => `model = "${model}"\n` },
  overloadStatus: 503,
  refusedWords: ['--silence-timeout', '3s'],
};

const model = { id: 'm1', name: 'm1', contextWindow: 200_000, maxTokens: 8_000 };

const pi: LiveAgent = {
  name: 'pi',
  packageName: '@earendil-works/pi-coding-agent',
  version: '0.87.1',
  programs: ['@earendil-works/pi-coding-agent/dist/bundle/cli.js'],
  stage: ({ url }) => ({
    environment: { PI_OFFLINE: '1' },
    files: {
      '.pi/agent/models.json': JSON.stringify({
        providers: {
          mock: {
            baseUrl: `${url}/v1`,
            apiKey: 'dummy',
            api: 'openai-completions',
            models: [{ ...model, cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } }],
          },
        },
      }),
    },
    words: ['--model', 'mock/m1'],
  }),
  statesCost: true,
  canSteer: false,
  limit: { step: plainStep, tells: 'nothing', aheadMs: 180_000 },
  overloadStatus: 503,
};

const gemini: LiveAgent = {
  name: 'gemini',
  packageName: '@google/gemini-cli',
  version: '0.61.0',
  programs: ['@google/gemini-cli/bundle/gemini.js'],
  stage: ({ url }) => ({
    environment: { GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: 'dummy' },
    // Its retries stay as they are: that they end is ours to see to.
    files: { '.gemini/settings.json': JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } } }) },
    words: ['--model', 'gemini-2.5-pro'],
  }),
  statesCost: false,
  canSteer: false,
  limit: { step: plainStep, tells: 'minute', aheadMs: 600_000 },
  overloadStatus: 503,
};

const opencode: LiveAgent = {
  name: 'opencode',
  packageName: 'opencode-ai',
  version: '1.18.33',
  programs: [`opencode-${machine}/bin/opencode`, `opencode-${machine}-baseline/bin/opencode`],
  stage: ({ url }) => ({
    environment: { OPENCODE_DISABLE_MODELS_FETCH: '1' }, // it would ask its own server for a list of models
    files: {
      '.config/opencode/opencode.json': JSON.stringify({
        provider: {
          mock: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${url}/v1`, apiKey: 'dummy' },
            models: { m1: { name: 'm1', limit: { context: 200_000, output: 8_000 }, cost: { input: 3, output: 15 } } },
          },
        },
      }),
    },
    words: ['--model', 'mock/m1', '--agent-env', 'OPENCODE_DISABLE_MODELS_FETCH'],
  }),
  // It waits for a reset by itself, in silence, and tells of it only when it gives up: by then this one is over.
  statesCost: true,
  canSteer: false,
  limit: { step: plainStep, tells: 'nothing', aheadMs: 3_000 },
  overloadStatus: 503,
};

export const liveAgents: readonly LiveAgent[] = [claude, codex, pi, gemini, opencode];
