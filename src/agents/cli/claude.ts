// Claude Code: prompt and notes as lines of JSON on its stdin, which stays open so that it can be steered and interrupted.

import type { FailureKind } from '../../core/failure.ts';
import { tailOf } from '../../processes/streams.ts';
import { countOf, detailOf, type Fields, fieldsOf, listOf, textOf } from '../../text/fields.ts';
import {
  type AgentCli,
  type AgentEvent,
  type Launch,
  type LaunchOrder,
  networkVariables,
  type Reader,
  type StreamProblem,
  type Tokens,
} from '../agent.ts';
import { unknownEvent } from '../stream.ts';

/** Shapes and traps: AGENT-CLIS, claude 2.1.325. */
export const claude: AgentCli = {
  name: 'claude',
  program: 'claude',
  proof: 'live',
  can: { steer: true, resume: false, interactive: true, usage: true },
  statesCost: true,
  environment: [
    ...networkVariables,
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_AUTH_TOKEN',
    'ANTHROPIC_BASE_URL',
    'ANTHROPIC_CUSTOM_HEADERS',
    'ANTHROPIC_MODEL',
    'ANTHROPIC_SMALL_FAST_MODEL',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'CLAUDE_CONFIG_DIR',
    'CLAUDE_CODE_USE_BEDROCK',
    'CLAUDE_CODE_USE_VERTEX',
  ],
  fixedEnvironment: {
    CLAUDE_CODE_MAX_RETRIES: '1', // it tries ten times by default, for minutes
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_AUTOUPDATER: '1',
  },
  login: {
    variables: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
    files: ['.claude/.credentials.json'],
    command: 'claude /login',
  },
  systemFlags: ['--append-system-prompt', '--system-prompt'],
  launch,
  reader: () => claudeReader(),
  steering: { say: userLine, interrupt: () => interruptLine },
};

const interruptLine = `${JSON.stringify({
  type: 'control_request',
  request_id: 'ralph-interrupt',
  request: { subtype: 'interrupt' },
})}\n`;

const systemFile = 'system.md';

function launch(order: LaunchOrder): Launch {
  const model = order.model === undefined ? [] : ['--model', order.model];
  const always = ['--dangerously-skip-permissions', ...model];
  const environment: Record<string, string> = order.isRoot ? { IS_SANDBOX: '1' } : {}; // as root it refuses that flag otherwise
  if (order.openingPrompt !== undefined) {
    return { args: [...always, ...order.args, order.openingPrompt], input: '', environment };
  }
  const headless = ['-p', '--output-format', 'stream-json', '--verbose', '--input-format', 'stream-json'];
  const { system } = order;
  const more = system === undefined ? [] : ['--append-system-prompt-file', `${order.folder}/${systemFile}`];
  const args = [...headless, '--include-partial-messages', ...always, ...more, ...order.args];
  const files = system === undefined ? undefined : { [systemFile]: system };
  return { args, input: userLine(order.prompt), files, environment };
}

function userLine(text: string): string {
  const message = { role: 'user', content: [{ type: 'text', text }] };
  return `${JSON.stringify({ type: 'user', message, parent_tool_use_id: null, session_id: '' })}\n`;
}

// Understands Claude Code's stream-json: what is said, done, used and why it ended.

const nothing: readonly AgentEvent[] = Object.freeze([]);
const noTrouble: Trouble = {};
const deltaStart = '{"type":"stream_event","event":{"type":"content_block_delta"';
const deltaType = '"delta":{"type":"';

/** Of the many pieces of a message only those of its text are read. */
function skips(line: string): boolean {
  if (!line.startsWith(deltaStart)) return false;
  const at = line.indexOf(deltaType, deltaStart.length);
  return at >= 0 && !line.startsWith('text_delta"', at + deltaType.length);
}

function toolsEnded(event: Fields): readonly AgentEvent[] {
  const content = listOf(fieldsOf(event['message'])['content']);
  const results = content.filter(block => fieldsOf(block)['type'] === 'tool_result');
  return results.map(() => ({ type: 'tool', name: '', detail: '', phase: 'ended' }));
}

/** While a subagent works in the background, claude's last word is yet to come: it hears of the end and speaks again. */
function hasSubagents(event: Fields): boolean {
  return listOf(event['tasks']).some(task => fieldsOf(task)['task_type'] === 'local_agent');
}

/** What was in its way is so no longer. */
const afterTrouble = ({ rejected }: Trouble): Trouble => (rejected === undefined ? noTrouble : { rejected });

