// Seed 002's interview as data: N rounds at the terminal, one after another, each proven before the next begins.
import type { TaskSpec } from '../../core/task.ts';
import { takeCharacters } from '../../text/text.ts';
import { suspicion } from '../../text/shown-text.ts';
import type { Format, Parsed } from '../../documents/document.ts';
import { interviewPrompt } from './project-interview.ts';
import { interviewTemplate } from '../project/templates.ts';
import { isUntouchedSpec, specNotices } from '../project/spec-template.ts';
import type { Mode } from '../mode.ts';

export const interviewRounds = 3; // seed 002

const roundId = (round: number): string => `round-${round}`;

export function interviewTasks(rounds: number): readonly TaskSpec[] {
  return Array.from({ length: rounds }, (_none, at) => {
    const round = at + 1;
    const last = round === rounds ? ' and write tasks.json' : '';
    return {
      id: roundId(round),
      title: `Interview, round ${round} of ${rounds}`,
      description: `Find the gaps in spec.md, ask the person at the terminal, amend spec.md${last}.`,
      criteria: [],
      dependsOn: round === 1 ? [] : [roundId(round - 1)],
      done: false,
      skipped: false,
      interactive: true,
      closing: 'result',
      round,
    };
  });
}

const specCharsMax = 1024 * 1024; // an agent has to read it whole
const titleCharsMax = 60;

const titleOf = (text: string): string => takeCharacters(/^# +(\S.*)$/m.exec(text)?.[1]?.trim() ?? '', titleCharsMax);

function parseSpec(text: string, rounds: number): Parsed {
  const problem = (message: string, fix: string): Parsed => ({ ok: false, problems: [{ message, fix }] });
  if (text.trim() === '') return problem('The brief is empty.', 'Write what is to be built, in a few sentences.');
  if (text.length > specCharsMax) return problem('The brief is larger than 1 MB.', 'Keep what an agent has to know.');
  const title = titleOf(text);
  const odd = suspicion(text);
  const notices = [
    ...(isUntouchedSpec(text, title)
      ? ['spec.md is still the empty template: the interview begins from nothing.']
      : []),
    ...specNotices(text, title),
    ...(odd === undefined ? [] : [`spec.md ${odd}`]),
  ];
  const project = `${title === '' ? 'project' : title} interview`;
  return {
    ok: true,
    document: { project, goal: `Ask until ${title || 'it'} is clear`, tasks: interviewTasks(rounds), notices },
  };
}

/** Spec.md is the interview's document: it names no task and shows no status, so that no mark of ours ever stands in it. */
const specFormat: Format = {
  name: 'spec',
  recognises: () => false,
  parse: (text, { rounds = interviewRounds } = {}) => parseSpec(text, rounds),
  mark: text => text,
};

export const interviewMode: Mode = {
  name: 'project',
  formats: [specFormat],
  instructions: { name: '.ralph/prompts/interview.md', within: 'directory', text: interviewTemplate, isWritten: false },
  prompt: interviewPrompt,
};
