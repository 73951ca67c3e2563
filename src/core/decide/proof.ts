// Proof of a claim: what the answers of checks, of the look at the work, of a judge and of a merge mean, and when a task is closed.

import { comparable } from '../../messages/said.ts';
import { plural, someOf } from '../../text/format.ts';
import { lastLines, stripControls, takeCharacters, takeLastCharacters } from '../../text/text.ts';
import { type NewEvent, nobody, sameError } from '../event.ts';
import type { CheckOutcome, Decide, InputOf, Question } from '../input.ts';
import { movesOn, triesAnew, withRefusal } from '../memory.ts';
import type { State } from '../state.ts';
import { allTasks, type Doubt, type Finding, type FindingKind, findTask, type ProofLevel } from '../task.ts';
import { askOrBlock, blockIfSpent } from './claims.ts';
import { closeSettledDoubts, raise, stuckOptions, subjectOf } from './questions.ts';
import { conflictWords } from './standstill.ts';

type Claim = State['claims']['open'][number];

/** Of what a check printed, in a question: what failed is said last. */
const detailLinesMax = 15;

/** How often the task was refused for this output in a row, with this time. */
function refusalOf(state: State, task: string, detail: string): { readonly echo: string; readonly times: number } {
  const echo = comparable(detail);
  const before = findTask(state.tasks, task)?.refusal;
  return { echo, times: before !== undefined && before.echo === echo ? before.times + 1 : 1 };
}

/** The same output of the same check again and again is an error that the agent does not get over by itself. */
function refusedAgain(state: State, { task, iteration }: Claim, refused: CheckOutcome): readonly NewEvent[] {
  const { sameErrorsToEscalate: most } = state.settings;
  const { times } = refusalOf(state, task, takeLastCharacters(refused.detail, 2_000));
  if (movesOn(withRefusal(state, { iteration, detail: takeLastCharacters(refused.detail, 2_000) }), task)) return [];
  const spent = blockIfSpent(state, task, undefined, `the check "${refused.name}" failed`);
  if (spent.length > 0 || most === null || times < most || refused.silent || triesAnew(state, task)) return spent;
  const question: Question = {
    kind: 'stuck',
    subjects: [sameError],
    summary: `${task} was refused ${times} times in a row for the same: ${refused.name}`,
    context: lastLines(takeLastCharacters(refused.detail, 2_000), detailLinesMax, `ralph task show ${task}`),
    options: stuckOptions,
    question: `How should ${task} go on?`,
  };
  const because = `the check printed the same ${times} times, ${most} allowed (--stuck-threshold)`;
  return askOrBlock(state, question, because, { task, iteration });
}

function checkEvents(state: State, { iteration, outcomes }: InputOf<'checked'>, task: string): NewEvent[] {
  const events: NewEvent[] = [];
  // A check that did not run proves nothing.
  const missing = state.settings.checks
    .filter(name => !outcomes.some(outcome => outcome.name === name))
    .map((name): CheckOutcome => ({ name, passed: false, detail: 'It did not run.', durationMs: 0 }));
  for (const [at, outcome] of [...outcomes, ...missing].entries()) {
    const { name: check, passed, durationMs, flaky, tests, usage, performer = nobody } = outcome;
    const because = passed
      ? `${check} passed${flaky ? ', flaky' : ''}`
      : `the claim was refused: the check "${check}" failed`;
    const remaining = outcomes.length + missing.length - 1 - at;
    const detail = takeLastCharacters(outcome.detail, 2_000);
    if (usage !== undefined) events.push({ type: 'usage.recorded', iteration, performer, task, usage });
    const about = { iteration, task, check, passed, remaining, detail, durationMs, because, flaky, tests };
    const again = passed
      ? {}
      : { ...refusalOf(state, task, detail), progress: movesOn(withRefusal(state, { iteration, detail }), task) };
    events.push({ type: 'check.ended', ...about, ...again });
    if (!passed) break;
  }
  return events;
}

// Findings of the tamper screen: the sentence for each, and which of them refuse a claim.

/** `place`: where it was found; `detail`: what exactly. */
const findingWords: Readonly<Record<FindingKind, (place: string, detail: string) => string>> = {
  'test-deleted': (place, detail) => `The test file ${place} was deleted: ${detail}.`,
  'test-skipped': (place, detail) => `Tests were skipped in ${place}: ${detail}.`,
  'fewer-assertions': (place, detail) => `There are fewer assertions in ${place}: ${detail}.`,
  'fewer-tests': (place, detail) => `There are fewer tests in ${place}: ${detail}.`,
  'check-neutered': (place, detail) => `A check proves less by ${place}: ${detail}.`,
  'nothing-changed': () => 'No file was changed for it.',
  'configuration-changed': (place, detail) => `${place}: ${detail}.`,
};

const shownMax = 20;
const pathCharsMax = 200;

