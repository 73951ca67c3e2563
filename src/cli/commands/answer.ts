// `ralph answer`: the human's five answers from any terminal.
import { stateOf } from '../../app/app.ts';
import { type OpenQuestion, openQuestions, resumeHint } from '../../app/loops.ts';
import type { Answer } from '../../core/event.ts';
import type { Ledger, LoopRow } from '../../ledger/ledger.ts';
import { UsageError } from '../../text/errors.ts';
import { type Context, deliveryWords, type Flags, givenText, loopOf, sendCommand, type Words } from '../context.ts';

interface Found extends OpenQuestion {
  /** Its loop is over: an answer is kept, and changes nothing. */
  readonly isLate?: true;
}

async function lateQuestion(ledger: Ledger, row: LoopRow, id: string): Promise<Found | undefined> {
  const { state } = await stateOf(ledger, row.loop);
  const escalation = state.ended === undefined ? undefined : state.escalations.find(one => one.id === id);
  return escalation === undefined ? undefined : { row, escalation, isLate: true };
}

async function find(context: Context, id: string): Promise<Found> {
  const [loop, question] = id.includes('/')
    ? [id.slice(0, id.lastIndexOf('/')), id.slice(id.lastIndexOf('/') + 1)]
    : [undefined, id];
  const wanted = question.toUpperCase();
  const { ledger, row } =
    loop === undefined
      ? { ledger: await context.ledger({ write: true }), row: undefined }
      : await loopOf(context, loop, true);
  const all = (await openQuestions(ledger)).filter(
    one => one.escalation.id === wanted && (row === undefined || one.row.loop === row.loop),
  );
  const here = all.filter(one => one.row.directory === context.directory);
  const candidates = all.length > 1 && here.length > 0 ? here : all;
  const [only, second] = candidates;
  const late = only === undefined && row !== undefined ? await lateQuestion(ledger, row, wanted) : undefined;
  if (late !== undefined) return late;
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
  if (isLate === true) {
    context.say(`Answer to ${row.name}/${escalation.id}: kept as late; its loop has ended, so it has no effect.`);
    context.say(`  To ask it again: ralph resume ${row.name}`);
    return 0;
  }
  context.say(`Answer to ${row.name}/${escalation.id}: ${deliveryWords[outcome]}.`);
  if (outcome === 'decided' && answer.kind !== 'abort') {
    const { state } = await stateOf(await context.ledger(), row.loop);
    context.say(`  Go on: ${resumeHint(state)}`);
  }
  return 0;
}
