// Transcript of a session, read from its end and never whole: it may have 500 MB, and be anything but a file of ours.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { countOf, type Fields, fieldsOf, isFields, listOf, textOf } from '../text/fields.ts';

/** In one call of the hook, all its reads together. */
const bytesPerCallMax = 1_000_000;
const tailBytesMax = 250_000;
const lookBytes = 60_000;
const looksMax = 3;
const newBytesMax = bytesPerCallMax - tailBytesMax - looksMax * lookBytes;
/** Read at once by whoever has more time. */
const chunkBytes = 4_000_000;

interface Counts {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

export interface MessageUsage extends Counts {
  readonly message: string;
  readonly model: string;
  /** Epoch ms; 0 where the host does not say. */
  readonly at: number;
}

/** What was written since it was looked at last. */
export interface Since {
  readonly offset: number;
  /** There is more than a hook has time for. */
  readonly isBehind: boolean;
  /** By message: a message of several parts says its counts with each. */
  readonly usage: readonly MessageUsage[];
  /** Calls of tools. */
  readonly tools: number;
}

export interface Transcript {
  readonly size: number;
  readonly bytesRead: () => number;
  /** The first time that it names, epoch ms: when the session began. */
  begunAt(): number | undefined;
  /** Its last assistant message is the one that the host tells. */
  isWritten(message: string): boolean;
  /** The text parts of the last assistant message, joined. */
  lastMessage(): string | undefined;
  /** The last words that the user typed; of this turn alone, where the host tells. A command is none. */
  lastTyped(prompt: string): string | undefined;
  since(offset: number, isWhole?: boolean): Since;
  close(): void;
}

export type Opened =
  | { readonly ok: true; readonly transcript: Transcript }
  | { readonly ok: false; readonly problem: string };

/** Only a plain file of our own user: a pipe would hang, a device would never end. */
export function openTranscript(path: string, bytesBefore = 0): Opened {
  const refused = (problem: string): Opened => ({ ok: false, problem: `the transcript ${path} ${problem}` });
  if (path === '') return { ok: false, problem: 'the host names no transcript' };
  let file: number;
  try {
    // Windows has no such flag, and no pipes by a path like this.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    return refused(`cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
  }
  const stats = fstatSync(file);
  const user = process.getuid?.();
  const isOthers = user !== undefined && user !== 0 && stats.uid !== user;
  if (stats.isFile() && !isOthers) return { ok: true, transcript: reader(file, stats.size, bytesBefore) };
  closeSync(file);
  return refused(isOthers ? 'belongs to somebody else' : 'is no plain file');
}

const lookEveryMs = 40;

/** A host may write the last message a moment after it calls the hook. It is waited for, but not for long: its tokens are in it. */
export async function openSettled(path: string, message: string | undefined): Promise<Opened> {
  let opened = openTranscript(path);
  for (let look = 1; look < looksMax && opened.ok && message !== undefined; look += 1) {
    if (opened.transcript.isWritten(message)) break;
    const { transcript } = opened;
    transcript.close();
    await new Promise(done => setTimeout(done, lookEveryMs));
    opened = openTranscript(path, transcript.bytesRead());
  }
  return opened;
}

/** Some hosts tell all messages of a turn together, with pieces of the last one said twice behind it. */
export function isEndOf(last: string, told: string): boolean {
  const at = last === '' ? -1 : told.lastIndexOf(last);
  return last.endsWith(told) || (at >= 0 && told.length - at - last.length <= last.length + 1);
}

function reader(file: number, size: number, bytesBefore: number): Transcript {
  let bytes = bytesBefore;
  const read = (from: number, length: number): Buffer => {
    const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(length, size - from)));
    let end = 0;
    while (end < buffer.length) {
      const count = readSync(file, buffer, end, buffer.length - end, from + end);
      if (count === 0) break;
      end += count;
    }
    bytes += end;
    return buffer.subarray(0, end);
  };
  let known: readonly Fields[] | undefined;
  /** Newest first; the first line of the tail may be half of one, and is no JSON then. */
  const tail = (): readonly Fields[] => {
    known ??= linesOf(read(Math.max(0, size - tailBytesMax), tailBytesMax)).reverse();
    return known;
  };
  return {
    size,
    bytesRead: () => bytes,
    begunAt: () =>
      linesOf(read(0, Math.min(size, lookBytes)))
        .map(timeIn)
        .find(at => at > 0),
    isWritten: message => {
      const near = linesOf(read(Math.max(0, size - lookBytes), lookBytes)).reverse();
      return isEndOf(lastMessageIn(near)?.trim() ?? '', message.trim());
    },
    lastMessage: () => lastMessageIn(tail()),
    lastTyped: prompt =>
      tail()
        .filter(line => line['promptId'] === undefined || line['promptId'] === prompt)
        .map(typedIn)
        .find(text => text !== undefined),
    since: (offset, isWhole = false) => sinceIn(read, size, Math.min(offset, size), isWhole),
    close: () => closeSync(file),
  };
}

