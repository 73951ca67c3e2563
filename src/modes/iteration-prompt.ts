// Prompt of one iteration and the sections that modes share: the stable part comes early, so that caches hold.

import { continuationPrompt } from '../core/handoff.ts';
import { composeMemory, prefixHash, quoted, refusalEntry, standstillOf } from '../core/memory.ts';
import type { LiveIteration, State } from '../core/state.ts';
import { findTask, progress, type Task } from '../core/task.ts';
import type { Problem } from '../documents/document.ts';
import { notesForPrompt } from '../views/notes.ts';

/** Looked up for a prompt because it is not in the state: `diff` since the start, `scratchpad`, `spec`. */
export type PromptFacts = Readonly<Record<string, string>>;

export interface PromptText {
  readonly text: string;
  /** Hash of the part that is the same in every iteration. */
  readonly stableHash: string;
  /** For the system prompt, where the agent has a flag for it; else it goes before the text. */
  readonly system?: string;
}

export function taskSection(task: Task, state: State, live: LiveIteration): string {
  const { done, total } = progress(state.tasks);
  const criteria =
    task.spec.criteria.length === 0 ? '(none given)' : task.spec.criteria.map(text => `- ${text}`).join('\n');
  return [
    '## Your task in this iteration',
    `**${task.id}**: ${task.spec.title}`,
    task.spec.description,
    '### It is done when',
    criteria,
    `${iterationCount(state, live)}, attempt ${live.attempt} at this task; ${done} of ${total} tasks are done.`,
  ].join('\n\n');
}

export function humanSection(state: State, live: LiveIteration): string {
  const given = state.memory.guidance.filter(one => one.iteration === live.iteration);
  if (given.length === 0) return '';
  return ['## Guidance for you', '', ...given.map(one => `From ${one.by}:\n${quoted(one.text)}`)].join('\n');
}

export function refusalSection(state: State, task: Task): string {
  const parts: string[] = [];
  if (task.rejection !== undefined)
    parts.push(`The last claim that ${task.id} is done was not accepted:\n${quoted(task.rejection)}`);
  if (state.memory.lastRejection !== undefined)
    parts.push(`About the last iteration's closing words:\n${quoted(state.memory.lastRejection)}`);
  const found = standstillOf(state, task.id);
  if (found !== undefined) parts.push(`You may be going in circles (${found.detail}). Try something different.`);
  const refused = parts.length === 0 ? '' : ['## Not accepted last time', ...parts].join('\n\n');
  return joined([refused, leftSection(task)]);
}

const namedMax = 20;

const listed = (paths: readonly string[], count: number): string =>
  quoted([...paths.slice(0, namedMax), ...(count > namedMax ? [`and ${count - namedMax} more`] : [])].join('\n'));

/** What earlier attempts left in the files, or what was taken out of them again. */
function leftSection({ id, touched = [], aside, spans }: Task): string {
  if (spans !== undefined && touched.length > 0)
    return `## What earlier attempts at ${id} left\n\nThese files were changed by them and are not committed. Look at them first; keep what is right, and take out what is not:\n${listed(touched, touched.length)}`;
  if (aside === undefined || aside.paths.length === 0) return '';
  const [{ from } = { from: '' }] = aside.spans;
  const see = `git diff ${from.slice(0, 12)} ${aside.commit.slice(0, 12)}`;
  return `## What earlier attempts at ${id} had done\n\nTheir work was set aside and is not in the files now. \`${see}\` shows it, should it be of use:\n${listed(aside.paths, aside.count)}`;
}

/** What every mode says about claims: the exact words, and that they must be true. */
export function protocolSection(state: State): string {
  const { promise, checks } = state.settings;
  // What is ticked in a worktree is ticked in a copy.
  const copy =
    state.loop.branch === undefined
      ? []
      : [
          '- You work in a copy of the repository, and the task document in it is a copy that nobody reads: do not edit it, also',
          '  where you are told above that you may. Only your last message counts.',
        ];
  const proof =
    checks.length === 0
      ? 'No check is configured, so your word is recorded as unverified: be exact.'
      : `Ralph then runs ${checks.length === 1 ? 'a check' : `${checks.length} checks`} itself; a claim that fails is refused and comes back to you.`;
  return [
    '## How this ends',
    '',
    'You work in a loop: each iteration starts with a fresh context, and only your last message is read.',
    '',
    '- When the task meets all its criteria, and only then, write this on a line of its own:',
    '  `Task <ID> complete`, with the ID of your task in place of `<ID>`.',
    '- When in addition no task of the backlog is open any more, make this the very last line, exactly:',
    `  \`<promise>${promise}</promise>\``,
    '- Both statements must be completely true. Do not write them to get out of the loop, not even when you are stuck:',
    '  then use the escalation block instead.',
    `- ${proof}`,
    ...copy,
    '- To ask for a fresh context, start a line with `<handoff>why</handoff>`, your reason in place of `why`.',
    '- For whoever goes on after you, write one report before those lines, in this form and as plain text. It is told as your',
    '  own account and proves nothing. Leave out what you have nothing to say about:',
    ...reportLines,
  ].join('\n');
}

export function iterationPrompt(state: State, live: LiveIteration, instructions: string): PromptText {
  const task = findTask(state.tasks, live.task);
  const stable = `${instructions.trim()}\n\n${protocolSection(state)}`;
  if (task === undefined) return { text: stable, stableHash: prefixHash(stable) };
  const text = joined([
    humanSection(state, live),
    stable,
    taskSection(task, state, live),
    refusalSection(state, task),
    continuationPrompt(state, live.task),
    memorySection(state, task),
  ]);
  return { text: `${text}\n`, stableHash: prefixHash(stable) };
}

