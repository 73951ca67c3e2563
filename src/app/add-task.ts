// Adding a task to a document, for every surface: its texts are checked, and the document that is meant is found.
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { UsageError } from '../text/errors.ts';
import { stateOf } from './app.ts';
import { documentHere, loopHere, type TaskPlace } from './task-subject.ts';
import { type NewTask, visible } from './tasks.ts';

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

/** The file that was named, else the list of the loop that works here, else the one that `ralph run` would take. */
export async function targetOf(place: TaskPlace, file: string | undefined): Promise<string> {
  if (file !== undefined) {
    if (file.includes('\0')) throw new UsageError('The file name holds a NUL character.');
    try {
      return realpathSync(resolve(place.directory, file));
    } catch {
      throw new UsageError(
        `There is no file ${JSON.stringify(visible(file.slice(0, 200)))}.`,
        'Name one that is there: --file PRD.json',
      );
    }
  }
  const row = await loopHere(place);
  if (place.ledger === undefined || row === undefined || row.reason !== null) return documentHere(place);
  const { mode } = (await stateOf(place.ledger, row.loop)).state.settings;
  return mode === 'prd' || mode === 'project' ? row.document : documentHere(place);
}