/** One sentence per finding, for the next prompt and for a person. */
export function describeFindings(findings: readonly Finding[]): string {
  const lines = findings.slice(0, shownMax).map(({ kind, path, detail }) => {
    const place = takeCharacters(stripControls(path).replaceAll('\n', ' '), pathCharsMax);
    return findingWords[kind](place, detail);
  });
  const more = findings.length - shownMax;
  return [...lines, ...(more > 0 ? [`And ${more} more of the kind.`] : [])].join('\n');
}

const aboutTests: ReadonlySet<FindingKind> = new Set([
  'test-deleted',
  'test-skipped',
  'fewer-assertions',
  'fewer-tests',
]);

function screened(
  { iteration, task }: Claim,
  { restored = [] }: InputOf<'checked'>,
  doubts: readonly Doubt[],
  refused: boolean,
): NewEvent {
  const back =
    restored.length === 0 ? '' : `protected files had been changed and were put back: ${restored.join(', ')}`;
  const said = [refused ? `the claim was not believed: ${describeFindings(doubts)}` : describeFindings(doubts), back];
  const because = said.filter(part => part !== '').join('\n') || 'nothing doubtful was found in its changes';
  return { type: 'proof.screened', iteration, task, doubts: doubts.slice(0, 50), restored, refused, because };
}

function askAboutDoubts(state: State, claim: Claim, doubts: readonly Doubt[]): readonly NewEvent[] {
  const { task } = claim;
  const nothing = doubts.every(one => one.kind === 'nothing-changed');
  const question: Question = {
    kind: 'tamper',
    findings: doubts.map(one => one.fingerprint),
    subjects: [...new Set(doubts.map(subjectOf))],
    summary: nothing
      ? `${task} is claimed, but nothing was changed for it`
      : `${task} is claimed and its checks pass, but tests or checks were changed`,
    context: describeFindings(doubts),
    options: [
      { id: 'reject', text: 'Not accepted: the agent tries again' },
      { id: 'accept', text: nothing ? 'Accept: there was nothing to do' : 'Accept these changes' },
    ],
    question: nothing ? 'Is there nothing to do for it?' : 'Accept these changes?',
  };
  return askOrBlock(state, question, 'the proof is doubtful', claim);
}

/** A judge that cannot be asked says nothing about the work: it is not done anew for that. */
function askAgain(state: State, claim: Claim, { name, detail }: CheckOutcome): readonly NewEvent[] {
  const question: Question = {
    kind: 'tamper',
    findings: [],
    summary: `${claim.task} is claimed and its checks pass, but there is no verdict (${name})`,
    context: takeLastCharacters(detail, 2_000),
    options: [
      { id: 'redo', text: 'Do the task anew' },
      { id: 'ask-again', text: 'Ask again' },
    ],
    question: 'When the judge can work again, take 2; or go on without it: ralph run --verify ...',
  };
  return raise(state, question, 'the judge gave no verdict', claim);
}

export const checked: Decide<'checked'> = (state, input) => {
  const claim = state.claims.open.find(one => one.iteration === input.iteration);
  const isWhole = input.doubts !== undefined && state.settings.tamperScreen && !state.settings.worktreePerTask;
  const settled = isWhole ? closeSettledDoubts(state, doubtsOf(state, input)) : [];
  const events = claim === undefined ? [] : [...judged(state, input, claim), ...settled];
  if (input.wrote !== true || events.length === 0) return events;
  const label = `after the checks of iteration ${input.iteration}`;
  return [
    ...events,
    { type: 'checkpoint.asked', kind: 'checks', label, by: 'ralph', because: 'files changed while they ran' },
  ];
};

/** What a crashed attempt left is no part of the work that was proven. */
function leftOutWords({ checkpoints: { latest } }: State, { leftOut = [] }: InputOf<'checked'>): string {
  if (leftOut.length === 0) return '';
  const where = latest === undefined ? '' : ` (kept in checkpoint ${latest.number})`;
  return `; left out, because only a crashed attempt had touched it and the checks pass without: ${someOf(leftOut)}${where}`;
}

/** Fewer tests ran than when the last task was closed, or than before any work: the runner itself says so. */
function countDoubt(state: State, { name, tests }: CheckOutcome): readonly Doubt[] {
  const before =
    state.claims.lastChecks[name]?.testsProven ?? state.loop.baseline?.find(one => one.check === name)?.tests;
  if (before === undefined || (tests !== undefined && tests >= before)) return [];
  const detail = `${plural(before, 'test')} ran before, ${tests === undefined ? 'not counted now' : `${tests} now`}`;
  const severity = tests === undefined ? 'report' : 'refuse';
  const kind = 'fewer-tests';
  return [{ kind, path: name, detail, severity, fingerprint: JSON.stringify([kind, name, detail]) }];
}

