// Config files: one JSON file becomes settings, with line and column for whatever is wrong with it (B21-B30); and the
// reader of small text files that we do not trust: bounded, regular files only, UTF-8, and no symlink out of their project.
import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import type { Problem } from '../documents/document.ts';
import { positionsIn } from '../documents/problems.ts';
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
  if (file.type === 'absent') return nothing;
  if (file.type === 'refused')
    return { ...nothing, problems: [{ message: `${place.label}: ${file.message}; ${file.fix}.` }] };
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

type Refused = Extract<FileText, { type: 'refused' }>;

type FileText =
  | { readonly type: 'absent' }
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'refused';
      readonly why: 'not-a-file' | 'too-large' | 'outside' | 'unreadable' | 'encoding';
      readonly message: string;
      readonly fix: string;
    };

const fileBytesMax = 1_048_576;

const refused = (why: Refused['why'], message: string, fix = 'replace it by a plain file'): Refused => ({
  type: 'refused',
  why,
  message,
  fix,
});

/** `within`: the file may not lead out of its own folder (B30). */
export async function readTextFile(directory: string, name: string, within: boolean): Promise<FileText> {
  let path = join(directory, name);
  let handle: FileHandle | undefined;
  try {
    if (within) {
      const [folder, file] = await Promise.all([realpath(directory), realTarget(path)]);
      if (file === undefined) return { type: 'absent' };
      const way = relative(folder, file);
      if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way))
        return refused('outside', 'it is a link that leads out of the project and is not followed');
      path = file;
    }
    // Non-blocking, so that a named pipe cannot hold us; the path was resolved above, so a link here is a swap.
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | (within ? constants.O_NOFOLLOW : 0));
    return await readBounded(handle);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    if (code === 'ENOENT' || code === 'ENOTDIR') return { type: 'absent' };
    return refused('unreadable', `it cannot be read (${code})`);
  } finally {
    await handle?.close();
  }
}

/** A dangling link counts as absent: there is nothing to follow. */
async function realTarget(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function readBounded(handle: FileHandle): Promise<FileText> {
  if (!(await handle.stat()).isFile()) return refused('not-a-file', 'it is not a regular file');
  const bytes = new Uint8Array(fileBytesMax + 1);
  let length = 0;
  while (length < bytes.length) {
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  if (length > fileBytesMax) return refused('too-large', 'it is larger than 1 MB');
  return decodeUtf8(bytes.subarray(0, length));
}

/** Without its byte order mark; the first byte that is not UTF-8 is named. */
function decodeUtf8(bytes: Uint8Array): FileText {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  let byteAt = 0;
  let from = 0;
  for (let at = text.indexOf('\ufffd'); at !== -1; at = text.indexOf('\ufffd', at + 1)) {
    byteAt += Buffer.byteLength(text.slice(from, at));
    from = at;
    const isReal = bytes[byteAt] === 0xef && bytes[byteAt + 1] === 0xbf && bytes[byteAt + 2] === 0xbd;
    if (!isReal) return refused('encoding', `byte ${byteAt} is not valid UTF-8`, 'save the file as UTF-8');
  }
  return { type: 'text', text: text.startsWith('\ufeff') ? text.slice(1) : text };
}
