// Front matter of a plan, read by its rules: what the plan is called, what it is for, and how far it may go.
import type { FrontMatter } from '../../../documents/frontmatter.ts';
import { idPattern } from '../../../documents/task-checks.ts';
import { bareName } from '../../../text/similarity.ts';
import { shown, suspicion } from '../../../text/text.ts';
import type { PlanOutline, PlanProblems, PlanStep } from './outline.ts';

const statuses = ['awaiting_approval', 'approved', 'executing', 'completed', 'blocked', 'escalated'] as const;
export type PlanStatus = (typeof statuses)[number];

/** The keys that Ralph itself writes. */
export const writtenKeys = ['completed_steps', 'status', 'iterations_used'] as const;
const keys = ['plan_id', 'objective', 'total_steps', 'approval_required', 'max_iterations', ...writtenKeys];
const wholeMax = 1_000_000;
const textCharsMax = 4000;
/** Names that some systems give to devices: no file may be called so. */
const deviceName = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

export interface PlanFacts {
  readonly planId: string;
  readonly objective: string;
  readonly iterationsMax: number | undefined;
  readonly approvalRequired: boolean;
}

const nothing: PlanFacts = { planId: '', objective: '', iterationsMax: undefined, approvalRequired: true };

export function readFacts(text: string, outline: PlanOutline, problems: PlanProblems): PlanFacts {
  const { matter, head, steps } = outline;
  if (!matter.ok) return nothing; // which was complained about
  if (!matter.isPresent) {
    const fix = 'Begin with a line ---, then plan_id, objective and total_steps, then a line ---.';
    problems.add(head, 'The plan has no front matter.', fix);
    return nothing;
  }
  const facts = factReader(matter, head, problems);
  const planId = readPlanId(facts);
  const objective = facts.text('objective', 'Say what the plan is for.');
  const iterationsMax = facts.whole('max_iterations', 1);
  const approvalRequired = facts.boolean('approval_required') ?? true;
  checkCounts(facts, steps, iterationsMax);
  checkStatus(facts);
  for (const key of writtenKeys) checkPlain(text, facts.place(key), key, problems);
  for (const key of Object.keys(matter.values)) {
    const meant = keys.find(each => each !== key && bareName(each) === bareName(key));
    if (meant !== undefined) facts.notice(key, `The key ${shown(key)} is ignored: write ${meant}.`);
  }
  return { planId, objective, iterationsMax, approvalRequired };
}

function checkCounts(facts: FactReader, steps: readonly PlanStep[], iterationsMax: number | undefined): void {
  facts.whole('total_steps', 1);
  const completed = facts.whole('completed_steps', 0) ?? -1;
  const used = facts.whole('iterations_used', 0) ?? -1;
  const ticked = steps.filter(step => /x/i.test(step.box)).length;
  if (completed >= 0 && completed !== ticked)
    facts.notice('completed_steps', `completed_steps is ${completed}, but ${ticked} boxes are ticked.`);
  if (iterationsMax !== undefined && used > iterationsMax)
    facts.notice('iterations_used', `iterations_used is ${used}, more than max_iterations.`);
}

/** What we write must stand for itself: with an anchor, another value would change with it. */
function checkPlain(text: string, at: number, key: string, problems: PlanProblems): void {
  const written = text.slice(text.lastIndexOf('\n', at - 1) + 1, at + 1);
  if (!/:\s*[&!*]/.test(written)) return;
  problems.add(at, `${key} must be a plain value, without an anchor, alias or tag.`, `Write "${key}: …".`);
}

/** It names folders and files of the vault. */
function readPlanId(facts: FactReader): string {
  const id = facts.text('plan_id', 'Give the plan a name of its own.');
  if (id === '') return '';
  if (idPattern.test(id) && !id.includes('..') && !id.endsWith('.') && !deviceName.test(id)) return id;
  const fix = 'Use 1 to 64 letters, digits, hyphens or underscores.';
  facts.problem('plan_id', `plan_id is not usable as the name of a file: ${shown(id)}.`, fix);
  return '';
}

function checkStatus(facts: FactReader): void {
  const status = facts.values['status'] ?? null;
  if (status === null) return;
  if (typeof status !== 'string')
    facts.problem('status', `status must be a word, not ${shown(status)}.`, 'Write awaiting_approval.');
  else if (!statuses.some(known => known === status))
    facts.notice('status', `status is ${shown(status)}, which Ralph does not know.`);
}

type FactReader = ReturnType<typeof factReader>;

/** Readers of the values by key, each with its own complaints. */
function factReader({ values, offsets }: FrontMatter, head: number, problems: PlanProblems) {
  const place = (key: string): number => offsets.get(key) ?? head;
  const problem = (key: string, message: string, fix: string): void => problems.add(place(key), message, fix);
  const notice = (key: string, message: string): void => problems.notice(place(key), message);

  function text(key: string, fix: string): string {
    const value = values[key];
    if (value === undefined) problem(key, `${key} is missing.`, `Add "${key}: …" to the front matter.`);
    else if (typeof value !== 'string') problem(key, `${key} must be text, not ${shown(value)}.`, 'Put it in quotes.');
    else if (value.trim() === '') problem(key, `${key} is empty.`, fix);
    else if (value.length > textCharsMax)
      problem(key, `${key} is longer than ${textCharsMax} characters.`, 'Shorten it.');
    else {
      const warning = suspicion(value);
      if (warning !== undefined) notice(key, `${key} ${warning}`);
      return value.trim();
    }
    return '';
  }

  function whole(key: string, least: number): number | undefined {
    const value = values[key];
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= wholeMax) return value;
    const rule = `a whole number from ${least} to ${wholeMax}`;
    problem(key, `${key} must be ${rule}, not ${shown(value)}.`, `Write ${key}: ${least}, without quotes.`);
    return undefined;
  }

  function boolean(key: string): boolean | undefined {
    const value = values[key];
    if (value === undefined || typeof value === 'boolean') return value;
    problem(key, `${key} must be true or false, not ${shown(value)}.`, 'Write true, without quotes.');
    return undefined;
  }

  return { values, place, problem, notice, text, whole, boolean };
}
