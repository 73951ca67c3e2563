// `ralph task done`, `ralph task skip` and `ralph task retry`: what a person decides about one task, also while the loop runs.
import { basename } from 'node:path';
import { stateOf } from '../../app/app.ts';
import { ofLoop, type Subject, taskIn } from '../../app/task-subject.ts';
import { hasUserDocument, type State } from '../../core/state.ts';
import { findTask, mayHaveHappened, type Task } from '../../core/task.ts';
import { mayReopenTasks } from '../../core/termination.ts';
import type { LoopRow } from '../../ledger/ledger.ts';
import { UsageError } from '../../text/errors.ts';
import { plural } from '../../text/format.ts';
import { visible } from '../../text/text.ts';
import { endWords } from '../../views/words.ts';
import { type Context, deliveryWords, type Flags, loopOf, sendCommand, textFlag, type Words } from '../context.ts';
import { runWords, unreadyWords } from '../task-words.ts';

const heldElsewhere = 9;

type Loop = NonNullable<Subject['loop']>;

/** How it is done once more; undefined where its document can say that it is open. */
function againWords(state: State): string | undefined {
  if (!hasUserDocument(state)) return 'To pursue it again: ralph run with the same words and --new';
  if (!state.settings.policy.vault) return undefined;
  return 'No plan runs twice. To have it done once more, write another plan, with a plan_id of its own.';
}

/** `here`: the folder that the command is given in. */
function refuseEnded(act: Decision['act'], { row, state }: Loop, { id, status }: Task, here: string): void {
  const { name, document } = row;
  const { ended } = state.control;
  const isOpen = act === 'retry' || (act === 'skip' && status === 'pending');
  if (ended === undefined || (isOpen && mayReopenTasks(state))) return;
  const again = againWords(state) ?? `Have all of it looked at again: ${runWords(here, document)} --new`;
  const over =
    act === 'retry' ? again : `${id} is ${status}: there is nothing to ${act === 'done' ? 'decide' : 'skip'}.`;
  throw new UsageError(
    `Loop ${name} has ended (${endWords(ended)}): nothing in it can be changed any more.`,
    ended.reason === 'goal_achieved' ? over : `Reopen it first: ralph resume ${name}`,
  );
}

function refuseActive(row: LoopRow, state: State, { id, status }: Task): void {
  if (status !== 'active') return;
  const live = state.live.find(one => one.task === id);
  const who = live === undefined ? 'its work is being checked' : `iteration ${live.iteration} by ${live.performer}`;
  throw new UsageError(
    `${id} is being worked on (${who}): decide about it when that is over.`,
    `Interrupt it first: ralph pause ${row.name} --now; afterwards ralph resume ${row.name}`,
  );
}

/** A second mail is a matter of its own: nobody sends it by a command that usually only tries again. */
function refuseRepeated(row: LoopRow, task: Task, isAgain: boolean): void {
  if (!mayHaveHappened(task) || isAgain) return;
  const { id, status } = task;
  const { title } = task.spec;
  const what = status === 'done' ? 'was carried out already' : 'may have been carried out: its reply was lost';
  throw new UsageError(
    `${id} (${visible(title)}) ${what}. To try it again would do it a second time.`,
    `When that is what you want: ralph task retry ${id} --again --loop ${row.name}`,
  );
}

function refuseWithoutWork(row: LoopRow, { id, aside }: Task): void {
  if (aside !== undefined) return;
  throw new UsageError(
    `No work of ${id} was set aside.`,
    `Open it again as it is: ralph task retry ${id} --loop ${row.name}`,
  );
}

/** Refused where the options do not fit the task. */
function retryOptions(row: LoopRow, task: Task, { act }: Decision, flags: Flags) {
  if (act !== 'retry') return {};
  const [again, withWork] = [flags['again'] === true || undefined, flags['withWork'] === true || undefined];
  refuseRepeated(row, task, again === true);
  if (withWork) refuseWithoutWork(row, task);
  return { again, withWork };
}

interface Decision {
  readonly act: 'done' | 'skip' | 'retry';
  /** Nothing has to be done: why. */
  readonly needless: (task: Task) => string | undefined;
  readonly isDone: (task: Task) => boolean;
  readonly said: (before: Task, row: LoopRow, state: State) => readonly string[];
}

/** Only what was open before, without a question about it, is as it was when it is opened again. */
const backWords = ({ id, status, openQuestion }: Task, loop: string): string =>
  `  ${status === 'pending' && openQuestion === undefined ? 'Undo' : 'To open it again'}: ralph task retry ${id} --loop ${loop}`;

