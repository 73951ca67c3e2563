// The tools of Ralph's MCP server in one table: name, who may call it, what it is for, and what it takes.

export type Role =
  /** An agent in its iteration: it answers for that alone. */
  | 'agent'
  /** A program that a person started. */
  | 'operator';

/** The part of JSON Schema that the table uses. */
type Schema =
  | {
      readonly type: 'string';
      readonly description?: string;
      readonly maxLength?: number;
      readonly enum?: readonly string[];
    }
  | { readonly type: 'integer'; readonly description?: string; readonly minimum?: number; readonly maximum?: number }
  | { readonly type: 'boolean'; readonly description?: string }
  | { readonly type: 'array'; readonly description?: string; readonly items: Schema; readonly maxItems?: number }
  | ObjectSchema;

interface ObjectSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

export interface ToolRow {
  readonly name: string;
  readonly role: Role;
  /** It changes nothing. */
  readonly looks?: true;
  readonly description: string;
  readonly input: ObjectSchema;
}

const text = <const Description extends string>(description: Description, maxLength = 300) =>
  ({ type: 'string', description, maxLength }) as const;
const texts = <const Description extends string>(description: Description) =>
  ({ type: 'array', description, items: { type: 'string', maxLength: 300 }, maxItems: 50 }) as const;
const object = <
  const Properties extends Readonly<Record<string, Schema>>,
  const Required extends keyof Properties & string,
>(
  properties: Properties,
  ...required: readonly Required[]
) => ({ type: 'object', properties, required, additionalProperties: false }) as const;

const nothing = object({});
const loop = text('The name or the id of a loop, or the start of either; else the newest one of the folder.', 200);

