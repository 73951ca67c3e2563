// Anthropic's /v1/messages, as stream and as JSON, with the headers of its limits.
import {
  type Asked,
  billed,
  type Dialect,
  event,
  halves,
  json,
  listOf,
  parametersOf,
  type Refusal,
  type Said,
  secondsUntil,
  stream,
  textOf,
} from './dialect.ts';

const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  500: 'api_error',
  529: 'overloaded_error',
};

function wordsOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .filter(block => block['type'] === 'text')
    .map(block => textOf(block['text']))
    .join('\n');
}

function read(_path: string, body: Readonly<Record<string, unknown>>): Asked {
  const messages = listOf(body['messages']);
  const users = messages.filter(message => message['role'] === 'user');
  return {
    model: textOf(body['model']),
    streams: body['stream'] === true,
    tools: listOf(body['tools']).map(tool => ({
      name: textOf(tool['name']),
      parameters: parametersOf(tool['input_schema']),
    })),
    prompt: users.map(message => wordsOf(message['content'])).join('\n'),
    turn: users.flatMap(message => listOf(message['content'])).filter(block => block['type'] === 'tool_result').length,
  };
}

const usualUsage = {
  input_tokens: billed.input,
  cache_read_input_tokens: billed.cacheRead,
  cache_creation_input_tokens: 0,
  output_tokens: billed.output,
};

function say(asked: Asked, said: Said, id: string) {
  const isCall = 'call' in said;
  const usage = { ...usualUsage, output_tokens: isCall ? billed.output : (said.outputTokens ?? billed.output) };
  const reason = isCall ? 'tool_use' : 'end_turn';
  const block = isCall
    ? { type: 'tool_use', id: `toolu_${id}`, name: said.call.name, input: said.call.arguments }
    : { type: 'text', text: said.text };
  const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model: asked.model, stop_sequence: null };
  if (!asked.streams) return json(200, { ...message, content: [block], stop_reason: reason, usage });
  const deltas = isCall
    ? halves(JSON.stringify(said.call.arguments)).map(part => ({ type: 'input_json_delta', partial_json: part }))
    : halves(said.text).map(part => ({ type: 'text_delta', text: part }));
  const opening = isCall ? { ...block, input: {} } : { ...block, text: '' };
  const events: readonly { readonly type: string }[] = [
    {
      type: 'message_start',
      ...{ message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } } },
    },
    { type: 'content_block_start', ...{ index: 0, content_block: opening } },
    ...deltas.map(delta => ({ type: 'content_block_delta', index: 0, delta })),
    { type: 'content_block_stop', ...{ index: 0 } },
    { type: 'message_delta', ...{ delta: { stop_reason: reason, stop_sequence: null }, usage } },
    { type: 'message_stop' },
  ];
  return stream(events.map(one => event(one, one.type)));
}

function limitHeaders(resetAtMs: number): Readonly<Record<string, string>> {
  return {
    'retry-after': String(secondsUntil(resetAtMs)),
    'anthropic-ratelimit-input-tokens-remaining': '0',
    'anthropic-ratelimit-input-tokens-reset': new Date(resetAtMs).toISOString(),
  };
}

/** What a subscription's window says when it is used up. */
export function unifiedHeaders(resetAtMs: number): Readonly<Record<string, string>> {
  const reset = String(Math.ceil(resetAtMs / 1_000));
  const prefix = 'anthropic-ratelimit-unified';
  return {
    [`${prefix}-status`]: 'rejected',
    [`${prefix}-reset`]: reset,
    [`${prefix}-representative-claim`]: 'five_hour',
    [`${prefix}-5h-status`]: 'rejected',
    [`${prefix}-5h-reset`]: reset,
    [`${prefix}-5h-utilization`]: '1.0',
    [`${prefix}-overage-status`]: 'rejected',
  };
}

function refuse({ status, headers, message, code, resetAtMs }: Refusal) {
  const error = { type: code ?? errorTypes[status] ?? 'api_error', message: message ?? `mock refuses with ${status}` };
  return json(
    status,
    { type: 'error', error },
    { 'request-id': 'req_mock', ...(resetAtMs === undefined ? {} : limitHeaders(resetAtMs)), ...headers },
  );
}

export const anthropic: Dialect = {
  name: 'anthropic',
  serves: path => path.endsWith('/v1/messages'),
  read,
  say,
  refuse,
  tooLong: { status: 400, message: 'prompt is too long: 210000 tokens > 200000 maximum' },
};
