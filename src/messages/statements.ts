// Reads one line that says of a task whether it is complete; it is strict about a yes and accepts many forms of no.

/** A line that begins with `Task `: where it, that word and the line before it stand in the message. */
export interface TaskLine {
  readonly first: number;
  readonly end: number;
  readonly taskAt: number;
  readonly previousFirst: number;
  readonly previousEnd: number;
}

type Wrapper = readonly [open: string, close: string];

/** A set of characters as a table: these are asked for each character of each candidate line. */
function characters(members: string): Uint8Array {
  const table = new Uint8Array(0x10000);
  for (let at = 0; at < members.length; at += 1) table[members.charCodeAt(at)] = 1;
  return table;
}

const marks = characters('*_#-+ .)0123456789\u2713\u2714\u2705\ufe0f');
const marksBeforeId = characters(' \t*_`[');
const marksAtId = characters(' \t*_`]:,');
const marksAfterId = characters(' \t*_`]:,\u2013\u2014-');
const marksAtEnd = characters('*_.!');
const marksAfterVerb = characters(' \t*_.!');
const marksMax = 24;
const claimCharsMax = 300;
const denialCharsMax = 80;
const listMark = /^(?:[-*+]|\d{1,9}[.)])[ \t]+/;
const headingMark = /^#{1,6}[ \t]+/;
const checkMark = /^[\u2713\u2714\u2705]\ufe0f?[ \t]*/;
const emphases: readonly Wrapper[] = ['**', '__', '*', '_'].map(mark => [mark, mark]);
const idWrappers: readonly Wrapper[] = [['`', '`'], ['[', ']'], ...emphases];
const wrappersMax = 3; // bold, italic and one more: deeper is noise, and each costs a step

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** Where `Task ` begins behind marks that may decorate it, or -1: cheap, because most lines say nothing. */
export function findTask(text: string, first: number, end: number): number {
  const last = Math.min(end, first + marksMax);
  for (let at = first; at < last; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x54 || code === 0x74) {
      return text.startsWith('ask', at + 1) && isBlank(text.charCodeAt(at + 4)) ? at : -1;
    }
    if (marks[code] !== 1) return -1;
  }
  return -1;
}

function startsWithT(text: string): boolean {
  return text.charCodeAt(0) === 0x54 || text.charCodeAt(0) === 0x74;
}

function unwrapOnce(text: string, wrappers: readonly Wrapper[]): string | undefined {
  for (const [open, close] of wrappers) {
    if (text.length > open.length + close.length && text.startsWith(open) && text.endsWith(close)) {
      return text.slice(open.length, -close.length);
    }
  }
  return undefined;
}

function withoutMark(text: string, mark: RegExp): string {
  const found = mark.exec(text);
  return found === null ? text : text.slice(found[0].length);
}

/** The bare sentence: without one list or heading mark, one check mark, emphasis around it all, one final . or ! */
function undecorate(line: string): string {
  let text = startsWithT(line) ? line : withoutMark(withoutMark(line, listMark), headingMark);
  let wrappers = 0;
  let checked = false;
  let ended = false;
  for (;;) {
    const last = text.charCodeAt(text.length - 1);
    const inner = wrappers < wrappersMax && !startsWithT(text) ? unwrapOnce(text, emphases) : undefined;
    if (!ended && isStop(last)) {
      ended = true;
      text = text.slice(0, -1);
    } else if (!checked && text.charCodeAt(0) >= 0x2705) {
      checked = true;
      text = withoutMark(text, checkMark);
    } else if (inner !== undefined) {
      wrappers += 1;
      text = inner;
    } else return text;
  }
}

const placeholders = new Set('ID TASK_ID TASK-ID task_id task-id TASKID {id} <id> <ID> {ID}'.split(' '));

