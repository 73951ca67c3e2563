// Paths in a repository: bytes, held as strings with one character per byte, and text only for people.
import { createHash } from 'node:crypto';
import type { Collected } from '../processes/run-detached.ts';

type Output = Pick<Collected, 'output'>;

/** NUL-separated paths, one character per byte. */
export const pathsOf = ({ output }: Output): string[] => {
  const all = output.toString('latin1').split('\0');
  if (all.at(-1) === '') all.pop();
  return all;
};

/** NUL-separated output that is text, such as names of settings. */
export const listOf = (answer: Output): readonly string[] =>
  pathsOf(answer)
    .filter(one => one !== '')
    .map(toText);

/** What goes to git's `-z --stdin`. */
export const toInput = (paths: readonly string[]): Buffer =>
  Buffer.from(paths.map(path => `${path}\0`).join(''), 'latin1');

/** For ports: UTF-8 text, with the replacement character for bytes that are not. */
export const toText = (path: string): string => Buffer.from(path, 'latin1').toString('utf8');

export const fromText = (path: string): string => Buffer.from(path, 'utf8').toString('latin1');

/** For sentences that people read: no control characters, not too long. */
export function printable(text: string): string {
  const clean = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '?');
  return clean.length > 100 ? `${clean.slice(0, 99)}…` : clean;
}

export const shown = (path: string): string => printable(toText(path));

/** `a, b and 3 more`. */
export function shownList(paths: readonly string[], most: number): string {
  const more = paths.length > most ? ` and ${paths.length - most} more` : '';
  return `${paths.slice(0, most).map(shown).join(', ')}${more}`;
}

/** For calls of the file system. */
export const onDisk = (top: string, path: string): Buffer =>
  Buffer.concat([Buffer.from(`${top}/`, 'utf8'), Buffer.from(path, 'latin1')]);

/** `a`, `a/b` for `a/b/c`. */
export function foldersAbove(path: string): string[] {
  const found: string[] = [];
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) found.push(path.slice(0, at));
  return found;
}

/** Whether a path is one of these, or lies below one. */
export function isAmong(listed: Iterable<string>): (path: string) => boolean {
  const known = new Set(listed);
  return path => known.has(path) || foldersAbove(path).some(folder => known.has(folder));
}

export const byPath = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** For folders and refs: readable, and different for tasks that differ only in case or odd characters. */
export function safeName(name: string): string {
  const readable = name
    .replace(/[^A-Za-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-|-$/g, '');
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return readable === '' ? hash : `${readable}-${hash}`;
}
