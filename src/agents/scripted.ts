// The scripted agent, without a model: plays a written script, for the demo, for scenarios and for trials without a key.
import { constants, existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, sep } from 'node:path';
import type { Usage } from '../core/event.ts';
import { type Failure, type FailureKind, failureRules } from '../core/failure.ts';
import { noUsage } from '../core/state.ts';
import { isFields } from '../text/fields.ts';
import type { Activity, Assignment, Performer } from './performer.ts';

interface ScriptedEscalation {
  readonly type: string;
  readonly summary: string;
  readonly context: string;
  readonly options: readonly string[];
  readonly question: string;
}

export type ScriptStep =
  | { readonly say: string }
  | { readonly write: string; readonly text: string }
  | { readonly append: string; readonly text: string }
  /** Cumulative for the turn; what is not named is 0. */
  | { readonly usage: Partial<Usage> }
  | { readonly tool: string; readonly detail?: string }
  | { readonly wait: number }
  | { readonly hang: true }
  | { readonly fail: FailureKind; readonly detail?: string }
  | { readonly escalate: ScriptedEscalation }
  | { readonly claim: true }
  /** The same words as a claim; the script says that nothing was done for them. */
  | { readonly lie: true }
  | { readonly promise: string };

export interface ScriptTurn {
  readonly task?: string;
  readonly attempt?: number;
  readonly steps: readonly ScriptStep[];
}

export interface Script {
  readonly turns: readonly ScriptTurn[];
}

/** The part of the engine's clock that a script needs, so that agents need not import the engine. */
interface ScriptClock {
  now(): number;
  /** Calls back once at or after `at`; returns how to cancel. */
  at(at: number, due: () => void): () => void;
}

export interface ScriptedAgentOptions {
  readonly script: Script;
  readonly clock?: ScriptClock;
}

const wallClock: ScriptClock = {
  now: () => performance.now(),
  at(at, due) {
    const timer = setTimeout(due, Math.min(2_147_483_647, Math.max(0, at - performance.now())));
    return () => clearTimeout(timer);
  },
};

export function scriptedAgent(options: ScriptedAgentOptions): Performer {
  return {
    name: 'scripted',
    can: { steer: false, resume: false, interactive: false, usage: true },
    perform: (assignment, stop) => play(options, assignment, stop),
  };
}

/** The turn depends on task and attempt alone, so that it is the same one after a crash. */
function turnFor(script: Script, assignment: Assignment): ScriptTurn | undefined {
  return script.turns.find(
    turn =>
      (turn.task === undefined || turn.task === assignment.task) &&
      (turn.attempt === undefined || turn.attempt === assignment.attempt),
  );
}

async function* play(
  { script, clock = wallClock }: ScriptedAgentOptions,
  assignment: Assignment,
  stop: AbortSignal,
): AsyncGenerator<Activity, void, void> {
  const deadline = clock.now() + assignment.timeMsMax;
  const said: string[] = [];
  const ended = (failure?: Failure): Activity => ({ type: 'ended', message: said.join('\n'), failure });
  const turn = turnFor(script, assignment);
  if (!turn) {
    const detail = `the script has no turn for task ${assignment.task}, attempt ${assignment.attempt}`;
    return yield ended({ kind: 'unknown', detail });
  }
  for (const step of turn.steps) {
    if (stop.aborted) return yield ended(stopped);
    const pause = pauseMs(step);
    const failure =
      pause === undefined ? carryOut(step, assignment.directory) : await wait(clock, pause, deadline, stop);
    if (failure) return yield ended(failure);
    const words = wordsOf(step, assignment.task);
    if (words !== undefined) said.push(words);
    yield* activitiesOf(step, words);
  }
  yield ended(stop.aborted ? stopped : undefined);
}

function* activitiesOf(step: ScriptStep, words: string | undefined): Generator<Activity, void, void> {
  if (words !== undefined) yield { type: 'text', text: `${words}\n`, channel: 'output' };
  if ('usage' in step) yield { type: 'usage', usage: { ...noUsage, ...step.usage } };
  if ('tool' in step) yield { type: 'tool', name: step.tool, detail: step.detail ?? '' };
}

