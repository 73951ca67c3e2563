// Paths in a repository are bytes: inside they are strings with one character per byte, and only people get text.
import type { Collected } from '../processes/collect.ts';

/** NUL-separated paths, one character per byte. */
export const pathsOf = ({ output }: Pick<Collected, 'output'>): string[] => {
  const all = output.toString('latin1').split('\0');
  if (all.at(-1) === '') all.pop();
  return all;
};

/** What goes to git's `-z --stdin`. */
export const toInput = (paths: readonly string[]): Buffer =>
  Buffer.from(paths.map(path => `${path}\0`).join(''), 'latin1');

/** For ports: UTF-8 text, with the replacement character for bytes that are not. */
export const toText = (path: string): string => Buffer.from(path, 'latin1').toString('utf8');

export const fromText = (path: string): string => Buffer.from(path, 'utf8').toString('latin1');

/** For sentences that people read: no control characters, not too long. */
export function shown(path: string): string {
  const text = toText(path).replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '?');
  return text.length > 100 ? `${text.slice(0, 99)}…` : text;
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

export const byPath = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