export const tools = [
  {
    name: 'get_task',
    role: 'agent',
    looks: true,
    description:
      'Your task in this iteration: its id, its criteria with their numbers, and why its last claim was refused.',
    input: nothing,
  },
  {
    name: 'get_handoff',
    role: 'agent',
    looks: true,
    description: 'What the iteration before yours left: completed, pending, decisions, obstacles, next steps.',
    input: nothing,
  },
  {
    name: 'budget_left',
    role: 'agent',
    looks: true,
    description: 'What is used and left of the limits of this loop, and of the time and context of your iteration.',
    input: nothing,
  },
  {
    name: 'report_progress',
    role: 'agent',
    description: 'Tell what is done and what is left, for whoever goes on after you. It claims nothing.',
    input: object({
      completed: texts('What you have done.'),
      pending: texts('What is still to be done.'),
      next: text('What to do next, in a sentence or two.', 500),
      phase: { type: 'string', enum: ['planning', 'implementing', 'testing', 'reviewing', 'handoff', 'complete'] },
    }),
  },
  {
    name: 'report_done',
    role: 'agent',
    description:
      'Claim your task, when it meets all its criteria and only then: evidence for each of them. Ralph then runs its own checks; a claim that fails them comes back to you.',
    input: object(
      {
        task: text('The id of your task.', 200),
        evidence: {
          type: 'array',
          description: 'For each criterion of the task what shows that it is met.',
          maxItems: 200,
          items: object(
            {
              criterion: { type: 'integer', minimum: 1, description: 'Its number, from 1, in the order of the task.' },
              evidence: text('What shows that it is met: a test, an output, a place in the code.', 500),
            },
            'criterion',
            'evidence',
          ),
        },
        summary: text('What you did, in a sentence.'),
      },
      'task',
      'evidence',
    ),
  },
  {
    name: 'report_obstacle',
    role: 'agent',
    description: 'Tell what stands in your way, or that it no longer does. It asks nobody: use request_human for that.',
    input: object(
      {
        message: text('What it is; for one that is overcome its id (O1) or the same words.'),
        resolved: { type: 'boolean', description: 'It is overcome.' },
      },
      'message',
    ),
  },
  {
    name: 'request_human',
    role: 'agent',
    description:
      'Ask a person, when you are stuck or when going on would deviate from what is asked. The iteration then ends with the question: end your turn, and claim nothing.',
    input: object(
      {
        type: { type: 'string', enum: ['stuck', 'deviation'] },
        summary: text('One line.', 200),
        context: text('What you were doing, what you found, what you tried.', 2_000),
        options: {
          type: 'array',
          items: { type: 'string', maxLength: 300 },
          maxItems: 9,
          description: 'Ways forward.',
        },
        question: text('The question to answer.', 500),
      },
      'type',
      'summary',
      'question',
    ),
  },
  {
    name: 'note_decision',
    role: 'agent',
    description: 'Keep a decision and its reason for whoever goes on after you.',
    input: object({ decision: text('What you decided, because of what.') }, 'decision'),
  },
  {
    name: 'list_loops',
    role: 'operator',
    looks: true,
    description: 'The loops of this machine, newest first: state, tasks, cost, questions.',
    input: object({
      open: { type: 'boolean', description: 'Only those that are not over.' },
      most: { type: 'integer', minimum: 1, maximum: 200, description: '20 unless told.' },
    }),
  },
  {
    name: 'loop_status',
    role: 'operator',
    looks: true,
    description: 'One loop: its tasks, who works on what, limits and what is used of them, health, open questions.',
    input: object({ loop }),
  },
  {
    name: 'get_diff',
    role: 'operator',
    looks: true,
    description: 'What a loop has changed since it began, or in one iteration, as a patch.',
    input: object({ loop, iteration: { type: 'integer', minimum: 1, description: 'Only what this one changed.' } }),
  },
  {
    name: 'get_events',
    role: 'operator',
    looks: true,
    description: 'Events of a loop, oldest first, from `after` on; `next` continues.',
    input: object({
      loop,
      after: { type: 'integer', minimum: 0, description: 'The number of the last event that you know; 0 unless told.' },
      most: { type: 'integer', minimum: 1, maximum: 500, description: '100 unless told.' },
    }),
  },
  {
    name: 'list_inbox',
    role: 'operator',
    looks: true,
    description: 'Every question of every loop that waits for a person, with the command that answers it.',
    input: nothing,
  },
  {
    name: 'pause',
    role: 'operator',
    description: 'Pause a loop after its live iteration, or at once. A person resumes it: ralph resume.',
    input: object({ loop, now: { type: 'boolean', description: 'End the live iteration.' } }, 'loop'),
  },
  {
    name: 'nudge',
    role: 'operator',
    description: 'Say something to the agent at work, else to the next one: guidance, as ralph tell gives it.',
    input: object(
      { loop, text: text('What it shall know.', 10_000), task: text('Only for this task.', 200) },
      'loop',
      'text',
    ),
  },
] as const satisfies readonly ToolRow[];

type Row = (typeof tools)[number];

// What a schema lets through, as a type: who does a tool's work is held to its row.

type Given<One> = One extends { readonly enum: readonly (infer Word)[] }
  ? Word
  : One extends { readonly type: 'string' }
    ? string
    : One extends { readonly type: 'integer' }
      ? number
      : One extends { readonly type: 'boolean' }
        ? boolean
        : One extends { readonly type: 'array'; readonly items: infer Item }
          ? readonly Given<Item>[]
          : One extends { readonly properties: infer Properties; readonly required: readonly (infer Name)[] }
            ? { readonly [Key in keyof Properties & Name]: Given<Properties[Key]> } & {
                readonly [Key in keyof Properties]?: Given<Properties[Key]>;
              }
            : never;

/** What a tool answers: data, or why it did nothing; `kind` is for programs. */
export type Answer = { readonly result: object } | { readonly problem: ToolProblem };

export interface ToolProblem {
  readonly kind: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** Every tool of a role, done. */
export type ToolCalls<Whose extends Role> = {
  readonly [One in Extract<Row, { readonly role: Whose }> as One['name']]: (
    given: Given<One['input']>,
  ) => Answer | Promise<Answer>;
};
