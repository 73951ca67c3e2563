// Near misses: what an agent meant by a form of the contract and did not write so, with the exact line for the next prompt.

import { boxLine, doneLine, escalateForm, handoffForm, isToken, promiseLine, reportForm } from './blocks.ts';
import type { Dialect, Signals } from './signals.ts';
import { isStrongId } from './statements.ts';

/** The end of a message is enough: an agent says last what it wants to be heard. */
const tailCharsMax = 20_000;
const lineCharsMax = 160;

interface Tail {
  readonly text: string;
  readonly lines: readonly string[];
  readonly dialect: Dialect;
}

/** Letters and digits alone, so that marks, blanks, capitals and characters nobody sees make no difference. */
const squeeze = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');

const over =
  /complet|done|finished|implemented|resolved|closed|fertig|erledigt|abgeschlossen|termin[ée]|fini\b|hecho|listo|完了|完成|готов|выполнен|[\u2705\u2611\u2713\u2714]/iu;
const doubtful =
  /\b(?:not|never|no longer|incomplete|unfinished|will|would|nearly|almost|half|partially)\b|n['’]t\b|\?/i;
const placeholder =
  /\btask\s+\W{0,3}(?:undefined|null|nan|object object|(?:task|story)?[-_ ]?id)\W{1,6}(?:is |has been )?(?:now )?(?:complete|done|finished)/i;
const nameless =
  /^(?:(?:the|this|my|our|status|result)\W{1,3})?(?:(?:task|story|item|issue|ticket|step|work|job|goal|feature|status|result)\W{1,3})(?:(?:is|was|has been|now|all|fully|successfully) ){0,3}\W{0,3}(?:complete|completed|done|finished)(?: successfully)?$/i;

/** A line, or two of them, that name the task and a word for its end. */
function soundsDone({ lines, dialect: { task } }: Tail): boolean {
  const id = squeeze(task);
  const isNamed = (line: string): boolean => {
    if (isStrongId(task)) return id !== '' && squeeze(line).includes(id);
    const words = line.toLowerCase().split(/[^\p{L}\p{N}]+/u);
    const at = words.indexOf(task.toLowerCase());
    return at >= 0 && (at === words.findIndex(word => word !== '') || words[at - 1] === 'task');
  };
  return lines.some((line, at) => {
    if (line.length > lineCharsMax) return false;
    const said = over.test(line) ? line : `${line} ${lines[at + 1] ?? ''}`;
    if (said.length > lineCharsMax || !over.test(said) || doubtful.test(said)) return false;
    if (said !== line && !/^(?:is )?(?:complete|done)/.test(squeeze(lines[at + 1] ?? ''))) return false;
    const bare = said.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
    return isNamed(said) || placeholder.test(said) || nameless.test(bare);
  });
}

/** The token begins the line, or a sentence of it; in the middle of one it is only spoken of. */
function standsFree(line: string, token: string): boolean {
  const at = line.toLowerCase().indexOf(token.toLowerCase());
  return at >= 0 && !/[\p{L}\p{N},]$/u.test(line.slice(0, at).replace(/[\s*_`"']+$/, ''));
}

/** Tags of another make, or the promise without them. */
function soundsPromised({ text, lines: all, dialect: { promise } }: Tail): boolean {
  if (/(?:[<[{]|&lt;)\s{0,3}\/?\s{0,3}[\w-]{0,20}promise\b|\bpromise\s{0,3}[:=]/i.test(text)) return true;
  if (promise === '') return false;
  const lines = all.filter(line => line.length <= lineCharsMax + promise.length);
  if (isToken(promise) && lines.some(line => standsFree(line, promise))) return true;
  const wanted = squeeze(promise);
  const isOwnLine = (line: string): boolean => line.replace(/^[\s*_`#>"'-]+|[\s*_`"'.!]+$/g, '') === promise;
  return lines.some(isOwnLine) || (wanted !== '' && squeeze(lines.at(-1) ?? '') === wanted);
}

const soundsTicked = ({ lines }: Tail): boolean =>
  lines.some(line => {
    const squeezed = line.length > lineCharsMax ? '' : squeeze(line).replace(/^\d+/, '');
    return /^x?taskcomplete$/.test(squeezed) && !/\[ ?\]|\?/.test(line);
  });

const soundsReported = ({ text }: Tail): boolean =>
  (/(?:[<[{]|&lt;)\s{0,3}[\w-]{0,20}report\b/i.test(text) && /\/\s{0,3}report\b|\{/i.test(text)) ||
  /["'](?:completed|pending|phase)["']\s{0,3}:/i.test(text);

const soundsAsking = ({ text }: Tail): boolean =>
  /(?:[<[{]|&lt;)\s{0,3}\/\s{0,3}escalat|(?:[<[{]|&lt;)\s{0,3}escalat\w{0,5}\s+type|(?:[<[{]|&lt;)\s{0,3}\/?\s{0,3}question\b/i.test(
    text,
  ) || /^[^\p{L}\p{N}\n<`]{0,10}escalat(?:e|ion|ing)\b[^.\n]{0,40}:/imu.test(text);

const soundsTired = ({ text }: Tail): boolean =>
  /(?:[<[{]|&lt;)\s{0,3}\/?\s{0,3}hand[-_ ]?off\b/i.test(text) ||
  /^[^\p{L}\p{N}\n<`]{0,10}hand-?off\b[^.\n]{0,20}:/imu.test(text);

interface Near {
  readonly key:
    | 'doneRefused'
    | 'promiseRefused'
    | 'checkboxRefused'
    | 'reportRefused'
    | 'escalateRefused'
    | 'handoffRefused';
  /** Already taken, or already explained. */
  readonly isSettled: (read: Signals, dialect: Dialect) => boolean;
  readonly isNear: (tail: Tail) => boolean;
  readonly why: (dialect: Dialect) => string;
}

const table: readonly Near[] = [
  {
    key: 'doneRefused',
    isSettled: read => read.done || read.doneRefused !== undefined,
    isNear: soundsDone,
    why: ({ task }) => notClaimed(task, 'a line looks like one and is not'),
  },
  {
    key: 'promiseRefused',
    isSettled: read => read.promise || read.promiseRefused !== undefined,
    isNear: soundsPromised,
    why: ({ promise }) =>
      `What looks like the promise is not it; the last line must be exactly ${promiseLine(promise)}.`,
  },
  {
    key: 'checkboxRefused',
    isSettled: (read, { hasBox }) => read.checkbox || read.checkboxRefused !== undefined || hasBox !== true,
    isNear: soundsTicked,
    why: () => `What looks like the box is not it; the last line must be exactly ${boxLine}`,
  },
  {
    key: 'reportRefused',
    isSettled: read => read.report !== undefined || read.reportRefused !== undefined,
    isNear: soundsReported,
    why: () => 'What looks like a report was not read.',
  },
  {
    key: 'escalateRefused',
    isSettled: () => false,
    isNear: soundsAsking,
    why: () => `What looks like a question to a person is none; at the start of a line, write ${escalateForm}`,
  },
  {
    key: 'handoffRefused',
    isSettled: read => read.handoff !== undefined,
    isNear: soundsTired,
    why: () => `What looks like a wish for a fresh context is none; at the start of a line, write ${handoffForm}`,
  },
];

/** Why there is no claim, and the line that would be one. */
export const notClaimed = (task: string, why: string): string =>
  `No claim of ${task} was read: ${why}. When it is complete, write this as plain text on a line of its own, with nothing before or behind it: ${doneLine(task)}`;

/** How a report is written, behind why one was not read. */
export const reportHint = `Write it as plain text at the start of a line: ${reportForm}`;

const anything =
  /complet|done|finish|implement|resolv|closed|fertig|erledigt|abgeschl|termin|fini|hecho|listo|完|готов|выполнен|[\u2705\u2611\u2713\u2714]|promise|report|phase|pending|escalat|question|hand[-_ ]?off/iu;

/** What is not said by a signal yet. An escalation beats all of it, and then nothing needs an explanation. */
export function nearMisses(message: string, read: Signals, dialect: Dialect): Partial<Signals> {
  if (read.escalate !== undefined) return {};
  const text = message.slice(-tailCharsMax);
  const isAbout = anything.test(text) || (dialect.promise !== '' && text.includes(dialect.promise));
  if (!isAbout) return {};
  const lines = text
    .split(/\r\n|\r|\n/)
    .map(line => line.trim())
    .filter(line => line !== '');
  const tail: Tail = { text, lines, dialect };
  const found = table.filter(one => !one.isSettled(read, dialect) && one.isNear(tail));
  return Object.fromEntries(found.map(one => [one.key, one.why(dialect)]));
}
