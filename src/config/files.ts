// Config files: one JSON file becomes settings, with line and column for whatever is wrong with it (B21-B30).
import { join } from 'node:path';
import type { Problem } from '../documents/document.ts';
import { startOf } from '../documents/edits.ts';
import { positionsIn } from '../documents/problems.ts';
import { insideBytesMax, readInside, readText } from '../documents/text-file.ts';
import { fieldOf, flagName, type Key, type Values } from './fields.ts';
import { readCommentedJson } from './json.ts';

export interface ReadConfigFile {
  readonly values: Values;
  /** What the file says as a name, before it was made a slug. */
  readonly givenName?: string;
  readonly problems: readonly Problem[];
  readonly notices: readonly string[];
}

export interface ConfigFilePlace {
  readonly directory: string;
  readonly fileName: string;
  /** What messages call it. */
  readonly label: string;
  /** The project's own file: links out of it are not followed, and the user's settings are not its to make. */
  readonly isProject: boolean;
}

const nothing: ReadConfigFile = { values: {}, problems: [], notices: [] };

export async function readConfigFile(place: ConfigFilePlace, now: number): Promise<ReadConfigFile> {
  const file = await readTextFile(place.directory, place.fileName, place.isProject);
  if (file.type === 'missing') return nothing;
  if (file.type !== 'text') return { ...nothing, problems: [file.problem] };
  return await readConfigText(file.text, place, now);
}

async function readConfigText(text: string, place: ConfigFilePlace, now: number): Promise<ReadConfigFile> {
  const json = readCommentedJson(text);
  if (!json.ok) {
    const problem = { message: `${place.label}: ${json.message}.`, ...positionsIn(text)(json.offset) };
    return { ...nothing, problems: [problem] };
  }
  // Loaded only when there is a file to check: a start without one does not pay for zod.
  const { validateDocument } = await import('./schema.ts');
  const checked = validateDocument(json.value, now);
  if (!checked.ok) {
    const problems = checked.problems.map(({ path, message }) => ({
      message: `${place.label}: ${message}`,
      ...positionsIn(text)(json.places.get(path) ?? 0),
    }));
    return { ...nothing, problems };
  }
  const givenName = (json.value as { readonly name?: string }).name;
  const kept = place.isProject ? withoutUserOnly(checked.values, place.label) : { values: checked.values, notices: [] };
  const notices = [...kept.notices, ...garbled(text, place.label)];
  return { values: kept.values, notices, problems: [], givenName };
}

export function userOnlyNotice(what: string, where: string, key: Key): string {
  return `${where}: ${what} is ignored here, because a project may not set it; use the user configuration or ${flagName(key)}.`;
}

function withoutUserOnly(values: Values, label: string): { values: Values; notices: string[] } {
  const given = Object.keys(values) as Key[];
  const refused = given.filter(key => fieldOf(key).userOnly === true);
  const lifted = given.filter(key => bounding.includes(key) && values[key] === null);
  const kept = Object.entries(values).filter(([key]) => ![...refused, ...lifted].includes(key as Key));
  const notices = [
    ...refused.map(key => userOnlyNotice(key, label, key)),
    ...lifted.map(key => userOnlyNotice(`${key}: unlimited`, label, key)),
  ];
  return { values: Object.fromEntries(kept) as Values, notices };
}

/** "unlimited" must be typed by a person (ADR 4), and a file of the project can be an agent's work. */
const bounding: readonly Key[] = ['maxIterations', 'maxCost', 'maxDuration'];

/** UTF-8 that was once read as a single-byte encoding and saved again (B26). */
function garbled(text: string, label: string): string[] {
  const isGarbled = /\u00c3[\u0080-\u00bf]|\u00e2\u20ac/.test(text);
  return isGarbled ? [`${label}: some letters look garbled by a wrong encoding; check its text.`] : [];
}

/** The text without its byte order mark; `within`: the file may not lead out of its own folder (B30). */
export async function readTextFile(directory: string, name: string, within: boolean) {
  const read = await (within ? readInside(directory, name) : readText(join(directory, name), insideBytesMax));
  return read.type === 'text' ? { ...read, text: read.text.slice(startOf(read.text)) } : read;
}