interface Turns {
  /** `init`: one comes before each turn. */
  began(): void;
  /** A message comes; `isMain`: not from a subagent. */
  goesOn(isMain: boolean): void;
  hadTrouble(more: Trouble): void;
  ended(event: Fields): void;
  /** That of the last turn, while no other has begun. */
  result(): Fields | undefined;
  problem(): StreamProblem | undefined;
}

/** After a result it may begin a turn by itself, for a note that came late or a task that ended: that was not its last. */
function followTurns(): Turns {
  let trouble = noTrouble;
  let result: Fields | undefined;
  let hasBegun = false;
  function goesOn(isMain: boolean): void {
    trouble = afterTrouble(trouble);
    if (isMain) result = undefined;
  }
  return {
    goesOn,
    began() {
      if (hasBegun) goesOn(true);
      hasBegun = true;
    },
    hadTrouble(more) {
      trouble = { ...trouble, ...more };
    },
    ended(event) {
      result = event;
    },
    result: () => result,
    problem: () => claudeProblem(result, trouble),
  };
}

export function claudeReader(): Reader {
  const live = liveUsage();
  const words = hearWords();
  const turns = followTurns();
  let isDelegating = false;

  function readPiece(event: Fields): readonly AgentEvent[] {
    const piece = fieldsOf(event['event']);
    const isMain = event['parent_tool_use_id'] == null;
    if (piece['type'] === 'message_start') turns.goesOn(isMain);
    const usage = live.read(event, piece);
    if (usage !== undefined) return usage;
    return isMain ? words.piece(event['api_message_id'] ?? live.mainId(), piece) : nothing;
  }

  /** Where the model could not answer, claude writes a message itself. */
  function readMessage(event: Fields): readonly AgentEvent[] {
    const isOwn = fieldsOf(event['message'])['model'] === '<synthetic>' || event['is_api_error_message'] === true;
    if (isOwn) turns.hadTrouble({ failed: event });
    else turns.goesOn(event['parent_tool_use_id'] == null);
    return words.whole(event, isOwn);
  }

  function readSystem(event: Fields): readonly AgentEvent[] {
    if (event['subtype'] === 'init') {
      turns.began();
      return [{ type: 'session', id: textOf(event['session_id']) }];
    }
    if (event['subtype'] === 'background_tasks_changed') isDelegating = hasSubagents(event);
    if (event['subtype'] === 'api_retry') turns.hadTrouble({ retried: event });
    return nothing;
  }

  function readResult(event: Fields): readonly AgentEvent[] {
    turns.ended(event);
    return resultUsage(event, live);
  }

  function readLimit(event: Fields): readonly AgentEvent[] {
    const info = fieldsOf(event['rate_limit_info']);
    if (info['status'] === 'rejected') turns.hadTrouble({ rejected: info });
    return claudeLimit(info);
  }

  const readers: ReadonlyMap<unknown, (event: Fields) => readonly AgentEvent[]> = new Map([
    ['stream_event', readPiece],
    ['assistant', readMessage],
    ['user', toolsEnded],
    ['system', readSystem],
    ['result', readResult],
    ['rate_limit_event', readLimit],
    ['control_response', () => nothing],
  ]);

  return {
    skips,
    read: event => readers.get(event['type'])?.(event) ?? unknownEvent,
    result() {
      const [result, problem] = [turns.result(), turns.problem()];
      const isGood = result !== undefined && problem === undefined;
      return {
        finished: result !== undefined && !isDelegating,
        get message() {
          return (isGood && textOf(result?.['result'])) || words.last();
        },
        problem,
      };
    },
  };
}

// Names what Claude Code says went wrong: its codes first, the HTTP status next, words never.

/** What was heard of a failure before the result. */
interface Trouble {
  /** The message that claude wrote in the model's place. */
  readonly failed?: Fields;
  /** Its last attempt to try again by itself. */
  readonly retried?: Fields;
  /** What the provider said about a limit that is used up. */
  readonly rejected?: Fields;
}

/** By `terminal_reason`, `api_error`, the message's `error` and `api_error_type`, in that order. */
const kinds: ReadonlyMap<unknown, FailureKind> = new Map([
  ['prompt_too_long', 'context-too-long'],
  ['usage_limit_reached', 'rate-limit'],
  ['connection_failed', 'connection'],
  ['authentication_failed', 'auth'],
  ['oauth_org_not_allowed', 'auth'],
  ['billing_error', 'billing'],
  ['rate_limit', 'rate-limit'],
  ['overloaded', 'overloaded'],
  ['model_not_found', 'model'],
  ['authentication_error', 'auth'],
  ['permission_error', 'auth'],
  ['rate_limit_error', 'rate-limit'],
  ['overloaded_error', 'overloaded'],
]);

