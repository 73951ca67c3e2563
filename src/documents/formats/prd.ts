// PRD.json of seed 003, and the prd.json of snarktank's ralph and ralph-tui: stories with criteria, marked without touching another byte.

import type { TaskSpec } from '../../core/task.ts';
import { shown, suspicion } from '../../text/text.ts';
import type { FormatOptions, IndexedFormat, ParsedDocument, TaskMark } from '../document.ts';
import { type JsonPath, parseJsonDocument, scanJson, stringAt } from '../json.ts';
import { type Place, type ProblemList, pathText, problemsMax } from '../problems.ts';
import { checkDependencies, checkIds, idPattern, idRule } from '../task-checks.ts';

// Writes statuses into a PRD.json by replacing only their literals, with an index so that a mark costs the change alone.

/** Where the literals of each story stand in one text. Treat it as opaque. */
interface StoryIndex {
  readonly rows: ReadonlyMap<string, number>;
  /** Two numbers per row in document order: where `passes` starts, where `skipped` starts (-1: no such key). */
  readonly starts: Int32Array;
}

interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const literals = new Set(['true', 'false']);

/** A text that is not a valid PRD gives an empty index, and so stays as it is. */
export function indexStories(text: string): StoryIndex {
  const rows = new Map<string, number>();
  const starts: number[] = [];
  let id: string | undefined;
  let passes = -1;
  let skipped = -1;
  const fault = scanJson(text, {
    value(path, depth, start, end) {
      if (depth === 3 && path[0] === 'userStories') {
        const key = path[2];
        if (key === 'id' && text.startsWith('"', start)) id = stringAt(text, start, end);
        else if (key === 'passes' && literals.has(text.slice(start, end))) passes = start;
        else if (key === 'skipped' && literals.has(text.slice(start, end))) skipped = start;
      } else if (depth === 2 && path[0] === 'userStories') {
        if (id !== undefined && passes !== -1 && !rows.has(id)) {
          rows.set(id, starts.length / 2);
          starts.push(passes, skipped);
        }
        id = undefined;
        passes = -1;
        skipped = -1;
      }
    },
  });
  return fault ? { rows: new Map(), starts: new Int32Array() } : { rows, starts: Int32Array.from(starts) };
}

/** The text with the marks, and its index. The same text comes back when nothing changes. Unknown ids are ignored. */
export function markWithIndex(
  text: string,
  index: StoryIndex,
  marks: readonly TaskMark[],
): { readonly text: string; readonly index: StoryIndex } {
  const wanted = new Map<number, TaskMark>();
  for (const mark of marks) {
    const row = index.rows.get(mark.id);
    if (row !== undefined) wanted.set(row, mark);
  }
  const splices: Splice[] = [];
  /** By row: how far behind `passes` the added `skipped` starts. */
  const added = new Map<number, number>();
  for (const [row, mark] of wanted) {
    const passes = index.starts[2 * row]!;
    const skipped = index.starts[2 * row + 1]!;
    replaceLiteral(text, passes, mark.done, splices);
    if (skipped !== -1) {
      replaceLiteral(text, skipped, mark.skipped, splices);
    } else if (mark.skipped) {
      const end = literalEnd(text, passes);
      const before = memberLike(text, passes, end);
      splices.push({ start: end, end, text: `${before}true` });
      added.set(row, (mark.done ? 4 : 5) + before.length);
    }
  }
  if (splices.length === 0) return { text, index };
  splices.sort((one, other) => one.start - other.start || one.end - other.end);
  return { text: spliced(text, splices), index: { rows: index.rows, starts: shifted(index, splices, added) } };
}

function replaceLiteral(text: string, start: number, value: boolean, splices: Splice[]): void {
  const end = literalEnd(text, start);
  if (text.startsWith('true', start) !== value) splices.push({ start, end, text: String(value) });
}

function literalEnd(text: string, start: number): number {
  return start + (text.startsWith('true', start) ? 4 : 5);
}

