// `ralph task import`: the tasks of any document that Ralph reads, as a new document, with a list of what was left behind.
import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { newestLoop } from '../../app/loops.ts';
import { closedIn } from '../../app/session/resume-rules.ts';
import {
  converted,
  readTaskFile,
  suspiciousComments,
  type TaskFile,
  unreadParts,
  visible,
  writeDocument,
  writerNamed,
} from '../../app/tasks.ts';
import type { TaskSpec } from '../../core/task.ts';
import { plural, someOf } from '../../text/format.ts';
import { type Context, type Flags, ledgerIfAny, textFlag, type Words } from '../context.ts';
import { runWords } from '../task-words.ts';
import { lossLines, pathOf, refuseItself } from './task-export.ts';

const idsMax = 10;

/** What a loop of this very file has brought to an end, by its ledger. */
async function recordedIn(context: Context, path: string): Promise<ReadonlySet<string>> {
  return closedIn((await newestLoop(await ledgerIfAny(context), realpathSync(path)))?.state);
}

/** Nobody knows who ticked it before there was a record (B48). */
function reopened(
  tasks: readonly TaskSpec[],
  recorded: ReadonlySet<string>,
): { tasks: readonly TaskSpec[]; ticked: readonly string[] } {
  const isDoubtful = ({ id, done, skipped }: TaskSpec): boolean => (done || skipped) && !recorded.has(id);
  return {
    tasks: tasks.map(task => (isDoubtful(task) ? { ...task, done: false, skipped: false } : task)),
    ticked: tasks.filter(isDoubtful).map(task => task.id),
  };
}

/** JSON formats do not look for comments themselves. */
const noticesOf = ({ format, document }: TaskFile): readonly string[] => {
  const comments = format.name === 'prd' || format.name === 'tasks' ? suspiciousComments(document.tasks) : [];
  return [...document.notices, ...comments];
};

export async function execute(context: Context, [from = '']: Words, flags: Flags): Promise<number> {
  const source = pathOf(context, from);
  const target = pathOf(context, textFlag(flags, 'to') ?? 'PRD.json');
  const name = visible(basename(target));
  const writer = await writerNamed(target);
  const file = await readTaskFile(source);
  refuseItself(source, target);
  const all = file.document.tasks;
  const { tasks, ticked } =
    flags['acceptTicked'] === true ? { tasks: all, ticked: [] } : reopened(all, await recordedIn(context, source));
  const { text, losses } = await converted({ ...file.document, tasks }, writer);
  const [was, is, them] = ticked.length === 1 ? ['was', 'is', 'it'] : ['were', 'are', 'them'];
  const isDry = flags['dryRun'] === true;
  if (isDry) context.out(text.trimEnd());
  else await writeDocument(target, text, { writer, isForced: flags['force'] === true });
  context.say(
    `${plural(tasks.length, 'task')} of ${visible(basename(source))} (${file.format.name}) ${isDry ? 'would be' : 'are'} in ${name} (${writer}).`,
  );
  if (ticked.length > 0)
    context.say(
      `  ${plural(ticked.length, 'task')} that ${was} ticked or skipped ${is} open there: ${someOf(ticked, idsMax)}. Nobody knows who ticked ${them}; to keep that: --accept-ticked`,
    );
  for (const line of lossLines([...(await unreadParts(file)), ...losses])) context.say(line);
  const bare = writer === 'prd' ? tasks.filter(task => task.criteria.length === 0).map(task => task.id) : [];
  if (bare.length > 0)
    context.say(
      `  Without criteria: ${someOf(bare, idsMax)}. Write some (how will we know it is done?), or run with --no-criteria.`,
    );
  for (const notice of noticesOf(file)) context.say(`note: ${visible(notice)}`);
  if (!isDry)
    context.say(
      `  ${visible(basename(source))} is as it was. Undo: delete ${name}. Next: ${runWords(context.directory, target)}`,
    );
  return 0;
}
