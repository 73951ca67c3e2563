// What a prompt needs and the state does not hold: the diff since the start, notes that agents keep, reviewers' own words.
import { readFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import type { State } from '../core/state.ts';
import { takeCharacters, takeLastCharacters } from '../core/text.ts';
import type { Engine } from '../engine/engine.ts';
import type { Workspace } from '../ports/workspace.ts';

type Facts = NonNullable<Engine['facts']>;

const scratchpadCharsMax = 8_000;
const promptCharsMax = 20_000;
const diffLinesMax = 60;

const textOf = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');

/** What differs from the first checkpoint, a line for each file. */
async function diffSince(state: State, workspace: Workspace | undefined): Promise<string> {
  const { first, newest } = state;
  if (workspace === undefined || first === undefined || newest === undefined || first.tree === newest.tree) return '';
  const changes = await workspace.changes([{ from: first.tree, to: newest.tree }]);
  const lines = changes.map(({ path, how }) => `${how} ${path}`);
  const more = lines.length - diffLinesMax;
  return [...lines.slice(0, diffLinesMax), ...(more > 0 ? [`and ${more} more`] : [])].join('\n');
}

async function reviewFacts({ directory, document, settings }: State): Promise<Readonly<Record<string, string>>> {
  const { reviewers = [], section, workflow } = settings.review ?? {};
  const own: [string, string][] = [];
  for (const role of reviewers) {
    const text = await textOf(join(directory, '.ralph', 'prompts', `review-${role}.md`));
    if (text.trim() !== '') own.push([`reviewer:${role}`, takeCharacters(text, promptCharsMax)]);
  }
  return {
    ...Object.fromEntries(own),
    document: relative(directory, document) || basename(document),
    ...(section === undefined ? {} : { section }),
    ...(workflow === undefined ? {} : { workflow }),
  };
}

export function factsOf(workspace: Workspace | undefined): Facts {
  return async state => {
    const { mode } = state.settings;
    if (mode === 'review') return reviewFacts(state);
    if (mode === 'prompt') {
      const scratchpad = await textOf(join(state.directory, '.agent', 'scratchpad.md'));
      return { scratchpad: takeLastCharacters(scratchpad, scratchpadCharsMax) };
    }
    if (mode !== 'project') return {};
    const artefacts = relative(state.directory, dirname(state.document));
    return { artefacts, spec: join(artefacts, 'spec.md'), diff: await diffSince(state, workspace) };
  };
}
