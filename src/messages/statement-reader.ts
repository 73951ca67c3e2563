// Reader of what lines say of tasks, one after the other: claims, what takes them back, the box, lists of both.

import { seeker } from './lines.ts';
import { type Item, Lists, readItem } from './lists.ts';
import { type Above, denies, directlyUnder, findTask, goesOn, isAnnounced, readClaim } from './statements.ts';

const elsewhereMax = 9;
const statementsMax = 200; // whoever says more about tasks in one message says nothing
const idsInLineMax = 3;
const beginningCharsMax = 40;
const checkboxCharsMax = 100;

/** True and false for a ticked and an open box, undefined for any other line. */
function readCheckbox(text: string, first: number, end: number): boolean | undefined {
  const box = text[first] === '[' ? first : first + 2;
  if (end - first > checkboxCharsMax || !text.startsWith('] TASK_COMPLETE', box + 2)) return undefined;
  const line = /^(?:[-*+] )?\[([xX ])\] TASK_COMPLETE$/.exec(text.slice(first, end).trimEnd());
  return line === null ? undefined : line[1] !== ' ';
}

/** Where the id stands from a place on, also with the hyphens that some agents type. */
function idSeeker(text: string, task: string): (from: number) => number {
  const forms = task === '' ? [] : [...new Set([task, task.replaceAll('-', '\u2011')])];
  const seekers = forms.map(form => seeker(text, form));
  return from => Math.min(Number.POSITIVE_INFINITY, ...seekers.map(seek => seek(from)));
}

export class StatementReader {
  /** Other tasks that are called complete. */
  readonly elsewhere = new Set<string>();
  /** Where the last ticked box stands; undefined when none is, or one after it is open. */
  ticked: number | undefined;
  /** Why a line that claims does not count. */
  refused: string | undefined;
  private readonly text: string;
  private readonly task: string;
  private readonly nextId: (from: number) => number;
  private readonly lists: Lists;
  private statementsLeft = statementsMax;
  /** Where the last claim that counts begins, the last one of any kind ends, and the last line begins that takes one back. */
  private claimedAt = -1;
  private claimEnd = -1;
  private deniedAt = -1;

  constructor(text: string, task: string) {
    this.text = text;
    this.task = task;
    this.nextId = idSeeker(text, task);
    this.lists = new Lists((at, counts) => {
      if (counts) this.claimedAt = Math.max(this.claimedAt, at);
      else this.refused = 'it is an item of a list in which other work is named';
    });
  }

  get isDone(): boolean {
    return this.statementsLeft > 0 && this.claimedAt > this.deniedAt;
  }

  visit(first: number, end: number, above: Above): void {
    const { text, task, lists } = this;
    const code = text.charCodeAt(first);
    const mayBeItem = (code >= 0x2a && code <= 0x2d) || (code >= 0x30 && code <= 0x39);
    const item = mayBeItem ? readItem(text, first, end) : undefined;
    if (item === undefined && lists.areThere) this.endLists(first, end, above);
    const id = this.claimed(first, end);
    if (item !== undefined) this.visitItem(first, above, item, id);
    else if (id === task) this.claim(first, above);
    else if (id === undefined) this.visitBox(first, end);
    if (id === task) this.claimEnd = end;
    else if (id === undefined && this.claimEnd >= 0) this.takeBack(first, end, above);
    if (item !== undefined && id === undefined) this.visitBox(first, end);
  }

  end(): void {
    this.lists.close();
  }

  private beginning(first: number, end: number): string {
    return this.text.slice(first, Math.min(end, first + beginningCharsMax));
  }

  /** The id of the task that the line calls complete. */
  private claimed(first: number, end: number): string | undefined {
    const { text, task, elsewhere } = this;
    if (findTask(text, first, end) < 0 || !this.mayRead()) return undefined;
    const id = readClaim(text, first, end, task);
    if (id !== undefined && id !== task && elsewhere.size < elsewhereMax) elsewhere.add(id);
    return id;
  }

  private mayRead(): boolean {
    if (this.statementsLeft === 0) return false;
    this.statementsLeft -= 1;
    if (this.statementsLeft === 0) this.refused = `more than ${statementsMax} lines of the message are about tasks`;
    return true;
  }

  private claim(first: number, above: Above): void {
    if (isAnnounced(this.text, above, first, false)) this.refused = `it stands ${directlyUnder}`;
    else this.claimedAt = Math.max(this.claimedAt, first);
  }

  private visitItem(first: number, above: Above, { mark, item }: { mark: string; item: Item }, id?: string): void {
    let indent = 0;
    while (this.text.charCodeAt(first - indent - 1) === 0x20) indent += 1;
    if (id === undefined && item === 'plain' && this.lists.isPlain(indent, mark)) return;
    const isDirect = isAnnounced(this.text, above, first, true);
    const isClaim = id === this.task;
    if (isClaim && isDirect) this.refused = `it stands ${directlyUnder}`;
    const isTicked = item === 'ticked';
    const role = id === undefined || (isTicked && (isDirect || !isClaim)) ? item : isClaim ? 'claim' : 'claimed';
    this.lists.add(indent, mark, role === 'claim' && isTicked ? 'ticked-claim' : role, { at: first, isDirect });
  }

  /** A blank line, a heading or a line that announces something ends a list; text of an item does not. */
  private endLists(first: number, end: number, above: Above): void {
    const { text } = this;
    const between = text.slice(above.end, Math.min(first, above.end + beginningCharsMax));
    const isApart = /(?:\r\n|\r|\n)[ \t]*[\r\n]/.test(between) && text.charCodeAt(first - 1) !== 0x20;
    if (isApart || text[first] === '#' || text[end - 1] === ':') this.lists.close();
  }

  private visitBox(first: number, end: number): void {
    const isTicked = readCheckbox(this.text, first, end);
    if (isTicked !== undefined) this.ticked = isTicked ? first : undefined;
  }

  private takeBack(first: number, end: number, above: Above): void {
    const { text, task, nextId } = this;
    if (this.claimEnd === above.end && goesOn(this.beginning(first, end))) this.deny(first, 'its sentence goes on');
    let at = nextId(first);
    if (at >= end || !this.mayRead()) return;
    for (let tries = 0; at < end && tries < idsInLineMax; tries += 1, at = nextId(at + task.length))
      if (denies(text, { first, end, at, task })) this.deny(first, 'a later line takes it back');
  }

  private deny(first: number, why: string): void {
    this.deniedAt = first;
    this.refused = why;
  }
}
