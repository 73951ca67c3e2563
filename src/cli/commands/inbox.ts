// `ralph inbox`: every question that waits for a human, by folder, this one first, with the command that answers it.
import { askedQuestion, leftWaiting } from '../../views/ending.ts';
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
  const left = word === undefined ? await leftHere(context) : undefined;
  if (questions.length === 0 && left === undefined) context.say('Nothing waits for you.');
  printFolders(context, questions, makeStyle(flags, process.stdout), word !== undefined);
  const elsewhere = word === undefined ? questions.find(one => !one.isHere) : undefined;
  if (elsewhere !== undefined)
    context.say(`One of another folder whole: ralph inbox ${elsewhere.row.name}/${elsewhere.escalation.id}`);
  if (left !== undefined) context.print(left);
  return 0;
}

/** Those of this folder whole, and the one that is named; of other folders a line each. */
function printFolders(context: Context, questions: readonly OpenQuestion[], style: Style, isNamed: boolean): void {
  const isFolded = process.stdout.isTTY === true && !isNamed;
  for (const [folder, group] of byFolder(questions)) {
    context.print(`${style.paint('strong', `${folder}:`)}`);
    for (const one of group) {
      if (one.isHere || isNamed) printWhole(context, one, style, isFolded);
      else context.out(questionLine(one.escalation, style, one.row.name));
    }
  }
}

function printWhole({ out, print }: Context, { row, escalation }: OpenQuestion, style: Style, isFolded: boolean): void {
  out(isFolded ? shownCard(escalation, row.name, style) : questionCard(escalation, style));
  print(`    ${answerLine(row.name, escalation)}\n`);
}

/** Of the newest loop of this folder, where it is over and has left questions open. */
async function leftHere(context: Context): Promise<string | undefined> {
  if (!context.hasLedger()) return undefined;
  const loops = await context.loops();
  const [newest] = await loops.ofFolder(context.directory);
  const state = newest && (await loops.look(newest)).state;
  const waits = state?.control.ended && leftWaiting(state);
  return waits && `Loop ${state.loop.name} has ended; ${waits}`;
}