/** Neither a proof nor a blocked task comes back by a command. */
function closedWords({ id, status, closedBy }: Task, loop: string): string {
  const isSkipped = status === 'skipped';
  const isUndone = isSkipped || (status === 'done' && closedBy !== undefined);
  const act = isSkipped || !isUndone ? 'skip' : 'done';
  return `  ${isUndone ? 'Undo' : 'To leave it out'}: ralph task ${act} ${id} --loop ${loop}`;
}

const skipping: Decision = {
  act: 'skip',
  needless: ({ id, status, spec: { order } }) =>
    status === 'skipped'
      ? `${id} is skipped already.`
      : status === 'done'
        ? `${id} is done: there is nothing to skip.${order === undefined ? ` To open it again: ralph task retry ${id}` : ''}`
        : undefined,
  isDone: task => task.status === 'skipped',
  said(task, { name }, state) {
    const words = [`${task.id} is skipped: nobody will work on it.`, ...unreadyWords(state, task.id)];
    return [...words, backWords(task, name)];
  },
};

const closing: Decision = {
  act: 'done',
  needless: ({ id, status }) => (status === 'done' ? `${id} is done already.` : undefined),
  isDone: task => task.status === 'done',
  said: (task, { name }) => [
    `${task.id} is done, by your word: no check was asked, and every report says so.`,
    backWords(task, name),
  ],
};

const retrying: Decision = {
  act: 'retry',
  needless: ({ id, status, attempts, openQuestion, claimFailed }) =>
    status === 'pending' && attempts === 0 && openQuestion === undefined && !claimFailed
      ? `${id} is open and was not tried yet: its turn comes.`
      : undefined,
  isDone: task => task.status === 'pending' || task.status === 'active',
  said(task, { name }, state) {
    const { id, status, attempts, aside } = task;
    const { order } = task.spec;
    const isCounted = findTask(state.tasks, id)?.attempts === attempts;
    const counted = isCounted ? '' : `; ${plural(attempts, 'attempt')} no longer counted`;
    const proof =
      status !== 'done'
        ? []
        : [
            order === undefined
              ? '  It must be proven anew before it counts as done.'
              : '  It will be done a second time.',
          ];
    const files = plural(aside?.count ?? 0, 'file');
    const work =
      findTask(state.tasks, id)?.aside?.returns === true
        ? [`  Its work comes back before the next attempt: ${files} of checkpoint ${aside?.checkpoint}.`]
        : aside === undefined
          ? []
          : [`  Its work stays set aside (${files}, checkpoint ${aside.checkpoint}). To have it back: --with-work`];
    return [`${id} is open again (it was ${status}${counted}).`, ...proof, ...work, closedWords(task, name)];
  },
};

async function decide(context: Context, [id = '']: Words, flags: Flags, decision: Decision): Promise<number> {
  const { ledger, row } = await loopOf(context, textFlag(flags, 'loop'), true);
  const subject = await ofLoop(ledger, row);
  const { state } = subject.loop;
  const task = taskIn(subject, id);
  refuseEnded(decision.act, subject.loop, task, context.directory);
  const needless = decision.needless(task);
  if (needless !== undefined) {
    context.say(needless);
    return 0;
  }
  refuseActive(row, state, task);
  const wanted = { type: 'task', act: decision.act, task: id, ...retryOptions(row, task, decision, flags) } as const;
  const outcome = await sendCommand(context, row, [wanted]);
  if (outcome === 'waiting') {
    context.say(`ralph task ${decision.act} ${id}: ${deliveryWords.waiting}.`);
    return 0;
  }
  const { state: after } = await stateOf(ledger, row.loop);
  const found = findTask(after.tasks, id);
  if (found === undefined || !decision.isDone(found)) {
    const now = found?.status === 'active' ? 'somebody has begun to work on it' : `it is ${found?.status ?? 'gone'}`;
    context.say(`${id} is as it was: in the same moment ${now}. Try again: ralph task ${decision.act} ${id}`);
    return heldElsewhere;
  }
  for (const sentence of decision.said(task, row, after)) context.say(sentence);
  if (after.control.ended !== undefined) context.say(`  Go on: ralph resume ${row.name}`);
  if (outcome === 'decided' && hasUserDocument(state))
    context.say(`  ${visible(basename(row.document))} shows it as soon as the loop goes on.`);
  return 0;
}

export const done = (context: Context, words: Words, flags: Flags): Promise<number> =>
  decide(context, words, flags, closing);

export const skip = (context: Context, words: Words, flags: Flags): Promise<number> =>
  decide(context, words, flags, skipping);

export const retry = (context: Context, words: Words, flags: Flags): Promise<number> =>
  decide(context, words, flags, retrying);
