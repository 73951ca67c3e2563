// `ralph inbox`: every question that waits for a human, with the command that answers it.
import type { Escalation } from '../../core/event.ts';
import type { LoopRow } from '../../ledger/ledger.ts';
import { askedQuestion } from '../../views/ending.ts';
import { type Context, type Flags, printJson, type Words } from '../context.ts';
import { escalationCard } from '../live.ts';
import { makeStyle } from '../terminal.ts';

/** Neither words nor "retry" say whether an effect happened. */
const answerWords = ({ kind, options }: Escalation): string => {
  if (kind === 'effect') return '--option 1   (or 2, 3, --abort)';
  const others = '--skip, --retry, --abort)';
  return options.length > 0 ? `--option 1   (or --text "...", ${others}` : `--text "..."   (or ${others}`;
};

async function openQuestions(context: Context) {
  if (!context.hasLedger()) return [];
  const found: { readonly row: LoopRow; readonly escalation: Escalation }[] = [];
  for await (const { row, state } of (await context.loops()).looks({ open: true }))
    found.push(...state.questions.open.map(escalation => ({ row, escalation })));
  return found;
}

export async function execute(context: Context, _words: Words, flags: Flags): Promise<number> {
  const questions = await openQuestions(context);
  if (flags['json'] === true) {
    const shown = questions.map(({ row, escalation }) => ({
      loop: row.loop,
      name: row.name,
      ...askedQuestion(escalation),
    }));
    return printJson(context, { questions: shown });
  }
  if (questions.length === 0) context.say('Nothing waits for you.');
  const style = makeStyle(flags, process.stdout);
  for (const { row, escalation } of questions) {
    context.out(escalationCard(escalation, style));
    context.print(`    loop ${row.name}: ralph answer ${row.name}/${escalation.id} ${answerWords(escalation)}\n`);
  }
  return 0;
}
