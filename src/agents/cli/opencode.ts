// Opencode: steps that are added up, no last word but a step that stops, and an overflow that it would repeat for ever.

import type { FailureKind } from '../../core/failure.ts';
import { countOf, type Fields, fieldsOf, textOf } from '../../text/fields.ts';
import type { AgentCli, AgentEvent, Launch, LaunchOrder, Reader, StreamProblem, Tokens, ToolOrder } from '../agent.ts';
import { resetOf, statusProblem } from '../failures.ts';
import { modelArgs, named, networkVariables, providerKeys, systemFile } from '../launch.ts';
import { openAnswer, readByType, sessionOpened, toolBegan, toolEnded } from '../reader.ts';
import { openTokenTotals, sumTokens } from '../usage.ts';

const own = ['OPENCODE_API_KEY', 'OPENCODE_CONFIG', 'OPENCODE_CONFIG_DIR', 'OPENCODE_DISABLE_MODELS_FETCH'];
/** A last layer of its configuration, as a text; lists of the layers below are kept. */
const inlineConfig = 'OPENCODE_CONFIG_CONTENT';

/** Tried with opencode 1.18.33. It takes its prompt from stdin when that is no terminal; its retries cannot be set. */
export const opencode: AgentCli = {
  name: 'opencode',
  program: 'opencode',
  proof: 'live',
  can: { steer: false, resume: false, interactive: true, usage: true },
  install: 'npm install -g opencode-ai',
  cost: 'agent',
  namesModel: false,
  chosenFor: ['work'],
  beware:
    'It has no last word: its end is a step that stops. When the context stays too long it would compact for ever; Ralph ends it after the fourth time without a tool call between. Its retries cannot be set, so an overloaded provider costs it half a minute of silence.',
  environment: [...networkVariables, ...providerKeys, ...own],
  fixedEnvironment: {
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_SHARE: '1',
    OPENCODE_DISABLE_TERMINAL_TITLE: '1',
    OPENCODE_PERMISSION: JSON.stringify({ '*': 'allow' }),
  },
  login: {
    variables: [...providerKeys, 'OPENCODE_API_KEY'],
    files: ['.local/share/opencode/auth.json'],
    command: 'opencode auth login',
  },
  systemFlags: [inlineConfig],
  launch,
  withTools,
  reader: opencodeReader,
};

/** It compacts and tries again after each: more without any work between are a loop (110 in 30 s were seen). */
const overflowsMax = 3;
/** By these its own loop goes on; after every other reason it exits. */
const goesOn: ReadonlySet<string> = new Set(['', 'tool-calls', 'unknown']);
/** An answer that is cut off is none; what it wanted to say fits into a fresh context. */
const badReasons: ReadonlyMap<string, StreamProblem> = new Map([
  ['length', { kind: 'context-too-long', text: 'it ran out of tokens in its answer' }],
  ['content-filter', { kind: 'unknown', text: 'the provider filtered its answer' }],
  ['error', { kind: 'unknown', text: 'its last step ended in an error without words' }],
]);

function launch(order: LaunchOrder): Launch {
  const more = [...modelArgs(order), ...order.args];
  if (order.openingPrompt !== undefined) return { args: [...more, '--prompt', order.openingPrompt], input: '' };
  const system = systemFile(order);
  const instructions = system && JSON.stringify({ instructions: [system.path] });
  return {
    args: ['run', '--format', 'json', '--print-logs', '--log-level', 'WARN', ...more],
    input: order.prompt,
    files: system?.files,
    environment: instructions === undefined ? undefined : { [inlineConfig]: instructions },
  };
}

/** Into the last layer of its configuration, beside what stands there; one of its user's own that cannot be read stays. */
function withTools(launch: Launch, { command, args, visible, ...order }: ToolOrder): Launch {
  const written = launch.environment?.[inlineConfig] ?? visible[inlineConfig];
  const config = written === undefined ? {} : objectIn(written);
  if (config === undefined) return launch;
  const ralph = { type: 'local', command: [command, ...args], environment: named(order, name => `{env:${name}}`) };
  const content = JSON.stringify({ ...config, mcp: { ...fieldsOf(config['mcp']), ralph } });
  return { ...launch, environment: { ...launch.environment, [inlineConfig]: content } };
}

