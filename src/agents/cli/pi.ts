// Drives pi: its exit code is 0 whatever happens, so only what its messages say about themselves counts.

import { countOf, detailOf, type Fields, fieldsOf, listOf, textOf } from '../../text/fields.ts';
import {
  type AgentCli,
  type AgentEvent,
  type Launch,
  type LaunchOrder,
  networkVariables,
  providerKeys,
  type Reader,
  type StreamProblem,
} from '../agent.ts';
import { statusAtStart, statusProblem } from '../failures.ts';
import { unknownEvent } from '../stream.ts';
import { openTokenTotals } from '../usage.ts';

/** Tried with pi 0.87.1; 0.74.2 by its recorded stream. It retries three times, in 14 s, and has no flag for that. */
export const pi: AgentCli = {
  name: 'pi',
  program: 'pi',
  proof: 'live',
  can: { steer: false, resume: false, interactive: true, usage: true },
  statesCost: true,
  environment: [
    ...networkVariables,
    ...providerKeys,
    'ANTHROPIC_AUTH_TOKEN',
    'ANTHROPIC_OAUTH_TOKEN',
    'PI_CODING_AGENT_DIR',
    'PI_OFFLINE',
  ],
  fixedEnvironment: { PI_SKIP_VERSION_CHECK: '1', PI_TELEMETRY: '0' },
  login: {
    variables: [...providerKeys, 'ANTHROPIC_OAUTH_TOKEN'],
    files: [], // its auth.json is there, empty, without a login too
    command: 'pi, then /login',
    missing: ['No API key found', 'No models available'],
  },
  systemFlags: [], // its flag may be given many times
  launch,
  reader: piReader,
};

const nothing: readonly AgentEvent[] = Object.freeze([]);
const quiet = new Set([
  'turn_start',
  'turn_end',
  'message_start',
  'message_update',
  'tool_execution_update',
  'auto_retry_end',
  'entry_appended',
  'queue_update',
  'session_info_changed',
  'thinking_level_changed',
]);
/** Whole messages come too; before 0.80 each of these held everything that was said so far. */
const skippedStarts = ['{"type":"message_update"', '{"type":"tool_execution_update"', '{"type":"turn_end"'];
const endStart = '{"type":"agent_end"';

/** It takes the name of a file as well as a text. */
const systemFile = 'system.md';

function launch(order: LaunchOrder): Launch {
  const model = order.model === undefined ? [] : ['--model', order.model];
  if (order.openingPrompt !== undefined) {
    return { args: [...model, ...order.args, order.openingPrompt], input: '' };
  }
  const { system } = order;
  const more = system === undefined ? [] : ['--append-system-prompt', `${order.folder}/${systemFile}`];
  return {
    args: ['-p', '--mode', 'json', '--no-session', ...model, ...more, ...order.args],
    input: order.prompt,
    files: system === undefined ? undefined : { [systemFile]: system },
  };
}

function piReader(): Reader {
  const tally = openTokenTotals();
  let message = '';
  let settled = false;
  let hasAnswered = false;
  let settledBefore = false;
  let problem: StreamProblem | undefined;

  function endMessage(said: Fields): readonly AgentEvent[] {
    if (said['role'] !== 'assistant') return nothing;
    const usage = fieldsOf(said['usage']);
    const counted = {
      input: countOf(usage['input']),
      output: countOf(usage['output']),
      cacheRead: countOf(usage['cacheRead']),
      cacheWrite: countOf(usage['cacheWrite']),
    };
    const model = textOf(said['model']);
    const usedTokens = counted.input + counted.output + counted.cacheRead + counted.cacheWrite;
    message = listOf(said['content'])
      .map(fieldsOf)
      .filter(block => block['type'] === 'text')
      .map(block => textOf(block['text']))
      .join('\n');
    problem = problemOf(said);
    hasAnswered = problem === undefined && said['stopReason'] !== 'toolUse';
    const heard: AgentEvent[] = message === '' ? [] : [{ type: 'text', text: `${message}\n` }];
    if (usedTokens === 0) return heard;
    heard.push(tally.add(counted, model, fieldsOf(usage['cost'])['total']));
    heard.push({ type: 'context', usedTokens, model: model || undefined });
    return heard;
  }

  function read(event: Fields): readonly AgentEvent[] {
    const type = textOf(event['type']);
    if (type === 'message_end') return endMessage(fieldsOf(event['message']));
    if (type === 'tool_execution_start' || type === 'tool_execution_end') {
      const phase = type === 'tool_execution_start' ? 'began' : 'ended';
      return [{ type: 'tool', name: textOf(event['toolName']), detail: detailOf(event['args']), phase }];
    }
    if (type === 'session') return [{ type: 'session', id: textOf(event['id']) }];
    if (type === 'agent_settled') settled = true;
    else if (type === 'agent_end') settled = event['willRetry'] !== true;
    else if (type === 'compaction_end') settled = settledBefore && event['willRetry'] !== true;
    else if (type === 'agent_start' || type === 'auto_retry_start' || type === 'compaction_start') {
      settledBefore = type === 'compaction_start' && settled;
      settled = false;
    } else return quiet.has(type) ? nothing : unknownEvent;
    return nothing;
  }

  return {
    skips: line => skippedStarts.some(start => line.startsWith(start)),
    read,
    /** Before 0.80 its end holds the whole session; whether it will retry stands behind that, but a good answer is final. */
    readCut(head) {
      if (head.startsWith(endStart)) settled = hasAnswered;
      return nothing;
    },
    result: () => ({ message, finished: settled, problem }),
  };
}

function problemOf(said: Fields): StreamProblem | undefined {
  const text = textOf(said['errorMessage']);
  if (said['stopReason'] === 'aborted') return { kind: 'process', text: text || 'aborted' };
  if (said['stopReason'] !== 'error') return undefined;
  if (text === 'Connection error.') return { kind: 'connection', text };
  return statusProblem(statusAtStart(text), text || 'an error without a message');
}
