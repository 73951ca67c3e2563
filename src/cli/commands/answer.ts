// `ralph answer`: the human's five answers from any terminal.
import type { Answer, Escalation } from '../../core/event.ts';
import type { LoopRow } from '../../ledger/ledger.ts';
import { UsageError } from '../../text/errors.ts';
import { type Context, deliveryWords, type Flags, givenText, loopOf, sendCommand, type Words } from '../context.ts';
import { unreadyWords } from '../task-words.ts';

interface Found {
  readonly row: LoopRow;
  readonly escalation: Escalation;
  /** Its loop is over: an answer is kept, and changes nothing. */
  readonly isLate: boolean;
}

/** The questions of this id: of one loop that is named, else of those that have not ended. */
async function questionsOf(context: Context, loop: string | undefined, id: string): Promise<readonly Found[]> {
  const loops = await context.loops({ write: true });
  const looks =
    loop === undefined ? loops.looks({ open: true }) : [await loops.look((await loopOf(context, loop, true)).row)];
  const found: Found[] = [];
  for await (const { row, state } of looks) {
    const escalation = state.questions.open.find(one => one.id === id);
    if (escalation !== undefined) found.push({ row, escalation, isLate: state.control.ended !== undefined });
  }
  return found;
}

async function find(context: Context, id: string): Promise<Found> {
  const [loop, question] = id.includes('/')
    ? [id.slice(0, id.lastIndexOf('/')), id.slice(id.lastIndexOf('/') + 1)]
    : [undefined, id];
  const wanted = question.toUpperCase();
  const all = await questionsOf(context, loop, wanted);
  const here = all.filter(one => one.row.directory === context.directory);
  const [only, second] = all.length > 1 && here.length > 0 ? here : all;
  if (only === undefined)
    throw new UsageError(`No open question is called ${JSON.stringify(id)}.`, 'See the open ones: ralph inbox');
  if (second !== undefined)
    throw new UsageError(
      `Several loops have an open ${wanted}.`,
      `Say which: ralph answer ${only.row.name}/${wanted} ...`,
    );
  return only;
}

async function readAnswer(context: Context, flags: Flags, options: number): Promise<Answer> {
  const given = ['option', 'text', 'skip', 'retry', 'abort'].filter(key => flags[key] !== undefined);
  if (given.length !== 1)
    throw new UsageError('Give exactly one answer.', 'One of --option N, --text "...", --skip, --retry, --abort');
  const kind = given[0];
  if (kind === 'option') {
    const text = String(flags['option']);
    const option = /^[1-9]$/.test(text) ? Number(text) : 0;
    if (option === 0 || option > options) {
      throw new UsageError(
        `--option ${JSON.stringify(text)} is not one of this question's options.`,
        options === 0 ? 'It has none: use --text, --skip, --retry or --abort.' : `Give a number from 1 to ${options}.`,
      );
    }
    return { kind: 'option', option };
  }
  if (kind === 'text') return { kind: 'text', text: await givenText(context, String(flags['text']), 'answer') };
  return { kind: kind as 'skip' | 'retry' | 'abort' };
}

export async function execute(context: Context, [id = '']: Words, flags: Flags): Promise<number> {
  const { row, escalation, isLate } = await find(context, id);
  if (escalation.kind === 'effect' && (flags['text'] !== undefined || flags['retry'] !== undefined))
    throw new UsageError(
      `${flags['text'] === undefined ? '--retry does' : 'Words do'} not say whether it happened, and nothing is done twice on a guess.`,
      `Say which it is: ralph answer ${row.name}/${escalation.id} --option 1, 2 or 3`,
    );
  const answer = await readAnswer(context, flags, escalation.options.length);
  const outcome = await sendCommand(context, row, [{ type: 'answer', escalation: escalation.id, answer }]);
  if (isLate) {
    context.say(`Answer to ${row.name}/${escalation.id}: kept as late; its loop has ended, so it has no effect.`);
    context.say(`  To ask it again: ralph resume ${row.name}`);
    return 0;
  }
  context.say(`Answer to ${row.name}/${escalation.id}: ${deliveryWords[outcome]}.`);
  if (answer.kind === 'skip' && escalation.task !== undefined) {
    const { state } = await (await context.loops()).look(row);
    for (const line of unreadyWords(state, escalation.task)) context.say(line);
  }
  if (outcome === 'decided' && answer.kind !== 'abort') context.say(`  Go on: ralph resume ${row.name}`);
  return 0;
}