function claudeProblem(result: Fields | undefined, trouble: Trouble): StreamProblem | undefined {
  if (result === undefined) {
    const last = trouble.failed ?? trouble.retried;
    return last === undefined ? undefined : problemOf(last, {}, trouble);
  }
  const isError = result['is_error'] === true || textOf(result['subtype']).startsWith('error');
  return isError ? problemOf(result, trouble.failed ?? {}, trouble) : undefined;
}

function problemOf(main: Fields, failed: Fields, { rejected, retried }: Trouble): StreamProblem {
  const codes = [
    main['terminal_reason'],
    main['api_error'],
    failed['api_error'],
    failed['error'],
    main['error'],
    main['api_error_type'],
  ];
  const status = [main, failed, { api_error_status: retried?.['error_status'] }]
    .map(each => each['api_error_status'])
    .find(value => typeof value === 'number');
  const named = codes.map(code => kinds.get(code)).find(kind => kind !== undefined);
  const kind = named ?? (status === undefined ? unnamed(codes, main) : undefined);
  const resetAtMs = kind === 'rate-limit' ? resetOf(rejected) : undefined;
  return {
    kind,
    status,
    resetAtMs,
    text: wordsOf(main, failed),
  };
}

/** Neither a code that we know nor a status: no answer came, or it was claude itself that gave up. */
function unnamed(codes: readonly unknown[], main: Fields): FailureKind | undefined {
  if (codes.includes('server_error')) return 'connection';
  return textOf(main['subtype']).startsWith('error') ? 'process' : undefined;
}

function wordsOf(main: Fields, failed: Fields): string {
  const content = listOf(fieldsOf(failed['message'] ?? main['message'])['content']);
  const written = content.map(block => textOf(fieldsOf(block)['text'])).join(' ');
  const errors = listOf(main['errors']).filter(each => typeof each === 'string');
  const code = textOf(main['error']) || textOf(main['subtype']) || 'no reason given';
  return textOf(main['result']) || errors.join('; ') || written || `ended with an error: ${code}`;
}

/** Seconds since 1970. */
function resetOf(info: Fields | undefined): number | undefined {
  const seconds = info?.['resetsAt'];
  return typeof seconds === 'number' && Number.isFinite(seconds) ? seconds * 1_000 : undefined;
}

/** Only a limit that is reached: the reset of a window that still allows work says nothing about a later refusal. */
function claudeLimit(info: Fields): readonly AgentEvent[] {
  const resetAtMs = resetOf(info);
  const { rateLimitType, status } = info;
  if (resetAtMs === undefined || status !== 'rejected') return [];
  return [{ type: 'limit', resetAtMs, detail: `${textOf(rateLimitType) || 'limit'}: used up` }];
}

// Counts Claude Code's tokens: live from each message's own count, at the end from modelUsage, which is the truth.

export interface LiveUsage {
  /** Undefined when the piece does not concern it. */
  read(event: Fields, piece: Fields): readonly AgentEvent[] | undefined;
  /** The id of the message that the main thread is writing. */
  mainId(): unknown;
  /**
   * The totals that a result states; what is counted from now on is added to them. Gives the names under which something
   * was counted that the result has under another: it is in there too, so they begin anew.
   */
  settle(stated: ReadonlyMap<string, Tokens>): readonly string[];
}

interface OpenMessage {
  readonly id: unknown;
  readonly model: string;
  counted: Tokens;
}

const noTokens: Tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** Each thread (the main one, each subagent) writes one message at a time. */
function liveUsage(): LiveUsage {
  const open = new Map<unknown, OpenMessage>();
  const totals = new Map<string, Tokens>();

  function count(event: Fields, piece: Fields): readonly AgentEvent[] {
    const thread = event['parent_tool_use_id'] ?? null;
    const current = open.get(thread);
    if (current === undefined) return [];
    const now = higher(current.counted, tokensOf(fieldsOf(piece['usage'])));
    const total = combine(totals.get(current.model) ?? noTokens, now, current.counted);
    current.counted = now;
    totals.set(current.model, total);
    const model = current.model || undefined;
    const heard: AgentEvent[] = [{ type: 'usage', tokens: total, model }];
    const usedTokens = now.input + now.cacheRead + now.cacheWrite + now.output;
    if (thread === null) heard.push({ type: 'context', usedTokens, model });
    return heard;
  }

  return {
    settle(stated) {
      const renamed = [...totals.keys()].filter(model => !stated.has(model));
      totals.clear();
      for (const [model, tokens] of stated) totals.set(model, tokens);
      return renamed;
    },
    mainId: () => open.get(null)?.id,
    read(event, piece) {
      if (piece['type'] === 'message_delta') return count(event, piece);
      if (piece['type'] !== 'message_start') return undefined;
      const message = fieldsOf(piece['message']);
      const model = textOf(message['model']);
      open.set(event['parent_tool_use_id'] ?? null, { id: message['id'], model, counted: noTokens });
      return undefined;
    },
  };
}

