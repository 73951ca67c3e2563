// Parts of a reader that agents share: the events that all of them report, a table of event types, and the final answer.
import { tailOf } from '../processes/streams.ts';
import { detailOf, type Fields, fieldsOf, listOf, textOf } from '../text/fields.ts';
import type { AgentEvent, AgentResult, Reader } from './agent.ts';

type AgentEvents = readonly AgentEvent[];

export const nothing: AgentEvents = Object.freeze([]);
/** A reader gives exactly this back for an event of a kind that it does not know, so that it can be counted. */
export const unknownEvent: AgentEvents = Object.freeze([]);
export const toolEnded: AgentEvents = Object.freeze([{ type: 'tool', name: '', detail: '', phase: 'ended' }] as const);

export function toolBegan(name: unknown, input: unknown): AgentEvents {
  return [{ type: 'tool', name: textOf(name), detail: detailOf(input), phase: 'began' }];
}

export const sessionOpened = (id: unknown): AgentEvents => [{ type: 'session', id: textOf(id) }];

/** Permission modes in which an agent that nobody answers changes no file. */
export interface PermissionRules {
  /** It would ask; an argument that begins with one of `allowing` lets it work all the same. */
  readonly asking: readonly string[];
  readonly never: readonly string[];
  readonly allowing: readonly string[];
  /** What to type for more. */
  readonly hint: string;
}

/** The first word about it decides; a later one is only told: by then it works. */
export function openPermissions({ asking, never, allowing, hint }: PermissionRules, args: readonly string[]) {
  const isAllowed = args.some(word => allowing.some(each => word.startsWith(each)));
  let isKnown = false;
  return (said: unknown): AgentEvents => {
    const mode = textOf(said);
    if (mode === '') return nothing;
    const isPowerless = never.includes(mode) || (asking.includes(mode) && !isAllowed);
    const powerless = isPowerless && !isKnown ? hint : undefined;
    isKnown = true;
    return [{ type: 'permissions', mode, powerless }];
  };
}

/** A whole message; nothing for an empty one. */
export const messageText = (text: string): AgentEvents =>
  text === '' ? nothing : [{ type: 'text', text: `${text}\n` }];

/** What each block of a message means, in order. Most messages have one block, and there are very many messages. */
export function readBlocks(content: unknown, read: (block: Fields) => AgentEvents): AgentEvents {
  const blocks = listOf(content);
  return blocks.length === 1 ? read(fieldsOf(blocks[0])) : blocks.flatMap(block => read(fieldsOf(block)));
}

/** Skips the lines that begin in one of these ways: a plain loop, since every line of a long stream goes through it. */
export function skipsLines(starts: readonly string[]): (line: string) => boolean {
  return line => {
    for (const start of starts) if (line.startsWith(start)) return true;
    return false;
  };
}

/** Undefined: it is known and means nothing. */
type Handler = (event: Fields) => AgentEvents | undefined;

/** Reads an event by its type; `isIgnored` tells the types that are known, have no handler and mean nothing. */
export function readByType(
  handlers: Readonly<Record<string, Handler>>,
  isIgnored: (type: string) => boolean = () => false,
): Reader['read'] {
  const byType = new Map<unknown, Handler>(Object.entries(handlers));
  return event => {
    const handler = byType.get(event['type']);
    if (handler !== undefined) return handler(event) ?? nothing;
    return isIgnored(textOf(event['type'])) ? nothing : unknownEvent;
  };
}

export const messageCharsMax = 1_000_000;

/** The last message of a run, or the end of it: only that counts. */
export function openMessage() {
  let tail = tailOf(messageCharsMax);
  return {
    begin(text = ''): void {
      tail = tailOf(messageCharsMax);
      tail.add(text);
    },
    add: (text: string): void => tail.add(text),
    text: (): string => tail.text(),
  };
}

/** The state of a run that every reader keeps; `result` is that of the reader. */
interface Answer extends Pick<Reader, 'result'>, Omit<ReturnType<typeof openMessage>, 'text'> {
  finished: boolean;
  problem: AgentResult['problem'];
}

export function openAnswer(clean: (text: string) => string = text => text): Answer {
  const { text, ...message } = openMessage();
  const cleaned = (): string => clean(text());
  const answer: Answer = {
    ...message,
    finished: false,
    problem: undefined,
    result: () => ({ finished: answer.finished, problem: answer.problem, message: cleaned }),
  };
  return answer;
}
