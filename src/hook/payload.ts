// Payload of a hook: what the host of a session says when a turn ends, and what it is answered. Any text is taken, none is trusted.
import { type Fields, isFields, textOf } from '../text/fields.ts';

/** The end of a turn. */
export interface Turn {
  readonly session: string;
  /** Where the session is by now: its agent may have changed it. */
  readonly directory: string;
  readonly transcript: string;
  /** The last message, where the host gives it; empty where it says that there was none. */
  readonly message: string | undefined;
  /** What the host tells holds all messages of the turn: the transcript has the last one by itself. */
  readonly isJoined: boolean;
  /** Empty where the host does not say. */
  readonly model: string;
  /** A new one for each prompt that its user types. */
  readonly prompt: string;
  /** The user's own words, where the host gives them. */
  readonly typed: string | undefined;
  /** It goes on because a hook has asked for it. */
  readonly isContinued: boolean;
  /** The provider failed: nothing can be answered to it. */
  readonly error: string | undefined;
  /** The word by which this host is kept from ending the turn. */
  readonly refusal: 'block' | 'deny';
}

export type ReadTurn =
  | { readonly type: 'turn'; readonly turn: Turn }
  /** Nothing of ours: the end of a subagent, another event. */
  | { readonly type: 'other' }
  | { readonly type: 'unreadable'; readonly problem: string };

/** More than any host sends; what is larger is not even parsed. */
const bytesMax = 8 * 1024 * 1024;

/** The events that end a turn, and how each is refused. */
const endings: Readonly<Record<string, Turn['refusal']>> = { Stop: 'block', StopFailure: 'block', AfterAgent: 'deny' };

const wordsOf = (fields: Fields, name: string): string | undefined =>
  typeof fields[name] === 'string' ? fields[name] : undefined;

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Any event; why there is none. */
export function readEvent(bytes: Buffer): Fields | string {
  if (bytes.length > bytesMax) return 'the host sent more than 8 MB';
  if (bytes.length === 0) return 'the host sent nothing';
  const fields = parsed(bytes);
  return isFields(fields) ? fields : 'what the host sent is no JSON object';
}

export function readTurn(bytes: Buffer): ReadTurn {
  const unreadable = (problem: string): ReadTurn => ({ type: 'unreadable', problem });
  const fields = readEvent(bytes);
  if (typeof fields === 'string') return unreadable(fields);
  const event = textOf(fields['hook_event_name']);
  const refusal = Object.hasOwn(endings, event) ? endings[event] : undefined;
  if (refusal === undefined || wordsOf(fields, 'agent_id') !== undefined) return { type: 'other' };
  const session = textOf(fields['session_id']);
  if (session === '') return unreadable('the host names no session_id');
  const isFailure = event === 'StopFailure';
  const message = wordsOf(fields, 'last_assistant_message') ?? wordsOf(fields, 'prompt_response');
  const turn: Turn = {
    session,
    refusal,
    directory: textOf(fields['cwd']),
    transcript: textOf(fields['transcript_path']),
    message,
    isJoined: wordsOf(fields, 'last_assistant_message') === undefined,
    model: textOf(fields['model']),
    prompt: textOf(fields['prompt_id']) || textOf(fields['turn_id']) || textOf(fields['prompt']),
    typed: wordsOf(fields, 'prompt'),
    isContinued: fields['stop_hook_active'] === true,
    error: isFailure ? [textOf(fields['error']), message].filter(Boolean).join(': ') : undefined,
  };
  return { type: 'turn', turn };
}

/** What the host is told; nothing lets the turn end. */
export interface Answer {
  /** The prompt that the session goes on with. */
  readonly prompt?: string | undefined;
  /** For its user. */
  readonly message?: string | undefined;
}

export function answerText({ prompt, message }: Answer, refusal: Turn['refusal']): string {
  const fields = {
    decision: prompt === undefined ? undefined : refusal,
    reason: prompt,
    systemMessage: message,
  };
  return prompt === undefined && message === undefined ? '' : `${JSON.stringify(fields)}\n`;
}

/** All of standard input, or as much as tells that it is too much. */
export async function readInput(stream: AsyncIterable<Buffer | string>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    chunks.push(Buffer.from(chunk));
    size += chunk.length;
    if (size > bytesMax) break;
  }
  return Buffer.concat(chunks);
}
