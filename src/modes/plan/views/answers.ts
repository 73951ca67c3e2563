// Answers in the vault: boxes of a note in Needs_Action, as they are written and as a person ticked them. One place knows both.
import type { Answer, Escalation } from '../../../core/event.ts';
import { stripControls } from '../../../text/text.ts';
import { inline } from './markdown.ts';

/** Obsidian's own comments: a page that is read does not show them, and no editor of boxes touches them. */
const marker = (words: string): string => `%%ralph ${words}%%`;

const ownWords = 'In my own words (write them here, then tick):';

/** A yes to a plan is given by who has read it, and words do not say whether an effect happened. */
const isAnswerable = ({ kind }: Escalation): boolean => kind !== 'approval';
const takesWords = ({ kind }: Escalation): boolean => kind !== 'effect' && kind !== 'budget';

/** `areConfined` undefined: whoever writes the note does not know, and nobody is promised anything. */
export function answerSection(
  questions: readonly Escalation[],
  areConfined: boolean | undefined,
  remark?: string,
): readonly string[] {
  const open = questions.filter(isAnswerable);
  if (open.length === 0 || areConfined === undefined) return [];
  if (!areConfined)
    return [
      '',
      '## Answer here',
      '',
      'This is off: agents are not confined on this machine, so one of them could tick a box. Answer with the command above.',
    ];
  return [
    '',
    '## Answer here',
    '',
    'Tick one box and save. A running `ralph plan watch` takes it as your answer at once, any other `ralph plan` command later.',
    ...(remark === undefined ? [] : ['', `**Not taken:** ${inline(remark)}`]),
    ...open.flatMap(one => ['', `**${one.id}:** ${inline(one.question)}`, '', ...boxes(one)]),
  ];
}

function boxes(question: Escalation): readonly string[] {
  const { id, options } = question;
  const chosen = options.map((option, at) => `- [ ] ${inline(option.text)} ${marker(`${id} ${at + 1} ${option.id}`)}`);
  return takesWords(question) ? [...chosen, `- [ ] ${ownWords}  ${marker(`${id} words`)}`] : chosen;
}

const boxLine = /^[ \t]*[-*+] \[([^\]])\] (.*?)%%ralph (E\d{1,6}) (?:(words)|(\d) ([a-z0-9-]+))%%(.*)$/u;

/** With nothing but what a person has ticked or begun to write between them: such a note is not written over. */
export const isSameNote = (one: string, other: string): boolean => withoutTicks(one) === withoutTicks(other);

const withoutTicks = (text: string): string =>
  text
    .split(/\r?\n/)
    .map(line => line.replace(boxLine, '%%$3 $4$5%%'))
    .join('\n');

export type NoteAnswers = {
  readonly answers: readonly { readonly escalation: string; readonly answer: Answer }[];
  /** Why what was ticked is no answer; undefined: nothing of it was. */
  readonly problem?: string;
};

interface Ticked {
  readonly question: Escalation;
  readonly answer: Answer | undefined;
}

/** What a person ticked, as far as it answers a question that is open. Lines that are not ours say nothing. */
export function readAnswers(text: string, questions: readonly Escalation[]): NoteAnswers {
  const ticked = text.split(/\r?\n/).flatMap(line => tickedIn(line, questions));
  const answers: { escalation: string; answer: Answer }[] = [];
  let problem: string | undefined;
  for (const question of questions) {
    const [first, second] = ticked.filter(one => one.question.id === question.id);
    if (first === undefined) continue;
    if (second !== undefined) problem = `several boxes of ${question.id} are ticked; tick one`;
    else if (first.answer === undefined) problem = `the words for ${question.id} are missing; write them into the line`;
    else answers.push({ escalation: question.id, answer: first.answer });
  }
  return { answers, problem };
}

function tickedIn(line: string, questions: readonly Escalation[]): readonly Ticked[] {
  const [, box = ' ', before = '', id, words, place, option, after = ''] = boxLine.exec(line) ?? [];
  const question = questions.find(one => one.id === id && isAnswerable(one));
  if (question === undefined || box.toLowerCase() !== 'x') return [];
  if (words === undefined) {
    const isKnown = question.options[Number(place) - 1]?.id === option;
    return isKnown ? [{ question, answer: { kind: 'option', option: Number(place) } }] : [];
  }
  if (!takesWords(question)) return [];
  const text = stripControls(`${before.replace(ownWords, '')} ${after}`).trim();
  return [{ question, answer: text === '' ? undefined : { kind: 'text', text } }];
}
