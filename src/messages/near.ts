// Near misses: what an agent meant by a form of the contract and did not write so, with the exact line for the next prompt.

import { editDistance } from '../text/similarity.ts';
import { boxLine, doneLine, escalateForm, handoffForm, isToken, promiseLine, reportForm } from './blocks.ts';
import { isCondition, isOpen, isOver, negates } from './languages.ts';
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

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];

const isDoubtful = (text: string): boolean =>
  negates.test(text) || isOpen.test(text) || isCondition.test(text) || /\?|\b(?:will|next|tomorrow)\b/i.test(text);

// The line `Task ID complete`, in words of one's own.

const clauseEnd = /[,;:.!?](?=\s|$)|[，、；：。！？()\n]|\s[-–—]+>?\s/u;
const clauseWordsMax = 6;
const english = /\b(?:the|an?|to|for|with|of|and|in|on|at|by|from|now|\w+(?:ed|ing))\b/i;
const anyTask = /^(?:task|story|item|issue|ticket|step|work|job|goal|feature|status)\b/i;

/** It names the task and says that it is over; of a language that we do not know, it says little beside the name. */
function endsTask(clause: string, task: string): boolean {
  const isNamed = isStrongId(task)
    ? squeeze(clause).includes(squeeze(task))
    : wordsOf(clause).includes(task.toLowerCase());
  if (!isNamed || isDoubtful(clause)) return false;
  const isShort = isStrongId(task) && wordsOf(clause.replace(task, '')).length <= clauseWordsMax;
  return (
    isOver.test(clause) || (isShort && !english.test(clause)) || (anyTask.test(clause) && /\bcomp?l\w*$/i.test(clause))
  );
}

const isOfAPart = /\b(?:implement(?!ation)|resolv|clos)|for now/i;

/** It says that something is over, without the name of anything. */
const endsSomething = (clause: string): boolean =>
  wordsOf(clause).length <= clauseWordsMax && isOver.test(clause) && !isOfAPart.test(clause) && !isDoubtful(clause);

/** The parts of a line; a name or a status alone belongs to what follows. */
function clausesOf(line: string): readonly string[] {
  const clauses = line.split(clauseEnd).filter(part => squeeze(part) !== '');
  return clauses.map((clause, at) => (wordsOf(clause).length <= 4 ? `${clause} ${clauses[at + 1] ?? ''}` : clause));
}

function soundsDone({ lines, dialect: { task } }: Tail): boolean {
  if (squeeze(task) === '') return false;
  return lines.some((line, at) => {
    if (line.length > lineCharsMax) return false;
    const wrapped = `${line} ${lines[at + 1] ?? ''}`;
    const isWrapped = /^(?:is )?(?:complete|done)/.test(squeeze(lines[at + 1] ?? '')) && wrapped.length <= lineCharsMax;
    return clausesOf(isWrapped ? wrapped : line).some(clause => endsTask(clause, task));
  });
}

const placeholder = /\btask\s+\W{0,3}[\w-]+\W{1,6}(?:is |has been )?(?:now )?(?:complete|done|finished)/i;

/** The first or the last line says so of nothing in particular, or any of a task without its name; tokens belong to the promise. */
function soundsOver({ lines, dialect: { promise } }: Tail): boolean {
  return lines.some((line, at) => {
    if (line.length > lineCharsMax) return false;
    const clauses = clausesOf(line);
    const isEnd = at === 0 || at === lines.length - 1;
    const mayBeWhole = isEnd && !line.includes('<') && !(isToken(promise) && line.includes(promise));
    return clauses.some(clause => placeholder.test(clause) || (mayBeWhole && endsSomething(clause)));
  });
}

// The other forms: tags of another make, tags that are misspelled, a label in place of a tag.

type Key = `${'done' | 'promise' | 'checkbox' | 'report' | 'escalate' | 'handoff'}Refused`;

