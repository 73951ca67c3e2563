// GitHub Copilot's CLI: errors with a class and a status of their own, a last word with its exit code, and no token counts.
import type { FailureKind } from '../../core/failure.ts';
import { countOf, detailOf, type Fields, fieldsOf, textOf } from '../../text/fields.ts';
import {
  type AgentCli,
  type AgentEvent,
  type Launch,
  type LaunchOrder,
  networkVariables,
  type Reader,
  type StreamProblem,
} from '../agent.ts';
import { statusProblem } from '../failures.ts';
import { unknownEvent } from '../stream.ts';

/** Tried with copilot 1.0.102 and a key of one's own. It reads its prompt from stdin; its retries cannot be set. */
export const copilot: AgentCli = {
  name: 'copilot',
  program: 'copilot',
  proof: 'live',
  can: { steer: false, resume: false, interactive: true, usage: false },
  environment: [
    ...networkVariables,
    'COPILOT_GITHUB_TOKEN',
    'GH_TOKEN',
    'GITHUB_TOKEN',
    'GH_HOST',
    'COPILOT_GH_HOST',
    'COPILOT_HOME',
    'COPILOT_MODEL',
    'COPILOT_OFFLINE',
    'COPILOT_PROVIDER_BASE_URL',
    'COPILOT_PROVIDER_TYPE',
    'COPILOT_PROVIDER_API_KEY',
    'COPILOT_PROVIDER_BEARER_TOKEN',
    'COPILOT_PROVIDER_WIRE_API',
    'COPILOT_PROVIDER_MODEL_ID',
    'COPILOT_PROVIDER_WIRE_MODEL',
  ],
  fixedEnvironment: { COPILOT_AUTO_UPDATE: 'false' },
  login: {
    variables: ['COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN', 'COPILOT_PROVIDER_API_KEY'],
    files: [], // its config.json is there without a login too
    command: 'copilot login',
    missing: ['Error: No authentication information found'],
  },
  launch,
  reader: copilotReader,
};

const nothing: readonly AgentEvent[] = Object.freeze([]);
/** Whole messages come too, and of the rest there is much. */
const skippedStarts = [
  '{"type":"assistant.message_delta"',
  '{"type":"assistant.tool_call_delta"',
  '{"type":"session.background_tasks_changed"',
  '{"type":"tool.execution_partial_result"',
  '{"type":"tool.shell_output"',
];
const known = /^(?:session|user|assistant|model|tool|agent|hook|subagent|system|abort)\b/;

const kinds: ReadonlyMap<string, FailureKind> = new Map([
  ['authentication', 'auth'],
  ['authorization', 'auth'],
  ['rate_limit', 'rate-limit'],
  ['quota', 'billing'],
  ['context_limit', 'context-too-long'],
]);

/** It names no class for this one, only says it. */
const tooLongStart = 'The provider rejected the prompt as too long';

function launch(order: LaunchOrder): Launch {
  const model = order.model === undefined ? [] : ['--model', order.model];
  const always = ['--allow-all-tools', '--no-auto-update', ...model];
  if (order.openingPrompt !== undefined) {
    return { args: [...always, ...order.args, '-i', order.openingPrompt], input: '' };
  }
  const headless = ['--output-format', 'json', '--no-ask-user', '--disable-client-telemetry'];
  return { args: [...headless, ...always, ...order.args], input: order.prompt };
}

function copilotReader(): Reader {
  let message = '';
  let finished = false;
  let problem: StreamProblem | undefined;

  /** A subagent's words are not its own. */
  function say(data: Fields): readonly AgentEvent[] {
    if (textOf(data['parentToolCallId']) !== '') return nothing;
    message = textOf(data['content']);
    problem = undefined;
    return message === '' ? nothing : [{ type: 'text', text: `${message}\n` }];
  }

  function endTool(data: Fields): readonly AgentEvent[] {
    const metrics = fieldsOf(fieldsOf(data['toolTelemetry'])['metrics']);
    const usedTokens = countOf(metrics['context_current_tokens']);
    const windowTokens = countOf(metrics['context_token_limit']);
    const ended: AgentEvent = { type: 'tool', name: '', detail: '', phase: 'ended' };
    return usedTokens === 0 || windowTokens === 0 ? [ended] : [ended, { type: 'context', usedTokens, windowTokens }];
  }

  function finish(event: Fields): readonly AgentEvent[] {
    finished = true;
    const exitCode = event['exitCode'];
    if (exitCode !== 0) problem ??= { kind: 'process', text: `it ended with code ${String(exitCode)}` };
    return [{ type: 'session', id: textOf(event['sessionId']) }];
  }

  function read(event: Fields): readonly AgentEvent[] {
    const type = textOf(event['type']);
    const data = fieldsOf(event['data']);
    if (type === 'assistant.message') return say(data);
    if (type === 'tool.execution_start') {
      return [{ type: 'tool', name: textOf(data['toolName']), detail: detailOf(data['arguments']), phase: 'began' }];
    }
    if (type === 'tool.execution_complete') return endTool(data);
    if (type === 'session.error') problem = problemOf(data);
    else if (type === 'result') return finish(event);
    else if (!known.test(type)) return unknownEvent;
    return nothing;
  }

  return {
    skips: line => skippedStarts.some(start => line.startsWith(start)),
    read,
    result: () => ({ message, finished, problem }),
  };
}

function problemOf(data: Fields): StreamProblem {
  const text = textOf(data['message']);
  const kind = text.startsWith(tooLongStart) ? 'context-too-long' : kinds.get(textOf(data['errorType']));
  const problem = statusProblem(data['statusCode'], text);
  return { ...problem, kind: kind ?? problem.kind };
}
