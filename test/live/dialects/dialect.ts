// What the mock knows of a model API: how to read a request and how to say an answer or an error in its words.

export interface OfferedTool {
  readonly name: string;
  /** Names of its arguments; those that must be lists carry `[]`. */
  readonly parameters: readonly string[];
  /** Of the tools of an MCP server, where the API groups them. */
  readonly namespace?: string;
}

/** One request as every model API means it. */
export interface Asked {
  readonly model: string;
  readonly streams: boolean;
  readonly tools: readonly OfferedTool[];
  /** All words of the user in this conversation, oldest first. */
  readonly prompt: string;
  /** Tool results in this conversation: 0 for the first request. */
  readonly turn: number;
}

export interface ToolCall {
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** `outputTokens`: what is billed for it instead of the usual. */
export type Said = { readonly text: string; readonly outputTokens?: number } | { readonly call: ToolCall };

/** What every good answer is billed; the input counts do not include what came from the cache. */
export const billed = { input: 1_000, output: 50, cacheRead: 200 } as const;

/** A stream answers in lines of server-sent events, the others in one JSON text. */
export interface Answer {
  readonly status: number;
  readonly type: 'application/json' | 'text/event-stream';
  readonly headers?: Readonly<Record<string, string>>;
  /** Written one by one, so that clients really meet halves. */
  readonly parts: readonly string[];
}

export interface Refusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly message?: string;
  readonly code?: string;
  /** When the provider serves again, in its own words. */
  readonly resetAtMs?: number;
}

export interface Dialect {
  readonly name: string;
  serves(path: string): boolean;
  read(path: string, body: Readonly<Record<string, unknown>>): Asked;
  say(asked: Asked, said: Said, id: string): Answer;
  refuse(refusal: Refusal): Answer;
  /** The refusal with which this API says that the prompt does not fit. */
  readonly tooLong: Refusal;
}

export const event = (data: unknown, name?: string): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;

export const json = (status: number, body: unknown, headers?: Readonly<Record<string, string>>): Answer => ({
  status,
  type: 'application/json',
  parts: [JSON.stringify(body)],
  ...(headers === undefined ? {} : { headers }),
});

export const stream = (parts: readonly string[]): Answer => ({ status: 200, type: 'text/event-stream', parts });

/** In two pieces, so that a promise is cut in the middle. */
export const halves = (text: string): readonly string[] => {
  const middle = Math.max(1, text.length - 14);
  return text.length < 2 ? [text] : [text.slice(0, middle), text.slice(middle)];
};

type Loose = Readonly<Record<string, unknown>>;

export const listOf = (value: unknown): readonly Loose[] => (Array.isArray(value) ? (value as Loose[]) : []);

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export function parametersOf(schema: unknown): readonly string[] {
  const properties = ((schema as Loose | undefined)?.['properties'] ?? {}) as Readonly<Record<string, Loose>>;
  return Object.entries(properties).map(([name, one]) =>
    String(one['type']).toLowerCase() === 'array' ? `${name}[]` : name,
  );
}

export const secondsUntil = (atMs: number): number => Math.max(0, Math.ceil((atMs - Date.now()) / 1_000));
