// Qwen Code: claude's shapes without a cost, each piece of a message counted once, and errors as its model's words.

import { type Fields, fieldsOf, textOf } from '../../text/fields.ts';
import type { AgentCli, AgentEvent, Launch, LaunchOrder, Reader, StreamProblem } from '../agent.ts';
import { statusAtStart, statusProblem } from '../failures.ts';
import { modelArgs, networkVariables } from '../launch.ts';
import {
  messageText,
  nothing,
  openAnswer,
  openPermissions,
  type PermissionRules,
  readBlocks,
  readByType,
  sessionOpened,
  toolBegan,
  toolEnded,
} from '../reader.ts';
import { openTokenTotals, sumTokens, tokensIn, withoutCache } from '../usage.ts';

/** Tried with qwen 0.24.4. Of its two layers of retries one can be set; the other tries seven times. */
export const qwen: AgentCli = {
  name: 'qwen',
  program: 'qwen',
  proof: 'live',
  can: { steer: false, resume: false, interactive: true, usage: true },
  install: 'npm install -g @qwen-code/qwen-code',
  cost: 'tokens',
  namesModel: true,
  vendor: 'alibaba',
  chosenFor: ['judge'],
  beware: 'It gives tokens but no cost. Of its two layers of retries only one can be set.',
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

const defaultsFile = 'qwen-defaults.json';
/** The lowest layer of its settings: what the user has set stands above it. */
const defaults = JSON.stringify({
  general: { enableAutoUpdate: false },
  privacy: { usageStatisticsEnabled: false },
  model: { generationConfig: { maxRetries: 0 } },
});
const errorStart = '[API Error: ';
const countNames = { input: 'input_tokens', output: 'output_tokens', cacheRead: 'cache_read_input_tokens' };

function launch(order: LaunchOrder): Launch {
  const model = modelArgs(order);
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

const permissionRules: PermissionRules = {
  asking: ['default'],
  never: ['plan'],
  allowing: ['--allowed-tools'],
  hint: 'Its settings set an approval mode over --yolo (tools.approvalMode): set "auto-edit" or "yolo" there.',
};

function qwenReader({ args }: LaunchOrder): Reader {
  const permissions = openPermissions(permissionRules, args);
  const totals = openTokenTotals();
  const answer = openAnswer();
  let model = '';

  function readMessage(event: Fields): readonly AgentEvent[] {
    const message = fieldsOf(event['message']);
    const isMain = event['parent_tool_use_id'] == null;
    const events = readBlocks(message['content'], block => readBlock(block, isMain));
    const tokens = withoutCache(tokensIn(fieldsOf(message['usage']), countNames));
    const usedTokens = sumTokens(tokens);
    if (usedTokens === 0) return events;
    const usedModel = textOf(message['model']) || model;
    const counted = [...events, totals.add(tokens, usedModel)];
    return isMain ? [...counted, { type: 'context', usedTokens, model: usedModel }] : counted;
  }

  function readBlock(block: Fields, isMain: boolean): readonly AgentEvent[] {
    if (block['type'] === 'tool_use') return toolBegan(block['name'], block['input']);
    if (block['type'] === 'tool_result') return toolEnded;
    const text = block['type'] === 'text' && isMain ? textOf(block['text']) : '';
    if (text === '' || text.startsWith(errorStart)) return nothing;
    answer.begin(text);
    return messageText(text);
  }

  function finish(event: Fields): readonly AgentEvent[] | undefined {
    answer.finished = true;
    const text = textOf(event['result']);
    const isError = event['is_error'] === true;
    const words = textOf(fieldsOf(event['error'])['message']) || textOf(event['subtype']);
    answer.problem = isError ? problemOf(words) : undefined;
    if (!isError && text !== '') answer.begin(text);
    const tokens = withoutCache(tokensIn(fieldsOf(event['usage']), countNames)); // holds what it asked beside its answer too
    return tokens.input + tokens.output === 0 ? undefined : [{ type: 'usage', tokens, model: model || undefined }];
  }

  function readSystem(event: Fields): readonly AgentEvent[] | undefined {
    if (event['subtype'] !== 'init') return undefined;
    model = textOf(event['model']);
    return [...sessionOpened(event['session_id']), ...permissions(event['permission_mode'])];
  }

  return {
    read: readByType({
      assistant: readMessage,
      user: readMessage,
      result: finish,
      stream_event: () => undefined,
      system: readSystem,
    }),
    result: answer.result,
  };
}

function problemOf(text: string): StreamProblem {
  const line = text.split('\n')[0] ?? '';
  const words = line.startsWith(errorStart) ? line.slice(errorStart.length).replace(/\]$/, '') : line;
  if (words.startsWith('No auth type is selected')) return { kind: 'auth', text: words };
  return statusProblem(statusAtStart(words), words);
}
