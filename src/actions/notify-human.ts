// Leaves a note for a person where a step of a plan asks for one; the plan itself goes on.

import { mkdir } from 'node:fs/promises';
import type { Assignment, Performer } from '../agents/performer.ts';
import { oneLine, stripControls, takeCharacters } from '../text/text.ts';
import { failed, fileAction, type Prepared, placeOf, type Written } from './create-file.ts';
import { makeFile } from './new-file.ts';

export interface NotifyHumanOptions {
  /** Its folder Needs_Action is where notes lie. Made when it is missing. */
  readonly vault: string;
  readonly plan: {
    readonly id: string;
    readonly objective: string;
    /** The file of the plan, as a person would name it. */
    readonly document: string;
  };
}

const messageCharsMax = 20_000;
const notesMax = 20;

/** Doing it twice is as good as once: a note that lies there already is not written again. */
export function notifyHuman(options: NotifyHumanOptions): Performer {
  return fileAction('notify_human', assignment => prepare(options, assignment));
}

async function prepare(options: NotifyHumanOptions, assignment: Assignment): Promise<Prepared> {
  if (assignment.order?.type !== 'notify_human') return failed('invalid', 'this is no order to notify a person');
  const text = noteOf(options, assignment, assignment.order.message);
  return { write: () => leave(options, assignment, text) };
}

/** Somebody may have written into an older note of the same name: it stays, and the new one gets a number. */
async function leave(options: NotifyHumanOptions, assignment: Assignment, text: string): Promise<Written> {
  await mkdir(options.vault, { recursive: true });
  const stem = `plan_notification_${fileName(options.plan.id)}_step_${fileName(stepOf(assignment.task))}`;
  for (let number = 1; number <= notesMax; number += 1) {
    const name = `${stem}${number === 1 ? '' : `_${number}`}.md`;
    const place = await placeOf(`vault/Needs_Action/${name}`, { vault: options.vault });
    if ('problem' in place) return failed('refused', `Needs_Action of the vault ${place.problem}`);
    const made = await makeFile(place.parent, place.path, text);
    if (made.type === 'moved') return failed('refused', 'Needs_Action of the vault was moved or linked meanwhile');
    if (made.type === 'made' || made.type === 'same') return { message: `The note is in ${name}.` };
  }
  return failed('refused', `there are ${notesMax} notes of this step already`);
}

function noteOf({ plan }: NotifyHumanOptions, assignment: Assignment, message: string): string {
  const step = stepOf(assignment.task);
  const loop = shortened(assignment.loop);
  const words = takeCharacters(stripControls(message).trim(), messageCharsMax);
  return [
    '---',
    `plan_id: ${quoted(plan.id)}`,
    `step_num: ${/^\d{1,9}$/.test(step) ? step : quoted(step)}`,
    'severity: info',
    'action_required: true',
    '---',
    '',
    `# Step ${shortened(step)} of a plan has a word for you`,
    '',
    words === '' ? 'The plan gives no message for this step; read the step itself.' : words,
    '',
    '## What this is about',
    '',
    `- Plan: ${shortened(plan.objective)}`,
    `- File: ${shortened(plan.document)}`,
    `- Loop: ${loop}`,
    '',
    '## How to answer',
    '',
    'The plan does not wait for you: it goes on with its next step.',
    '',
    `- To tell it something: \`ralph tell ${loop} "your words"\``,
    `- To hold it: \`ralph pause ${loop}\`; to end it: \`ralph stop ${loop}\``,
    '- When you are done with this note, delete it or move it away.',
    '',
  ].join('\n');
}

/** `step_3`, `step-3` and `3` are all the third step. */
function stepOf(task: string): string {
  return /^(?:step[_ -]?)?(\d+)$/i.exec(task)?.[1] ?? task;
}

const shortened = (text: string): string => oneLine(text, 300);

/** JSON is YAML, and quotes keep words like `yes` and `1e3` what they are. */
function quoted(text: string): string {
  return /^[A-Za-z]+_[\w-]*$/.test(text) ? text : JSON.stringify(shortened(text));
}

function fileName(text: string): string {
  return text.replace(/[^\w-]+/g, '_').slice(0, 80) || '_';
}
