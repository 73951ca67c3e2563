// Reader of what lines say of tasks, one after the other: claims, what takes them back, the box, lists of both.

import { goesOn, takesBack } from './languages.ts';
import { seeker } from './lines.ts';
import { type Item, Lists, readItem } from './lists.ts';
import { type Above, denies, directlyUnder, findTask, isAnnounced, readClaim } from './statements.ts';

const elsewhereMax = 9;
const statementsMax = 200; // whoever says more about tasks in one message says nothing
const idsInLineMax = 3;
const beginningCharsMax = 40;
const denialCharsMax = 200;
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

/** Where the last one that counts begins, and the last line that takes it back; why one that looks so does not count. */
interface Claim {
  claimedAt: number;
  deniedAt: number;
  refused?: string;
}

export class StatementReader {
  /** Other tasks that are called complete. */
  readonly elsewhere = new Set<string>();
  readonly done: Claim = { claimedAt: -1, deniedAt: -1 };
  readonly box: Claim = { claimedAt: -1, deniedAt: -1 };
  private readonly text: string;
  private readonly task: string;
  private readonly nextId: (from: number) => number;
  private readonly lists: Lists;
  private statementsLeft = statementsMax;
  /** Where the last claim of any kind stands. */
  private claimBegin = -1;
  private claimEnd = -1;
  private boxAt = -1;

  constructor(text: string, task: string) {
    this.text = text;
    this.task = task;
    this.nextId = idSeeker(text, task);
    this.lists = new Lists((at, counts) => {
      const claim = this.at(at);
      if (counts) claim.claimedAt = Math.max(claim.claimedAt, at);
      else claim.refused = 'it is an item of a list in which other work is named';
    });
  }

  get isDone(): boolean {
    return this.statementsLeft > 0 && this.done.claimedAt > this.done.deniedAt;
  }

  get isTicked(): boolean {
    return this.box.claimedAt > this.box.deniedAt;
  }

  visit(first: number, end: number, above: Above): void {
    const { text, task, lists } = this;
    const code = text.charCodeAt(first);
    const mayBeItem = (code >= 0x2a && code <= 0x2d) || (code >= 0x30 && code <= 0x39);
    const item = mayBeItem ? readItem(text, first, end) : undefined;
    if (item === undefined && lists.areThere) this.endLists(first, end, above);
    const box = readCheckbox(text, first, end);
    if (box === true) this.boxAt = first;
    if (box === false) this.box.deniedAt = first;
    const id = box === true ? task : this.claimed(first, end);
    if (item !== undefined) this.visitItem(first, above, item, id);
    else if (id === task) this.claim(first, above);
    if (id === task) {
      this.claimBegin = first;
      this.claimEnd = end;
    } else if (id === undefined && this.claimEnd >= 0) this.takeBack(first, end, above);
  }

  private at(first: number): Claim {
    return first === this.boxAt ? this.box : this.done;
  }

  end(): void {
    this.lists.close();
  }

  private beginning(first: number, end: number, charsMax: number): string {
    return this.text.slice(first, Math.min(end, first + charsMax));
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
    if (this.statementsLeft === 0)
      this.done.refused = `more than ${statementsMax} lines of the message are about tasks`;
    return true;
  }

  private claim(first: number, above: Above): void {
    const claim = this.at(first);
    if (isAnnounced(this.text, above, first, false)) claim.refused = `it stands ${directlyUnder}`;
    else claim.claimedAt = Math.max(claim.claimedAt, first);
  }

  private visitItem(first: number, above: Above, { mark, item }: { mark: string; item: Item }, id?: string): void {
    let indent = 0;
    while (this.text.charCodeAt(first - indent - 1) === 0x20) indent += 1;
    if (id === undefined && item === 'plain' && this.lists.isPlain(indent, mark)) return;
    const isDirect = isAnnounced(this.text, above, first, true);
    const isClaim = id === this.task;
    if (isClaim && isDirect) this.at(first).refused = `it stands ${directlyUnder}`;
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

  private takeBack(first: number, end: number, above: Above): void {
    const { text, task, nextId } = this;
    const isBelow = this.claimEnd === above.end;
    if (isBelow && goesOn.test(this.beginning(first, end, beginningCharsMax))) this.deny(first, 'its sentence goes on');
    const said = this.beginning(first, end, denialCharsMax).replaceAll(task, '');
    if (takesBack(said, this.beginning(above.first, above.end, beginningCharsMax), isBelow))
      this.deny(first, 'a later line takes it back');
    let at = nextId(first);
    if (at >= end || !this.mayRead()) return;
    for (let tries = 0; at < end && tries < idsInLineMax; tries += 1, at = nextId(at + task.length))
      if (denies(text, { first, end, at, task })) this.deny(first, 'a later line takes it back');
  }

  private deny(first: number, why: string): void {
    this.done.deniedAt = first;
    this.box.deniedAt = first;
    this.at(this.claimBegin).refused = why;
  }
}