/** What to put after `passes` so that `skipped` looks like its neighbour: separator, key and colon in the story's own style. */
function memberLike(text: string, valueStart: number, valueEnd: number): string {
  const keyEnd = text.lastIndexOf('"', valueStart) + 1;
  const keyStart = text.lastIndexOf('"', keyEnd - 2);
  const colon = text.slice(keyEnd, valueStart);
  const separatorStart = backOver(text, keyStart);
  // The first member has no separator before it; the one after it shows the style.
  const separator = text.slice(separatorStart, keyStart).includes(',')
    ? text.slice(separatorStart, keyStart)
    : text.slice(valueEnd, forwardOver(text, valueEnd));
  return `${separator}"skipped"${colon}`;
}

function isSeparator(character: string | undefined): boolean {
  return character !== undefined && ' \t\r\n,'.includes(character);
}

function backOver(text: string, from: number): number {
  let at = from;
  while (isSeparator(text[at - 1])) at--;
  return at;
}

function forwardOver(text: string, from: number): number {
  let at = from;
  while (isSeparator(text[at])) at++;
  return at;
}

function spliced(text: string, splices: readonly Splice[]): string {
  const pieces: string[] = [];
  let at = 0;
  for (const splice of splices) {
    pieces.push(text.slice(at, splice.start), splice.text);
    at = splice.end;
  }
  pieces.push(text.slice(at));
  return pieces.join('');
}

/** Moves every start behind a splice by what that splice added. */
function shifted(index: StoryIndex, splices: readonly Splice[], added: ReadonlyMap<number, number>): Int32Array {
  const starts = index.starts.slice();
  const ends = splices.map(splice => splice.end);
  const totals: number[] = [];
  let total = 0;
  for (const splice of splices) {
    total += splice.text.length - (splice.end - splice.start);
    totals.push(total);
  }
  // Stories stand in document order, so one pointer per story suffices; `skipped` may come before `passes` in it.
  let passed = 0;
  for (let row = 0; 2 * row < starts.length; row++) {
    const passes = index.starts[2 * row]!;
    const skipped = index.starts[2 * row + 1]!;
    const first = skipped === -1 ? passes : Math.min(passes, skipped);
    while (passed < ends.length && ends[passed]! <= first) passed++;
    starts[2 * row] = passes + shiftAt(passes, passed, ends, totals);
    if (skipped !== -1) starts[2 * row + 1] = skipped + shiftAt(skipped, passed, ends, totals);
    const offset = added.get(row);
    if (offset !== undefined) starts[2 * row + 1] = starts[2 * row]! + offset;
  }
  return starts;
}

function shiftAt(start: number, passed: number, ends: readonly number[], totals: readonly number[]): number {
  let at = passed;
  while (at < ends.length && ends[at]! <= start) at++;
  return at === 0 ? 0 : totals[at - 1]!;
}

