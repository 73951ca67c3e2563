// `ralph inbox`: every question that waits for a human, by folder, this one first, with the command that answers it.
import { askedQuestion } from '../../views/ending.ts';
import { answerLine } from '../../views/question.ts';
import { type Context, type Flags, printJson, type Words } from '../context.ts';
import { questionCard, questionLine, shownCard } from '../questions/card.ts';
import { findQuestion, type OpenQuestion, openQuestions } from '../questions/open.ts';
import { makeStyle, type Style } from '../terminal.ts';

/** Those of each folder under its name; all of this folder are one group. */
function byFolder(questions: readonly OpenQuestion[]): ReadonlyMap<string, readonly OpenQuestion[]> {
  const folderOf = ({ isHere, folder }: OpenQuestion): string => (isHere ? 'This folder' : folder);
  return Map.groupBy(questions, folderOf);
}

export async function execute(context: Context, [word]: Words, flags: Flags): Promise<number> {
  const questions = word === undefined ? await openQuestions(context) : [await findQuestion(context, word)];
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
  const isFolded = process.stdout.isTTY === true && word === undefined;
  for (const [folder, group] of byFolder(questions)) {
    context.print(`${style.paint('strong', `${folder}:`)}`);
    for (const one of group) {
      if (one.isHere || word !== undefined) printWhole(context, one, style, isFolded);
      else context.out(questionLine(one.escalation, style, one.row.name));
    }
  }
  const elsewhere = word === undefined ? questions.find(one => !one.isHere) : undefined;
  if (elsewhere !== undefined)
    context.say(`One of another folder whole: ralph inbox ${elsewhere.row.name}/${elsewhere.escalation.id}`);
  return 0;
}

function printWhole({ out, print }: Context, { row, escalation }: OpenQuestion, style: Style, isFolded: boolean): void {
  out(isFolded ? shownCard(escalation, row.name, style) : questionCard(escalation, style));
  print(`    ${answerLine(row.name, escalation)}\n`);
}
