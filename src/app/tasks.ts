// Task documents as files, for `ralph task`: read in any format, given one task more, written as a document of another one.
import { constants } from 'node:fs';
import { copyFile, readFile, realpath } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { makeFile } from '../actions/new-file.ts';
import type { TaskSpec } from '../core/task.ts';
import type { Backlog, Loss } from '../documents/convert/losses.ts';
import type { Adder, NewTask } from '../documents/convert/new-task.ts';
import type { WriterName } from '../documents/convert/write.ts';
import { type Format, lenient, type ParsedDocument } from '../documents/document.ts';
import { replaceFile } from '../documents/replace-file.ts';
import { documentBytesMax, errorCode, type FileIdentity, readText } from '../documents/text-file.ts';
import { UsageError } from '../text/errors.ts';
import { nearest } from '../text/similarity.ts';
import { suspicion, visible } from '../text/text.ts';
import { refuseProblems } from './problems.ts';

export type { Loss, WriterName };

const listedMax = 20;

/** By the file's kind, in the order in which they are asked; a plan or a prompt may hold boxes too. */
async function formatsOf(path: string): Promise<readonly Format[]> {
  const kind = extname(path).toLowerCase();
  if (kind === '.json')
    return [
      (await import('../documents/formats/tasks.ts')).projectTasks,
      (await import('../documents/formats/prd.ts')).prd,
    ];
  if (kind === '.yaml' || kind === '.yml') return [(await import('../documents/formats/yaml-tasks.ts')).yamlTasks];
  return [
    (await import('../modes/plan/document/plan.ts')).plan,
    (await import('../documents/formats/ralph-loop.ts')).ralphLoop,
    (await import('../documents/formats/prompt.ts')).prompt,
    (await import('../documents/formats/sectioned-plan.ts')).sectionedPlan,
    (await import('../documents/formats/checklist.ts')).checklist,
  ];
}

export interface TaskFile {
  readonly path: string;
  readonly format: Format;
  readonly text: string;
  readonly identity: FileIdentity;
  readonly document: ParsedDocument;
}

async function recognisedFormat(path: string, text: string): Promise<Format | undefined> {
  const formats = await formatsOf(path);
  return formats.find(one => one.recognises(basename(path), text));
}

/** Refused in sentences when it cannot be read as tasks. */
export async function readTaskFile(path: string): Promise<TaskFile> {
  const read = await readText(path, documentBytesMax);
  if (read.type !== 'text') refuseProblems([read.problem]);
  const { text, identity } = read;
  const format = await recognisedFormat(path, text);
  if (format === undefined)
    throw new UsageError(
      `${visible(basename(path))} is no task document that Ralph knows.`,
      'Known are PRD.json, tasks.json, checklists and plans in Markdown, YAML lists, PROMPT.md: docs/formats',
    );
  const parsed = format.parse(text, lenient);
  if (!parsed.ok) refuseProblems(parsed.problems, visible(basename(path)));
  return { path, format, text, identity, document: parsed.document };
}

// One task more: its texts are checked, and a dependency must be there.

const titleCharsMax = 500;
const textCharsMax = 20_000;
const listMax = 100;
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

/** One line of words, without what a terminal would obey (B37). */
function oneLine(text: string, what: string): string {
  const line = text.trim();
  if (line === '') throw new UsageError(`The ${what} is empty.`, 'ralph task add "Greet by name"');
  if (/[\n\r\t\u2028\u2029]/.test(line) || controls.test(line))
    throw new UsageError(
      `The ${what} holds a line break or a control character: ${visible(line.slice(0, 80))}.`,
      'Say it in one line.',
    );
  if (line.length > titleCharsMax)
    throw new UsageError(`The ${what} is longer than ${titleCharsMax} characters.`, 'Put the rest into --description.');
  return line.replace(/ +/g, ' ');
}

function checkedDescription(given: string): string {
  const text = given.replace(/\r\n?/g, '\n');
  if (controls.test(text)) throw new UsageError('The description holds a control character.', 'Give plain text.');
  if (text.length > textCharsMax)
    throw new UsageError(
      `The description is longer than ${textCharsMax} characters.`,
      'Put it into a file and name that.',
    );
  return text;
}

/** The same task, when its texts can stand in a document; refused otherwise. `described` may wait for standard input. */
export async function checkedTask(
  { title, criteria, dependsOn }: Omit<NewTask, 'description'>,
  described: () => Promise<string>,
): Promise<NewTask> {
  const checked = criteria.map(one => oneLine(one, 'criterion'));
  const after = [...new Set(dependsOn)];
  if (checked.length > listMax || after.length > listMax)
    throw new UsageError(`More than ${listMax} criteria or dependencies are one task too few.`, 'Split the task.');
  return {
    title: oneLine(title, 'title'),
    description: checkedDescription(await described()),
    criteria: checked,
    dependsOn: after,
  };
}