function pauseMs(step: ScriptStep): number | undefined {
  if ('wait' in step) return step.wait;
  return 'hang' in step ? Number.POSITIVE_INFINITY : undefined;
}

const stopped: Failure = { kind: 'stopped', detail: 'stopped by Ralph' };

function wordsOf(step: ScriptStep, task: string): string | undefined {
  if ('say' in step) return step.say;
  if ('claim' in step || 'lie' in step) return `Task ${task} complete`;
  if ('promise' in step) return `<promise>${step.promise}</promise>`;
  if (!('escalate' in step)) return undefined;
  const { type, summary, context, options, question } = step.escalate;
  return [
    `<escalate type="${type}">`,
    `<summary>${summary}</summary>`,
    `<context>\n${context}\n</context>`,
    `<options>\n${options.map((option, index) => `${index + 1}. ${option}`).join('\n')}\n</options>`,
    `<question>${question}</question>`,
    '</escalate>',
  ].join('\n');
}

function wait(clock: ScriptClock, waitMs: number, deadline: number, stop: AbortSignal): Promise<Failure | undefined> {
  const at = clock.now() + waitMs;
  const late: Failure = { kind: 'timeout', detail: 'the script waited longer than an iteration may take' };
  return new Promise(resolve => {
    const end = (failure?: Failure): void => {
      cancel();
      stop.removeEventListener('abort', onStop);
      resolve(failure);
    };
    const onStop = (): void => end(stopped);
    let cancel = (): void => {};
    cancel = clock.at(Math.min(at, deadline), () => end(deadline < at ? late : undefined));
    stop.addEventListener('abort', onStop);
  });
}

/** Fails when told to. Writes inside the directory only, also when a link in it leads elsewhere. */
function carryOut(step: ScriptStep, directory: string): Failure | undefined {
  if ('fail' in step) return { kind: step.fail, detail: step.detail ?? 'as the script says' };
  if (!('write' in step) && !('append' in step)) return undefined;
  const path = 'write' in step ? step.write : step.append;
  try {
    if (!isInside(path)) return { kind: 'permission', detail: `the script writes outside the directory: ${path}` };
    const folder = makeInside(realpathSync(directory), dirname(path));
    if (folder === undefined) return { kind: 'permission', detail: `a link leads out of the directory: ${path}` };
    const how = 'write' in step ? constants.O_TRUNC : constants.O_APPEND;
    const flag = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | how;
    writeFileSync(join(folder, basename(path)), step.text, { flag: flag as unknown as string });
    return undefined;
  } catch (error) {
    return { kind: 'process', detail: (error as Error).message };
  }
}

function isInside(path: string): boolean {
  return path !== '' && !path.endsWith('/') && !isAbsolute(path) && !path.split('/').includes('..');
}

function makeInside(root: string, folder: string): string | undefined {
  let current = root;
  for (const segment of folder.split('/')) {
    const next = join(current, segment);
    if (!existsSync(next)) mkdirSync(next);
    current = realpathSync(next);
    if (current !== root && !current.startsWith(root + sep)) return undefined;
  }
  return current;
}

export type ParsedScript =
  | { readonly ok: true; readonly script: Script }
  | { readonly ok: false; readonly problem: string };

