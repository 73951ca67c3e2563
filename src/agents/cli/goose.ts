// Goose: three lines of banner, text in pieces, and errors that look like its model's words and end with code 0.
import type { FailureKind } from '../../core/failure.ts';
import { countOf, type Fields, fieldsOf, textOf } from '../../text/fields.ts';
import type { AgentCli, AgentEvent, Launch, LaunchOrder, Reader, StreamProblem } from '../agent.ts';
import { statusProblem } from '../failures.ts';
import { modelArgs, networkVariables, providerKeys } from '../launch.ts';
import { openAnswer, readBlocks, readByType, skipsLines, toolBegan, toolEnded } from '../reader.ts';

/** Its keys may lie there. */
const keyring = 'DBUS_SESSION_BUS_ADDRESS';
const own = ['GOOSE_PROVIDER', 'GOOSE_MODEL', 'GOOSE_DISABLE_KEYRING', 'GOOSE_PATH_ROOT'];
const addresses = ['OPENAI_HOST', 'OPENAI_BASE_URL', 'OPENAI_BASE_PATH', 'ANTHROPIC_HOST', 'OLLAMA_HOST', keyring];

/** Tried with goose 1.34.0 (package 0.20.1). */
export const goose: AgentCli = {
  name: 'goose',
  program: 'goose',
  proof: 'live',
  can: { steer: false, resume: false, interactive: true, usage: true },
  install: 'npm install -g @aaif/goose',
  cost: 'tokens',
  namesModel: false,
  chosenFor: [],
  beware:
    'Its errors look like words of the model and it ends with code 0; Ralph knows how they begin. It needs `GOOSE_PROVIDER` or its own configuration.',
  environment: [...networkVariables, ...providerKeys, ...own, ...addresses],
  fixedEnvironment: {
    GOOSE_MODE: 'auto',
    GOOSE_TELEMETRY_OFF: '1',
    GOOSE_DISABLE_SESSION_NAMING: 'true',
    GOOSE_PROVIDER_SKIP_BACKOFF: 'true', // its three retries take 90 s of silence otherwise
  },
  login: {
    variables: ['GOOSE_PROVIDER'],
    files: ['.config/goose/config.yaml'],
    command: 'goose configure',
    missing: ['error: No provider configured'],
  },
  systemFlags: ['--system', '--recipe'],
  launch,
  reader: gooseReader,
};

/** What it draws before it begins. */
const bannerStarts = ['    __( O)>', '   \\____)', '     L L'];
/** Its own words: the message has no id and begins so. */
const errorStart = 'Ran into this error: ';

/** Ordered: what its words after `errorStart` begin with. */
const errorKinds: readonly (readonly [string, FailureKind])[] = [
  ['Authentication error', 'auth'],
  ['Rate limit exceeded', 'rate-limit'],
  ['Credits exhausted', 'billing'],
  ['Context length exceeded', 'context-too-long'],
  ['Network error', 'connection'],
];

function launch(order: LaunchOrder): Launch {
  const model = modelArgs(order);
  if (order.openingPrompt !== undefined) {
    const start = ['run', '--interactive', '--instructions', `${order.folder}/prompt.md`];
    return { args: [...start, ...model, ...order.args], input: '' };
  }
  const headless = ['run', '--no-session', '--output-format', 'stream-json', '--instructions', '-'];
  const system = order.system === undefined ? [] : [`--system=${order.system}`];
  return { args: [...headless, ...model, ...system, ...order.args], input: order.prompt };
}

function gooseReader(): Reader {
  const answer = openAnswer();
  let messageId: unknown;

  function readText(id: unknown, text: string): readonly AgentEvent[] {
    if (id === null && text.startsWith(errorStart)) {
      answer.problem = problemOf(text.slice(errorStart.length));
      return [];
    }
    if (id !== messageId) answer.begin();
    messageId = id;
    answer.add(text);
    return [{ type: 'text', text }];
  }

  function readBlock(message: Fields, block: Fields): readonly AgentEvent[] {
    if (block['type'] === 'text' && message['role'] === 'assistant') {
      return readText(message['id'], textOf(block['text']));
    }
    if (block['type'] === 'toolRequest') {
      const call = fieldsOf(fieldsOf(block['toolCall'])['value']);
      return toolBegan(call['name'], call['arguments']);
    }
    if (block['type'] === 'toolResponse') {
      messageId = undefined; // what it said before is not its last word
      return toolEnded;
    }
    if (block['type'] === 'systemNotification') answer.problem = problemOfNotice(block) ?? answer.problem;
    return [];
  }

  return {
    skips: skipsLines(bannerStarts),
    read: readByType({
      message(event) {
        const message = fieldsOf(event['message']);
        return readBlocks(message['content'], block => readBlock(message, block));
      },
      complete(event) {
        answer.finished = true;
        return readUsage(event);
      },
      error(event) {
        answer.problem = problemOf(textOf(event['error']));
        return undefined;
      },
      notification: () => undefined,
    }),
    result: answer.result,
  };
}

function readUsage(event: Fields): readonly AgentEvent[] | undefined {
  const input = countOf(event['input_tokens']);
  const output = countOf(event['output_tokens']);
  const rest = Math.max(0, countOf(event['total_tokens']) - input - output); // unnamed ones count as the dearest
  if (input + output + rest === 0) return undefined;
  return [{ type: 'usage', tokens: { input, output: output + rest, cacheRead: 0, cacheWrite: 0 } }];
}

function problemOf(text: string): StreamProblem {
  const kind = errorKinds.find(([start]) => text.startsWith(start))?.[1];
  const status = Number(/\((\d{3})\b/.exec(text)?.[1]); // `Server error (529 …): …`
  return statusProblem(status, text.split('\n')[0] ?? '', kind);
}

function problemOfNotice(block: Fields): StreamProblem | undefined {
  const text = textOf(block['msg']);
  if (block['notificationType'] === 'creditsExhausted') return { kind: 'billing', text };
  return text.startsWith('Unable to continue: Context limit') ? { kind: 'context-too-long', text } : undefined;
}
