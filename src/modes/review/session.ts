// Around a review: notices before it begins (a section that is not there, a document that no undo reaches), inputs of its prompts.

import { realpath } from 'node:fs/promises';
import { basename, relative, resolve, sep } from 'node:path';
import type { State } from '../../core/state.ts';
import { heading, markdownLines } from '../../documents/markdown.ts';
import { readText, readTextInside } from '../../documents/text-file.ts';
import { present } from '../../text/fields.ts';
import { takeCharacters, visible } from '../../text/text.ts';
import type { PromptFacts } from '../iteration-prompt.ts';
import type { ModeSession } from '../mode.ts';
import { reviewSettings } from './rules.ts';

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

const promptCharsMax = 20_000;

/** Where the document lies, and the own words of reviewers. */
async function reviewInputs({ loop: { directory, document }, settings }: State): Promise<PromptFacts> {
  const { reviewers, section, workflow } = reviewSettings(settings);
  const roles: [string, string][] = [];
  for (const role of reviewers) {
    const text = await readTextInside(directory, '.ralph', 'prompts', `review-${role}.md`);
    if (text.trim() !== '') roles.push([`reviewer:${role}`, takeCharacters(text, promptCharsMax)]);
  }
  const place = relative(directory, document) || basename(document);
  return { ...Object.fromEntries(roles), ...(present({ section, workflow }) as PromptFacts), document: place };
}

export const reviewSession: ModeSession = { promptInputs: reviewInputs };
