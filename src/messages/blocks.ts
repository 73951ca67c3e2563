// Reads the tagged blocks of a final message that ask for something (escalate, handoff) by best effort and within bounds.

import { type Fields, isFields } from '../text/fields.ts';
import { stripControls, takeCharacters } from '../text/text.ts';
import { seeker } from './lines.ts';

export interface EscalateBlock {
  readonly type: 'stuck' | 'deviation' | 'unknown';
  readonly summary: string;
  readonly context: string;
  readonly options: readonly string[];
  readonly question: string;
  /** Further blocks, or raw text that did not fit the form. */
  readonly attached: string;
}

const tagCharsMax = 200;
const blockCharsMax = 65_536; // a closed block longer than this is cut before it is read
const unclosedCharsMax = 4_000;
const summaryCharsMax = 200;
const contextCharsMax = 2_000;
const questionCharsMax = 500;
const optionsMax = 9;
const optionCharsMax = 300;
const attachedCharsMax = 2_000;
const handoffCharsMax = 500;
const handoffDistanceMax = 4_000;

type Seek = (from: number) => number;

/** A block as it stands in the message: where its body is and where reading goes on. */
export interface RawBlock {
  readonly tag: string;
  readonly body: string;
  readonly end: number;
}

/** A comma before a bracket that closes is a habit of other languages; strings are passed over, also one that never ends. */
const withoutLastCommas = (json: string): string =>
  json.replace(/"(?:[^"\\]|\\.)*(?:"|$)|,(?=\s*[}\]])/gs, part => (part === ',' ? '' : part));

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return JSON.parse(withoutLastCommas(json));
  }
}

/** The JSON object of a block, or of the last block where several were begun before one was closed. */
export function parseObject(body: string, tag: string): Fields | undefined {
  const restart = body.lastIndexOf(`\n${tag}`);
  for (const part of restart < 0 ? [body] : [body, body.slice(restart)]) {
    const from = part.indexOf('{');
    const to = part.lastIndexOf('}');
    try {
      const value: unknown = from < 0 || to < from ? undefined : parsed(part.slice(from, to + 1));
      if (isFields(value)) return value;
    } catch {
      // not JSON
    }
  }
  return undefined;
}

const fields = ['summary', 'context', 'options', 'question'] as const;
type Field = (typeof fields)[number];

interface EscalateSeek {
  readonly close: Seek;
  readonly fields: readonly Seek[];
}

export function escalateSeek(text: string): EscalateSeek {
  return { close: seeker(text, '</escalate>'), fields: fields.map(field => seeker(text, `<${field}>`)) };
}

/** The `<escalate>` that begins at `at`, or undefined when the tag is only mentioned. */
export function takeEscalate(text: string, at: number, lineEnd: number, seek: EscalateSeek): RawBlock | undefined {
  const name = '<escalate';
  const boundary = text[at + name.length];
  if (boundary !== undefined && !' \t\r\n/>'.includes(boundary)) return undefined;
  const head = text.slice(at, at + tagCharsMax);
  const tagEnd = head.indexOf('>');
  const tag = tagEnd < 0 ? text.slice(at, Math.min(lineEnd, at + tagCharsMax)) : head.slice(0, tagEnd + 1);
  const bodyStart = at + tag.length;
  if (tag.endsWith('/>')) return undefined; // it asks nothing
  const close = seek.close(bodyStart);
  if (close !== Number.POSITIVE_INFINITY) {
    return { tag, body: text.slice(bodyStart, Math.min(close, bodyStart + blockCharsMax)), end: close };
  }
  const standsAlone = text.slice(bodyStart, Math.min(lineEnd, bodyStart + tagCharsMax)).trim() === '';
  const hasField = seek.fields.some(nextField => nextField(bodyStart) < bodyStart + unclosedCharsMax);
  if (!standsAlone && !hasField) return undefined;
  return { tag, body: takeCharacters(text.slice(bodyStart), unclosedCharsMax), end: text.length };
}

/** A type that stands as a field instead of in the tag. */
const typeLine = /^[ \t]*<type>[ \t]*(\w{1,20})[ \t]*<\/type>[ \t]*$/m;

function typeOf(tag: string, body: string): EscalateBlock['type'] {
  const type = /\btype\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]*))/.exec(tag) ?? typeLine.exec(body);
  const value = (type?.[1] ?? type?.[2] ?? type?.[3] ?? '').trim();
  return value === 'stuck' || value === 'deviation' ? value : 'unknown';
}

