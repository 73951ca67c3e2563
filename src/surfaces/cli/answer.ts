// `ralph answer`: the human's five answers from any terminal.
import { UsageError } from '../../core/errors.ts';
import type { Answer } from '../../core/event.ts';
import { type Context, loopOf, outcomeWords, sendCommand } from './context.ts';
import { type OpenQuestion, openQuestions } from './open-questions.ts';
import { givenText } from './text-input.ts';

async function find(context: Context, id: string): Promise<OpenQuestion> {
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
  if (only === undefined)
    throw new UsageError(`No open question is called ${JSON.stringify(id)}.`, 'See the open ones: ralph inbox');
  if (second !== undefined)
    throw new UsageError(
      `Several loops have an open ${wanted}.`,
      `Say which: ralph answer ${only.row.name}/${wanted} ...`,
    );
  return only;
}

async function readAnswer(
  context: Context,
  flags: Readonly<Record<string, unknown>>,
  options: readonly string[],
): Promise<Answer> {
  const given = ['option', 'text', 'skip', 'retry', 'abort'].filter(key => flags[key] !== undefined);
  if (given.length !== 1)
    throw new UsageError('Give exactly one answer.', 'One of --option N, --text "...", --skip, --retry, --abort');
  const kind = given[0];
  if (kind === 'option') {
    const text = String(flags['option']);
    const option = /^[1-9]$/.test(text) ? Number(text) : 0;
    if (option === 0 || option > options.length) {
      throw new UsageError(
        `--option ${JSON.stringify(text)} is not one of this question's options.`,
        options.length === 0
          ? 'It has none: use --text, --skip, --retry or --abort.'
          : `Give a number from 1 to ${options.length}.`,
      );
    }
    return { kind: 'option', option };
  }
  if (kind === 'text') return { kind: 'text', text: await givenText(String(flags['text']), 'answer', context.say) };
  return { kind: kind as 'skip' | 'retry' | 'abort' };
}

export async function execute(
  context: Context,
  [id = '']: readonly (string | undefined)[],
  flags: Readonly<Record<string, unknown>>,
): Promise<number> {
  const { row, escalation } = await find(context, id);
  const answer = await readAnswer(context, flags, escalation.options);
  const outcome = await sendCommand(context, row, [{ type: 'answer', escalation: escalation.id, answer }]);
  context.say(`Answer to ${row.name}/${escalation.id}: ${outcomeWords[outcome]}.`);
  if (outcome === 'decided' && answer.kind !== 'abort')
    context.say('  Go on: the same command as before, with its agent');
  return 0;
}
