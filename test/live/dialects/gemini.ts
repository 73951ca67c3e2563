// Google's :generateContent and :streamGenerateContent.
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

const statuses: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

function read(path: string, body: Readonly<Record<string, unknown>>): Asked {
  const parts = listOf(body['contents'])
    .filter(content => content['role'] === 'user')
    .flatMap(content => listOf(content['parts']));
  return {
    model: /models\/([^:]+):/.exec(path)?.[1] ?? '',
    streams: path.includes(':streamGenerateContent'),
    tools: listOf(body['tools'])
      .flatMap(tool => listOf(tool['functionDeclarations']))
      .map(tool => ({
        name: textOf(tool['name']),
        parameters: parametersOf(tool['parametersJsonSchema'] ?? tool['parameters']),
      })),
    prompt: parts.map(part => textOf(part['text'])).join('\n'),
    turn: parts.filter(part => part['functionResponse'] !== undefined).length,
  };
}

/** Here the prompt's count includes what came from the cache. */
const usageMetadata = {
  promptTokenCount: billed.input + billed.cacheRead,
  cachedContentTokenCount: billed.cacheRead,
  candidatesTokenCount: billed.output,
  totalTokenCount: billed.input + billed.cacheRead + billed.output,
};

function say(asked: Asked, said: Said, id: string) {
  const parts =
    'call' in said
      ? [{ functionCall: { id: `call_${id}`, name: said.call.name, args: said.call.arguments } }]
      : halves(said.text).map(text => ({ text }));
  const base = { modelVersion: asked.model, responseId: `resp_${id}` };
  const candidate = (some: readonly unknown[], isLast: boolean) => ({
    ...base,
    candidates: [{ index: 0, content: { role: 'model', parts: some }, ...(isLast ? { finishReason: 'STOP' } : {}) }],
    ...(isLast ? { usageMetadata } : {}),
  });
  if (!asked.streams) return json(200, candidate(parts, true));
  return stream(parts.map((part, at) => event(candidate([part], at === parts.length - 1))));
}

function refuse({ status, headers, message, resetAtMs }: Refusal) {
  const waits = resetAtMs === undefined ? '' : ` Please retry in ${secondsUntil(resetAtMs)}s.`;
  const error = {
    code: status,
    message: `${message ?? `mock refuses with ${status}.`}${waits}`,
    status: statuses[status] ?? 'UNKNOWN',
    ...(resetAtMs === undefined
      ? {}
      : {
          details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${secondsUntil(resetAtMs)}s` }],
        }),
  };
  return json(status, { error }, headers);
}

export const gemini: Dialect = {
  name: 'gemini',
  serves: path => path.includes(':generateContent') || path.includes(':streamGenerateContent'),
  read,
  say,
  refuse,
  tooLong: {
    status: 400,
    message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
  },
};