/** A fork began before other tasks brought their tests, so that its number says nothing. */
function doubtsOf(state: State, { doubts, outcomes }: InputOf<'checked'>): readonly Doubt[] {
  if (doubts === undefined || !state.settings.tamperScreen || state.settings.worktreePerTask) return doubts ?? [];
  return [...doubts, ...outcomes.filter(one => one.passed).flatMap(one => countDoubt(state, one))];
}

function judged(state: State, input: InputOf<'checked'>, claim: Claim): readonly NewEvent[] {
  const { outcomes } = input;
  const { task } = claim;
  const events = checkEvents(state, input, task);
  const passed = events.every(one => one.type !== 'check.ended' || one.passed);
  const { acceptedFindings: accepted } = state.claims;
  const doubts = doubtsOf(state, input).filter(one => !accepted.includes(one.fingerprint));
  const mayChangeTests = findTask(state.tasks, task)?.spec.mayChangeTests === true;
  const open = doubts.filter(one => one.severity === 'refuse' && !(mayChangeTests && aboutTests.has(one.kind)));
  if (passed && open.length > 0 && input.judged !== true)
    return [...events, screened(claim, input, doubts, true), ...askAboutDoubts(state, claim, open)];
  const isSeen = doubts.length + (input.restored ?? []).length > 0;
  const isUnproven = state.settings.worktreePerTask && events.length === 0; // without a check this is what moves it on
  if (isSeen || isUnproven) events.unshift(screened(claim, input, doubts, false));
  if (!passed) {
    const silent = outcomes.find(one => !one.passed && one.undecided === true);
    const refused = outcomes.find(one => !one.passed);
    if (silent !== undefined) return [...events, ...askAgain(state, claim, silent)];
    return [...events, ...(refused === undefined ? blockIfSpent(state, task) : refusedAgain(state, claim, refused))];
  }
  return closedBy(state, claim, input, events);
}

/** Passing checks have closed another task of this loop: they were green before this one. */
const wereGreenSince = ({ tasks }: State, task: string): boolean =>
  [...allTasks(tasks)].some(
    one => one.id !== task && one.status === 'done' && one.verified && one.spec.completion === undefined,
  );

/** `outcomes`: all passed. What an agent thinks of the work (a judge) is no check. `newTests`: the work added or changed tests. */
function levelBy(
  state: State,
  task: string,
  outcomes: readonly Pick<CheckOutcome, 'name' | 'performer'>[],
  newTests: boolean,
): ProofLevel {
  if (outcomes.length === 0) return 'unverified';
  const commands = outcomes.filter(one => one.performer === undefined);
  if (commands.length === 0) return 'passed';
  if (newTests) return 'proven';
  if (wereGreenSince(state, task)) return 'still-green';
  const before = (state.loop.baseline ?? []).filter(({ check }) => commands.some(one => one.name === check));
  if (before.some(one => !one.passed)) return 'proven';
  return before.length > 0 ? 'still-green' : 'passed';
}

/** Why a level below `proven` is no more. */
const lessThanProven: { readonly [Level in ProofLevel]?: string } = {
  'still-green': ', as before: no new test',
  passed: '; not run before the work, and no new test',
};

/** All checks passed. In a fork the merge closes it. */
function closedBy(
  state: State,
  { task, iteration }: Claim,
  input: InputOf<'checked'>,
  events: readonly NewEvent[],
): readonly NewEvent[] {
  const { outcomes, newTests } = input;
  const level = levelBy(state, task, outcomes, newTests === true);
  if (state.settings.worktreePerTask) return events.map((one, at) => withLevel(one, at === events.length - 1, level));
  const verified = outcomes.length > 0;
  const because = verified
    ? `claimed, and ${plural(outcomes.length, 'check')} passed${lessThanProven[level] ?? ''}${leftOutWords(state, input)}`
    : 'claimed by the agent, unverified: no check is configured';
  return [...events, { type: 'task.closed', task, iteration, verified, level, because }];
}

const withLevel = (event: NewEvent, isLast: boolean, level: ProofLevel): NewEvent =>
  isLast && event.type === 'check.ended' ? { ...event, level } : event;

export const merged: Decide<'merged'> = (state, { iteration, merged: ok, detail, conflict }) => {
  const claim = state.claims.open.find(one => one.iteration === iteration);
  if (claim === undefined) return [];
  const { task } = claim;
  const verified = state.settings.checks.length > 0;
  const level = verified ? claim.level : 'unverified';
  const because = ok ? `${task} is in the branch of the loop` : `the work could not be merged: ${detail}`;
  const event: NewEvent = { type: 'merge.ended', iteration, task, merged: ok, detail, conflict, because };
  if (!ok) return [event, ...blockIfSpent(state, task, undefined, conflict ? conflictWords(conflict) : because)];
  const why = verified ? 'claimed, checked and merged' : 'claimed and merged, unverified';
  return [event, { type: 'task.closed', task, iteration, verified, level, because: why }];
};
