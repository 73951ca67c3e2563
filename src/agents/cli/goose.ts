// Drives goose: three lines of banner, text in pieces, and errors that look like its model's words and end with code 0.
import type { FailureKind } from '../../core/failure.ts';
import { tailOf } from '../../processes/streams.ts';
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
import { statusProblem } from '../failures.ts';
import { unknownEvent } from '../stream.ts';

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

const messageCharsMax = 1_000_000;
const nothing: readonly AgentEvent[] = Object.freeze([]);
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
  const model = order.model === undefined ? [] : ['--model', order.model];
  if (order.openingPrompt !== undefined) {
    const args = ['run', '--interactive', '--instructions', `${order.folder}/prompt.md`, ...model, ...order.args];
    return { args, input: '' };
  }
  const headless = ['run', '--no-session', '--output-format', 'stream-json', '--instructions', '-'];
  const system = order.system === undefined ? [] : [`--system=${order.system}`];
  return { args: [...headless, ...model, ...system, ...order.args], input: order.prompt };
}

function gooseReader(): Reader {
  let message = tailOf(messageCharsMax);
  let messageId: unknown;
  let finished = false;
  let problem: StreamProblem | undefined;

  function say(id: unknown, text: string): readonly AgentEvent[] {
    if (id === null && text.startsWith(errorStart)) {
      problem = problemOf(text.slice(errorStart.length));
      return nothing;
    }
    if (id !== messageId) message = tailOf(messageCharsMax);
    messageId = id;
    message.add(text);
    return [{ type: 'text', text }];
  }

  function readBlock(said: Fields, block: Fields): readonly AgentEvent[] {
    if (block['type'] === 'text' && said['role'] === 'assistant') return say(said['id'], textOf(block['text']));
    if (block['type'] === 'toolRequest') {
      const call = fieldsOf(fieldsOf(block['toolCall'])['value']);
      return [{ type: 'tool', name: textOf(call['name']), detail: detailOf(call['arguments']), phase: 'began' }];
    }
    if (block['type'] === 'toolResponse') {
      messageId = undefined; // what it said before is not its last word
      return [{ type: 'tool', name: '', detail: '', phase: 'ended' }];
    }
    if (block['type'] === 'systemNotification') problem = noticed(block) ?? problem;
    return nothing;
  }

  function complete(event: Fields): readonly AgentEvent[] {
    finished = true;
    const input = countOf(event['input_tokens']);
    const output = countOf(event['output_tokens']);
    const rest = Math.max(0, countOf(event['total_tokens']) - input - output); // unnamed ones count as the dearest
    if (input + output + rest === 0) return nothing;
    return [{ type: 'usage', tokens: { input, output: output + rest, cacheRead: 0, cacheWrite: 0 } }];
  }

  function read(event: Fields): readonly AgentEvent[] {
    if (event['type'] === 'message') {
      const said = fieldsOf(event['message']);
      return listOf(said['content']).flatMap(block => readBlock(said, fieldsOf(block)));
    }
    if (event['type'] === 'complete') return complete(event);
    if (event['type'] === 'error') problem = problemOf(textOf(event['error']));
    return event['type'] === 'error' || event['type'] === 'notification' ? nothing : unknownEvent;
  }

  return {
    skips: line => bannerStarts.some(start => line.startsWith(start)),
    read,
    result: () => ({
      get message() {
        return message.text();
      },
      finished,
      problem,
    }),
  };
}

function problemOf(text: string): StreamProblem {
  const kind = errorKinds.find(([start]) => text.startsWith(start))?.[1];
  const status = Number(/\((\d{3})\b/.exec(text)?.[1]); // `Server error (529 …): …`
  const problem = statusProblem(status, text.split('\n')[0] ?? '');
  return { ...problem, kind: kind ?? problem.kind };
}

function noticed(block: Fields): StreamProblem | undefined {
  const text = textOf(block['msg']);
  if (block['notificationType'] === 'creditsExhausted') return { kind: 'billing', text };
  return text.startsWith('Unable to continue: Context limit') ? { kind: 'context-too-long', text } : undefined;
}
