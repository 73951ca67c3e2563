// `ralph task add`: one task more in the document; a loop that works on it takes it up by itself.
import { realpathSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { stateOf } from '../../app/app.ts';
import { addToFile, type NewTask, suspiciousTexts, visible } from '../../app/tasks.ts';
import { UsageError } from '../../text/errors.ts';
import type { Context, Flags, Words } from '../context.ts';
import { documentHere, loopHere, runWords } from '../task-subject.ts';
import { givenText } from '../terminal.ts';

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

const listed = (flag: unknown): readonly string[] => (Array.isArray(flag) ? (flag as readonly string[]) : []);

async function described(context: Context, flag: unknown): Promise<string> {
  if (typeof flag !== 'string') return '';
  const text = (await givenText(flag, 'description', context.say)).replace(/\r\n?/g, '\n');
  if (controls.test(text)) throw new UsageError('The description holds a control character.', 'Give plain text.');
  if (text.length > textCharsMax)
    throw new UsageError(
      `The description is longer than ${textCharsMax} characters.`,
      'Put it into a file and name that.',
    );
  return text;
}

async function wantedTask(context: Context, title: string | undefined, flags: Flags): Promise<NewTask> {
  const criteria = listed(flags['criterion']).map(one => oneLine(one, 'criterion'));
  const dependsOn = [...new Set(listed(flags['after']))];
  if (criteria.length > listMax || dependsOn.length > listMax)
    throw new UsageError(`More than ${listMax} criteria or dependencies are one task too few.`, 'Split the task.');
  return {
    title: oneLine(title ?? '', 'title'),
    description: await described(context, flags['description']),
    criteria,
    dependsOn,
  };
}

/** The file that was named, else the list of the loop that works here, else the one that `ralph run` would take. */
async function targetOf(context: Context, file: unknown): Promise<string> {
  if (typeof file === 'string') {
    if (file.includes('\0')) throw new UsageError('The file name holds a NUL character.');
    try {
      return realpathSync(resolve(context.directory, file));
    } catch {
      throw new UsageError(
        `There is no file ${JSON.stringify(visible(file.slice(0, 200)))}.`,
        'Name one that is there: --file PRD.json',
      );
    }
  }
  const here = await loopHere(context);
  const isOpen = here !== undefined && here.row.reason === null;
  const mode = isOpen ? (await stateOf(here.ledger, here.row.loop)).state.settings.mode : undefined;
  return isOpen && (mode === 'prd' || mode === 'project') ? here.row.document : documentHere(context);
}

/** What becomes of it. */
async function followUp(context: Context, path: string): Promise<string> {
  const ledger = context.hasLedger() ? await context.ledger() : undefined;
  const [row] = (await ledger?.store.loops({ document: path, open: true })) ?? [];
  const go = runWords(context.directory, path);
  if (ledger === undefined || row === undefined) return `To have it done: ${go}`;
  const isAlive = (await ledger.store.holder(row.loop))?.alive === true;
  return isAlive
    ? `Loop ${row.name} reads it before its next iteration.`
    : `Loop ${row.name} takes it up when it goes on: ${go}`;
}

export async function execute(context: Context, [title]: Words, flags: Flags): Promise<number> {
  const wanted = await wantedTask(context, title, flags);
  const path = await targetOf(context, flags['file']);
  const id = typeof flags['id'] === 'string' ? flags['id'] : undefined;
  const task = await addToFile(path, wanted, { id, mayLackCriteria: flags['criteria'] === false });
  context.out(task.id);
  context.say(
    `Added to ${visible(basename(path))}: ${task.id}, ${visible(task.title)}. Everything else in it is as it was.`,
  );
  for (const notice of suspiciousTexts([task])) context.say(`note: ${notice}`);
  context.say(`  ${await followUp(context, path)}`);
  context.say(`  Undo: take ${task.id} out of the file again; once a loop has read it: ralph task skip ${task.id}`);
  return 0;
}
