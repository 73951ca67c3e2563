// Config files: one JSON file becomes settings, with line and column for whatever is wrong with it (B21-B30).
import { join } from 'node:path';
import type { Problem } from '../documents/document.ts';
import { startOf } from '../documents/edits.ts';
import { positionsIn } from '../documents/problems.ts';
import { insideBytesMax, readInside, readText } from '../documents/text-file.ts';
import { fieldsOf, isFields } from '../text/fields.ts';
import { nearest } from '../text/similarity.ts';
import { suspicion } from '../text/text.ts';
import { fieldOf, flagName, isKey, type Key, keys, type Values } from './fields.ts';
import { readCommentedJson } from './json.ts';
import { type Field, kinds } from './kinds.ts';
import { parseText } from './options.ts';
import { shown } from './reading.ts';

export interface ReadConfigFile {
  readonly values: Values;
  /** What the file says as a name, before it was made a slug. */
  readonly givenName?: string;
  readonly problems: readonly Problem[];
  readonly notices: readonly string[];
  /** What only the user may set, and has not been trusted. */
  readonly untrusted?: Values;
}

export interface ConfigFilePlace {
  readonly directory: string;
  readonly fileName: string;
  /** What messages call it. */
  readonly label: string;
  /** The project's own file: links out of it are not followed, and the user's settings are not its to make. */
  readonly isProject: boolean;
  /** Whether the user has said yes to these values of the project's. */
  readonly trusts?: (values: Values) => Promise<boolean>;
}

const nothing: ReadConfigFile = { values: {}, problems: [], notices: [] };

export async function readConfigFile(place: ConfigFilePlace, now: number): Promise<ReadConfigFile> {
  const file = await readTextFile(place.directory, place.fileName, place.isProject);
  if (file.type === 'missing') return nothing;
  if (file.type !== 'text') return { ...nothing, problems: [file.problem] };
  return readConfigText(file.text, place, now);
}

async function readConfigText(text: string, place: ConfigFilePlace, now: number): Promise<ReadConfigFile> {
  const problems: Problem[] = [];
  const positionOf = positionsIn(text);
  const addAt = (offset: number, message: string): void => {
    problems.push({ message: `${place.label}: ${message}`, ...positionOf(offset) });
  };
  const json = readCommentedJson(text);
  if (!json.ok) {
    addAt(json.offset, `${json.message}.`);
    return { ...nothing, problems };
  }
  const values = readSettings(json.value, now, (path, message) => addAt(json.places.get(path) ?? 0, message));
  if (problems.length > 0) return { ...nothing, problems };
  const givenName = (json.value as { readonly name?: string }).name;
  const kept = place.isProject ? await withoutUserOnly(values, place) : { values, notices: [] };
  const warning = suspicion(text);
  const notices = warning === undefined ? kept.notices : [...kept.notices, `${place.label} ${warning}`];
  return { ...kept, notices, problems, givenName };
}

const trustHint = 'ralph config trust';

export function userOnlyNotice(what: string, where: string, key: Key, more = ''): string {
  return `${where}: ${what} is ignored here, because a project may not set it${more}; use the user configuration or ${flagName(key)}.`;
}

async function withoutUserOnly(values: Values, { label, trusts }: ConfigFilePlace) {
  const given = Object.keys(values) as Key[];
  const only = (wanted: readonly Key[]): Values =>
    Object.fromEntries(given.filter(key => wanted.includes(key)).map(key => [key, values[key]])) as Values;
  const ofUser = given.filter(key => fieldOf(key).userOnly === true);
  const isTrusted = ofUser.length > 0 && (await trusts?.(only(ofUser))) === true;
  const refused = isTrusted ? [] : ofUser;
  const lifted = given.filter(key => bounding.includes(key) && values[key] === null);
  const notices = [
    ...refused.map(key => userOnlyNotice(key, label, key, ` before you trust it (${trustHint})`)),
    ...lifted.map(key => userOnlyNotice(`${key}: unlimited`, label, key)),
  ];
  return {
    values: only(given.filter(key => ![...refused, ...lifted].includes(key))),
    untrusted: only(refused),
    notices,
  };
}

/** "unlimited" must be typed by a person (ADR 4), and a file of the project can be an agent's work. */
const bounding: readonly Key[] = ['maxIterations', 'maxCost', 'maxDuration'];

/** The text without its byte order mark; `within`: the file may not lead out of its own folder (B30). */
export async function readTextFile(directory: string, name: string, within: boolean) {
  const read = await (within ? readInside(directory, name) : readText(join(directory, name), insideBytesMax));
  return read.type === 'text' ? { ...read, text: read.text.slice(startOf(read.text)) } : read;
}

/** What is wrong, by the path of the value: `verify[1]`, or empty for the document itself. */
type AddProblem = (path: string, message: string) => void;

/** `now` is what a deadline must be after. */
function readSettings(document: unknown, now: number, add: AddProblem): Values {
  if (!isFields(document)) add('', mustBe('the document', 'an object of settings', document));
  const read = Object.entries(fieldsOf(document)).map(([key, input]) => {
    if (isKey(key)) return [key, readSetting(key, input, now, add)];
    // Editors use $schema; we allow it and never fetch it (B28).
    if (key !== '$schema') add(key, unknownKey(key));
    else if (typeof input !== 'string') add(key, mustBe(key, textInQuotes, input));
    return [key, undefined];
  });
  return Object.fromEntries(read.filter(([, value]) => value !== undefined)) as Values;
}

const entriesMax = 100;
const textInQuotes = 'text in quotes';

function readSetting(key: Key, input: unknown, now: number, add: AddProblem): unknown {
  const field = fieldOf(key);
  if (!isOfKind(field, input)) return add(key, mustBe(key, expectation(field), input));
  const read = (text: string, path: string): unknown => {
    const reading = parseText(key, text, path, now);
    return reading.ok ? reading.value : add(path, reading.problem);
  };
  if (!Array.isArray(input)) return read(String(input), key);
  if (input.length > entriesMax) return add(key, `${key} must be at most ${entriesMax} entries.`);
  return input.flatMap((entry: unknown, index) => {
    const path = `${key}[${index}]`;
    return typeof entry === 'string' ? read(entry, path) : add(path, mustBe(path, textInQuotes, entry));
  });
}

function isOfKind({ kind, choices, unlimited }: Field, input: unknown): boolean {
  if (kinds[kind].isList) return Array.isArray(input);
  if (kind === 'truth') return typeof input === 'boolean';
  if (kind === 'whole') return Number.isFinite(input) || (unlimited === true && input === 'unlimited');
  if (kind === 'choice') return choices?.some(choice => choice === input) === true;
  return typeof input === 'string' || (kind === 'money' && Number.isFinite(input));
}

function expectation({ kind, choices = [], unlimited }: Field): string {
  if (kind === 'choice') return `one of ${choices.map(choice => `"${choice}"`).join(', ')}`;
  return `${kinds[kind].expected}${unlimited === true ? ', or "unlimited"' : ''}`;
}

const mustBe = (path: string, what: string, input: unknown): string => `${path} must be ${what}, not ${found(input)}.`;

function found(input: unknown): string {
  if (typeof input === 'string') return `the text ${shown(input)}`;
  if (typeof input !== 'object' || input === null) return String(input);
  return Array.isArray(input) ? 'a list' : 'an object';
}

function unknownKey(key: string): string {
  const meant = nearest(key, keys);
  return `unknown key ${shown(key)}; ${meant === undefined ? 'remove it.' : `did you mean ${meant}?`}`;
}