/**
 * The last result's modelUsage holds all calls of all threads since the start; `usage` and the sum of results do not. What
 * was counted live under another name for the same model stands in there too, so that name counts for nothing until then.
 */
function resultUsage(result: Fields, live: LiveUsage): readonly AgentEvent[] {
  const byModel = Object.entries(fieldsOf(result['modelUsage'])).map(([model, usage]) => {
    const fields = fieldsOf(usage);
    return { model, tokens: statedTokens(fields), costUsd: fields['costUSD'] };
  });
  if (byModel.length === 0) return [];
  const renamed = live.settle(new Map(byModel.map(({ model, tokens }) => [model, tokens])));
  const cleared = renamed.map((model): AgentEvent => ({ type: 'usage', tokens: noTokens, model: model || undefined }));
  return [...cleared, ...byModel.map((stated): AgentEvent => ({ type: 'usage', ...stated }))];
}

function statedTokens(usage: Fields): Tokens {
  return {
    input: countOf(usage['inputTokens']),
    output: countOf(usage['outputTokens']),
    cacheRead: countOf(usage['cacheReadInputTokens']),
    cacheWrite: countOf(usage['cacheCreationInputTokens']),
  };
}

function tokensOf(usage: Fields): Tokens {
  return {
    input: countOf(usage['input_tokens']),
    output: countOf(usage['output_tokens']),
    cacheRead: countOf(usage['cache_read_input_tokens']),
    cacheWrite: countOf(usage['cache_creation_input_tokens']),
  };
}

function higher(a: Tokens, b: Tokens): Tokens {
  return {
    input: Math.max(a.input, b.input),
    output: Math.max(a.output, b.output),
    cacheRead: Math.max(a.cacheRead, b.cacheRead),
    cacheWrite: Math.max(a.cacheWrite, b.cacheWrite),
  };
}

function combine(total: Tokens, plus: Tokens, minus: Tokens): Tokens {
  return {
    input: total.input + plus.input - minus.input,
    output: total.output + plus.output - minus.output,
    cacheRead: total.cacheRead + plus.cacheRead - minus.cacheRead,
    cacheWrite: total.cacheWrite + plus.cacheWrite - minus.cacheWrite,
  };
}

// Hears Claude Code's text once, although it comes in pieces and then whole; and only that of the main thread.

export interface Words {
  /** A part of a message that is being written. */
  piece(id: unknown, piece: Fields): readonly AgentEvent[];
  /** A whole block: text that was not heard in pieces, and tools. */
  whole(event: Fields, isOwn: boolean): readonly AgentEvent[];
  /** The last message that has text. */
  last(): string;
}
const messageCharsMax = 1_000_000;

function hearWords(): Words {
  let message = tailOf(messageCharsMax);
  let messageId: unknown;
  /** The message whose text came in pieces: it comes whole once more. */
  let heardId: unknown;
  let isTextOpen = false;

  function say(id: unknown, text: string): void {
    if (id !== messageId) message = tailOf(messageCharsMax);
    messageId = id;
    message.add(text);
  }

  return {
    last: () => message.text().trimEnd(),
    piece(id, piece) {
      const text = piece['type'] === 'content_block_delta' ? textOf(fieldsOf(piece['delta'])['text']) : '';
      if (text !== '') {
        heardId = id;
        isTextOpen = !text.endsWith('\n');
        say(id, text);
        return [{ type: 'text', text }];
      }
      if (!isTextOpen || piece['type'] !== 'content_block_stop') return nothing;
      isTextOpen = false;
      message.add('\n');
      return [{ type: 'text', text: '\n' }];
    },
    whole(event, isOwn) {
      const written = fieldsOf(event['message']);
      const id = written['id'];
      const isNew = event['parent_tool_use_id'] == null && (id === undefined || id !== heardId);
      const heard: AgentEvent[] = [];
      for (const block of listOf(written['content']).map(fieldsOf)) {
        if (block['type'] === 'tool_use') {
          heard.push({ type: 'tool', name: textOf(block['name']), detail: detailOf(block['input']), phase: 'began' });
        } else if (block['type'] === 'text' && isNew) {
          const text = `${textOf(block['text'])}\n`;
          if (!isOwn) say(id ?? block, text);
          heard.push({ type: 'text', text });
        }
      }
      return heard;
    },
  };
}
