// Seed 002's interview as data: N rounds at the terminal, one after another, each proven before the next begins.
import type { TaskSpec } from '../core/task.ts';
import { interviewPrompt } from '../prompts/project-interview.ts';
import { interviewTemplate } from '../prompts/project-templates.ts';
import type { Mode } from './mode.ts';

/** It has no document: its tasks are `interviewTasks`. */
export const interviewMode: Mode = {
  name: 'project',
  formats: [],
  instructions: { name: '.ralph/prompts/interview.md', within: 'directory', text: interviewTemplate, isWritten: false },
  prompt: interviewPrompt,
};

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
