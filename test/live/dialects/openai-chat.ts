// OpenAI's /chat/completions, which many agents speak to any provider.
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

function wordsOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map(part => textOf(part['text']))
    .join('\n');
}

function read(_path: string, body: Readonly<Record<string, unknown>>): Asked {
  const messages = listOf(body['messages']);
  return {
    model: textOf(body['model']),
    streams: body['stream'] === true,
    tools: listOf(body['tools']).map(tool => {
      const spoken = (tool['function'] ?? {}) as Readonly<Record<string, unknown>>;
      return { name: textOf(spoken['name']), parameters: parametersOf(spoken['parameters']) };
    }),
    prompt: messages
      .filter(message => message['role'] === 'user')
      .map(message => wordsOf(message['content']))
      .join('\n'),
    turn: messages.filter(message => message['role'] === 'tool').length,
  };
}

/** Here the input includes what came from the cache. */
const usage = {
  prompt_tokens: billed.input + billed.cacheRead,
  completion_tokens: billed.output,
  total_tokens: billed.input + billed.cacheRead + billed.output,
  prompt_tokens_details: { cached_tokens: billed.cacheRead },
};

function say(asked: Asked, said: Said, id: string) {
  const base = { id: `chatcmpl-${id}`, created: 1_790_000_000, model: asked.model };
  const isCall = 'call' in said;
  const reason = isCall ? 'tool_calls' : 'stop';
  const calls = isCall
    ? [
        {
          index: 0,
          id: `call_${id}`,
          type: 'function',
          function: { name: said.call.name, arguments: JSON.stringify(said.call.arguments) },
        },
      ]
    : [];
  if (!asked.streams) {
    const message = isCall
      ? { role: 'assistant', content: null, tool_calls: calls }
      : { role: 'assistant', content: said.text };
    return json(200, {
      ...base,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: reason }],
      usage,
    });
  }
  const chunk = (delta: unknown, finish: string | null = null): string =>
    event({ ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] });
  const words = isCall ? [chunk({ tool_calls: calls })] : halves(said.text).map(part => chunk({ content: part }));
  return stream([
    chunk({ role: 'assistant', content: '' }),
    ...words,
    chunk({}, reason),
    event({ ...base, object: 'chat.completion.chunk', choices: [], usage }),
    'data: [DONE]\n\n',
  ]);
}

const codes: Readonly<Record<number, string>> = { 401: 'invalid_api_key', 429: 'rate_limit_exceeded' };

export function refuseLikeOpenAi({ status, headers, message, code, resetAtMs }: Refusal) {
  const error = {
    message: message ?? `mock refuses with ${status}`,
    type: status === 429 ? 'rate_limit_exceeded' : status >= 500 ? 'server_error' : 'invalid_request_error',
    code: code ?? codes[status] ?? null,
    ...(code === 'usage_limit_reached' && resetAtMs !== undefined
      ? { type: code, plan_type: 'plus', resets_at: Math.ceil(resetAtMs / 1_000) }
      : {}),
  };
  const waits: Readonly<Record<string, string>> =
    resetAtMs === undefined ? {} : { 'retry-after': String(secondsUntil(resetAtMs)) };
  return json(status, { error }, { 'x-request-id': 'req_mock', ...waits, ...headers });
}

export const openAiChat: Dialect = {
  name: 'openai-chat',
  serves: path => path.endsWith('/chat/completions'),
  read,
  say,
  refuse: refuseLikeOpenAi,
  tooLong: {
    status: 400,
    message: "This model's maximum context length is 200000 tokens, but your prompt has 210000.",
    code: 'context_length_exceeded',
  },
};
