// Pi: its exit code is 0 whatever happens, so only what its messages say about themselves counts.

import { detailOf, type Fields, fieldsOf, listOf, textOf } from '../../text/fields.ts';
import type { AgentCli, AgentEvent, Launch, LaunchOrder, Reader, StreamProblem } from '../agent.ts';
import { statusAtStart, statusProblem } from '../failures.ts';
import { modelArgs, networkVariables, providerKeys, systemFile } from '../launch.ts';
import { messageText, nothing, openAnswer, readByType, sessionOpened, skipsLines } from '../reader.ts';
import { openTokenTotals, sumTokens, tokensIn } from '../usage.ts';

/** Tried with pi 0.87.1; 0.74.2 by its recorded stream. It retries three times, in 14 s, and has no flag for that. */
export const pi: AgentCli = {
  name: 'pi',
  program: 'pi',
  proof: 'live',
  can: { steer: false, resume: false, interactive: true, usage: true },
  install: 'npm install -g @earendil-works/pi-coding-agent',
  cost: 'agent',
  namesModel: true,
  chosenFor: ['work'],
  beware:
    'Its exit code is 0 whatever happened; Ralph reads its messages instead. It retries three times by itself, for 14 seconds.',
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

const ignored = new Set([
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

const countNames = { input: 'input', output: 'output', cacheRead: 'cacheRead', cacheWrite: 'cacheWrite' };

function launch(order: LaunchOrder): Launch {
  const model = modelArgs(order);
  if (order.openingPrompt !== undefined) return { args: [...model, ...order.args, order.openingPrompt], input: '' };
  const system = systemFile(order);
  const more = system === undefined ? [] : ['--append-system-prompt', system.path]; // takes a path as well as a text
  const args = ['-p', '--mode', 'json', '--no-session', ...model, ...more, ...order.args];
  return { args, input: order.prompt, files: system?.files };
}

function piReader(): Reader {
  const totals = openTokenTotals();
  const answer = openAnswer();
  let hasAnswered = false;
  let settledBefore = false;

  function endMessage(message: Fields): readonly AgentEvent[] | undefined {
    if (message['role'] !== 'assistant') return undefined;
    const blocks = listOf(message['content']).map(fieldsOf);
    const texts = blocks.filter(block => block['type'] === 'text').map(block => textOf(block['text']));
    const text = texts.join('\n');
    answer.begin(text);
    answer.problem = problemOf(message);
    hasAnswered = answer.problem === undefined && message['stopReason'] !== 'toolUse';
    const usage = fieldsOf(message['usage']);
    const tokens = tokensIn(usage, countNames);
    const usedTokens = sumTokens(tokens);
    if (usedTokens === 0) return messageText(text);
    const model = textOf(message['model']);
    const counted = totals.add(tokens, model, fieldsOf(usage['cost'])['total']);
    return [...messageText(text), counted, { type: 'context', usedTokens, model: model || undefined }];
  }

  function settle(isSettled: boolean): undefined {
    answer.finished = isSettled;
  }

  function goOn(isCompaction: boolean): undefined {
    settledBefore = isCompaction && answer.finished;
    answer.finished = false;
  }

  return {
    skips: skipsLines(skippedStarts),
    read: readByType(
      {
        message_end: event => endMessage(fieldsOf(event['message'])),
        tool_execution_start: event => readTool(event, 'began'),
        tool_execution_end: event => readTool(event, 'ended'),
        session: event => sessionOpened(event['id']),
        agent_settled: () => settle(true),
        agent_end: event => settle(event['willRetry'] !== true),
        compaction_end: event => settle(settledBefore && event['willRetry'] !== true),
        agent_start: () => goOn(false),
        auto_retry_start: () => goOn(false),
        compaction_start: () => goOn(true),
      },
      type => ignored.has(type),
    ),
    /** Before 0.80 its end holds the whole session; whether it will retry stands behind that, but a good answer is final. */
    readCut(head) {
      if (head.startsWith(endStart)) answer.finished = hasAnswered;
      return nothing;
    },
    result: answer.result,
  };
}

function readTool(event: Fields, phase: 'began' | 'ended'): readonly AgentEvent[] {
  return [{ type: 'tool', name: textOf(event['toolName']), detail: detailOf(event['args']), phase }];
}

function problemOf(said: Fields): StreamProblem | undefined {
  const text = textOf(said['errorMessage']);
  if (said['stopReason'] === 'aborted') return { kind: 'process', text: text || 'aborted' };
  if (said['stopReason'] !== 'error') return undefined;
  if (text === 'Connection error.') return { kind: 'connection', text };
  return statusProblem(statusAtStart(text), text || 'an error without a message');
}
