// The card of a question: what is asked and why, as much of it as the screen holds, and where the rest is.

import type { Escalation } from '../../core/event.ts';
import { plural } from '../../text/format.ts';
import { visible } from '../../text/text.ts';
import { questionKinds } from '../../views/question.ts';
import { fitted, hanging, type Style, wrapped } from '../terminal.ts';

const clockColumns = '[00:00:00] '.length + 1;
/** The card is seen whole together with the line that asks and what it may be answered. */
const askingRows = 4;
const detailRowsMin = 3;

const countLines = (texts: readonly string[]): number => texts.join('\n').split('\n').length;

const kindWords = ({ kind, task }: Escalation): string =>
  [questionKinds[kind], ...(task === undefined ? [] : [task])].join(', ');

/** One of several, in one line; `loop`: of one that must be named. */
export const questionLine = (escalation: Escalation, style: Style, loop?: string): string =>
  fitted(
    `  ${style.marks.ask} ${loop === undefined ? '' : `${loop}/`}${escalation.id} (${kindWords(escalation)}): ${escalation.summary}`,
    style.columns() - 1,
    style,
  );

/** `rest`: how to see all of it where the screen is too small; without one nothing is folded. */
export function questionCard(escalation: Escalation, style: Style, rest?: string): string {
  const { id, task, title = '', summary, context, options, question } = escalation;
  const about = kindWords(escalation);
  const titled = title === '' || title === task ? [] : [`${task}: ${visible(title)}`];
  const columns = style.live ? style.columns() : Number.POSITIVE_INFINITY; // in a file each sentence is one line, to be found
  const headline = wrapped(`${style.marks.ask} ${id} needs you (${about}): ${summary}`, columns - clockColumns);
  const below = [
    ...options.map((option, at) => hanging(`    ${at + 1}. `, option.text, columns)),
    ...(question === '' ? [] : [hanging('    ', question, columns)]),
  ];
  const details = context === '' ? [] : wrapped(context, columns - 7);
  const room = Math.max(detailRowsMin, style.rows() - headline.length - titled.length - countLines(below) - askingRows);
  const isFolded = rest !== undefined && details.length > room;
  const more = details.length - room + 1;
  const shown = isFolded ? [...details.slice(0, room - 1), `(${plural(more, 'line')} more: ${rest})`] : details;
  return [
    style.paint('attention', headline.join('\n    ')),
    ...titled.flatMap(line => wrapped(line, columns - 5)).map(line => `    ${line}`),
    ...shown.map(line => `    | ${line}`.trimEnd()),
    ...below,
  ].join('\n');
}

/** Folded where the screen is too small for all of it. */
export const shownCard = (escalation: Escalation, loop: string, style: Style): string =>
  questionCard(escalation, style, `ralph inbox ${loop}/${escalation.id}`);
