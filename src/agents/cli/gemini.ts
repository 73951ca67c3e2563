// Gemini CLI: one headless turn with the prompt on stdin; its text comes in pieces and its exit code says nothing.
import type { AgentCli, Heard, Launch, LaunchOrder, Reader, StreamProblem } from '../agent.ts';
import { countOf, detailOf, type Fields, fieldsOf, textOf } from '../../text/fields.ts';
import { unknownEvent } from '../stream.ts';
import { networkVariables } from '../provider-variables.ts';
import { tailOf } from '../../processes/tail.ts';
import { geminiProblem, vainAttempt } from './agents-gemini-problem-part.ts';

/** Shapes and traps: AGENT-CLIS, gemini 0.61.0. */
export const gemini: AgentCli = {
  name: 'gemini',
  program: 'gemini',
  proof: 'live',
  can: { steer: false, resume: false, interactive: true, usage: true },
  environment: [
    ...networkVariables,
    'GEMINI_API_KEY',
    'GOOGLE_API_KEY',
    'GOOGLE_GEMINI_BASE_URL',
    'GOOGLE_GENAI_USE_GCA',
    'GOOGLE_GENAI_USE_VERTEXAI',
    'GOOGLE_CLOUD_PROJECT',
    'GOOGLE_CLOUD_LOCATION',
    'GEMINI_CLI_HOME',
    'GEMINI_MODEL',
  ],
  fixed: {
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
    GEMINI_CLI_NO_RELAUNCH: 'true', // its wrapper does not pass on a TERM
  },
  login: {
    variables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    files: ['.gemini/oauth_creds.json', '.gemini/google_accounts.json'],
    command: 'gemini',
    missing: ['Please set an Auth method', 'Invalid auth method selected'],
  },
  launch,
  reader: () => geminiReader(),
};

/**
 * Its retries cannot be set from here: it reads settings only from HOME, the project, and files of root's below folders of
 * root's. It tells of them on stderr alone, so they are counted there (`complains`).
 */
function launch(order: LaunchOrder): Launch {
  const model = order.model === undefined ? [] : ['--model', order.model];
  if (order.opening !== undefined) {
    const args = ['--yolo', ...model, ...order.args, '--prompt-interactive', order.opening];
    return { args, input: '' };
  }
  return {
    args: ['--output-format', 'stream-json', '--yolo', ...model, ...order.args],
    input: order.prompt,
  };
}

const nothing: readonly Heard[] = Object.freeze([]);
const messageCharsMax = 1_000_000;

export function geminiReader(now: () => number = Date.now): Reader {
  let message = tailOf(messageCharsMax);
  let isMessageOver = false;
  let result: Fields | undefined;
  let vain: StreamProblem | undefined;

  function readMessage(event: Fields): readonly Heard[] {
    const text = textOf(event['content']);
    if (event['role'] !== 'assistant') isMessageOver = true;
    if (event['role'] !== 'assistant' || text === '') return nothing;
    if (isMessageOver || event['delta'] !== true) message = tailOf(messageCharsMax);
    isMessageOver = event['delta'] !== true;
    message.add(text);
    return [{ type: 'text', text: isMessageOver ? `${text}\n` : text }];
  }

  function readTool(event: Fields, phase: 'began' | 'ended'): readonly Heard[] {
    isMessageOver = true;
    return [{ type: 'tool', name: textOf(event['tool_name']), detail: detailOf(event['parameters']), phase }];
  }

  function read(event: Fields): readonly Heard[] {
    const type = event['type'];
    if (type === 'message') return readMessage(event);
    if (type === 'tool_use') return readTool(event, 'began');
    if (type === 'tool_result') return readTool(event, 'ended');
    if (type === 'init') return [{ type: 'session', id: textOf(event['session_id']) }];
    if (type === 'result') {
      result = event;
      return readStats(fieldsOf(event['stats']));
    }
    return type === 'error' ? nothing : unknownEvent;
  }

  return {
    read,
    complains(line) {
      vain ??= vainAttempt(line, now());
    },
    verdict() {
      const isGood = result?.['status'] === 'success';
      const said = result === undefined || isGood ? undefined : geminiProblem(fieldsOf(result['error']), now());
      const problem = result === undefined ? vain : said;
      return {
        finished: result !== undefined || vain !== undefined,
        get message() {
          return message.text();
        },
        problem,
      };
    },
  };
}

function readStats(stats: Fields): readonly Heard[] {
  const byModel = Object.entries(fieldsOf(stats['models']));
  if (byModel.length === 0) return [{ type: 'usage', tokens: tokensOf(stats) }];
  return byModel.map(([model, counts]) => ({ type: 'usage', tokens: tokensOf(fieldsOf(counts)), model }));
}

/** `input_tokens` includes what came from a cache; the total includes thoughts, which the output does not. */
function tokensOf(counts: Fields): { input: number; output: number; cacheRead: number; cacheWrite: number } {
  const cacheRead = countOf(counts['cached']);
  const all = countOf(counts['input_tokens']);
  const output = Math.max(countOf(counts['output_tokens']), countOf(counts['total_tokens']) - all);
  return { input: Math.max(0, all - cacheRead), output, cacheRead, cacheWrite: 0 };
}
