// The rules that a PRD.json must keep: every broken one becomes a sentence that names the place, the value and the remedy.
import { findCycle } from '../core/graph.ts';
import type { TaskSpec } from '../core/task.ts';
import type { FormatOptions, ParsedDocument } from '../ports/source.ts';
import type { JsonPath } from './json-text.ts';
import { type ProblemList, pathText, problemsMax } from './problem-list.ts';
import { shown, suspicion } from './shown-text.ts';

const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const idRule = 'Use 1 to 64 letters, digits, dots, hyphens or underscores, starting with a letter or digit.';

const documentKeys = ['project', 'description', 'userStories'];
const storyKeys = ['id', 'title', 'description', 'criteria', 'depends_on', 'passes', 'skipped', 'mayChangeTests'];
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
export function readDocument(
  value: unknown,
  options: FormatOptions,
  problems: ProblemList,
): ParsedDocument | undefined {
  if (!isObject(value)) {
    problems.add([], `The document must be an object, not ${shown(value)}.`, 'Start it with { "project": … }.');
    return undefined;
  }
  const reader = new Reader(problems);
  reader.watchKeys(value, [], documentKeys);
  const project = reader.text(value, [], 'project', 'Name the project.');
  const description = 'description' in value ? reader.string(value, [], 'description') : '';
  const stories = reader.list(value, [], 'userStories', 'Add "userStories": [ … ].');
  if (stories?.length === 0) {
    problems.add(['userStories'], 'userStories is empty.', 'Add at least one story.');
  }
  const tasks = (stories ?? []).map((story, row) => readStory(story, row, options, reader));
  checkIds(tasks, problems);
  checkDependencies(tasks, problems);
  return { project, goal: description.trim() === '' ? project : description, tasks, notices: reader.notices() };
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
    description: reader.string(value, at, 'description'),
    criteria: mayLackCriteria && !('criteria' in value) ? [] : readCriteria(value, at, mayLackCriteria, reader),
    dependsOn: 'depends_on' in value ? readDependencies(value, at, reader) : [],
    done: reader.boolean(value, at, 'passes'),
    skipped: 'skipped' in value ? reader.boolean(value, at, 'skipped') : false,
    ...('mayChangeTests' in value && reader.boolean(value, at, 'mayChangeTests') ? { mayChangeTests: true } : {}),
  };
}

function readId(story: JsonObject, at: JsonPath, reader: Reader): string {
  const id = reader.string(story, at, 'id');
  if (typeof story['id'] !== 'string' || (idPattern.test(id) && !id.includes('..'))) return id;
  const rule = id.includes('..') ? 'must not hold two dots in a row' : 'is not a valid id';
  reader.problems.add([...at, 'id'], `${pathText([...at, 'id'])} ${rule}: ${shown(id)}.`, idRule);
  return '';
}

function readCriteria(story: JsonObject, at: JsonPath, mayBeEmpty: boolean, reader: Reader): readonly string[] {
  const path = [...at, 'criteria'];
  const entries = reader.list(story, at, 'criteria', 'Add "criteria": [ … ], one verifiable sentence each.');
  if (entries?.length === 0 && !mayBeEmpty) {
    reader.problems.add(
      path,
      `${pathText(path)} is empty: how will we know it is done?`,
      'Add a criterion that can be verified, or run with --no-criteria.',
    );
  }
  return (entries ?? []).map((entry, row) => reader.filled(entry, [...path, row], 'State what must be true.'));
}

function readDependencies(story: JsonObject, at: JsonPath, reader: Reader): readonly string[] {
  const path = [...at, 'depends_on'];
  const entries = reader.list(story, at, 'depends_on', 'Write a list of ids.') ?? [];
  const ids = entries.map((entry, row) => {
    if (typeof entry === 'string') return entry;
    const place = [...path, row];
    reader.problems.add(place, `${pathText(place)} must be an id, not ${shown(entry)}.`, 'Write the id in quotes.');
    return '';
  });
  return [...new Set(ids)];
}

function checkIds(tasks: readonly TaskSpec[], problems: ProblemList): void {
  const rows = new Map<string, number>();
  for (const [row, { id }] of tasks.entries()) {
    const folded = id.toLowerCase();
    const first = rows.get(folded);
    if (id === '') continue;
    if (first === undefined) {
      rows.set(folded, row);
      continue;
    }
    const other = tasks[first]!.id;
    const clash = other === id ? 'is also the id' : `differs only by case from ${shown(other)}, the id`;
    problems.add(
      ['userStories', row, 'id'],
      `userStories[${row}].id ${shown(id)} ${clash} of userStories[${first}].`,
      'Give each story an id of its own.',
    );
  }
}

function checkDependencies(tasks: readonly TaskSpec[], problems: ProblemList): void {
  const ids = new Set(tasks.map(task => task.id));
  for (const [row, task] of tasks.entries()) {
    for (const id of task.dependsOn) {
      if (id === '' || (ids.has(id) && id !== task.id)) continue;
      const isSelf = id === task.id;
      problems.add(
        ['userStories', row, 'depends_on'],
        `userStories[${row}].depends_on names ${shown(id)}, ${isSelf ? 'the story itself' : 'which no story has as its id'}.`,
        isSelf ? 'Remove it from the list.' : 'Correct the id or remove it from the list.',
      );
    }
  }
  checkCycles(tasks, problems);
}

/** Finds cycles that share no story, until none or enough are found. */
function checkCycles(tasks: readonly TaskSpec[], problems: ProblemList): void {
  let rest = tasks
    .map((task, row) => ({ id: task.id, row, dependsOn: task.dependsOn.filter(id => id !== task.id) }))
    .filter(task => task.id !== '');
  for (let found = 0; found < problemsMax; found++) {
    const cycle = findCycle(rest);
    if (cycle === undefined) return;
    const members = new Set(cycle);
    const row = rest.find(task => task.id === cycle[0])!.row;
    problems.add(
      ['userStories', row, 'depends_on'],
      `These ${cycle.length} stories wait for each other: ${cycleText(cycle)}.`,
      'Remove one of these dependencies.',
    );
    rest = rest.filter(task => !members.has(task.id));
  }
}

function cycleText(cycle: readonly string[]): string {
  const steps =
    cycle.length > 8
      ? [...cycle.slice(0, 4), `… ${cycle.length - 6} more …`, ...cycle.slice(-2), cycle[0]!]
      : [...cycle, cycle[0]!];
  return steps.join(' -> ');
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
      const meant = meantBy(key, known);
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