/** Reads a script from JSON text; the problem is one sentence that names the place. */
export function parseScript(text: string): ParsedScript {
  try {
    const script: unknown = JSON.parse(text);
    const problem = problemOfScript(script);
    return problem === undefined ? { ok: true, script: script as Script } : { ok: false, problem };
  } catch (error) {
    return { ok: false, problem: `The script is not JSON: ${(error as Error).message}.` };
  }
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isTrue = (value: unknown): boolean => value === true;
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isPath = (value: unknown): boolean => typeof value === 'string' && isInside(value);
const costParts = new Set(['unbilledUsdMicros', 'boundUsdMicros']);
const isUsage = (value: unknown): boolean =>
  isFields(value) &&
  Object.entries(value).every(([name, each]) =>
    name === 'estimated'
      ? typeof each === 'boolean'
      : (Object.hasOwn(noUsage, name) || costParts.has(name)) && isCount(each),
  );
const isEscalation = (value: unknown): boolean =>
  isFields(value) &&
  ['type', 'summary', 'context', 'question'].every(name => isText(value[name])) &&
  Array.isArray(value['options']) &&
  value['options'].every(isText);

interface StepRule {
  readonly valid: (value: unknown) => boolean;
  readonly rule: string;
  readonly needs?: string;
  readonly takes?: string;
}

const pathRule = 'a relative path inside the directory, without ..';
/** What each step takes: the page about agents lists them. */
export const stepRules: Readonly<Record<string, StepRule>> = {
  say: { valid: isText, rule: 'text' },
  write: { valid: isPath, rule: pathRule, needs: 'text' },
  append: { valid: isPath, rule: pathRule, needs: 'text' },
  usage: { valid: isUsage, rule: `counts of ${Object.keys(noUsage).slice(0, -1).join(', ')}` },
  tool: { valid: isText, rule: "a tool's name", takes: 'detail' },
  wait: { valid: isCount, rule: 'milliseconds, a whole number' },
  hang: { valid: isTrue, rule: 'true' },
  fail: {
    valid: value => typeof value === 'string' && Object.hasOwn(failureRules, value),
    rule: `one of ${Object.keys(failureRules).join(', ')}`,
    takes: 'detail',
  },
  escalate: { valid: isEscalation, rule: 'type, summary, context, question as text and options as a list of texts' },
  claim: { valid: isTrue, rule: 'true' },
  lie: { valid: isTrue, rule: 'true' },
  promise: { valid: value => isText(value) && !(value as string).includes('\n'), rule: 'text on one line' },
};

/** The problem of the first item that has one. */
function firstProblem(
  items: readonly unknown[],
  where: string,
  problemOf: (item: unknown, where: string) => string | undefined,
): string | undefined {
  return items.map((item, index) => problemOf(item, `${where}[${index}]`)).find(problem => problem !== undefined);
}

function problemOfScript(script: unknown): string | undefined {
  if (!isFields(script) || !Array.isArray(script['turns'])) return 'A script is an object with a list of turns.';
  const odd = Object.keys(script).find(name => name !== 'turns');
  if (odd !== undefined) return `A script has no "${odd}"; it has turns.`;
  return firstProblem(script['turns'], 'turns', problemOfTurn);
}

function problemOfTurn(turn: unknown, where: string): string | undefined {
  if (!isFields(turn) || !Array.isArray(turn['steps'])) return `${where} must be an object with a list of steps.`;
  const odd = Object.keys(turn).find(name => !['task', 'attempt', 'steps'].includes(name));
  if (odd !== undefined) return `${where} has no "${odd}"; it has task, attempt and steps.`;
  if (turn['task'] !== undefined && !isText(turn['task'])) return `${where}.task must be a task's id.`;
  if (turn['attempt'] !== undefined && !(isCount(turn['attempt']) && turn['attempt'] !== 0)) {
    return `${where}.attempt must be a whole number from 1 on.`;
  }
  return firstProblem(turn['steps'], `${where}.steps`, problemOfStep);
}

function problemOfStep(step: unknown, where: string): string | undefined {
  const known = Object.keys(stepRules);
  const names = isFields(step) ? Object.keys(step) : [];
  const kind = names.find(name => known.includes(name));
  if (!isFields(step) || kind === undefined) return `${where} must be one of ${known.join(', ')}.`;
  const { valid, rule, needs, takes } = stepRules[kind]!;
  if (!valid(step[kind])) return `${where}.${kind} must be ${rule}.`;
  const extra = needs ?? takes;
  const odd = names.find(name => name !== kind && name !== extra);
  if (odd !== undefined) return `${where} has no "${odd}" beside "${kind}".`;
  const value = extra === undefined ? undefined : step[extra];
  if (extra !== undefined && !isText(value) && (needs !== undefined || value !== undefined)) {
    return `${where}.${extra} must be text.`;
  }
  return undefined;
}