async function adderOf({ format, path }: TaskFile): Promise<Adder> {
  const name = visible(basename(path));
  switch (format.name) {
    case 'prd':
      return (await import('../documents/convert/add-json.ts')).prdAdder;
    case 'tasks':
      return (await import('../documents/convert/add-json.ts')).tasksAdder;
    case 'yaml-tasks':
      return (await import('../documents/convert/add-yaml.ts')).yamlAdder;
    case 'checklist':
      return (await import('../documents/convert/add-markdown.ts')).checklistAdder;
    case 'sectioned-plan':
      return (await import('../documents/convert/add-markdown.ts')).sectionAdder;
    case 'plan':
      throw new UsageError(
        `${name} is a plan, and what a plan does is approved step by step.`,
        `Write the step into it, then approve it anew: ralph plan approve ${name}`,
      );
    default:
      throw new UsageError(
        `${name} is one task as a whole: nothing can be added to it.`,
        'Write it into the text itself, or keep tasks in a list: ralph help task import',
      );
  }
}

function refuseUnknown(dependsOn: readonly string[], { document }: TaskFile): void {
  const ids = document.tasks.map(task => task.id);
  const unknown = dependsOn.find(id => !ids.includes(id));
  if (unknown === undefined) return;
  const meant = nearest(unknown, ids);
  throw new UsageError(
    `There is no task ${JSON.stringify(visible(unknown.slice(0, 80)))} to wait for.`,
    meant === undefined ? 'See them: ralph task list' : `Did you mean ${meant}?`,
  );
}

interface AddOptions {
  readonly id: string | undefined;
  readonly mayLackCriteria: boolean;
}

const addTriesMax = 5;

/** A loop may mark its own tasks in the same moment: then we add to what it wrote. */
export async function addToFile(path: string, wanted: NewTask, options: AddOptions): Promise<TaskSpec> {
  for (let tries = 1; tries <= addTriesMax; tries += 1) {
    const added = await addOnce(path, wanted, options);
    if (added !== 'changed') return added;
  }
  const problem = `${visible(basename(path))} was changed in the same moment.`;
  throw new UsageError(problem, 'Nothing was written: run the command once more.');
}

/** The file is replaced in one step, and only in the version that was read. */
async function addOnce(
  path: string,
  wanted: NewTask,
  { id, mayLackCriteria }: AddOptions,
): Promise<TaskSpec | 'changed'> {
  const file = await readTaskFile(path);
  const adder = await adderOf(file);
  const name = visible(basename(path));
  if (file.format.name === 'prd' && wanted.criteria.length === 0 && !mayLackCriteria)
    throw new UsageError(
      'The story has no criteria: how will we know it is done?',
      'Add --criterion "what must be true" for each, or --no-criteria.',
    );
  refuseUnknown(
    wanted.dependsOn.filter(one => one !== id),
    file,
  );
  const { addTask } = await import('../documents/convert/new-task.ts');
  const added = addTask(adder, file.text, wanted, id);
  if (!added.ok) refuseProblems(added.problems, name);
  const done = await replaceFile(path, Buffer.from(added.text), { expected: file.identity }).catch((error: unknown) => {
    throw new UsageError(`${name} cannot be written (${errorCode(error)}).`, 'Nothing was changed.');
  });
  return done.type === 'changed' ? 'changed' : added.task;
}

export interface Converted {
  readonly text: string;
  readonly losses: readonly Loss[];
}

function jsonText({ project, goal, tasks }: Backlog): Converted {
  const rows = tasks.map(
    ({ dependsOn, done, skipped, blocked, attemptsBefore, attemptsMax, section: _u, documentId: _c, ...task }) => ({
      ...task,
      depends_on: dependsOn,
      status: done ? 'done' : skipped ? 'skipped' : blocked ? 'blocked' : 'pending',
      attempts: attemptsBefore ?? 0,
      max_attempts: attemptsMax,
    }),
  );
  return { text: `${JSON.stringify({ version: 1, project, goal, tasks: rows }, null, 2)}\n`, losses: [] };
}

/** `json` is everything, for programs. */
export async function converted(backlog: Backlog, to: WriterName | 'json'): Promise<Converted> {
  if (to === 'json') return jsonText(backlog);
  const { writeTasks } = await import('../documents/convert/write.ts');
  const written = writeTasks(to, backlog);
  return written.ok ? written : refuseProblems(written.problems);
}

/** What the reading itself leaves behind. */
export async function unreadParts({ format, text }: TaskFile): Promise<readonly Loss[]> {
  const { unreadParts } = await import('../documents/convert/losses.ts');
  return unreadParts(format.name, text);
}

