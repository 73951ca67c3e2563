// The Plan.md format and its rules: all that are broken are told at once, before a person approves it.

import type { Order, TaskSpec } from '../../../core/task.ts';
import type { Format, ParsedDocument, Problem } from '../../../documents/document.ts';
import { checkDependencies, idPattern } from '../../../documents/task-checks.ts';
import { pathProblem } from '../../../text/step-path.ts';
import { shown, suspicion } from '../../../text/text.ts';
import { type AddFault, criteria, idList, longText, oneLine, type PlanFieldName, params } from './fields.ts';
import { readFacts } from './front-matter.ts';
import { markPlan, planSubstance } from './marks.ts';
import { outlinePlan, type PlanField, type PlanOutline, PlanProblems, type PlanStep } from './outline.ts';

const headCharsMax = 8 * 1024;

export const plan: Format = {
  name: 'plan',

  /** Also true for a broken document, so that its faults are told. */
  recognises(fileName, text) {
    if (!/\.(?:md|markdown)$/i.test(fileName)) return false;
    return (
      /^plan_id[ \t]*:/m.test(text.slice(0, headCharsMax)) ||
      /^ {0,3}[-*+][ \t]+\[.\][ \t]+\*\*Step[ \t]+\d+:\*\*.*\(action_type:/m.test(text)
    );
  },

  parse(text, options = {}) {
    const { problems, document } = readPlan(text, options.acceptTicked === true);
    return problems.count > 0 ? { ok: false, problems: problems.located(text) } : { ok: true, document };
  },

  mark: markPlan,
};

export interface PlanLint {
  readonly problems: readonly Problem[];
  readonly notices: readonly string[];
}

/** All that is wrong with a plan and all that is worth a look, at once. */
export function lintPlan(text: string): PlanLint {
  const { problems } = readPlan(text, false);
  return { problems: problems.located(text), notices: problems.notices(text) };
}

const stepsMax = 10_000;
const textCharsMax = 16 * 1024 * 1024;
const descriptionCharsMax = 1000;
const messageCharsMax = 64 * 1024;
const contentCharsMax = 1024 * 1024;
const orderFix = 'Put the steps in the order of their numbers.';
const mcpType = /^mcp_[a-z0-9_]{1,60}$/;
const toolPattern = /^[A-Za-z0-9_][A-Za-z0-9_./-]{0,127}$/;

/** The fields that each kind of action reads, and those that it cannot do without. */
const fieldsOf: Readonly<Record<Kind, Readonly<Record<'reads' | 'needs', readonly PlanFieldName[]>>>> = {
  mcp: { reads: ['MCP Server', 'Tool', 'Params'], needs: ['MCP Server', 'Tool'] },
  create_file: { reads: ['File', 'Content'], needs: ['File'] },
  notify_human: { reads: ['Message'], needs: [] },
  agent: { reads: ['Message', 'Content', 'Criteria'], needs: [] },
};

type Kind = 'mcp' | 'create_file' | 'notify_human' | 'agent';

function kindOf(actionType: string): Kind | undefined {
  if (mcpType.test(actionType)) return 'mcp';
  return (['create_file', 'notify_human', 'agent'] as const).find(kind => kind === actionType);
}

/** With problems, the document is not to be used. */
function readPlan(
  text: string,
  isTickTrusted: boolean,
): { readonly problems: PlanProblems; readonly document: ParsedDocument } {
  const problems = new PlanProblems();
  if (text.length > textCharsMax) {
    problems.add(0, 'The plan is larger than 16 MB.', 'Split it into several plans.');
    return { problems, document: { project: '', goal: '', tasks: [], notices: [] } };
  }
  const outline = outlinePlan(text, problems);
  const { planId, objective, iterationsMax, approvalRequired } = readFacts(text, outline, problems);
  const tasks = outline.steps.slice(0, stepsMax).map(step => readStep(text, step, problems));
  checkSteps(outline, tasks, problems);
  if (!isTickTrusted) noticeTicks(outline, problems);
  const document: ParsedDocument = {
    project: planId,
    id: planId,
    goal: objective,
    tasks,
    notices: problems.notices(text),
    defaults: iterationsMax === undefined ? undefined : { iterationsMax },
    approval: { required: approvalRequired, substance: problems.count > 0 ? '' : planSubstance(text) },
  };
  return { problems, document };
}

/** B44: as many as the front matter says, each number once, from 1 upwards; and no circles. */
function checkSteps({ steps, matter }: PlanOutline, tasks: readonly TaskSpec[], problems: PlanProblems): void {
  const total = matter.ok ? matter.values['total_steps'] : undefined;
  if (steps.length === 0) {
    problems.add(0, 'The plan has no steps.', 'Write "- [ ] **Step 1:** what to do (action_type: agent)".');
  } else if (matter.ok && typeof total === 'number' && total !== steps.length) {
    const at = matter.offsets.get('total_steps')!;
    problems.add(at, `total_steps is ${total}, but the plan has ${steps.length} steps.`, 'Correct it.');
  }
  if (steps.length > stepsMax) {
    problems.add(steps[stepsMax]!.start, `The plan has more than ${stepsMax} steps.`, 'Split it into several plans.');
  }
  const seen = new Set<number>();
  let highest = 0;
  for (const { number, start } of steps) {
    if (seen.has(number)) problems.add(start, `Step ${number} stands twice.`, 'Number the steps 1, 2, 3 and so on.');
    else if (number < highest) problems.add(start, `Step ${number} stands behind step ${highest}.`, orderFix);
    else if (number !== highest + 1)
      problems.add(start, `Step ${number} stands where step ${highest + 1} should.`, 'Leave no number out.');
    seen.add(number);
    highest = Math.max(highest, number);
  }
  checkDependencies(tasks, {
    noun: 'step',
    plural: 'steps',
    dependenciesName: row => `Dependencies of step ${steps[row]!.number}`,
    dependenciesPlace: row =>
      steps[row]!.fields.find(field => field.name === 'Dependencies')?.start ?? steps[row]!.start,
    add: problems.add.bind(problems),
  });
}

/** B48: nobody knows who ticked a box that we did not tick. */
function noticeTicks({ steps }: PlanOutline, problems: PlanProblems): void {
  for (const { number, box, start } of steps) {
    if (box === ' ') continue;
    const what = box === '!' ? 'marked as failed' : box === '-' ? 'left out' : 'ticked';
    problems.notice(start, `Step ${number} was ${what} ([${box}]) before Ralph had a record of it.`);
  }
}

function readStep(text: string, step: PlanStep, problems: PlanProblems): TaskSpec {
  const reader = new StepReader(text, step, problems);
  const { actionType, description, box } = step;
  const kind = actionType === undefined ? undefined : kindOf(actionType);
  if (actionType === undefined) reader.fault('names no action', 'End its line with (action_type: …).');
  else if (kind === undefined) {
    const fix = 'Use mcp_ and small letters or digits, create_file, notify_human or agent.';
    reader.fault(`has an action_type that is not known: ${shown(actionType)}`, fix);
  }
  if (description === '') reader.fault('has no description', 'Say what it does.');
  if (description.length > descriptionCharsMax) {
    const message = `The description of step ${step.number} is longer than ${descriptionCharsMax} characters.`;
    problems.add(step.start, message, 'Shorten it; more text goes into Message or Content.');
  }
  reader.watch(description, step.start, 'The description');
  const dependsOn = reader.dependencies();
  const work = kind === undefined ? undefined : reader.work(kind);
  return {
    id: `step_${step.number}`,
    title: description,
    description: '',
    criteria: [],
    dependsOn,
    done: /x/i.test(box),
    skipped: box === '-',
    blocked: box === '!' ? true : undefined,
    ...work,
  };
}

type Work = Partial<Pick<TaskSpec, 'performer' | 'order' | 'completion' | 'description' | 'criteria'>>;

/** Reads the fields of one step by what its action needs. */
class StepReader {
  private readonly text: string;
  private readonly step: PlanStep;
  private readonly problems: PlanProblems;
  private readonly fields = new Map<PlanFieldName, PlanField>();

  constructor(text: string, step: PlanStep, problems: PlanProblems) {
    this.text = text;
    this.step = step;
    this.problems = problems;
    for (const field of step.fields) {
      if (this.fields.has(field.name) && field.name !== 'Criteria')
        problems.add(field.start, `${field.name} stands twice in step ${step.number}.`, 'Keep one of the two.');
      else this.fields.set(field.name, field);
    }
  }

  fault(message: string, fix: string): void {
    this.problems.add(this.step.start, `Step ${this.step.number} ${message}.`, fix);
  }

  private fieldFault(name: PlanFieldName, message: string, fix: string): void {
    this.problems.add(this.fields.get(name)!.start, `${name} of step ${this.step.number} ${message}.`, fix);
  }

  dependencies(): readonly string[] {
    return this.read('Dependencies', idList) ?? [];
  }

  work(kind: Kind): Work {
    const { reads, needs } = fieldsOf[kind];
    for (const [name, { start }] of this.fields)
      if (name !== 'Dependencies' && !reads.includes(name))
        this.problems.notice(start, `${name} of step ${this.step.number} is not used by its action.`);
    for (const name of needs) if (!this.fields.has(name)) this.fault(`has no ${name}`, `Add "- ${name}: …" below it.`);
    if (kind === 'agent') {
      const words = this.long('Message', messageCharsMax) ?? this.long('Content', contentCharsMax) ?? '';
      return { description: words.trim(), criteria: this.criteria() };
    }
    const order = this.order(kind);
    return { performer: order.type === 'mcp' ? `mcp:${order.server}` : order.type, order, completion: 'result' };
  }

  watch(words: string, offset: number, name: string): void {
    const warning = suspicion(words);
    const of = `${name} of step ${this.step.number}`;
    if (warning !== undefined) this.problems.notice(offset, `${of} ${warning}`);
    if (words.includes('<!--')) this.problems.notice(offset, `${of} holds a comment that a rendered page hides.`);
  }

  private order(kind: Exclude<Kind, 'agent'>): Order {
    if (kind === 'mcp') {
      const [server, tool] = [this.word('MCP Server', idPattern), this.word('Tool', toolPattern)];
      return { type: 'mcp', server, tool, params: this.read('Params', params) ?? {} };
    }
    if (kind === 'notify_human')
      return { type: 'notify_human', message: this.long('Message', messageCharsMax)?.trim() ?? this.step.description };
    const content = this.long('Content', contentCharsMax);
    if (content === undefined)
      this.problems.notice(this.step.start, `Step ${this.step.number} has no Content: its file will be empty.`);
    return { type: 'create_file', path: this.path(), content: content ?? '' };
  }

  private criteria(): readonly string[] {
    const fields = this.step.fields.filter(field => field.name === 'Criteria');
    return fields.flatMap(field => criteria(this.text.slice(field.valueStart, field.end)));
  }

  private word(name: PlanFieldName, pattern: RegExp): string {
    const value = this.read(name, oneLine) ?? '';
    if (!this.fields.has(name) || pattern.test(value)) return value;
    this.fieldFault(name, `is ${shown(value)}`, 'Use letters, digits, hyphens and underscores.');
    return '';
  }

  private path(): string {
    const value = this.read('File', oneLine) ?? '';
    const problem = pathProblem(value);
    if (this.fields.has('File') && problem !== undefined)
      this.fieldFault('File', `${problem}: ${shown(value)}`, 'Write a path inside the vault or the repository.');
    return value;
  }

  private long(name: 'Message' | 'Content', charsMax: number): string | undefined {
    const field = this.fields.get(name);
    if (field === undefined) return undefined;
    if (field.end - field.valueStart > charsMax) {
      this.fieldFault(name, `is longer than ${charsMax} characters`, 'Put the text into a file of its own.');
      return '';
    }
    if (this.text.slice(field.valueStart, field.end).trim() === '')
      this.fieldFault(name, 'is empty', 'Indent its lines below it, or remove it.');
    return this.read(name, longText);
  }

  private read<Value>(name: PlanFieldName, reading: (raw: string, add: AddFault) => Value): Value | undefined {
    const field = this.fields.get(name);
    if (field === undefined) return undefined;
    const raw = this.text.slice(field.valueStart, field.end);
    this.watch(raw, field.start, name);
    return reading(raw, (at, message, fix) => {
      const named = message.replace(/^(Dependencies|Params)/, `$1 of step ${this.step.number}`);
      this.problems.add(field.valueStart + at, named, fix);
    });
  }
}
