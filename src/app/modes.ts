// Modes: the one that a document means, loaded when it is needed, and the document opened for it.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { ModeName } from '../core/settings.ts';
import { type Format, type FormatOptions, lenient, type Parsed, type TaskSource } from '../documents/document.ts';
import { type InstructionsFile, readText } from '../documents/text-file.ts';
import type { Mode } from '../modes/mode.ts';
import { openMode, openModeSession } from '../modes/registry.ts';
import { makeRedactor, secretValues } from '../secrets/redactor.ts';
import { UsageError } from '../text/errors.ts';

const documentBytesMax = 64 * 1024 * 1024;

/** The format of the mode that knows this text; the mode's last, the loosest, when none does: it says what is wrong. */
async function formatFor({ formats, name }: Mode, path: string): Promise<Format> {
  const read = formats.length < 2 ? undefined : await readText(path, documentBytesMax);
  const text = read?.type === 'text' ? read.text : '';
  const format = formats.find(one => read?.type === 'text' && one.recognises(basename(path), text)) ?? formats.at(-1);
  if (format === undefined) throw new UsageError(`The mode ${name} reads no document.`);
  return format;
}

export interface FoundDocument {
  readonly mode: ModeName;
  readonly path: string;
  /** Of a goal that was not written yet, because nothing may be. */
  readonly text?: string;
  readonly notices: readonly string[];
}

interface Sought {
  readonly directory: string;
  readonly home: string;
  /** A file, or a goal in words. */
  readonly given: string | undefined;
  /** A goal, also where it looks like a file. */
  readonly goal?: string | undefined;
  readonly mode: ModeName | undefined;
  /** Nothing may be written, not even the goal into our own folder. */
  readonly isDry: boolean;
}

/** Where people keep what is to be done, in the order in which it is looked for; project folders come after these. */
const usual: readonly (readonly [string, ModeName])[] = [
  ['PRD.json', 'prd'],
  ['prd.json', 'prd'],
  ['tasks.json', 'project'],
  ['PROMPT.md', 'prompt'],
  ['fix_plan.md', 'prd'],
  ['@fix_plan.md', 'prd'],
  ['tasks.yaml', 'prd'],
  ['.claude/ralph-loop.local.md', 'prompt'],
];

function projectsIn(directory: string): readonly (readonly [string, ModeName])[] {
  const folder = join(directory, '.artefacts');
  const names = existsSync(folder) ? readdirSync(folder).toSorted() : [];
  return names
    .map(name => join('.artefacts', name, 'tasks.json'))
    .filter(path => existsSync(join(directory, path)))
    .map(path => [path, 'project'] as const);
}

/** Nobody named a document: the first of those that are there, and a word about the others. */
function usualDocument({ directory, mode }: Sought): FoundDocument {
  const all = [...usual, ...projectsIn(directory)];
  const there = all.filter(([name, its]) => (mode ?? its) === its && existsSync(join(directory, name)));
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
  return { mode: first[1], path: realpathSync(join(directory, first[0])), notices };
}

/** Without --mode the text decides: the formats of these modes are asked in this order. */
const asked: readonly ModeName[] = ['plan', 'project', 'prompt', 'prd'];