const names: Readonly<Partial<Record<Key, readonly string[]>>> = {
  promiseRefused: ['promise'],
  reportRefused: ['report'],
  escalateRefused: ['escalate', 'escalation', 'question', 'ask'],
  handoffRefused: ['handoff', 'handover'],
};
/** Names that agents give to tags, and that say too little as a label. */
const tagNames: Readonly<Partial<Record<Key, readonly string[]>>> = {
  escalateRefused: ['stuck', 'deviation', 'blocked', 'human', 'clarify', 'clarification', 'decision'],
  handoffRefused: ['continue', 'restart', 'session', 'context'],
};
const tag = /(?:[<[{@]|&lt;|^```)\s{0,3}\/?\s{0,3}["']?(\p{L}[\p{L}_-]{2,30})/gmu;
const label = /^[^\p{L}\p{N}\n<`]{0,10}(?:\p{L}{2,15}ing )?(\p{L}[\p{L}-]{2,20})\b[^.\n]{0,40}[:=]/gmu;
/** A heading, or a word alone on its line. */
const alone = /^[^\p{L}\p{N}\n<`]{0,10}(\p{L}[\p{L}-]{2,20})[^\p{L}\p{N}\n]{0,5}$/gmu;
const slipsMax = 2;
const shortNameChars = 6;
const nameCharsMin = 5;

const means = (said: string, name: string): boolean =>
  said === name ||
  (name.length >= nameCharsMin && said.endsWith(name)) ||
  (name.length >= nameCharsMin && editDistance(said, name) <= (name.length > shortNameChars ? slipsMax : 1));

/** A tag that means the form of this key. */
function isTagged(text: string, key: Key): boolean {
  const tags = [...text.matchAll(tag)].map(([, word = '']) => word);
  const words = tags.flatMap(word => word.toLowerCase().split(/[_-]/));
  return calls(tags, key) || words.some(word => tagNames[key]?.includes(word));
}

/** A tag or a label that means it. */
const isCalled = (text: string, key: Key): boolean =>
  isTagged(text, key) ||
  calls(
    [...text.matchAll(label), ...text.matchAll(alone)].map(([, word = '']) => word),
    key,
  );

const calls = (said: readonly string[], key: Key): boolean =>
  [...new Set(said.map(squeeze))].some(word => names[key]?.some(name => means(word, name)));

/** The token begins the line, or a sentence of it; in the middle of one it is only spoken of. */
function standsFree(line: string, token: string): boolean {
  const at = line.toLowerCase().indexOf(token.toLowerCase());
  return at >= 0 && !/[\p{L}\p{N},]$/u.test(line.slice(0, at).replace(/[\s*_`"']+$/, ''));
}

function soundsPromised({ text, lines: all, dialect: { promise } }: Tail): boolean {
  if (isCalled(text, 'promiseRefused')) return true;
  if (promise === '') return false;
  const lines = all.filter(line => line.length <= lineCharsMax + promise.length);
  const wanted = squeeze(promise);
  const isOwnLine = (line: string): boolean => line.replace(/^[\s*_`#>"'-]+|[\s*_`"'.!]+$/g, '') === promise;
  return (
    lines.some(line => isOwnLine(line) || (isToken(promise) && standsFree(line, promise))) ||
    lines.some(line => line.includes(promise) && /\bpromise\b/i.test(line) && !isDoubtful(line)) ||
    (wanted !== '' && squeeze(lines.at(-1) ?? '') === wanted)
  );
}

const soundsTicked = ({ lines }: Tail): boolean =>
  lines.some(
    line =>
      line.length <= lineCharsMax &&
      squeeze(line).includes('taskcomplete') &&
      !/\[ ?\]/.test(line) &&
      !isDoubtful(line),
  );

/** `phase: testing`, `**Completed:** …`, `<pending>`, a cell of a table: the fields of a report, in a form of one's own. */
const reportField = /(?:^[\s>*_#|-]{0,10}|[<|.]\s{0,2})(phase|completed|pending)\b[*_"' ]{0,4}[:=>|]/gim;

function soundsReported({ text, dialect }: Tail): boolean {
  const isNamed = isTagged(text, 'reportRefused') && /\/\s{0,3}re\w{2,6}\b|\{/i.test(text);
  if (isNamed || /["'](?:completed|pending|phase)["']\s{0,3}:/i.test(text)) return true;
  if (dialect.hasReport !== true) return false;
  const fields = new Set([...text.matchAll(reportField)].map(([, field = '']) => field.toLowerCase()));
  return fields.size > 1 || isCalled(text, 'reportRefused');
}

interface Near {
  readonly key: Key;
  /** Already taken, or already explained. */
  readonly isSettled: (read: Signals, dialect: Dialect) => boolean;
  readonly isNear: (tail: Tail) => boolean;
  readonly why: (dialect: Dialect) => string;
}

/** Something claims or was explained already: words that name nothing belong to that. */
const isAnyClaim = (read: Signals): boolean =>
  [read.done, read.promise, read.checkbox, read.doneElsewhere.length > 0].includes(true) ||
  [read.doneRefused, read.promiseRefused, read.checkboxRefused].some(why => why !== undefined);

/** Ordered: what is more exact stands first, and settles the matter for the rows below it. */
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
    key: 'doneRefused',
    isSettled: isAnyClaim,
    isNear: soundsOver,
    why: ({ task }) => notClaimed(task, 'a line looks like one and is not'),
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
    isNear: ({ text }) => isCalled(text, 'escalateRefused'),
    why: () => `What looks like a question to a person is none; at the start of a line, write ${escalateForm}`,
  },
  {
    key: 'handoffRefused',
    isSettled: read => read.handoff !== undefined,
    isNear: ({ text }) => isCalled(text, 'handoffRefused'),
    why: () => `What looks like a wish for a fresh context is none; at the start of a line, write ${handoffForm}`,
  },
];

/** Why there is no claim, and the line that would be one. */
export const notClaimed = (task: string, why: string): string =>
  `No claim of ${task} was read: ${why}. When it is complete, write this as plain text on a line of its own, with nothing before or behind it: ${doneLine(task)}`;

/** How a report is written, behind why one was not read. */
export const reportHint = `Write it as plain text at the start of a line: ${reportForm}`;

/** What is not said by a signal yet. An escalation beats all of it, and then nothing needs an explanation. */
export function nearMisses(message: string, read: Signals, dialect: Dialect): Partial<Signals> {
  if (read.escalate !== undefined) return {};
  const text = message.slice(-tailCharsMax);
  const lines = text
    .split(/\r\n|\r|\n/)
    .map(line => line.trim())
    .filter(line => line !== '');
  const tail: Tail = { text, lines, dialect };
  const found: Partial<Record<Key, string>> = {};
  for (const { key, isSettled, isNear, why } of table)
    if (!isSettled({ ...read, ...found }, dialect) && isNear(tail)) found[key] = why(dialect);
  return found;
}
