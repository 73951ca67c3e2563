// Mode interview: N rounds at the terminal, one after another, each proven before the next begins.

import type { LiveIteration, State } from '../../core/state.ts';
import { allTasks, findTask, type TaskSpec } from '../../core/task.ts';
import type { Format, Parsed } from '../../documents/document.ts';
import { plural } from '../../text/format.ts';
import { stripControls, suspicion, takeCharacters } from '../../text/text.ts';
import {
  fillTemplate,
  humanSection,
  type PromptFacts,
  type PromptText,
  refusalSection,
  type TemplateValues,
} from '../iteration-prompt.ts';
import type { Mode } from '../mode.ts';
import { assembled, projectPlaceholders, projectValues } from '../project/mode.ts';
import { interviewTemplate, isUntouchedSpec, lastRoundTemplate, specNotices } from '../project/templates.ts';
import { interviewRounds } from './rules.ts';

/** The names that a template of one's own may use. */
export const interviewPlaceholders: readonly string[] = [
  ...projectPlaceholders,
  'round',
  'total_rounds',
  ...['guidance', 'ending', 'refusals', 'notices', 'tasks'],
];

const earlierRound = '## Not yet\n\nWrite no tasks.json in this round: that is the work of the last one.';

/** A person is at the terminal and the screen is not read, so a file ends the round. */
function endingText({ artefacts, spec }: TemplateValues, doneFile: string, isLast: boolean): string {
  const saved = isLast ? `\`${spec}\` and \`${artefacts}/tasks.json\` are saved` : `\`${spec}\` is saved`;
  return [
    '## How this round ends',
    '',
    `Ralph reads nothing of what stands on the screen. When ${saved}, write one or two sentences about what you changed into`,
    `\`${doneFile}\`. As soon as that file is there the round is over and you are ended: write it last, and whole. Do not leave`,
    'this session before.',
  ].join('\n');
}

/** Unusual things that Ralph saw in the spec, for the person to know. */
function noticeText(notices: string): string {
  const clean = stripControls(notices).trim();
  return clean === '' ? '' : `## Tell the person first\n\n${clean}`;
}

/** `facts.notices`: sentences of ours about the spec. `facts.doneFile`: where it is not done.md beside the spec. */
export function interviewPrompt(
  state: State,
  live: LiveIteration,
  template: string,
  facts: PromptFacts = {},
): PromptText {
  const task = findTask(state.tasks, live.task);
  if (task === undefined) return { text: '', stableHash: '' };
  const rounds = [...allTasks(state.tasks)].reduce((most, { spec: { round = 0 } }) => Math.max(most, round), 1);
  const round = task.spec.round ?? rounds;
  const { task_id: _id, task_title: _title, ...common } = projectValues(state, live, task, facts);
  const values: TemplateValues = { ...common, round: String(round), total_rounds: String(rounds) };
  const isLast = round === rounds;
  const wanted = { ...values, project_json: JSON.stringify(values['project_name']) };
  const tasks = isLast ? fillTemplate(lastRoundTemplate.trim(), wanted).text : earlierRound;
  const doneFile = facts['doneFile'] ?? `${values['artefacts']}/done.md`;
  return assembled(template, values, {
    guidance: humanSection(state, live),
    ending: endingText(values, doneFile, isLast),
    refusals: refusalSection(state, task),
    notices: noticeText(facts['notices'] ?? ''),
    tasks,
  });
}

export function interviewTasks(rounds: number): readonly TaskSpec[] {
  return Array.from({ length: rounds }, (_none, at) => {
    const round = at + 1;
    const last = round === rounds ? ' and write tasks.json' : '';
    return {
      id: `round-${round}`,
      title: `Interview, round ${round} of ${rounds}`,
      description: `Find the gaps in spec.md, ask the person at the terminal, amend spec.md${last}.`,
      criteria: [],
      dependsOn: round === 1 ? [] : [`round-${at}`],
      done: false,
      skipped: false,
      interactive: true,
      completion: 'result',
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
  const empty = 'spec.md is still the empty template: the interview begins from nothing.';
  const notices = [
    ...(isUntouchedSpec(text, title) ? [empty] : []),
    ...specNotices(text, title),
    ...(odd === undefined ? [] : [`spec.md ${odd}`]),
  ];
  const goal = `Ask until ${title || 'it'} is clear`;
  return {
    ok: true,
    document: { project: `${title || 'project'} interview`, goal, tasks: interviewTasks(rounds), notices },
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
  formats: [specFormat],
  instructions: { name: '.ralph/prompts/interview.md', within: 'directory', text: interviewTemplate, isWritten: false },
  prompt: interviewPrompt,
  conversation: {
    check: 'spec.md and tasks.json',
    proof: 'that spec.md is written, after every round; that tasks.json can be executed, after the last',
  },
  words: {
    work: ({ path, done, total }) => ['interview', `about ${path} (${done}/${plural(total, 'round')} held)`],
  },
};
