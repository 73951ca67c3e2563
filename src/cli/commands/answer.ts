// `ralph answer`: the human's five answers from any terminal.
import { freshId } from '../../app/app.ts';
import type { Answer } from '../../core/event.ts';
import type { Command } from '../../core/input.ts';
import { sameList } from '../../core/task.ts';
import { canonical } from '../../text/canonical.ts';
import { UsageError } from '../../text/errors.ts';
import { plural } from '../../text/format.ts';
import {
  type Context,
  type Delivery,
  deliveryWords,
  type Flags,
  givenText,
  sendCommand,
  textFlag,
  type Words,
} from '../context.ts';
import { alreadyAnswered, answerTo } from '../questions/answered.ts';
import { findQuestion, type OpenQuestion } from '../questions/open.ts';
import { unreadyWords } from '../task-words.ts';
import { confirm, oneLine } from '../terminal.ts';

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

function refuseGuess({ row, escalation }: OpenQuestion, flags: Flags): void {
  if (escalation.kind !== 'effect' || (flags['text'] === undefined && flags['retry'] === undefined)) return;
  throw new UsageError(
    `${flags['text'] === undefined ? '--retry does' : 'Words do'} not say whether it happened, and nothing is done twice on a guess.`,
    `Say which it is: ralph answer ${row.name}/${escalation.id} --option 1, 2 or 3`,
  );
}

/** The open questions of its loop that ask about the same finding in the same file. */
async function alikeTo(context: Context, { escalation, ...found }: OpenQuestion): Promise<readonly OpenQuestion[]> {
  const { subjects = [], kind } = escalation;
  if (subjects.length === 0 || kind !== 'tamper')
    throw new UsageError(
      `${escalation.id} asks about no finding, so no other question is like it.`,
      'Name the questions themselves: ralph answer E1 E2 ...',
    );
  const { state } = await (await context.loops()).look(found.row);
  return state.questions.open
    .filter(one => one.kind === escalation.kind && sameList(one.subjects ?? [], subjects))
    .map(one => ({ ...found, escalation: one }));
}

/** Listed first: nobody says yes to what they have not seen. */
async function agreed({ say }: Context, found: readonly OpenQuestion[], flags: Flags): Promise<boolean> {
  for (const { row, escalation } of found)
    say(
      `  ${row.name}/${escalation.id}${escalation.task === undefined ? '' : ` (${escalation.task})`}: ${oneLine(escalation.summary)}`,
    );
  if (flags['yes'] === true) return true;
  if (process.stdin.isTTY !== true)
    throw new UsageError(
      `${plural(found.length, 'question')} ${found.length === 1 ? 'is' : 'are'} like that one.`,
      'Answer them all with --yes, or name some.',
    );
  return confirm(`Answer all ${found.length} alike? Press Enter for yes, Ctrl-C to leave `);
}

async function sendAnswer(context: Context, found: OpenQuestion, given: Given, after: number): Promise<Delivery> {
  const { row, escalation } = found;
  const command = { type: 'answer', escalation: escalation.id, ...given } as const;
  try {
    return await sendCommand(context, row, [command]);
  } finally {
    await refuseLost(context, found, given, after); // in the place of a refusal too: it says more
  }
}

type Given = Pick<Extract<Command, { type: 'answer' }>, 'answer' | 'request'>;

/** Of several answers one counts: who gave another is told whose it was. */
async function refuseLost(context: Context, found: OpenQuestion, given: Given, after?: number): Promise<void> {
  const settled = await answerTo(context, found.row, found.escalation.id, after);
  if (settled === undefined) return; // not taken up yet, or kept without effect
  const { request, answer, by } = settled.event;
  // A loop that an older Ralph runs says no request.
  const isOurs =
    request === undefined
      ? canonical([by, answer]) === canonical([context.by, given.answer])
      : request === given.request;
  if (!isOurs) throw alreadyAnswered(settled);
}

async function answerOne(context: Context, found: OpenQuestion, given: Given): Promise<void> {
  const { row, escalation, isLate } = found;
  const { answer } = given;
  const loops = await context.loops({ write: true });
  const { state: before, seq } = await loops.look(row);
  if (!before.questions.open.some(one => one.id === escalation.id)) {
    await refuseLost(context, found, given);
    return context.say(`${row.name}/${escalation.id}: answered together with another.`);
  }
  const outcome = await sendAnswer(context, found, given, seq);
  if (isLate) {
    context.say(`Answer to ${row.name}/${escalation.id}: kept as late; its loop has ended, so it has no effect.`);
    return context.say(`  To ask it again: ralph resume ${row.name}`);
  }
  context.say(`Answer to ${row.name}/${escalation.id}: ${deliveryWords[outcome]}.`);
  if (answer.kind === 'skip' && escalation.task !== undefined)
    for (const line of unreadyWords((await loops.look(row)).state, escalation.task)) context.say(line);
  const left = (await loops.look(row)).state.questions.open.length;
  if (left > 0) context.say(`  ${plural(left, 'question')} left: ralph inbox`);
  else if (outcome === 'decided' && answer.kind !== 'abort') context.say(`  Go on: ralph resume ${row.name}`);
}

export async function execute(context: Context, ids: Words, flags: Flags): Promise<number> {
  const like = textFlag(flags, 'allLike');
  const named = ids.filter(id => id !== undefined);
  if (named.length === 0 && like === undefined)
    throw new UsageError('Say which question is answered.', 'See the open ones: ralph inbox');
  const all: OpenQuestion[] = [];
  for (const id of named) all.push(await findQuestion(context, id, true));
  const alike = like === undefined ? [] : await alikeTo(context, await findQuestion(context, like, true));
  if (alike.length > 0 && !(await agreed(context, alike, flags))) return 130;
  const isNew = (one: OpenQuestion): boolean =>
    !all.some(other => other.row.loop === one.row.loop && other.escalation.id === one.escalation.id);
  all.push(...alike.filter(isNew));
  for (const one of all) refuseGuess(one, flags);
  const answer = await readAnswer(context, flags, Math.min(...all.map(one => one.escalation.options.length)));
  const request = await freshId();
  for (const one of all) await answerOne(context, one, { answer, request });
  return 0;
}
