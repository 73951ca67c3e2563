// Codex: one turn of `codex exec --json` with the prompt on stdin; it names no model and no cost, and errors are words.
import type { AgentCli, Heard, Launch, LaunchOrder, Reader, StreamProblem } from '../agent.ts';
import { countOf, detailOf, type Fields, fieldsOf, textOf } from '../../text/fields.ts';
import { unknownEvent } from '../stream.ts';
import { networkVariables } from '../provider-variables.ts';
import { codexProblem } from './agents-codex-problem-part.ts';

/** Shapes and traps: AGENT-CLIS, codex 0.166.0. */
export const codex: AgentCli = {
  name: 'codex',
  program: 'codex',
  proof: 'live',
  can: { steer: false, resume: false, interactive: true, usage: true },
  environment: [
    ...networkVariables,
    'OPENAI_API_KEY',
    'OPENAI_BASE_URL',
    'OPENAI_ORGANIZATION',
    'OPENAI_PROJECT',
    'CODEX_API_KEY',
    'CODEX_HOME',
  ],
  fixed: {},
  login: {
    variables: ['CODEX_API_KEY'], // OPENAI_API_KEY counts only where a provider of the user's own names it
    files: ['.codex/auth.json'],
    command: 'codex login',
  },
  launch,
  reader: () => codexReader(),
};

/**
 * Its retries cannot be set: it refuses to start when the settings of a built-in provider are changed. It has no `systemBy`:
 * `developer_instructions` would take the place of what the user has set there (seen with 0.166.0).
 */
function launch(order: LaunchOrder): Launch {
  const model = order.model === undefined ? [] : ['--model', order.model];
  const always = ['--dangerously-bypass-approvals-and-sandbox', '-c', 'analytics.enabled=false', ...model];
  if (order.opening !== undefined) {
    return { args: [...always, ...order.args, order.opening], input: '' };
  }
  const args = ['exec', '--json', '--skip-git-repo-check', ...always, '-', ...order.args];
  return { args, input: order.prompt };
}

const nothing: readonly Heard[] = Object.freeze([]);
const reconnectMsMax = 120_000;
const known = new Set(['turn.started', 'item.updated']);
/** Items that are words, not work. */
const wordy = new Set(['agent_message', 'reasoning', 'error', 'todo_list']);

export function codexReader(now: () => number = Date.now): Reader {
  let message = '';
  let isFinished = false;
  let problem: StreamProblem | undefined;
  let reconnectingSince: number | undefined;

  /** Without a network it says so for ever: after a while that is its last word. */
  function reconnects(words: string): readonly Heard[] {
    reconnectingSince ??= now();
    problem = codexProblem(words, now());
    isFinished = now() - reconnectingSince >= reconnectMsMax;
    return nothing;
  }

  function readItem(item: Fields, phase: 'began' | 'ended'): readonly Heard[] {
    const type = textOf(item['type']);
    if (type === 'agent_message' && phase === 'ended') {
      message = textOf(item['text']);
      return [{ type: 'text', text: `${message}\n` }];
    }
    if (wordy.has(type)) return nothing;
    const detail = detailOf(item) || detailOf(item['arguments']);
    return [{ type: 'tool', name: textOf(item['tool']) || type, detail, phase }];
  }

  function readUsage(usage: Fields): readonly Heard[] {
    const cacheRead = countOf(usage['cached_input_tokens']);
    const cacheWrite = countOf(usage['cache_write_input_tokens']);
    const input = Math.max(0, countOf(usage['input_tokens']) - cacheRead - cacheWrite);
    return [{ type: 'usage', tokens: { input, output: countOf(usage['output_tokens']), cacheRead, cacheWrite } }];
  }

  function read(event: Fields): readonly Heard[] {
    const type = textOf(event['type']);
    if (type === 'error') {
      const words = textOf(event['message']);
      return words.startsWith('Reconnecting') ? reconnects(words) : nothing;
    }
    if (!isFinished) problem = undefined;
    reconnectingSince = undefined;
    if (type === 'thread.started') return [{ type: 'session', id: textOf(event['thread_id']) }];
    if (type === 'item.started') return readItem(fieldsOf(event['item']), 'began');
    if (type === 'item.completed') return readItem(fieldsOf(event['item']), 'ended');
    if (type === 'turn.completed') {
      isFinished = true;
      problem = undefined;
      return readUsage(fieldsOf(event['usage']));
    }
    if (type === 'turn.failed') {
      isFinished = true;
      problem = codexProblem(textOf(fieldsOf(event['error'])['message']), now());
      return nothing;
    }
    return known.has(type) ? nothing : unknownEvent;
  }

  return {
    read,
    verdict: () => ({ message, finished: isFinished, problem }),
  };
}
