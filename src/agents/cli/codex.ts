// Codex: one turn of `codex exec --json` with the prompt on stdin; it names no model and no cost, and errors are words.

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
import { unknownEvent } from '../stream.ts';

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
  fixedEnvironment: {},
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
  if (order.openingPrompt !== undefined) {
    return { args: [...always, ...order.args, order.openingPrompt], input: '' };
  }
  const args = ['exec', '--json', '--skip-git-repo-check', ...always, '-', ...order.args];
  return { args, input: order.prompt };
}

const nothing: readonly AgentEvent[] = Object.freeze([]);
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
  function reconnects(words: string): readonly AgentEvent[] {
    reconnectingSince ??= now();
    problem = codexProblem(words, now());
    isFinished = now() - reconnectingSince >= reconnectMsMax;
    return nothing;
  }

  function readItem(item: Fields, phase: 'began' | 'ended'): readonly AgentEvent[] {
    const type = textOf(item['type']);
    if (type === 'agent_message' && phase === 'ended') {
      message = textOf(item['text']);
      return [{ type: 'text', text: `${message}\n` }];
    }
    if (wordy.has(type)) return nothing;
    const detail = detailOf(item) || detailOf(item['arguments']);
    return [{ type: 'tool', name: textOf(item['tool']) || type, detail, phase }];
  }

  function readUsage(usage: Fields): readonly AgentEvent[] {
    const cacheRead = countOf(usage['cached_input_tokens']);
    const cacheWrite = countOf(usage['cache_write_input_tokens']);
    const input = Math.max(0, countOf(usage['input_tokens']) - cacheRead - cacheWrite);
    return [{ type: 'usage', tokens: { input, output: countOf(usage['output_tokens']), cacheRead, cacheWrite } }];
  }

  function read(event: Fields): readonly AgentEvent[] {
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
    result: () => ({ message, finished: isFinished, problem }),
  };
}

// Names what Codex says went wrong. It has only words for it, but they are its own: no model and no file wrote them.

const wordsMax = 4_000;

/** Ordered: the first row whose words occur names it. */
const kinds: readonly (readonly [FailureKind, readonly string[]])[] = [
  ['context-too-long', ['context_length_exceeded', 'context window', 'ran out of room']],
  ['billing', ['insufficient_quota', 'quota exceeded', 'billing_hard_limit', 'usage_not_included']],
  ['rate-limit', ['hit your usage limit', 'usage_limit_reached', 'rate_limit_exceeded', 'rate limit']],
  [
    'model',
    ['model_not_found', 'model is not supported', 'model does not exist', 'does not exist or you do not have access'],
  ],
  ['auth', ['invalid_api_key', 'incorrect api key', 'not logged in', 'token_expired', 'sign in again']],
  ['overloaded', ['high demand', 'at capacity', 'server_is_overloaded', 'overloaded']],
  ['connection', ['connection failed', 'error sending request', 'stream disconnected', 'waiting for network']],
];

function codexProblem(words: string, nowMs: number): StreamProblem {
  const text = words.slice(0, wordsMax);
  const lower = text.toLowerCase();
  const kind = kinds.find(([, needles]) => needles.some(needle => lower.includes(needle)))?.[0];
  const status = /\bstatus:? (\d{3})\b/.exec(text)?.[1];
  const isLimit = kind === 'rate-limit' || status === '429';
  const resetAtMs = isLimit ? resetIn(text, nowMs) : undefined;
  return {
    kind,
    status: status === undefined ? undefined : Number(status),
    resetAtMs,
    text: readable(text) || 'the turn failed',
  };
}

/** Some errors are the raw body of the answer. */
function readable(text: string): string {
  if (!text.startsWith('{')) return text;
  try {
    return textOf(fieldsOf(fieldsOf(JSON.parse(text))['error'])['message']) || text;
  } catch {
    return text;
  }
}

// Finds when Codex may be used again in what it tells a person: a day and a time, a time alone, or a while from now.

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const unitMs: Readonly<Record<string, number>> = {
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1_000,
};
const dayMs = 86_400_000;

const atDay =
  /try again at ([a-z]{3})[a-z]* (\d{1,2})(?:st|nd|rd|th)?,? (\d{4}),? (?:at )?(\d{1,2}):(\d{2}) ?([ap]m)?/i;
const atTime = /try again at (\d{1,2}):(\d{2}) ?([ap]m)?/i;
const aWhile = /try again in ((?:[\d.]+ ?(?:d|h|m|s)[a-z]*[ ,]*(?:and )?)+)/i;

/** Times are local, as it shows them. */
export function resetIn(text: string, nowMs: number): number | undefined {
  const day = atDay.exec(text);
  if (day) {
    const [, monthName = '', date, year, hour, minute, half] = day;
    const month = months.indexOf(monthName.toLowerCase());
    if (month < 0) return undefined;
    return new Date(Number(year), month, Number(date), hourOf(hour, half), Number(minute)).getTime();
  }
  const time = atTime.exec(text);
  if (time) {
    const today = new Date(nowMs);
    const at = today.setHours(hourOf(time[1], time[3]), Number(time[2]), 0, 0);
    return at > nowMs ? at : at + dayMs;
  }
  const wait = aWhile.exec(text)?.[1];
  return wait === undefined ? undefined : nowMs + durationMs(wait);
}

function hourOf(hour: string | undefined, half: string | undefined): number {
  if (half === undefined) return Number(hour);
  return (Number(hour) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0);
}

function durationMs(words: string): number {
  let sum = 0;
  for (const [, amount, unit = ''] of words.matchAll(/([\d.]+) ?(ms|d|h|m|s)/gi)) {
    sum += Number(amount) * (unit.toLowerCase() === 'ms' ? 1 : (unitMs[unit.toLowerCase()] ?? 0));
  }
  return Math.round(sum);
}