export async function writerNamed(path: string): Promise<WriterName> {
  const { writerFor } = await import('../documents/convert/write.ts');
  const writer = writerFor(basename(path));
  if (writer !== undefined) return writer;
  throw new UsageError(
    `What ${visible(basename(path))} shall be cannot be told from its name.`,
    'Name it PRD.json, tasks.json, NAME.md (a checklist) or NAME.yaml.',
  );
}

/** A name can mean another format: a checklist called PROMPT.md would be one prompt. */
async function refuseOtherName(path: string, text: string, writer: WriterName): Promise<void> {
  const { isReadAs } = await import('../documents/convert/write.ts');
  const format = await recognisedFormat(path, text);
  if (format !== undefined && isReadAs(writer, format.name)) return;
  throw new UsageError(
    `Under the name ${visible(basename(path))} it would be read as ${format === undefined ? 'nothing that Ralph knows' : `a ${format.name}`}.`,
    'Give it another name: --to tasks.md, for example.',
  );
}

/** `kept`: where the file is now in whose place the document was put. */
export type Written = { readonly type: 'made' | 'same' } | { readonly type: 'replaced'; readonly kept: string };

const copiesMax = 1_000;

/** The file stays beside its successor, under a name that is free. */
async function keepCopy(path: string): Promise<string> {
  for (let count = 1; ; count += 1) {
    const kept = `${path}.before${count === 1 ? '' : `-${count}`}`;
    try {
      await copyFile(path, kept, constants.COPYFILE_EXCL);
      return kept;
    } catch (error) {
      if (errorCode(error) !== 'EEXIST' || count === copiesMax) throw error;
    }
  }
}

async function replaceDocument(path: string, text: string): Promise<Written> {
  const real = await realpath(path).catch(() => undefined);
  const before = real === undefined ? undefined : await readFile(real);
  if (before?.equals(Buffer.from(text)) === true) return { type: 'same' };
  const kept = real === undefined ? undefined : await keepCopy(real);
  await replaceFile(path, Buffer.from(text));
  return kept === undefined ? { type: 'made' } : { type: 'replaced', kept };
}

/** Never over a file that is there, unless it is told to; that one is kept. */
export async function writeDocument(
  path: string,
  text: string,
  { writer, isForced }: { readonly writer: WriterName | 'json'; readonly isForced: boolean },
): Promise<Written> {
  if (writer !== 'json') await refuseOtherName(path, text, writer);
  const name = visible(basename(path));
  const folder = await realpath(dirname(path)).catch(() => undefined);
  if (folder === undefined)
    throw new UsageError(`There is no folder ${visible(dirname(path))}.`, 'Make it first, or name another file.');
  try {
    if (isForced) return await replaceDocument(path, text);
    const made = await makeFile(folder, join(folder, basename(path)), text);
    if (made.type === 'made' || made.type === 'same') return { type: made.type };
  } catch (error) {
    throw new UsageError(`${name} cannot be written (${errorCode(error)}).`, 'Choose another place: --to FILE');
  }
  throw new UsageError(`${name} is there already, and is as it was.`, 'Name another file with --to, or use --force.');
}

/** What a reader of these texts would not see (B50, B51). */
export function suspiciousTexts(tasks: readonly Texts[]): readonly string[] {
  const notices = noticesIn(tasks);
  const rest = notices.length - listedMax;
  const listed = notices.slice(0, listedMax).map(one => one.sentence);
  return rest > 0 ? [...listed, `${rest} more texts look odd.`] : listed;
}

/** Of what `suspiciousTexts` lists, only the HTML comments. */
export const suspiciousComments = (tasks: readonly Texts[]): readonly string[] =>
  noticesIn(tasks)
    .slice(0, listedMax)
    .flatMap(one => (one.isComment ? [one.sentence] : []));

type Texts = Pick<TaskSpec, 'id' | 'title' | 'description' | 'criteria'>;

const noticesIn = (tasks: readonly Texts[]): readonly { readonly sentence: string; readonly isComment: boolean }[] =>
  tasks.flatMap(({ id, title, description, criteria }) =>
    Object.entries({ title, description, criteria: criteria.join('\n') }).flatMap(([what, text]) => {
      const doubt = suspicion(text);
      const says = `${what} of ${id} ${doubt} It says: ${visible(text).slice(0, 200)}`;
      const comment = `${what} of ${id} holds an HTML comment, which agents read.`;
      return [
        ...(doubt === undefined ? [] : [{ sentence: says, isComment: false }]),
        ...(text.includes('<!--') ? [{ sentence: comment, isComment: true }] : []),
      ];
    }),
  );
