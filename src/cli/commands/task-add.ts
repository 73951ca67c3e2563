// `ralph task add`: one task more in the document; a loop that works on it takes it up by itself.
import { basename } from 'node:path';
import { isRunning } from '../../app/loops/find.ts';
import { type TaskPlace, targetOf } from '../../app/task-subject.ts';
import { addToFile, checkedTask, suspiciousTexts } from '../../app/tasks.ts';
import { visible } from '../../text/text.ts';
import { type Context, type Flags, givenText, taskPlace, textFlag, type Words } from '../context.ts';
import { runWords } from '../task-words.ts';

const listed = (flag: unknown): readonly string[] => (Array.isArray(flag) ? (flag as readonly string[]) : []);

/** What becomes of it. */
async function followUp({ directory, ledger }: TaskPlace, path: string): Promise<string> {
  const [row] = (await ledger?.store.loops({ document: path, open: true })) ?? [];
  const go = runWords(directory, path);
  if (ledger === undefined || row === undefined) return `To have it done: ${go}`;
  return (await isRunning(ledger, row.loop))
    ? `Loop ${row.name} reads it before its next iteration.`
    : `Loop ${row.name} takes it up when it goes on: ${go}`;
}

export async function execute(context: Context, [title]: Words, flags: Flags): Promise<number> {
  const text = textFlag(flags, 'description');
  const wanted = await checkedTask(
    { title: title ?? '', criteria: listed(flags['criterion']), dependsOn: listed(flags['after']) },
    async () => (text === undefined ? '' : givenText(context, text, 'description')),
  );
  const place = await taskPlace(context);
  const path = await targetOf(place, textFlag(flags, 'file'));
  const id = textFlag(flags, 'id');
  const task = await addToFile(path, wanted, { id, mayLackCriteria: flags['criteria'] === false });
  context.out(task.id);
  context.say(
    `Added to ${visible(basename(path))}: ${task.id}, ${visible(task.title)}. Everything else in it is as it was.`,
  );
  for (const notice of suspiciousTexts([task])) context.say(`note: ${notice}`);
  context.say(`  ${await followUp(place, path)}`);
  context.say(`  To take it back, delete it from the file; once a loop has read it: ralph task skip ${task.id}`);
  return 0;
}
