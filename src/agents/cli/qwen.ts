// Qwen Code: claude's shapes without a cost, each piece of a message counted once, and errors as its model's words.

import { countOf, detailOf, type Fields, fieldsOf, listOf, textOf } from '../../text/fields.ts';
import {
  type AgentCli,
  type AgentEvent,
  type Launch,
  type LaunchOrder,
  networkVariables,
  type Reader,
  type StreamProblem,
  type Tokens,
} from '../agent.ts';
import { statusAtStart, statusProblem } from '../failures.ts';
import { unknownEvent } from '../stream.ts';
import { openTokenTotals } from '../usage.ts';

/** Tried with qwen 0.24.4. Of its two layers of retries one can be set; the other tries seven times. */
export const qwen: AgentCli = {
  name: 'qwen',
  program: 'qwen',
  proof: 'live',
  can: { steer: false, resume: false, interactive: true, usage: true },
  environment: [
    ...networkVariables,
    'OPENAI_API_KEY',
    'OPENAI_BASE_URL',
    'OPENAI_MODEL',
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_BASE_URL',
    'GEMINI_API_KEY',
    'DASHSCOPE_API_KEY',
    'BAILIAN_CODING_PLAN_API_KEY',
    'QWEN_HOME',
    'QWEN_MODEL',
    'QWEN_DEFAULT_AUTH_TYPE',
  ],
  fixedEnvironment: {
    QWEN_CODE_NO_RELAUNCH: 'true',
    QWEN_CODE_SUPPRESS_YOLO_WARNING: '1',
    QWEN_CODE_UNATTENDED_RETRY: 'false', // true would make it wait for hours
    QWEN_TELEMETRY_ENABLED: 'false',
    QWEN_USAGE_STATISTICS_ENABLED: 'false',
  },
  login: {
    variables: ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GEMINI_API_KEY', 'DASHSCOPE_API_KEY'],
    files: ['.qwen/oauth_creds.json', '.qwen/settings.json'],
    command: 'qwen, then /auth',
  },
  systemFlags: ['--append-system-prompt'],
  launch,
  reader: qwenReader,
};

const nothing: readonly AgentEvent[] = Object.freeze([]);
const defaultsFile = 'qwen-defaults.json';
/** The lowest layer of its settings: what the user has set stands above it. */
const defaults = JSON.stringify({
  general: { enableAutoUpdate: false },
  privacy: { usageStatisticsEnabled: false },
  model: { generationConfig: { maxRetries: 0 } },
});
const errorStart = '[API Error: ';

function launch(order: LaunchOrder): Launch {
  const model = order.model === undefined ? [] : ['--model', order.model];
  const environment = { QWEN_CODE_SYSTEM_DEFAULTS_PATH: `${order.folder}/${defaultsFile}` };
  const files = { [defaultsFile]: defaults };
  if (order.openingPrompt !== undefined) {
    const args = ['--yolo', ...model, ...order.args, '--prompt-interactive', order.openingPrompt];
    return { args, input: '', files, environment };
  }
  const system = order.system === undefined ? [] : [`--append-system-prompt=${order.system}`];
  const args = ['--output-format', 'stream-json', '--yolo', ...model, ...system, ...order.args];
  return { args, input: order.prompt, files, environment };
}

function qwenReader(): Reader {
  const tally = openTokenTotals();
  let model = '';
  let message = '';
  let finished = false;
  let problem: StreamProblem | undefined;

  function say(event: Fields): readonly AgentEvent[] {
    const said = fieldsOf(event['message']);
    const isOwn = event['parent_tool_use_id'] == null;
    const heard = listOf(said['content']).flatMap(block => readBlock(fieldsOf(block), isOwn));
    const tokens = tokensOf(fieldsOf(said['usage']));
    const usedTokens = tokens.input + tokens.output + tokens.cacheRead;
    if (usedTokens === 0) return heard;
    const usedModel = textOf(said['model']) || model;
    const counted = tally.add(tokens, usedModel);
    return isOwn ? [...heard, counted, { type: 'context', usedTokens, model: usedModel }] : [...heard, counted];
  }

  function readBlock(block: Fields, isOwn: boolean): readonly AgentEvent[] {
    if (block['type'] === 'tool_use') {
      return [{ type: 'tool', name: textOf(block['name']), detail: detailOf(block['input']), phase: 'began' }];
    }
    if (block['type'] === 'tool_result') return [{ type: 'tool', name: '', detail: '', phase: 'ended' }];
    const text = block['type'] === 'text' && isOwn ? textOf(block['text']) : '';
    if (text === '' || text.startsWith(errorStart)) return nothing;
    message = text;
    return [{ type: 'text', text: `${text}\n` }];
  }

  function finish(event: Fields): readonly AgentEvent[] {
    finished = true;
    const isError = event['is_error'] === true;
    problem = isError ? problemOf(textOf(fieldsOf(event['error'])['message']) || textOf(event['subtype'])) : undefined;
    if (!isError) message = textOf(event['result']) || message;
    const tokens = tokensOf(fieldsOf(event['usage'])); // holds what it asked beside its answer too
    return tokens.input + tokens.output === 0 ? nothing : [{ type: 'usage', tokens, model: model || undefined }];
  }

  function read(event: Fields): readonly AgentEvent[] {
    if (event['type'] === 'assistant' || event['type'] === 'user') return say(event);
    if (event['type'] === 'result') return finish(event);
    if (event['type'] === 'stream_event') return nothing;
    if (event['type'] !== 'system') return unknownEvent;
    if (event['subtype'] !== 'init') return nothing;
    model = textOf(event['model']);
    return [{ type: 'session', id: textOf(event['session_id']) }];
  }

  return {
    read,
    result: () => ({ message, finished, problem }),
  };
}

/** Its input holds what came from the cache. */
function tokensOf(usage: Fields): Tokens {
  const cacheRead = countOf(usage['cache_read_input_tokens']);
  const input = Math.max(0, countOf(usage['input_tokens']) - cacheRead);
  return { input, output: countOf(usage['output_tokens']), cacheRead, cacheWrite: 0 };
}

function problemOf(text: string): StreamProblem {
  const line = text.split('\n')[0] ?? '';
  const words = line.startsWith(errorStart) ? line.slice(errorStart.length).replace(/\]$/, '') : line;
  if (words.startsWith('No auth type is selected')) return { kind: 'auth', text: words };
  return statusProblem(statusAtStart(words), words);
}
