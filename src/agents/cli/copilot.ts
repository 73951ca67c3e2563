// GitHub Copilot's CLI: errors with a class and a status of their own, a last word with its exit code, and no token counts.
import type { FailureKind } from '../../core/failure.ts';
import { countOf, type Fields, fieldsOf, textOf } from '../../text/fields.ts';
import type { AgentCli, AgentEvent, Launch, LaunchOrder, Reader, StreamProblem } from '../agent.ts';
import { statusProblem } from '../failures.ts';
import { modelArgs, networkVariables } from '../launch.ts';
import { messageText, openAnswer, readByType, sessionOpened, skipsLines, toolBegan, toolEnded } from '../reader.ts';

/** Tried with copilot 1.0.102 and a key of one's own. It reads its prompt from stdin; its retries cannot be set. */
export const copilot: AgentCli = {
  name: 'copilot',
  program: 'copilot',
  proof: 'live',
  can: { steer: false, resume: false, interactive: true, usage: false },
  install: 'npm install -g @github/copilot',
  cost: 'none',
  namesModel: false,
  chosenFor: [],
  beware: 'It counts no tokens, so money limits cannot bind it. Through `acp` it does.',
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

/** Whole messages come too, and of the rest there is much. */
const skippedStarts = [
  '{"type":"assistant.message_delta"',
  '{"type":"assistant.tool_call_delta"',
  '{"type":"session.background_tasks_changed"',
  '{"type":"tool.execution_partial_result"',
  '{"type":"tool.shell_output"',
];
/** What begins so and has no handler means nothing. */
const ignored = /^(?:session|user|assistant|model|tool|agent|hook|subagent|system|abort)\b/;

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
  const always = ['--allow-all-tools', '--no-auto-update', ...modelArgs(order), ...order.args];
  if (order.openingPrompt !== undefined) return { args: [...always, '-i', order.openingPrompt], input: '' };
  const headless = ['--output-format', 'json', '--no-ask-user', '--disable-client-telemetry'];
  return { args: [...headless, ...always], input: order.prompt };
}

function copilotReader(): Reader {
  const answer = openAnswer();

  /** A subagent's words are not its own. */
  function readMessage(data: Fields): readonly AgentEvent[] | undefined {
    if (textOf(data['parentToolCallId']) !== '') return undefined;
    const text = textOf(data['content']);
    answer.begin(text);
    answer.problem = undefined;
    return messageText(text);
  }

  function endTool(data: Fields): readonly AgentEvent[] {
    const metrics = fieldsOf(fieldsOf(data['toolTelemetry'])['metrics']);
    const usedTokens = countOf(metrics['context_current_tokens']);
    const windowTokens = countOf(metrics['context_token_limit']);
    return usedTokens === 0 || windowTokens === 0
      ? toolEnded
      : [...toolEnded, { type: 'context', usedTokens, windowTokens }];
  }

  return {
    skips: skipsLines(skippedStarts),
    read: readByType(
      {
        'assistant.message': ({ data }) => readMessage(fieldsOf(data)),
        'tool.execution_start': ({ data }) => toolBegan(fieldsOf(data)['toolName'], fieldsOf(data)['arguments']),
        'tool.execution_complete': ({ data }) => endTool(fieldsOf(data)),
        'session.error'({ data }) {
          answer.problem = problemOf(fieldsOf(data));
          return undefined;
        },
        result({ exitCode, sessionId }) {
          answer.finished = true;
          if (exitCode !== 0) answer.problem ??= { kind: 'process', text: `it ended with code ${String(exitCode)}` };
          return sessionOpened(sessionId);
        },
      },
      type => ignored.test(type),
    ),
    result: answer.result,
  };
}

function problemOf(data: Fields): StreamProblem {
  const text = textOf(data['message']);
  const kind = text.startsWith(tooLongStart) ? 'context-too-long' : kinds.get(textOf(data['errorType']));
  return statusProblem(data['statusCode'], text, kind);
}