function objectIn(text: string): Fields | undefined {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** An overflow may be overcome. */
const isFatal = (problem: StreamProblem | undefined): boolean =>
  problem !== undefined && problem.kind !== 'context-too-long';

function opencodeReader(): Reader {
  const totals = openTokenTotals();
  const answer = openAnswer(text => text.trimEnd());
  let hasStopped = false;
  let overflows = 0;
  /** After an overflow the next step that stops is its own summary, no answer. */
  let isSummarizing = false;

  function stopStep(reason: string): void {
    if (goesOn.has(reason)) return;
    hasStopped = !isSummarizing;
    isSummarizing = false;
    // An overflow is overcome once a step stops; other errors only by a step that stops well.
    const isOvercome = answer.problem === undefined || answer.problem.kind === 'context-too-long' || reason === 'stop';
    if (hasStopped && isOvercome) answer.problem = badReasons.get(reason);
  }

  function readText(part: Fields): readonly AgentEvent[] | undefined {
    if (part['synthetic'] === true) {
      hasStopped = false; // its words to the model, after a summary: its work goes on
      return undefined;
    }
    const text = `${textOf(part['text'])}\n`;
    if (!isSummarizing) answer.add(text);
    return [{ type: 'text', text }];
  }

  const read = readByType({
    text: event => readText(fieldsOf(event['part'])),
    tool_use: event => readTool(fieldsOf(event['part'])),
    step_start(event) {
      answer.begin();
      hasStopped = false;
      return sessionOpened(event['sessionID']);
    },
    step_finish(event) {
      const { tokens, reason, cost } = fieldsOf(event['part']);
      const counted = tokensOf(fieldsOf(tokens));
      stopStep(textOf(reason));
      return [totals.add(counted, undefined, cost), { type: 'context', usedTokens: sumTokens(counted) }];
    },
    error(event) {
      answer.problem = opencodeProblem(event);
      isSummarizing ||= answer.problem.kind === 'context-too-long';
      if (answer.problem.kind === 'context-too-long') overflows += 1;
      return undefined;
    },
    reasoning: () => undefined,
  });

  return {
    read(event) {
      const events = read(event);
      if (event['type'] === 'tool_use') overflows = 0;
      answer.finished = hasStopped || isFatal(answer.problem) || overflows > overflowsMax;
      return events;
    },
    result: answer.result,
  };
}

function readTool({ tool, state }: Fields): readonly AgentEvent[] {
  return [...toolBegan(tool, fieldsOf(state)['input']), ...toolEnded];
}

/** Its input is without what came from a cache. */
function tokensOf(tokens: Fields): Tokens {
  const cache = fieldsOf(tokens['cache']);
  return {
    input: countOf(tokens['input']),
    output: countOf(tokens['output']) + countOf(tokens['reasoning']),
    cacheRead: countOf(cache['read']),
    cacheWrite: countOf(cache['write']),
  };
}

// Names what opencode says went wrong: by the name of its error, then by the provider's status and headers.

const kinds: ReadonlyMap<string, FailureKind> = new Map([
  ['ContextOverflowError', 'context-too-long'],
  ['ProviderAuthError', 'auth'],
  ['ProviderModelNotFoundError', 'model'],
]);

function opencodeProblem(event: Fields): StreamProblem {
  const error = fieldsOf(event['error']);
  const data = fieldsOf(error['data']);
  const isUnreached = data['isRetryable'] === true && data['statusCode'] === undefined;
  const kind = kinds.get(textOf(error['name'])) ?? (isUnreached ? 'connection' : undefined);
  const resetAtMs = resetOf(fieldsOf(data['responseHeaders']), event['timestamp']);
  return { ...statusProblem(data['statusCode'], textOf(data['message']) || textOf(error['name']), kind), resetAtMs };
}