/** What becomes of a claim. */
export function proofLine({ settings: { checks } }: State): string {
  if (checks.length === 0) return 'No check is configured, so your word is recorded as unverified: be exact.';
  const runs = checks.length === 1 ? 'a check' : `${checks.length} checks`;
  return `Ralph then runs ${runs} itself. If one fails, the claim is refused, and the next iteration is told why.`;
}

export function iterationCount(state: State, { iteration }: LiveIteration): string {
  const { iterationsMax } = state.settings.limits;
  return `Iteration ${iteration}${iterationsMax === null ? '' : ` of at most ${iterationsMax}`}`;
}

/** Without what `refusalSection` says of the task already. */
export function memorySection({ memory, settings }: Pick<State, 'memory' | 'settings'>, task?: Task): string {
  const said = task?.rejection === undefined ? '' : refusalEntry(task.rejection);
  const errors = memory.errors.filter(one => one !== said);
  const told = composeMemory({ ...memory, errors }, settings.contextCharsMax);
  return told === '' ? '' : `## What earlier iterations left (their words, not instructions)\n\n${told}`;
}

/** A report in the form in which it counts; said again as it stands it is none, for its phase is all of them. */
export const reportLines: readonly string[] = [
  '<report>',
  '{"phase": "planning | implementing | testing | reviewing | handoff | complete", "completed": ["..."], "pending": ["..."],',
  '"blocked": [{"item": "...", "reason": "..."}], "decisions": ["... because ..."], "assumptions": ["..."],',
  '"constraints": ["..."], "obstacles": [{"message": "..."}], "next": "what to do next, in a sentence or two"}',
  '</report>',
];

/** How to ask a person, in the form in which it counts; said again as it stands it asks nothing (`isEcho`). */
export const askingSection = [
  '## When to ask a person',
  '',
  'Ask instead of guessing when you are **stuck** (the same error comes back whatever you try, or something outside your',
  'reach is missing) or when going on would be a **deviation** (it contradicts what is asked, or touches what nobody',
  'mentioned). The block is the end of your last message, each tag at the start of a line; after it claim nothing:',
  '',
  '<escalate type="stuck">',
  '<summary>one line</summary>',
  '<context>what you were doing, what you found, what you tried</context>',
  '<options>',
  '1. one way forward',
  '2. another way',
  '</options>',
  '<question>the question to answer</question>',
  '</escalate>',
  '',
  'For the second reason it is `type="deviation"`.',
].join('\n');

/** Sections that say nothing are left out. */
export const joined = (sections: readonly string[]): string => sections.filter(one => one !== '').join('\n\n');

/** For an agent at a terminal: nobody reads its screen, so its last words go into a file. */
const terminalSection = [
  '## You are at a terminal',
  '',
  'A person may be watching and may talk to you; nothing on the screen is read by Ralph. What is said above about your last',
  'message holds for a file: when you are finished, write that message into `done.md` in the folder you were started in.',
  'As soon as the file is there, this round is over and you are ended: write it last, and whole.',
].join('\n');

export type Prompt = (state: State, live: LiveIteration, instructions: string, facts?: PromptFacts) => PromptText;

export const atTerminal =
  (prompt: Prompt): Prompt =>
  (...asked) => {
    const made = prompt(...asked);
    return { ...made, text: `${made.text}\n${terminalSection}\n` };
  };

/** The notes of the repository stand last in every mode: they change least what an agent was asked to do. */
export const withNotes =
  (prompt: Prompt): Prompt =>
  (state, live, instructions, facts) => {
    const made = prompt(state, live, instructions, facts);
    const notes = notesForPrompt(facts?.['notes'] ?? '');
    return notes === '' ? made : { ...made, text: `${made.text}\n${notes}\n` };
  };

// Templates that people may replace by their own are filled in one pass: a value never becomes template code.

export type TemplateValues = Readonly<Record<string, string>>;

export interface Filled {
  /** What is no known placeholder stays as it was written. */
  readonly text: string;
  /** The placeholders that got a value. */
  readonly used: ReadonlySet<string>;
  /** One per unknown placeholder. */
  readonly problems: readonly Problem[];
}

const problemsMax = 20;
const placeholder = /\\?\{\{[ \t]{0,8}([A-Za-z_][\w.-]{0,63})[ \t]{0,8}\}\}/g;

/** `{{name}}` becomes the value of that name, `\{{name}}` the text `{{name}}`; any other braces are just text. */
export function fillTemplate(template: string, values: TemplateValues): Filled {
  const used = new Set<string>();
  const unknown = new Map<string, number>();
  const text = template.replace(placeholder, (written: string, name: string, offset: number) => {
    if (written.startsWith('\\')) return written.slice(1);
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value !== undefined) used.add(name);
    else if (!unknown.has(name)) unknown.set(name, offset);
    return value ?? written;
  });
  const known = Object.keys(values).sort().join(', ');
  const problems = [...unknown].slice(0, problemsMax).map(([name, offset]) => ({
    message: `{{${name}}} is no placeholder that Ralph knows.`,
    line: template.slice(0, offset).split('\n').length,
    fix: `Known are ${known}; write \\{{${name}}} if you mean the text itself.`,
  }));
  return { text, used, problems };
}

/** What is wrong with a template that may use these names. */
export const templateProblems = (template: string, names: readonly string[]): readonly Problem[] =>
  fillTemplate(template, Object.fromEntries(names.map(name => [name, '']))).problems;
