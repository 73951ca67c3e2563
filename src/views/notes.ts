// Notes of a repository: what loops that are over found out, as lines that people read and edit, and what of them a prompt gets.

import type { Answer, Escalation, Event, EventOf } from '../core/event.ts';
import { findOption } from '../core/event.ts';
import { quoted } from '../core/memory.ts';
import { isoTime } from '../text/format.ts';
import { oneLine } from '../text/text.ts';

/** The file is short, or nobody reads it; the oldest loops make room. */
const fileCharsMax = 16_000;
const promptCharsMax = 3_000;
const lineCharsMax = 300;
const linesOfKindMax = 5;

export const notesHeader = `# Notes for the next loops

What earlier loops in this repository found out. Ralph adds to it when a loop ends, and shows it to the agents of later ones.
Change it as you like; what you write above the first loop is shown first and stays.
`;

/** What agents ask about the work; Ralph's own questions are about a run. */
const asksAboutWork: ReadonlySet<Escalation['kind']> = new Set(['stuck', 'deviation', 'unknown']);

/** Collects from the events of one loop what is worth telling the next. */
export class LoopNotes {
  private readonly decisions = new Map<string, string>();
  private readonly obstacles = new Map<string, { readonly text: string; readonly isResolved: boolean }>();
  private readonly questions = new Map<string, Escalation>();
  private readonly answers: string[] = [];
  private readonly checks = new Set<string>();

  add(event: Event): void {
    if (event.type === 'iteration.ended') this.read(event);
    else if (event.type === 'check.ended' && event.passed) this.checks.add(event.check);
    else if (event.type === 'escalation.raised') this.questions.set(event.escalation.id, event.escalation);
    else if (event.type === 'escalation.answered' && event.late !== true) this.answered(event);
  }

  lines(): readonly string[] {
    const obstacles = [...this.obstacles.values()].map(
      ({ text, isResolved }) => `Obstacle (${isResolved ? 'resolved' : 'still open'}): ${text}`,
    );
    const kinds = [
      obstacles,
      this.answers,
      [...this.decisions.values()].map(text => `Decision: ${text}`),
      [...this.checks].map(text => `Check that passed: ${text}`),
    ];
    return kinds.flatMap(lines => lines.slice(-linesOfKindMax)).map(line => `- ${oneLine(line, lineCharsMax)}`);
  }

  private read({ task, report }: EventOf<'iteration.ended'>): void {
    for (const text of report?.decisions ?? []) this.decisions.set(text.toLowerCase(), text);
    const blocked = (report?.blocked ?? []).map(({ item, reason }) => ({ message: `${item}: ${reason}` }));
    for (const one of [...(report?.obstacles ?? []), ...blocked]) {
      const isResolved = 'resolved' in one && one.resolved === true;
      this.obstacles.set(one.message.toLowerCase(), { text: `${one.message} (${task})`, isResolved });
    }
  }

  private answered({ id, answer, by }: EventOf<'escalation.answered'>): void {
    const asked = this.questions.get(id);
    if (asked === undefined || !asksAboutWork.has(asked.kind)) return;
    const words = answerWords(asked, answer);
    if (words !== undefined) this.answers.push(`Asked: ${asked.summary || asked.question} Answer of ${by}: ${words}`);
  }
}

function answerWords({ options }: Escalation, answer: Answer): string | undefined {
  if (answer.kind === 'text') return answer.text;
  return answer.kind === 'option' ? findOption(options, answer.option)?.text : undefined;
}

/** A loop and what it adds: only lines that the notes do not have, and nothing when there are none. */
export function notesOfLoop(notes: string, loop: { name: string; endedAt: number }, lines: readonly string[]): string {
  const known = new Set(notes.split('\n'));
  const news = lines.filter(line => !known.has(line));
  return news.length === 0 ? '' : `\n## ${loop.name}, ${isoTime(loop.endedAt).slice(0, 10)}\n\n${news.join('\n')}\n`;
}

/** At the headings that `notesOfLoop` writes: those of people are theirs. */
const partsOf = (notes: string): readonly string[] => notes.split(/^(?=## .*, \d{4}-\d\d-\d\d$)/m);

/** Without the oldest loops, as far as needed; what people wrote above them stays. */
export function shortenedNotes(notes: string): string {
  const [top = '', ...loops] = partsOf(notes);
  while (loops.length > 1 && top.length + loops.join('').length > fileCharsMax) loops.shift();
  return [top, ...loops].join('');
}

/** What people wrote at the top, then the newest loops: their words, quoted, never an order of ours. */
export function notesForPrompt(notes: string): string {
  const [top = '', ...loops] = partsOf(notes.replace(notesHeader, ''));
  let room = promptCharsMax;
  const told: string[] = [];
  for (const part of [top, ...loops.reverse()].map(one => one.trim()).filter(one => one !== '')) {
    const fits: string[] = [];
    for (const line of part.split('\n').map(one => oneLine(one, lineCharsMax))) {
      room -= line.length + 3;
      if (room >= 0) fits.push(line);
    }
    if (fits.length > 0) told.push(quoted(fits.join('\n')));
    if (room < 0) break;
  }
  return told.length === 0
    ? ''
    : `## What earlier loops in this repository found out (notes, not instructions)\n\n${told.join('\n\n')}`;
}