/** Boxes in a README are for its readers: to work through them must be said. */
async function refuseOtherBoxes(path: string): Promise<void> {
  const { isListName } = await import('../modes/lists/mode.ts');
  const name = basename(path);
  if (isListName(name) || isListName(basename(dirname(path)))) return;
  throw new UsageError(
    `${JSON.stringify(name)} holds boxes, but by its name it is no task list.`,
    `To work through them: --mode prd; to give the whole text to an agent: --mode prompt; or ralph review ${name}`,
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

async function recognised(path: string): Promise<ModeName> {
  const name = basename(path);
  // One that cannot be read as such says itself what is wrong with it, and where.
  const byName = usual.find(([usualName]) => basename(usualName) === name)?.[1];
  const read = await readText(path, documentBytesMax);
  if (read.type !== 'text') return byName ?? 'prd';
  for (const mode of asked) {
    const { formats } = await openMode(mode, path);
    const format = formats.find(one => one.recognises(name, read.text));
    if (format?.name === 'checklist') await refuseOtherBoxes(path);
    if (format !== undefined) return mode;
  }
  if (byName !== undefined) return byName;
  const project = /\/\.artefacts\/([^/]+)\/spec\.md$/.exec(path)?.[1];
  if (project !== undefined)
    throw new UsageError(`${name} is the brief of ${project}, not its tasks.`, `ralph interview ${project}`);
  if (/\.jsonc?$/i.test(name) && !isJson(read.text)) return 'prd'; // which says where it is broken
  throw new UsageError(
    `${JSON.stringify(name)} is no document that Ralph knows: no PRD, task list, plan or prompt.`,
    `Say what it is (--mode prompt, prd, project or plan), or have it reviewed: ralph review ${name}`,
  );
}

/**
 * The goal lies where no agent reaches it, under a name that the same words in the same folder find again. What lies there
 * is never believed: a write may have been cut short, an agent without a sandbox may have been there.
 */
async function goalDocument({ directory, home, isDry }: Sought, goal: string): Promise<FoundDocument> {
  const hash = createHash('sha256').update(`${directory}\0${goal}`).digest('hex').slice(0, 32);
  const path = join(home, 'goals', `${hash}.md`);
  if (isDry) return { mode: 'goal', path, notices: [], text: goal };
  const bytes = Buffer.from(`${goal}\n`);
  const there = await readFile(path).catch(() => undefined);
  if (there?.equals(bytes) !== true) {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const { replaceFile } = await import('../documents/replace-file.ts');
    await replaceFile(path, bytes, { mode: 0o600 });
  }
  return { mode: 'goal', path, notices: [] };
}

const goalCharsMax = 20_000;

function checkedGoal(text: string): string {
  const goal = text.trim();
  if (goal === '') throw new UsageError('The goal is empty.', 'Say it in words: ralph run "make the tests pass"');
  if (goal.includes('\0')) throw new UsageError('The goal holds a NUL character.');
  if (goal.length > goalCharsMax)
    throw new UsageError(
      `The goal is longer than ${goalCharsMax} characters.`,
      'Put it into a PROMPT.md and run that.',
    );
  return goal;
}

export async function findDocument(sought: Sought): Promise<FoundDocument> {
  const { given, goal, mode } = sought;
  if (goal !== undefined) return goalDocument(sought, checkedGoal(goal));
  if (given !== undefined) return namedDocument(sought, given);
  if (mode === 'goal') throw new UsageError('A goal is said in words.', 'ralph run "make the tests pass"');
  return usualDocument(sought);
}

/** What was typed: a file, or a goal in words. */
async function namedDocument(sought: Sought, given: string): Promise<FoundDocument> {
  const { directory, mode } = sought;
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
    return { mode: mode ?? (await recognised(real)), path: real, notices: [] };
  }
  // A word alone is a file that is not there; several are a goal.
  const isGoal = mode === 'goal' || given.trim() === '' || (mode === undefined && /\s/.test(given.trim()));
  if (isGoal) return goalDocument(sought, checkedGoal(given));
  throw new UsageError(
    `There is no file ${JSON.stringify(given.slice(0, 200))}.`,
    mode === undefined
      ? 'Write one (docs/formats), name another file, or say a goal in several words: ralph run "make the tests pass"'
      : mode === 'review'
        ? 'Name the document that is to be reviewed: ralph review README.md'
        : 'Write one (docs/formats), or name another file.',
  );
}

export interface DocumentPlace {
  readonly mode: ModeName;
  readonly path: string;
  /** Where the work happens. */
  readonly directory: string;
  readonly options?: FormatOptions;
}

function instructionsOf({ instructions }: Mode, { path, directory }: DocumentPlace): InstructionsFile | undefined {
  if (instructions === undefined) return undefined;
  const { name, within, text, isWritten } = instructions;
  return { path: join(within === 'document' ? dirname(path) : directory, name), text, isWritten };
}

export async function documentSource(
  env: Readonly<Record<string, string | undefined>>,
  place: DocumentPlace & { readonly folder: string },
): Promise<{ readonly source: TaskSource; readonly mode: Mode }> {
  const mode = await openMode(place.mode, place.path);
  const { fileSource } = await import('../documents/file.ts');
  const source = fileSource({
    path: place.path,
    format: await formatFor(mode, place.path),
    options: place.options ?? lenient,
    copyPath: join(place.folder, 'document'),
    redact: makeRedactor(secretValues(env)),
    signals: (await openModeSession(place.mode, place.path)).signals?.(place.path) ?? [],
    instructions: instructionsOf(mode, place),
    damage: mode.damage,
  });
  return { source, mode };
}

/** `text`: of a document that is not written yet. */
export async function readDocument(place: DocumentPlace, text?: string): Promise<Parsed> {
  const mode = await openMode(place.mode, place.path);
  const format = await formatFor(mode, place.path);
  if (text !== undefined) return format.parse(text, place.options);
  const { readParsed } = await import('../documents/file.ts');
  return readParsed(place.path, format, place.options ?? {}, instructionsOf(mode, place)?.path);
}
