// Notices before a review begins: a section that is not there, a document that no undo reaches.

import { realpath } from 'node:fs/promises';
import { basename, resolve, sep } from 'node:path';
import { heading, markdownLines } from '../../documents/markdown.ts';
import { readText } from '../../documents/text-file.ts';
import { visible } from '../../text/text.ts';

const bytesMax = 40 * 1024 * 1024;

/** Whatever keeps the document from being read is said elsewhere. */
export async function reviewNotices(
  directory: string,
  file: string,
  section: string | undefined,
): Promise<readonly string[]> {
  const [top, path] = await Promise.all(
    [directory, resolve(directory, file)].map(one => realpath(one).catch(() => '')),
  );
  if (top === undefined || path === undefined || path === '' || path === top) return [];
  const name = visible(basename(path));
  const away = path.startsWith(`${top}${sep}`)
    ? []
    : [`${name} lies outside of this folder: no checkpoint, commit or undo holds what is changed in it.`];
  if (section === undefined) return away;
  const read = await readText(path, bytesMax);
  if (read.type !== 'text') return away;
  const wanted = section.trim().toLowerCase();
  const isThere = markdownLines(read.text).some(line => heading(line)?.text.toLowerCase().includes(wanted) === true);
  return isThere
    ? away
    : [...away, `No heading of ${name} holds ${JSON.stringify(section)} (--section); agents look for it all the same.`];
}