export const prd: IndexedFormat<StoryIndex> = {
  name: 'prd',

  /** Also true for a broken document, so that its faults are told instead of "unknown format". */
  recognises(fileName, text) {
    return /\.json$/i.test(fileName) && /"userStories"\s*:\s*\[/.test(text);
  },

  parse(text, options = {}) {
    return parseJsonDocument(text, 'userStories', (value, problems) => readDocument(value, options, problems));
  },

  mark(text, marks) {
    return markWithIndex(text, indexStories(text), marks).text;
  },

  index: indexStories,
  markWithIndex,
};

// The rules that a PRD.json must keep: every broken one becomes a sentence that names the place, the value and the remedy.

const documentKeys = ['project', 'description', 'userStories'];
const storyKeys = ['id', 'title', 'description', 'criteria', 'depends_on', 'passes', 'skipped', 'mayChangeTests'];
/** What snarktank's ralph, ralph-tui and their kin call the same things; ours go first. */
const projectNames = ['project', 'name', 'projectName'];
const criteriaNames = ['criteria', 'acceptanceCriteria'];
const dependencyNames = ['depends_on', 'dependsOn', 'dependencies'];
const notesNames = ['notes', 'completionNotes'];
/** Words that stand for a priority, as the lower number goes first. */
const priorityWords: Readonly<Record<string, number>> = { critical: 0, high: 1, medium: 2, low: 3 };
const slipCharsMin = 4; // of shorter keys nearly everything is a near miss
const keyCharsMax = 40;

const bare = (key: string): string => key.toLowerCase().replace(/[^a-z0-9]/g, '');

/** One letter too many, too few or another, or two that changed places. */
function isSlip(written: string, meant: string): boolean {
  let at = 0;
  while (at < meant.length && written[at] === meant[at]) at++;
  const [left, right] = [written.slice(at), meant.slice(at)];
  return (
    left.slice(1) === right ||
    left === right.slice(1) ||
    left.slice(1) === right.slice(1) ||
    (left[0] === right[1] && left[1] === right[0] && left.slice(2) === right.slice(2))
  );
}

/** The known key that an unknown one was probably meant to be. */
function meantBy(key: string, known: readonly string[]): string | undefined {
  if (known.includes(key) || key.length > keyCharsMax) return undefined;
  const written = bare(key);
  return (
    known.find(each => bare(each) === written) ??
    known.find(each => each.length >= slipCharsMin && isSlip(written, bare(each)))
  );
}

type JsonObject = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined when the value is no PRD at all; with problems added, the document is not to be used. */
function readDocument(value: unknown, options: FormatOptions, problems: ProblemList): ParsedDocument | undefined {
  if (!isObject(value)) {
    problems.add([], `The document must be an object, not ${shown(value)}.`, 'Start it with { "project": … }.');
    return undefined;
  }
  const reader = new Reader(problems);
  reader.watchKeys(value, [], documentKeys);
  const nameKey = projectNames.find(key => Object.hasOwn(value, key)) ?? 'project';
  const project = reader.text(value, [], nameKey, 'Name the project.');
  const description = 'description' in value ? reader.string(value, [], 'description') : '';
  const stories = reader.list(value, [], 'userStories', 'Add "userStories": [ … ].');
  if (stories?.length === 0) {
    problems.add(['userStories'], 'userStories is empty.', 'Add at least one story.');
  }
  const tasks = (stories ?? []).map((story, row) => readStory(story, row, options, reader));
  const wording = wordingOf(stories ?? [], problems);
  checkIds(tasks, wording);
  checkDependencies(tasks, wording);
  const notices = [...unused(value), ...reader.notices()];
  return {
    project,
    goal: description.trim() === '' ? project : description,
    tasks: byPriority(tasks, stories ?? []),
    notices,
  };
}

function wordingOf(stories: readonly unknown[], problems: ProblemList) {
  const dependencyKey = (row: number): string => {
    const story = stories[row];
    return isObject(story) ? listKey(story, dependencyNames) : 'depends_on';
  };
  return {
    noun: 'story',
    plural: 'stories',
    idName: (row: number) => `userStories[${row}].id`,
    dependenciesName: (row: number) => `userStories[${row}].${dependencyKey(row)}`,
    idPlace: (row: number) => ['userStories', row, 'id'],
    dependenciesPlace: (row: number) => ['userStories', row, dependencyKey(row)],
    add: (place: Place, message: string, fix: string) => problems.add(place, message, fix),
  };
}

/** The first name that stands there with a list; our own name where there is none. */
function listKey(story: JsonObject, names: readonly string[]): string {
  const [own] = names;
  if (Object.hasOwn(story, own!)) return own!;
  return names.find(name => Array.isArray(story[name]) && Object.hasOwn(story, name)) ?? own!;
}

function unused(document: JsonObject): readonly string[] {
  return typeof document['branchName'] === 'string' && document['branchName'] !== ''
    ? [`branchName ${shown(document['branchName'])} is not followed: start the loop on the branch that you want.`]
    : [];
}

/** The lower number goes first; stories without one come last; without any priority the document's order stands. */
function byPriority(tasks: readonly TaskSpec[], stories: readonly unknown[]): readonly TaskSpec[] {
  const priorities = stories.map(story => priorityOf(isObject(story) ? story['priority'] : undefined));
  if (priorities.every(priority => priority === Number.POSITIVE_INFINITY)) return tasks;
  const rows = tasks.map((_task, row) => row);
  // Infinity - Infinity is no number, so equal ones are told apart by their rows.
  rows.sort((one, other) =>
    priorities[one] === priorities[other] ? one - other : priorities[one]! - priorities[other]!,
  );
  return rows.map(row => tasks[row]!);
}

function priorityOf(value: unknown): number {
  if (typeof value === 'number') return value;
  const word = typeof value === 'string' ? value.toLowerCase() : '';
  return Object.hasOwn(priorityWords, word) ? priorityWords[word]! : Number.POSITIVE_INFINITY;
}

function readStory(value: unknown, row: number, options: FormatOptions, reader: Reader): TaskSpec {
  const at = ['userStories', row];
  if (!isObject(value)) {
    reader.problems.add(at, `${pathText(at)} must be an object, not ${shown(value)}.`, 'Write it as { "id": … }.');
    return { id: '', title: '', description: '', criteria: [], dependsOn: [], done: false, skipped: false };
  }
  reader.watchKeys(value, at, storyKeys);
  const mayLackCriteria = options.allowEmptyCriteria === true;
  return {
    id: readId(value, at, reader),
    title: reader.text(value, at, 'title', 'Give the story a short title.'),
    description: readDescription(value, at, reader),
    criteria: readCriteria(value, at, mayLackCriteria, reader),
    dependsOn: readDependencies(value, at, reader),
    done: reader.boolean(value, at, 'passes'),
    skipped: 'skipped' in value ? reader.boolean(value, at, 'skipped') : false,
    mayChangeTests: 'mayChangeTests' in value && reader.boolean(value, at, 'mayChangeTests') ? true : undefined,
  };
}

function readId(story: JsonObject, at: JsonPath, reader: Reader): string {
  const id = reader.string(story, at, 'id');
  if (typeof story['id'] !== 'string' || (idPattern.test(id) && !id.includes('..'))) return id;
  const rule = id.includes('..') ? 'must not hold two dots in a row' : 'is not a valid id';
  reader.problems.add([...at, 'id'], `${pathText([...at, 'id'])} ${rule}: ${shown(id)}.`, idRule);
  return '';
}

/** What earlier work found out stands in the notes; an agent needs it as much as the story. */
function readDescription(story: JsonObject, at: JsonPath, reader: Reader): string {
  const description = Object.hasOwn(story, 'description') ? reader.string(story, at, 'description') : '';
  const key = notesNames.find(name => typeof story[name] === 'string' && story[name].trim() !== '');
  if (key === undefined) return description;
  const notes = `Notes: ${reader.string(story, at, key).trim()}`;
  return description.trim() === '' ? notes : `${description}\n\n${notes}`;
}

function readCriteria(story: JsonObject, at: JsonPath, mayBeEmpty: boolean, reader: Reader): readonly string[] {
  const key = listKey(story, criteriaNames);
  if (mayBeEmpty && !Object.hasOwn(story, key)) return [];
  const path = [...at, key];
  const entries = reader.list(story, at, key, `Add "${key}": [ … ], one verifiable sentence each.`);
  if (entries?.length === 0 && !mayBeEmpty) {
    reader.problems.add(
      path,
      `${pathText(path)} is empty: how will we know it is done?`,
      'Add a criterion that can be verified, or run with --no-criteria.',
    );
  }
  return (entries ?? []).map((entry, row) => {
    // Some tools keep a status for each criterion beside its text.
    const text = isObject(entry) && typeof entry['description'] === 'string' ? entry['description'] : entry;
    return reader.filled(text, [...path, row], 'State what must be true.');
  });
}

function readDependencies(story: JsonObject, at: JsonPath, reader: Reader): readonly string[] {
  const key = listKey(story, dependencyNames);
  if (!Object.hasOwn(story, key)) return [];
  const path = [...at, key];
  const entries = reader.list(story, at, key, 'Write a list of ids.') ?? [];
  const ids = entries.map((entry, row) => {
    if (typeof entry === 'string') return entry;
    const place = [...path, row];
    reader.problems.add(place, `${pathText(place)} must be an id, not ${shown(entry)}.`, 'Write the id in quotes.');
    return '';
  });
  return [...new Set(ids)];
}

/** Reads typed fields, complains with their path, and watches the texts for what a reader would not see. */
class Reader {
  readonly problems: ProblemList;
  private readonly warnings: string[] = [];

  constructor(problems: ProblemList) {
    this.problems = problems;
  }

  notices(): readonly string[] {
    const rest = this.warnings.length - problemsMax;
    return rest > 0 ? [...this.warnings.slice(0, problemsMax), `${rest} more texts look odd.`] : this.warnings;
  }

  /** Other keys are the writer's own; one that is nearly ours is probably a slip. */
  watchKeys(from: JsonObject, at: JsonPath, known: readonly string[]): void {
    for (const key of Object.keys(from)) {
      const isTaken = Array.isArray(from[key]) && dependencyNames.includes(key);
      const meant = isTaken ? undefined : meantBy(key, known);
      const place = at.length === 0 ? 'The document' : pathText(at);
      if (meant !== undefined)
        this.warnings.push(`${place} has a key ${shown(key)}, which is ignored: write "${meant}".`);
    }
  }

  string(from: JsonObject, at: JsonPath, key: string): string {
    const value = this.required(from, at, key, `Add "${key}": "…".`);
    if (value === undefined) return '';
    if (typeof value !== 'string') {
      this.wrong([...at, key], 'text in double quotes', value, `Write "${key}": "…".`);
      return '';
    }
    this.watch(value, at, key);
    return value;
  }

  /** A string with something in it. */
  text(from: JsonObject, at: JsonPath, key: string, fix: string): string {
    const value = this.string(from, at, key);
    if (typeof from[key] === 'string' && value.trim() === '') {
      this.problems.add([...at, key], `${pathText([...at, key])} is empty.`, fix);
    }
    return value;
  }

  filled(value: unknown, path: JsonPath, fix: string): string {
    if (typeof value !== 'string') this.wrong(path, 'text in double quotes', value, fix);
    else if (value.trim() === '') this.problems.add(path, `${pathText(path)} is empty.`, fix);
    if (typeof value !== 'string') return '';
    this.watch(value, path.slice(0, -1), path.at(-1)!);
    return value;
  }

  boolean(from: JsonObject, at: JsonPath, key: string): boolean {
    const value = this.required(from, at, key, `Add "${key}": false.`);
    if (value === undefined || typeof value === 'boolean') return value === true;
    const meant = value === 'true' || value === 1 ? 'true' : 'false';
    this.wrong([...at, key], 'true or false', value, `Write ${meant}, without quotes.`);
    return false;
  }

  list(from: JsonObject, at: JsonPath, key: string, fix: string): readonly unknown[] | undefined {
    const value = this.required(from, at, key, fix);
    if (value === undefined || Array.isArray(value)) return value;
    this.wrong([...at, key], 'a list', value, fix);
    return undefined;
  }

  private required(from: JsonObject, at: JsonPath, key: string, fix: string): unknown {
    if (!Object.hasOwn(from, key)) this.problems.add(at, `${pathText([...at, key])} is missing.`, fix);
    return from[key];
  }

  private wrong(path: JsonPath, rule: string, value: unknown, fix: string): void {
    this.problems.add(path, `${pathText(path)} must be ${rule}, not ${shown(value)}.`, fix);
  }

  private watch(value: string, at: JsonPath, key: string | number): void {
    const warning = suspicion(value);
    if (warning !== undefined) this.warnings.push(`${pathText([...at, key])} ${warning}`);
  }
}
