// Finding the document that is meant, and its mode: by name, by what people usually call it, by its text, or a goal in words.

import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { ModeName } from '../core/settings.ts';
import { documentBytesMax, readText } from '../documents/text-file.ts';
import { UsageError } from '../text/errors.ts';
import { nearest } from '../text/similarity.ts';
import { isModeWord, type ModeWord, modeFor, modeName, modeNames, openMode } from './registry.ts';

/** What somebody wants to run, and where. */
export interface Sought {
  readonly directory: string;
  readonly home: string;
  /** A file, or a goal in words. */
  readonly file?: string | undefined;
  /** A goal, also where it looks like a file. */
  readonly goal?: string | undefined;
  /** `mode`, and `dryRun`: nothing may be written, not even the goal into our own folder. */
  readonly flags: Readonly<Record<string, unknown>>;
}

/** The document that is meant. */
export interface FoundDocument {
  readonly modeName: ModeName;
  readonly path: string;
  /** Of a goal that was not written yet, because nothing may be. */
  readonly text?: string;
  readonly notices: readonly string[];
}

/** By the word that a person would say for its mode. */
type Named = Omit<FoundDocument, 'modeName'> & { readonly modeName: ModeWord };

/** Where people keep what is to be done, in the order in which it is looked for; project folders come after these. */
const usual: readonly (readonly [string, ModeWord])[] = [
  ['PRD.json', 'prd'],
  ['prd.json', 'prd'],
  ['tasks.json', 'project'],
  ['PROMPT.md', 'prompt'],
  ['fix_plan.md', 'prd'],
  ['@fix_plan.md', 'prd'],
  ['tasks.yaml', 'prd'],
  ['.claude/ralph-loop.local.md', 'prompt'],
];

/** The task lists of all projects in a folder, relative to it. */
function projectFiles(directory: string): readonly string[] {
  const folder = join(directory, '.artefacts');
  const names = existsSync(folder) ? readdirSync(folder).toSorted() : [];
  return names.map(name => join('.artefacts', name, 'tasks.json')).filter(path => existsSync(join(directory, path)));
}

/** Nobody named a document: the first of those that are there, and a word about the others. */
function usualDocument({ directory }: Sought, mode: ModeWord | undefined): Named {
  const all = [...usual, ...projectFiles(directory).map(path => [path, 'project'] as const)];
  const isMeant = (name: string, its: ModeWord): boolean =>
    mode === undefined || mode === its || modeName(mode) === modeFor(its, name);
  const there = all.filter(([name, its]) => isMeant(name, its) && existsSync(join(directory, name)));
  const seen = new Set<string>();
  const found = there.filter(([name]) => {
    const real = realpathSync(join(directory, name)); // PRD.json and prd.json may be one file
    return seen.has(real) ? false : seen.add(real);
  });
  const [first, ...others] = found;
  if (first === undefined) {
    const what = mode === undefined ? 'PRD.json' : (all.find(([, its]) => its === mode)?.[0] ?? 'document');
    throw new UsageError(
      mode === undefined
        ? 'There is nothing to run in this folder: no PRD.json, tasks.json, PROMPT.md, fix_plan.md or tasks.yaml.'
        : `There is no ${what} in this folder.`,
      'Name a file, say the goal in words (ralph run "make the tests pass"), or see one at work: ralph demo',
    );
  }
  // PROMPT.md beside a PRD.json holds its instructions.
  const rivals = others.filter(([name]) => !(first[1] === 'prd' && name === 'PROMPT.md')).map(([name]) => name);
  const notices =
    rivals.length === 0 ? [] : [`${first[0]} is run; there is also ${rivals.join(', ')}: name it to run that.`];
  return { modeName: first[1], path: realpathSync(join(directory, first[0])), notices };
}

/** Without --mode the text decides: the formats of these modes are asked in this order. */
const asked: readonly ModeWord[] = ['plan', 'project', 'prompt', 'prd'];