function linesOf(bytes: Buffer): Fields[] {
  return bytes
    .toString('utf8')
    .split('\n')
    .flatMap(line => {
      try {
        const value: unknown = JSON.parse(line);
        return isFields(value) ? [value] : [];
      } catch {
        return []; // cut, or no JSON
      }
    });
}

const timeIn = (line: Fields): number => Date.parse(textOf(line['timestamp'])) || 0;

/** Hosts wrap a message in their own way. */
const messageIn = (line: Fields): Fields => fieldsOf(line['message'] ?? line['payload']);

/** Of the session itself, not of a subagent. */
const isOwn = (line: Fields): boolean => line['isSidechain'] !== true;

/** A line that is a message itself tells by its tokens that a model wrote it. */
const roleOf = (line: Fields): string =>
  textOf(messageIn(line)['role']) ||
  textOf(line['role']) ||
  (line['content'] === undefined ? '' : isFields(line['tokens']) ? 'assistant' : textOf(line['type']));

const textTypes: readonly unknown[] = ['text', 'output_text', undefined];

function textIn(line: Fields): string {
  const content = messageIn(line)['content'] ?? line['content'];
  if (typeof content === 'string') return content;
  const parts = listOf(content).map(fieldsOf);
  return parts
    .filter(part => textTypes.includes(part['type']))
    .map(part => textOf(part['text']))
    .filter(text => text !== '')
    .join('\n');
}

function lastMessageIn(newestFirst: readonly Fields[]): string | undefined {
  const said = newestFirst.filter(line => isOwn(line) && roleOf(line) === 'assistant');
  const last = said.find(line => textIn(line).trim() !== '');
  if (last === undefined) return undefined;
  const { id } = messageIn(last);
  const parts = id === undefined ? [last] : said.filter(line => messageIn(line)['id'] === id);
  return parts
    .map(textIn)
    .filter(text => text.trim() !== '')
    .reverse()
    .join('\n');
}

/** What a hook said stands there as if the user had. */
const byHook = /^(?:Stop hook feedback|<(?:command|local-command|system)-)/;

function typedIn(line: Fields): string | undefined {
  if (!isOwn(line) || roleOf(line) !== 'user' || line['isMeta'] === true) return undefined;
  const content = messageIn(line)['content'] ?? line['content'];
  const hasResults = listOf(content).some(part => fieldsOf(part)['type'] === 'tool_result');
  const text = textIn(line).trim();
  return hasResults || text === '' || byHook.test(text) ? undefined : text;
}

function sinceIn(read: (from: number, length: number) => Buffer, size: number, from: number, isWhole: boolean): Since {
  const usage = new Map<string, MessageUsage>();
  const most = isWhole ? chunkBytes : newBytesMax;
  let tools = 0;
  let offset = from;
  do {
    const bytes = read(offset, most);
    const end = bytes.lastIndexOf(10) + 1;
    if (end === 0 && bytes.length < most) break; // its line is not whole yet
    offset += end === 0 ? bytes.length : end; // a line longer than that is left out
    const lines = linesOf(bytes.subarray(0, end));
    tools += lines.filter(isOwn).reduce((sum, line) => sum + toolsIn(line), 0);
    for (const counted of lines.flatMap(line => usageIn(line) ?? [])) usage.set(counted.message, counted);
  } while (isWhole && offset < size);
  return { offset, isBehind: size - offset > newBytesMax / 2, usage: [...usage.values()], tools };
}

const toolsIn = (line: Fields): number =>
  listOf(messageIn(line)['content']).filter(part => fieldsOf(part)['type'] === 'tool_use').length +
  (messageIn(line)['type'] === 'function_call' ? 1 : 0);

/** Of subagents too: they are paid for as well. */
function usageIn(line: Fields): MessageUsage | undefined {
  const message = messageIn(line);
  const counts = countsIn(line, message);
  if (counts === undefined) return undefined;
  const id = textOf(message['id'] ?? line['id']) || textOf(line['timestamp']);
  return { ...counts, message: id, model: textOf(message['model'] ?? line['model']), at: timeIn(line) };
}

/** Three ways to say it: with the message, as a line of its own, as the message's own tokens. */
function countsIn(line: Fields, message: Fields): Counts | undefined {
  const { usage, info } = message;
  if (isFields(usage)) {
    const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens } = usage;
    const cache = { cacheRead: countOf(cache_read_input_tokens), cacheWrite: countOf(cache_creation_input_tokens) };
    return { input: countOf(input_tokens), output: countOf(output_tokens), ...cache };
  }
  const last = fieldsOf(fieldsOf(info)['last_token_usage']);
  const { input_tokens, output_tokens, cached_input_tokens } = last;
  if (output_tokens !== undefined) return withoutCache(input_tokens, output_tokens, cached_input_tokens);
  const { input, output, cached } = fieldsOf(line['tokens']);
  return output === undefined ? undefined : withoutCache(input, output, cached);
}

function withoutCache(input: unknown, output: unknown, cached: unknown): Counts {
  const cacheRead = countOf(cached);
  return { input: Math.max(0, countOf(input) - cacheRead), output: countOf(output), cacheRead, cacheWrite: 0 };
}
