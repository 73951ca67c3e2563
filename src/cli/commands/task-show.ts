// `ralph task show`: everything about one task: what is asked, what it waits for, what happened to it and why.

import { eventsIn } from '../../app/loops/find.ts';
import { type Subject, subjectOf, taskIn } from '../../app/task-subject.ts';
import { hasUserDocument } from '../../core/state.ts';
import { addTasks, allTasks, findTask, type Task } from '../../core/task.ts';
import { plural, someOf } from '../../text/format.ts';
import { visible } from '../../text/text.ts';
import { answerLine } from '../../views/question.ts';
import { sentenceOf } from '../../views/timeline.ts';
import { statusWords } from '../../views/words.ts';
import { type Context, type Flags, printJson, taskPlace, textFlag, type Words } from '../context.ts';
import { dayAndTime } from '../output/time.ts';
import { doneWords, isCut, taskJson, waitWords } from '../task-words.ts';
import { fitted, hanging, makeStyle, type Style, wrapped } from '../terminal.ts';
import { isTold } from './explain.ts';

const historyMax = 30;
const namesMax = 20;
const sentenceMax = 300;
const labelColumns = 13;

interface Step {
  readonly seq: number;
  readonly at: number;
  readonly type: string;
  readonly sentence: string;
}

/** The last steps, and how many there were before. */
interface Past {
  readonly steps: readonly Step[];
  readonly earlier: number;
}

async function historyOf({ loop }: Subject, task: string): Promise<Past> {
  const steps: Step[] = [];
  let earlier = 0;
  if (loop === undefined) return { steps, earlier };
  const isWanted = isTold(task);
  for await (const { event, seq } of eventsIn(loop.ledger, loop.row.loop)) {
    if (!isWanted(event)) continue;
    steps.push({ seq, at: event.at, type: event.type, sentence: sentenceOf(event) });
    if (steps.length > historyMax) {
      steps.shift();
      earlier += 1;
    }
  }
  return { steps, earlier };
}

/** Also what the loop has not read yet can be looked at. */
const withUnread = (subject: Subject): Subject => ({
  ...subject,
  table: addTasks(subject.table, subject.unread),
  unread: [],
});

const dependents = ({ table }: Subject, id: string): readonly string[] =>
  [...allTasks(table)].filter(task => task.spec.dependsOn.includes(id)).map(task => task.id);

/** Whoever opens a task again that was tried counts its attempts anew. */
function triedWords({ attempts }: Task, of: string, steps: readonly Step[]): string {
  if (attempts > 0) return `${plural(attempts, 'attempt')}${of}`;
  const has = (type: string): boolean => steps.some(step => step.type === type);
  if (has('task.reopened')) return 'opened again, not tried since';
  return has('iteration.started') ? 'begun, no attempt counted yet' : 'not tried yet';
}

function standing({ table, loop }: Subject, task: Task, steps: readonly Step[]): string {
  const most = task.spec.attemptsMax ?? loop?.state.settings.limits.attemptsPerTaskMax;
  const of = most === undefined || loop?.state.settings.policy.tasks === 'one' ? '' : ` of ${most}`;
  const tried = triedWords(task, of, steps);
  if (task.status === 'done') return `done, ${doneWords(task)}, ${tried}`;
  const waits = waitWords(table, task, loop);
  return `${isCut(task, loop) ? 'cut' : statusWords[task.status]}, ${tried}${waits === '' ? '' : `; ${waits}`}`;
}

function statusOf(table: Subject['table'], id: string): string {
  const task = findTask(table, id);
  return task === undefined ? 'not there' : statusWords[task.status];
}

const dependencyWords = ({ table }: Subject, { spec: { dependsOn } }: Task): string =>
  someOf(
    dependsOn.map(id => `${id} (${statusOf(table, id)})`),
    namesMax,
  );

/** A goal was said in words: where Ralph keeps them is nobody's concern. */
const whose = ({ loop, path }: Subject): string =>
  loop === undefined ? path : `loop ${loop.row.name}${hasUserDocument(loop.state) ? `, ${path}` : ''}`;

/** Label, text; in the order in which they are told. Empty ones are left out. */
function factsOf(subject: Subject, task: Task, steps: readonly Step[]): readonly (readonly [string, string])[] {
  const { loop } = subject;
  const question = loop?.state.questions.open.find(one => one.id === task.openQuestion);
  return [
    ['status', standing(subject, task, steps)],
    ['of', whose(subject)],
    ['depends on', dependencyWords(subject, task)],
    ['needed by', someOf(dependents(subject, task.id), namesMax)],
    ['done by', task.spec.performer ?? ''],
    ['description', task.spec.description],
    ...task.spec.criteria.map((text, row) => [row === 0 ? 'criteria' : '', `- ${text}`] as const),
    ['refused', task.rejection ?? ''],
    ['question', question === undefined ? '' : `${question.summary}\n${answerLine(loop?.row.name ?? '', question)}`],
    ['edited', task.rejectedEdit === undefined ? '' : 'while an iteration ran: what was written then was not taken'],
  ];
}

function labelled([label, text]: readonly [string, string], columns: number): readonly string[] {
  if (text.trim() === '') return [];
  const lines = text.split(/\r?\n/).flatMap(line => wrapped(visible(line), columns - labelColumns - 2));
  return lines.map((line, row) => `  ${(row === 0 ? label : '').padEnd(labelColumns - 1)} ${line}`.trimEnd());
}

function historyLines({ steps, earlier }: Past, style: Style): readonly string[] {
  if (steps.length === 0) return [];
  const lines = steps.map(({ seq, at, sentence }) => {
    const time = dayAndTime(at);
    const start = `  ${String(seq).padStart(5)}  ${time}  `;
    return hanging(start, fitted(visible(sentence), sentenceMax, style), style.columns());
  });
  return ['  history', ...(earlier > 0 ? [`    ${earlier} earlier ones: ralph explain`] : []), ...lines];
}

export async function execute(context: Context, [id = '']: Words, flags: Flags): Promise<number> {
  const subject = withUnread(await subjectOf(await taskPlace(context), textFlag(flags, 'loop')));
  const task = taskIn(subject, id);
  const past = await historyOf(subject, id);
  const { steps, earlier } = past;
  if (flags['json'] === true) {
    const { rejection = null } = task;
    const { description, criteria } = task.spec;
    const said = { ...taskJson(subject.table, task), description, criteria, rejection };
    const shown = { ...said, neededBy: dependents(subject, id) };
    const { loop = null, name = null } = subject.loop?.row ?? {};
    return printJson(context, { loop, name, document: subject.path, task: shown, earlier, history: steps });
  }
  const style = makeStyle(flags, process.stdout);
  context.out(`${style.paint('strong', task.id)}  ${visible(task.spec.title)}`);
  const facts = factsOf(subject, task, steps).flatMap(fact => labelled(fact, style.columns()));
  for (const line of [...facts, ...historyLines(past, style)]) context.out(line);
  return 0;
}