/** Ids of other tasks are unknown here, so that a bare word ("Task almost done") must not pass for one. */
function looksLikeId(text: string): boolean {
  return text.length <= 100 && /^(?=\S*[\d_#/:-])\S+$/.test(text) && !placeholders.has(text);
}

/** A line that cannot be a claim is turned away by a few characters, before anything is copied. */
function mayClaim(text: string, line: TaskLine): boolean {
  const { end, taskAt } = line;
  let last = end - 1;
  while (last > taskAt && isBlank(text.charCodeAt(last))) last -= 1;
  const lowest = Math.max(taskAt, last - 2 * wrappersMax - 1);
  while (last > lowest && marksAtEnd[text.charCodeAt(last)] === 1) last -= 1;
  const verb = text.charCodeAt(last - 1) === 0x6e ? 'done' : 'complete';
  if (!text.endsWith(verb, last + 1) || !isBlank(text.charCodeAt(last - verb.length))) return false;
  let stops = 0;
  for (let at = last + 1; at < end; at += 1) if (isStop(text.charCodeAt(at))) stops += 1;
  return stops <= 1 && isMirrored(text, line, last + 1);
}

function isStop(code: number): boolean {
  return code === 0x2e || code === 0x21;
}

function isEmphasis(code: number): boolean {
  return code === 0x2a || code === 0x5f;
}

/** Emphasis before the sentence must return behind it in the opposite order; a star before a blank is a list mark. */
function isMirrored(text: string, { first, end, taskAt }: TaskLine, verbEnd: number): boolean {
  let right = verbEnd;
  for (let left = taskAt - 1; left >= first; left -= 1) {
    const code = text.charCodeAt(left);
    if (!isEmphasis(code) || isBlank(text.charCodeAt(left + 1))) continue;
    while (right < end && !isEmphasis(text.charCodeAt(right))) right += 1;
    if (right >= end || text.charCodeAt(right) !== code) return false;
    right += 1;
  }
  return right >= end || !isEmphasis(text.charCodeAt(right));
}

function readDone(line: string, task: string): string | undefined {
  const bare = undecorate(line);
  const verb = bare.endsWith('done') ? 'done' : 'complete';
  if (!startsWithT(bare) || !bare.endsWith(verb) || !bare.startsWith('ask', 1) || !isBlank(bare.charCodeAt(4))) {
    return undefined;
  }
  const subject = bare.slice(4, -verb.length);
  let id = subject.trim();
  if (id === '' || !isBlank(subject.charCodeAt(subject.length - 1))) return undefined;
  for (let wrappers = 0; wrappers <= wrappersMax; wrappers += 1) {
    if (id === task) return task;
    id = unwrapOnce(id, idWrappers) ?? id;
  }
  return looksLikeId(id) ? id : undefined;
}

const denial = new RegExp(
  [
    /(?:(?:is|was|has|are) )?(?:still )?not (?:yet |fully |been |entirely |quite )*(?:complete|done|finished)/,
    /(?:isn['’]t|wasn['’]t|hasn['’]t been) (?:yet |fully |entirely |quite )*(?:complete|done|finished)/,
    /(?:(?:is|remains|was left|is still) )?(?:incomplete|unfinished|partially|pending|in progress|blocked)\b/,
    /(?:has )?failed\b/,
    /(?:will be|should be|would be|cannot be|can['’]t be|could not be) (?:complete|done|finished)/,
  ]
    .map(each => `^(?:${each.source})`)
    .join('|'),
  'i',
);

function skip(text: string, from: number, end: number, skipped: Uint8Array): number {
  let at = from;
  while (at < end && at - from < marksMax && skipped[text.charCodeAt(at)] === 1) at += 1;
  return at;
}

/** Where the predicate about this very task begins, or -1 when the line names another. */
export function findPredicate(text: string, taskAt: number, end: number, task: string): number {
  const idAt = text.startsWith(task, taskAt + 5) ? taskAt + 5 : skip(text, taskAt + 4, end, marksBeforeId);
  const afterId = idAt + task.length;
  if (task === '' || afterId >= end || !text.startsWith(task, idAt) || marksAtId[text.charCodeAt(afterId)] !== 1)
    return -1;
  return skip(text, afterId, end, marksAfterId);
}

function startsWithVerb(text: string, at: number): boolean {
  return text.startsWith('complete', at) || text.startsWith('done', at);
}

/** "is not complete", with any words after it. */
export function denies(text: string, predicateAt: number, end: number): boolean {
  if (startsWithVerb(text, predicateAt)) return false;
  const predicate = text.slice(predicateAt, Math.min(end, predicateAt + denialCharsMax));
  return denial.test(predicate.includes('*') || predicate.includes('_') ? predicate.replace(/[*_]/g, '') : predicate);
}

/** Nothing but the verb and marks is left: what saves the full reading of most lines. */
export function affirms(text: string, predicateAt: number, end: number): boolean {
  if (!startsWithVerb(text, predicateAt)) return false;
  const after = predicateAt + (text.charCodeAt(predicateAt) === 0x64 ? 'done' : 'complete').length;
  return skip(text, after, end, marksAfterVerb) === Math.min(end, after + marksMax);
}

/** The id of the task that the line calls complete. */
export function readClaim(text: string, line: TaskLine, task: string): string | undefined {
  const { first, end } = line;
  if (end - first > claimCharsMax + task.length || !mayClaim(text, line)) return undefined;
  return readDone(text.slice(first, end).trim(), task);
}

const introCharsMax = 300;
const condition = /\b(?:when|once|until|unless|if|would|cannot|can['’]t|example)\b/i;

/** An echoed instruction or an announcement: "When the tests pass, say:" directly before the line. */
export function isIntroducedAsCondition(text: string, { first, previousFirst, previousEnd }: TaskLine): boolean {
  const from = Math.max(previousFirst, previousEnd - introCharsMax);
  let colon = previousEnd - 1;
  while (colon > from && previousEnd - colon < 4 && marksAfterVerb[text.charCodeAt(colon)] === 1) colon -= 1;
  if (text[colon] !== ':' || !condition.test(text.slice(from, colon))) return false;
  return text.slice(previousEnd, first).trim() === '';
}
