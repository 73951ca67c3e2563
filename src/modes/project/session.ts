// Files of a project: where they lie, how the first is made, and the prompts that a user wrote for it.
import { existsSync } from 'node:fs';
import { lstat, mkdir, realpath, rename, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import type { State } from '../../core/state.ts';
import type { Problem } from '../../documents/document.ts';
import type { Checkpoints } from '../../git/checkpoints.ts';
import { UsageError } from '../../text/errors.ts';
import { interviewPlaceholders } from '../interview/mode.ts';
import { fillTemplate, templateProblems } from '../iteration-prompt.ts';
import type { ModeSession } from '../mode.ts';
import { executePlaceholders } from './mode.ts';
import { earlierExecutions, isProjectFolder, notedObstacles } from './obstacles.ts';
import { specTemplate, specValues } from './templates.ts';

export interface ProjectPaths {
  readonly folder: string;
  readonly spec: string;
  readonly tasks: string;
}

const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;
const nameRule =
  'Use 1 to 63 letters, digits, dots, hyphens or underscores, beginning with a letter or digit; no name of a Windows device.';
/** Names that Windows gives to devices, whatever the folder and the ending. */
const reserved = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** Refuses a name that could be read as anything but one folder of this name. */
export function projectPaths(directory: string, name: string): ProjectPaths {
  const isSafe = namePattern.test(name) && !name.includes('..') && !name.endsWith('.') && !reserved.test(name);
  if (!isSafe) throw new UsageError(`${JSON.stringify(name.slice(0, 80))} is no name for a project.`, nameRule);
  const folder = join(directory, '.artefacts', name);
  return { folder, spec: join(folder, 'spec.md'), tasks: join(folder, 'tasks.json') };
}

type PromptName = 'init' | 'interview' | 'execute';

const placeholdersOf: Readonly<Record<PromptName, readonly string[]>> = {
  init: Object.keys(specValues('')),
  interview: interviewPlaceholders,
  execute: executePlaceholders,
};

interface OwnPrompt {
  /** Absent: there is none, and ours is used. */
  readonly text?: string;
  readonly problems: readonly Problem[];
}

/** The user's own words in .ralph/prompts/; a link that leads out of the project is not followed. */
export async function readOwnPrompt(directory: string, name: PromptName): Promise<OwnPrompt> {
  const label = `.ralph/prompts/${name}.md`;
  const { readTextFile } = await import('../../config/files.ts');
  const file = await readTextFile(directory, label, true);
  if (file.type === 'missing') return { problems: [] };
  if (file.type !== 'text') return { problems: [file.problem] };
  const { text } = file;
  if (text.trim() === '')
    return {
      problems: [{ message: `${label} is empty.`, fix: 'Write the template, or delete the file to get ours.' }],
    };
  const problems = templateProblems(text, placeholdersOf[name]).map(one => ({
    ...one,
    message: `${label}: ${one.message}`,
  }));
  return { text, problems };
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error);

/** Made if need be; never outside of the directory, whatever links lie on the way. */
async function makeFolders(directory: string, folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    const way = await mkdir(folder, { recursive: true })
      .then(async () => relative(await realpath(directory), await realpath(folder)))
      .catch((error: unknown) => {
        throw new UsageError(`${folder} cannot be made (${codeOf(error)}).`, 'Look what lies there.');
      });
    if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way))
      throw new UsageError(`${folder} is a link that leads out of this folder.`, 'Remove the link.');
  }
}

/** Makes the folder and spec.md; nothing that is already there is changed. */
export async function initProject(directory: string, name: string): Promise<ProjectPaths> {
  const paths = projectPaths(directory, name);
  const own = await readOwnPrompt(directory, 'init');
  const [problem] = own.problems;
  if (problem !== undefined) throw new UsageError(problem.message, problem.fix);
  const { text } = fillTemplate(own.text ?? specTemplate, specValues(name));
  await makeFolders(directory, [dirname(paths.folder), paths.folder]);
  try {
    await writeFile(paths.spec, text, { flag: 'wx' });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST')
      throw new UsageError(`${paths.spec} cannot be written (${codeOf(error)}).`, 'Check the folder and the disk.');
    throw new UsageError(
      `${relative(directory, paths.spec)} is already there; nothing was changed.`,
      `Edit it and go on: ralph interview ${name}; or name another project.`,
    );
  }
  return paths;
}

/** A folder that is there or is made; never a link, which may lead anywhere. */
async function plainFolder(path: string): Promise<void> {
  const there = await lstat(path).catch(() => undefined);
  if (there?.isDirectory() === true) return;
  if (there !== undefined)
    throw new UsageError(`${path} is ${there.isSymbolicLink() ? 'a link' : 'no folder'}.`, 'Remove or rename it.');
  await mkdir(path).catch((error: unknown) => {
    throw new UsageError(`${path} cannot be made (${codeOf(error)}).`, 'Look what lies there.');
  });
}

const views = ['state.json', 'obstacles.json', 'results.md'];

/** A new loop writes its own files: those of an earlier one are moved into `earlier/`, and that is said. */
export async function moveEarlierFiles(
  document: string,
  label: string,
  say: (sentence: string) => void,
): Promise<void> {
  const folder = dirname(document);
  const left = isProjectFolder(folder) ? views.filter(name => existsSync(join(folder, name))) : [];
  if (left.length === 0) return;
  const earlier = join(folder, 'earlier', label);
  await plainFolder(dirname(earlier));
  await plainFolder(earlier);
  for (const name of left) await rename(join(folder, name), join(earlier, name));
  say(`What the execution before this one left (${left.join(', ')}) is kept in ${earlier}.`);
}

/** What a project's agents write to say that they have finished. */
export function doneSignal(document: string): readonly string[] {
  const folder = dirname(document);
  return isProjectFolder(folder) ? [join(folder, 'done.md')] : [];
}

/** The project's own files, as its prompts name them. */
export function artefactsOf({ loop: { directory, document } }: State): {
  readonly artefacts: string;
  readonly spec: string;
} {
  const artefacts = relative(directory, dirname(document));
  return { artefacts, spec: join(artefacts, 'spec.md') };
}

const diffLinesMax = 60;

/** What differs from the first checkpoint, a line for each file. */
async function diffSince(state: State, checkpoints: Checkpoints | undefined): Promise<string> {
  const { first, latest: newest } = state.checkpoints;
  if (checkpoints === undefined || first === undefined || newest === undefined || first.tree === newest.tree) return '';
  const changes = (await checkpoints.changes([{ from: first.tree, to: newest.tree }])).filter(
    ({ path }) => join(state.loop.directory, path) !== state.loop.document, // it changes with every iteration, by our hand
  );
  const lines = changes.map(({ path, how }) => `${how} ${path}`);
  const more = lines.length - diffLinesMax;
  return [...lines.slice(0, diffLinesMax), ...(more > 0 ? [`and ${more} more`] : [])].join('\n');
}

export const projectSession: ModeSession = {
  beforeFirst: moveEarlierFiles,
  signals: doneSignal,
  noted: notedObstacles,
  promptInputs: async (state, _live, { checkpoints }) => ({
    ...artefactsOf(state),
    earlier: await earlierExecutions(state.loop.document),
    diff: await diffSince(state, checkpoints),
  }),
};