/** Boxes in a README are for its readers: to work through them must be said. */
async function refuseOtherBoxes(path: string, typed: string): Promise<void> {
  const { isListName } = await import('./lists/mode.ts');
  const name = basename(path);
  if (isListName(name) || isListName(basename(dirname(path)))) return;
  throw new UsageError(
    `${JSON.stringify(name)} holds boxes, but by its name it is no task list.`,
    `To work through them: --mode prd; to give the whole text to an agent: --mode prompt; or ralph review ${typed}`,
  );
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** `typed`: as the person named it, for the lines that are to be typed next. */
async function recognised(path: string, typed: string): Promise<ModeWord> {
  const name = basename(path);
  // One that cannot be read as such says itself what is wrong with it, and where.
  const byName = usual.find(([usualName]) => basename(usualName) === name)?.[1];
  const read = await readText(path, documentBytesMax);
  if (read.type !== 'text') return byName ?? 'prd';
  for (const mode of asked) {
    const { formats } = await openMode(modeFor(mode, path));
    const format = formats.find(one => one.recognises(name, read.text));
    if (format?.name === 'checklist') await refuseOtherBoxes(path, typed);
    if (format !== undefined) return mode;
  }
  if (byName !== undefined) return byName;
  const project = /\/\.artefacts\/([^/]+)\/spec\.md$/.exec(path)?.[1];
  if (project !== undefined)
    throw new UsageError(`${name} is the brief of ${project}, not its tasks.`, `ralph interview ${project}`);
  if (/\.jsonc?$/i.test(name) && !isJson(read.text)) return 'prd'; // which says where it is broken
  if (read.text.trim() === '')
    throw new UsageError(`${JSON.stringify(typed)} is empty.`, 'Write what is to be done into it.');
  throw new UsageError(
    `${JSON.stringify(typed)} is no document that Ralph knows: no PRD, task list, plan or prompt.`,
    `Say what it is (--mode prompt, prd, project or plan), or have it reviewed: ralph review ${typed}`,
  );
}

async function goalInWords({ directory, home, flags }: Sought, words: string): Promise<Named> {
  const { checkedGoal, goalDocument } = await import('./goal/session.ts');
  return goalDocument({ directory, home, isDry: flags['dryRun'] === true }, checkedGoal(words));
}

export async function findDocument(sought: Sought): Promise<FoundDocument> {
  const found = await namedBy(sought);
  if (found.modeName === 'prompt') await refuseOurInstructions(found.path);
  return { ...found, modeName: modeFor(found.modeName, found.path) };
}

/** The PROMPT.md that Ralph makes beside a list of tasks says how to work: as a task it would be paid for nothing. */
async function refuseOurInstructions(path: string): Promise<void> {
  const { instructions } = await openMode(modeFor('prd', path));
  if (basename(path) !== instructions?.name) return;
  const read = await readText(path, documentBytesMax);
  if (read.type !== 'text' || read.text.trim() !== instructions.text.trim()) return;
  const list = usual.find(([name, mode]) => mode === 'prd' && existsSync(join(dirname(path), name)))?.[0];
  throw new UsageError(
    `This ${basename(path)} is the one that Ralph made: instructions for every agent${list === undefined ? '' : ` of ${list}`}, and no task.`,
    list === undefined
      ? 'Write what is to be done into it, or name a task list: ralph run PRD.json'
      : `Run the tasks: ralph run ${list}`,
  );
}

async function namedBy(sought: Sought): Promise<Named> {
  const { file, goal, flags } = sought;
  const { mode } = flags;
  if (mode !== undefined && !isModeWord(mode))
    throw new UsageError(`--mode: there is no mode ${JSON.stringify(mode)}.`, `Say one of ${modeNames.join(', ')}.`);
  if (goal !== undefined && mode !== undefined && mode !== 'goal')
    throw new UsageError(`A goal in words has the mode goal, not ${mode}.`, 'Leave out mode, or name a document.');
  if (goal !== undefined) return goalInWords(sought, goal);
  if (file !== undefined) return namedDocument(sought, file, mode);
  if (mode === 'goal') throw new UsageError('A goal is said in words.', 'ralph run "make the tests pass"');
  return usualDocument(sought, mode);
}

/** What was typed: a file, or a goal in words. */
async function namedDocument(sought: Sought, given: string, mode: ModeWord | undefined): Promise<Named> {
  const { directory } = sought;
  if (given === '-')
    throw new UsageError(
      'A document is written back, so it cannot come from standard input.',
      'Save it as a file: ralph run PRD.json',
    );
  if (given.includes('\0')) throw new UsageError('The file name holds a NUL character.');
  const path = resolve(directory, given);
  const isThere = given.trim() !== '' && existsSync(path);
  if (isThere && mode === 'goal')
    throw new UsageError(
      `${JSON.stringify(given)} is a file, and a goal is said in words.`,
      `Give its text to an agent until it is done: --mode prompt`,
    );
  if (isThere) {
    const real = realpathSync(path);
    return { modeName: mode ?? (await recognised(real, given)), path: real, notices: [] };
  }
  // A word alone is a file that is not there; several are a goal.
  const isGoal = mode === 'goal' || given.trim() === '' || (mode === undefined && /\s/.test(given.trim()));
  if (isGoal) return goalInWords(sought, given);
  const missing = `There is no file ${JSON.stringify(given.slice(0, 200))}`;
  const meant = nearest(basename(path), namesIn(dirname(path)), 2);
  if (meant !== undefined) throw new UsageError(`${missing}; did you mean ${meant}?`, `Say it again with ${meant}.`);
  throw new UsageError(
    `${missing}.`,
    mode === undefined
      ? 'Name another file, or say a goal in several words: ralph run "make the tests pass"'
      : mode === 'review'
        ? 'Name the document that is to be reviewed: ralph review README.md'
        : 'Name another file.',
  );
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap(one => (one.isFile() ? [one.name] : []));
  } catch {
    return [];
  }
}