interface Span {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** A field that was never closed ends where the next field begins. */
function findField(body: string, field: Field): Span {
  const open = `<${field}>`;
  const close = `</${field}>`;
  const from = body.indexOf(open);
  if (from < 0) return { from: 0, to: 0, text: '' };
  const start = from + open.length;
  const closedAt = body.indexOf(close, start);
  if (closedAt >= 0) return { from, to: closedAt + close.length, text: body.slice(start, closedAt).trim() };
  const following = fields.map(other => body.indexOf(`<${other}>`, start)).filter(at => at >= 0);
  const to = Math.min(body.length, ...following);
  return { from, to, text: body.slice(start, to).trim() };
}

function outside(body: string, spans: readonly Span[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const span of [...spans].sort((a, b) => a.from - b.from)) {
    if (span.from > from) parts.push(body.slice(from, span.from));
    from = Math.max(from, span.to);
  }
  parts.push(body.slice(from));
  return parts
    .map(part => part.trim())
    .filter(part => part !== '')
    .join('\n');
}

/** Fields of an agent's own making are read as labels: `<what>the color</what>` as `what: the color`. */
const withLabels = (text: string): string =>
  text
    .replace(typeLine, '')
    .replace(/^[ \t]*<([a-z][a-z_-]{0,30})>(.*)<\/\1>[ \t]*$/gim, '$1: $2')
    .trim();

/** The form of a prompt, said again: nobody asks anything. */
export const isEcho = ({ tag, body }: RawBlock): boolean =>
  tag.includes('stuck|deviation') || isPlaceholder(findField(body, 'summary').text);

/** A number or bullet is dropped, a letter is kept, because the question may refer to it. */
const optionMark = /^(?:(?:[-*+•]|\(?\d{1,3}[.)])\s+|(?=[A-Za-z][.)]\s))/;

function readOptions(text: string): { readonly options: string[]; readonly rest: string[] } {
  const options: string[] = [];
  const rest: string[] = [];
  let lines: string[] | undefined;
  const finish = (): void => {
    if (lines !== undefined) (options.length < optionsMax ? options : rest).push(lines.join(' '));
  };
  for (const raw of text.split('\n')) {
    const line = raw.trim();
    if (line === '') continue;
    const mark = optionMark.exec(line);
    if (mark !== null) {
      finish();
      lines = [line.slice(mark[0].length)];
    } else if (lines !== undefined) lines.push(line);
    else rest.push(line);
  }
  finish();
  return { options, rest };
}

/** What a human will be asked; whatever does not fit the form is attached, so that nothing said is lost silently. */
export function readEscalate(first: RawBlock, later: readonly string[]): EscalateBlock {
  const body = stripControls(first.body);
  const found = Object.fromEntries(fields.map(field => [field, findField(body, field)])) as Record<Field, Span>;
  const { options, rest } = readOptions(found.options.text);
  const overflow: string[] = [];
  const fit = (text: string, max: number): string => {
    const fitting = takeCharacters(text, max);
    if (fitting.length < text.length) overflow.push(text.slice(fitting.length));
    return fitting;
  };
  const [firstLine, ...others] = withLabels(outside(body, Object.values(found))).split('\n');
  // Who writes no fields says first what the matter is.
  const isPlain = found.summary.text === '' && found.question.text === '';
  const summary = fit(isPlain ? (firstLine ?? '') : found.summary.text, summaryCharsMax);
  const context = fit(found.context.text, contextCharsMax);
  const question = fit(found.question.text, questionCharsMax);
  const fittingOptions = options.map(option => fit(option, optionCharsMax));
  const unread = (isPlain ? others : [firstLine ?? '', ...others]).join('\n');
  const parts = [unread, ...rest, ...overflow, ...later.map(stripControls)];
  const attached = takeCharacters(parts.filter(part => part.trim() !== '').join('\n\n'), attachedCharsMax);
  return { type: typeOf(first.tag, body), summary, context, options: fittingOptions, question, attached };
}

/** A question that was asked in fields of its own, in the same bounds. */
export const question = ({
  type,
  summary,
  context,
  options,
  question: asked,
  attached,
}: EscalateBlock): EscalateBlock => {
  const fit = (text: string, max: number): string => takeCharacters(stripControls(text).trim(), max);
  return {
    type,
    summary: fit(summary, summaryCharsMax),
    context: fit(context, contextCharsMax),
    options: options.slice(0, optionsMax).map(option => fit(option, optionCharsMax)),
    question: fit(asked, questionCharsMax),
    attached: fit(attached, attachedCharsMax),
  };
};

/** The reason between the tags, when the closing tag is near. */
export function takeHandoff(text: string, at: number, nextClose: Seek): RawBlock | undefined {
  const tag = '<handoff>';
  const start = at + tag.length;
  const close = nextClose(start);
  if (close - start > handoffDistanceMax) return undefined;
  const reason = takeCharacters(stripControls(text.slice(start, close)).trim(), handoffCharsMax);
  return reason === '' || isPlaceholder(reason) ? undefined : { tag, body: reason, end: close };
}

// Forms of the contract, as prompts show them and as explanations of near misses repeat them; and what is only their echo.

export const doneLine = (task: string): string => `Task ${task} complete`;
export const promiseLine = (promise: string): string => `<promise>${promise}</promise>`;
export const boxLine = '- [x] TASK_COMPLETE';
export const reportForm = '<report>{"phase": "implementing", "completed": ["..."], "pending": ["..."]}</report>';
export const escalateForm =
  '<escalate type="stuck"><summary>one line</summary><question>the question to answer</question></escalate>';
export const handoffForm = '<handoff>your reason</handoff>';

const placeholders = new Set(['why', 'reason', 'your reason', 'one line', 'one-line description', '...', '\u2026']);

/** What a form has where words of one's own belong. */
const isPlaceholder = (text: string): boolean => placeholders.has(text.trim().toLowerCase());

/** A token may stand alone as the promise; ordinary words are said too easily. */
export const isToken = (promise: string): boolean => promise.includes('_') && !/\s/.test(promise);

/** A promise that nobody can see is said by accident. */
export const isVisible = (promise: string): boolean => /[\p{L}\p{N}\p{P}\p{S}]/u.test(promise);
