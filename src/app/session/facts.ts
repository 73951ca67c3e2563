// What a prompt needs and the state does not hold: the diff since the start, notes that agents keep, reviewers' own words.
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import type { State } from '../../core/state.ts';
import { takeCharacters } from '../../text/text.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Workspace } from '../../git/workspace.ts';
import { readText } from '../../documents/text-file.ts';
import { readDocument } from '../documents.ts';
import { isInterview } from '../modes.ts';

type Facts = NonNullable<Engine['facts']>;

const bytesMax = 1024 * 1024;
const promptCharsMax = 20_000;
const diffLinesMax = 60;

/** A file of the folder that an agent may have written: no link out of it is followed, nothing else than text is read. */
async function textOf(directory: string, ...way: readonly string[]): Promise<string> {
  const path = join(directory, ...way);
  const [top, real] = await Promise.all([directory, path].map(one => realpath(one).catch(() => '')));
  if (top === undefined || real === undefined || real === '' || !real.startsWith(`${top}${sep}`)) return '';
  const read = await readText(real, bytesMax);
  return read.type === 'text' ? read.text : '';
}

/** What differs from the first checkpoint, a line for each file. */
async function diffSince(state: State, workspace: Workspace | undefined): Promise<string> {
  const { first, newest } = state;
  if (workspace === undefined || first === undefined || newest === undefined || first.tree === newest.tree) return '';
  const changes = (await workspace.changes([{ from: first.tree, to: newest.tree }])).filter(
    ({ path }) => join(state.directory, path) !== state.document, // it changes with every iteration, by our hand
  );
  const lines = changes.map(({ path, how }) => `${how} ${path}`);
  const more = lines.length - diffLinesMax;
  return [...lines.slice(0, diffLinesMax), ...(more > 0 ? [`and ${more} more`] : [])].join('\n');
}

async function reviewFacts({ directory, document, settings }: State): Promise<Readonly<Record<string, string>>> {
  const { reviewers = [], section, workflow } = settings.review ?? {};
  const own: [string, string][] = [];
  for (const role of reviewers) {
    const text = await textOf(directory, '.ralph', 'prompts', `review-${role}.md`);
    if (text.trim() !== '') own.push([`reviewer:${role}`, takeCharacters(text, promptCharsMax)]);
  }
  if (section !== undefined) own.push(['section', section]);
  if (workflow !== undefined) own.push(['workflow', workflow]);
  return { ...Object.fromEntries(own), document: relative(directory, document) || basename(document) };
}

/** What is odd about the spec as it is now: an earlier round may have brought it in. */
async function noticesOf({ directory, document, settings: { mode } }: State): Promise<string> {
  const read = await readDocument({ mode, path: document, directory });
  return read.ok ? read.document.notices.join('\n') : '';
}

export function factsOf(workspace: Workspace | undefined): Facts {
  return async (state, live) => {
    const { mode } = state.settings;
    if (mode === 'review') return reviewFacts(state);
    if (mode === 'prompt') {
      const place = workspace?.directory(live.task) ?? state.directory;
      return { scratchpad: await textOf(place, '.agent', 'scratchpad.md') };
    }
    if (mode !== 'project') return {};
    const artefacts = relative(state.directory, dirname(state.document));
    const place = { artefacts, spec: join(artefacts, 'spec.md') };
    if (isInterview(mode, state.document)) return { ...place, notices: await noticesOf(state) };
    return { ...place, diff: await diffSince(state, workspace) };
  };
}
