// Mode goal: one goal, pursued through six phases; its items are those that the agent reports.

import { continuationPrompt } from '../../core/handoff.ts';
import { prefixHash } from '../../core/memory.ts';
import { phaseNow } from '../../core/scheduling.ts';
import type { LiveIteration, State } from '../../core/state.ts';
import { findTask } from '../../core/task.ts';
import { editedTask } from '../../documents/damage.ts';
import type { Format, Parsed } from '../../documents/document.ts';
import { shortened } from '../../documents/formats/prompt.ts';
import { markdownLines, watchHidden } from '../../documents/markdown.ts';
import type { Phase } from '../../messages/report.ts';
import { plural } from '../../text/format.ts';
import { visible } from '../../text/text.ts';
import {
  askingSection,
  humanSection,
  iterationCount,
  joined,
  memorySection,
  type PromptText,
  proofLine,
  refusalSection,
  reportLines,
} from '../iteration-prompt.ts';
import type { Mode } from '../mode.ts';

const titleCharsMax = 120;
const goalCharsMax = 500;

/** A goal in words, in our own folder under a name that we chose; the ledger says whether it is reached. */
export const goal: Format = { name: 'goal', recognises: () => false, parse: parseGoal, mark: text => text };

function parseGoal(text: string): Parsed {
  const description = text.trim();
  if (description === '')
    return { ok: false, problems: [{ message: 'The goal is empty.', fix: 'Say it in words.', line: 1 }] };
  const title = shortened(description.split('\n', 1)[0]!.replace(/^#{1,6}[ \t]+/, ''), titleCharsMax);
  const task = { id: 'goal', title, description, criteria: [], dependsOn: [], done: false, skipped: false };
  const notices = watchHidden(markdownLines(text), 1);
  const document = { project: title, goal: shortened(description, goalCharsMax), tasks: [task], notices };
  return { ok: true, document };
}

/** What is to be done in each, in order. */
const phases: Readonly<Record<Phase, string>> = {
  planning:
    'Look at what is there before you decide anything. Split the goal into items: each small enough for one sitting, each with a result that somebody else could check. List them all as pending, in the order of work, and note what you decided and what you take for granted. Change nothing but what helps you to look.',
  implementing:
    'Take the pending items one after the other. Finish one, with a test where it can be tested, before you begin the next: half an item is worth nothing to whoever comes after you. New work that you discover becomes a pending item of its own.',
  testing:
    'Try the whole as its user would, and run every test there is. Each thing that does not work is a pending item until it does; mend it, and do not bend a test to make it pass.',
  reviewing:
    'Read all that was changed for this goal as a stranger would: what is wrong, missing, doubled, unclear or unsafe, and does it really do what the goal asks? What you find is a pending item; mend it.',
  handoff:
    'Leave it so that a person can take it over: no scraps, documents that say what is true now, and a short account of what was made and why.',
  complete:
    'Look once more whether every item really holds. If so, say that the goal is reached; if not, say what is pending.',
};
const phaseNames = Object.keys(phases);

const introduction = [
  '# How you work',
  '',
  'You pursue one goal in a loop of iterations. Each begins with an empty memory: what was done is in the files, and what is',
  'known about it is in the report that the iteration before you wrote. Believe the files more than the report.',
  '',
  'The work is a list of **items**. The first iteration draws it up; every later one carries it on in its own report, whole:',
  'what is completed, what is pending, what is blocked and why. An item that you leave out of your report is forgotten.',
  '',
  'It goes through six phases. Stay in yours until it is finished; then you may go on to the next one, as far as your context',
  'carries well. Name in your report the phase that you were in at the end.',
  '',
  ...Object.entries(phases).map(([phase, text], at) => `${at + 1}. **${phase}**: ${text}`),
].join('\n');

const reportEachTime = (most: number): string =>
  `- Report each time: when ${plural(most, 'iteration')} in a row name${most === 1 ? 's' : ''} no newly completed item and no later phase, the loop is ended.`;

function endSection(state: State): string {
  const { noProgressIterations } = state.settings.limits;
  return [
    '## How an iteration ends',
    '',
    'Only your last message is read. It holds one report, in this form and as plain text. Leave out what you have nothing to',
    'say about:',
    ...reportLines,
    '',
    '- When every item is completed, none is pending or blocked, and the goal is reached in full: report the phase `complete`,',
    `  and make this the very last line, exactly: \`<promise>${state.settings.promise}</promise>\``,
    '- Both must be completely true. Do not write them to get out of the loop, not even when you are stuck: then ask.',
    '- With a pending or blocked item in your report they are refused; without a report of yours the last one counts. What is',
    '  blocked and needed, ask about; what is not needed is no item.',
    ...(noProgressIterations === null ? [] : [reportEachTime(noProgressIterations)]),
    `- ${proofLine(state)}`,
    '- To ask for a fresh context before you are finished, start a line with `<handoff>why</handoff>`, your reason in place of',
    '  `why`, after your report.',
  ].join('\n');
}

function nowSection(state: State, live: LiveIteration): string {
  const now = phaseNow(state);
  const items =
    state.memory.report === undefined && state.iterations.last !== undefined
      ? ' The iteration before you left no report: find out from the files what is done, and draw up the items anew.'
      : '';
  const place = `${phaseNames.indexOf(now) + 1} of ${phaseNames.length}`;
  const moment = `${iterationCount(state, live)}.`;
  return [`## Your phase now: ${now} (${place})`, `${phases[now]}${items}`, moment].join('\n\n');
}

/** The handoff of the iteration before goes into the system prompt (seed 000), where the agent can take it there. */
export function goalPrompt(state: State, live: LiveIteration, instructions: string): PromptText {
  const task = findTask(state.tasks, live.task);
  const goal = task === undefined ? state.loop.goal : task.spec.description.trim() || task.spec.title;
  const stable = joined([instructions.trim(), introduction, `# The goal\n\n${goal}`, endSection(state), askingSection]);
  const text = joined([
    humanSection(state, live),
    stable,
    nowSection(state, live),
    task === undefined ? '' : refusalSection(state, task),
    memorySection(state, task),
  ]);
  const system = continuationPrompt(state, live.task);
  return { text: `${text}\n`, stableHash: prefixHash(stable), system: system || undefined };
}

export const goalMode: Mode = {
  formats: [goal],
  damage: editedTask,
  prompt: goalPrompt,
  subject: 'the goal',
  detectsChecks: true,
  endsForGood: true,
  words: { work: ({ document }) => ['goal', visible(document.goal)], completed: 'when the goal is reached' },
};
