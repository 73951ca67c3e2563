// JSON Schema of everything that `--json` prints: written once here, published in docs/schemas, held against real output by tests.
import { z } from 'zod';
import { commands, nameOf } from '../src/cli/command-table.ts';
import type { EscalationKind } from '../src/core/event.ts';
import { limitNames } from '../src/core/settings.ts';
import { levelWords, type ProofLevel } from '../src/core/task.ts';
import type { Standing } from '../src/views/loop.ts';
import { questionKinds } from '../src/views/question.ts';

const text = z.string();
const count = z.int().nonnegative();
const time = z.iso.datetime().describe('ISO 8601 in UTC, with Z');
const texts = z.array(text);
const optional = <Type extends z.ZodType>(type: Type) => type.optional();
/** Every output has it. */
const output = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject({ version: z.literal(2).describe('of all JSON outputs; 1 was 0.4'), ...shape });

const status = z.enum(['pending', 'active', 'done', 'blocked', 'skipped']);
const level = z.enum(Object.keys(levelWords) as ProofLevel[]);

const usage = z.strictObject({
  inputTokens: count,
  outputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  costUsdMicros: count.describe('millionths of a US dollar'),
  estimated: z.boolean(),
  unbilledUsdMicros: optional(count.describe('what a subscription covers')),
  boundUsdMicros: optional(count.describe('what stands at an upper bound')),
});

const question = z.strictObject({
  id: text,
  kind: z.enum(Object.keys(questionKinds) as EscalationKind[]),
  task: optional(text),
  title: optional(text.describe('of the task')),
  iteration: optional(count),
  performer: optional(text),
  findings: optional(texts),
  subjects: optional(texts),
  summary: text,
  context: text,
  options: texts,
  optionIds: texts,
  question: text,
  raisedAt: time,
});

const holder = z.strictObject({
  id: text,
  pid: count,
  startTime: text,
  host: text,
  boot: text,
  version: text,
});

const liveness = z.union([
  z.strictObject({ is: z.literal('ended'), holder: optional(holder) }),
  z.strictObject({ is: z.literal('held'), holder, renewedAt: time }),
  z.strictObject({ is: z.literal('nobody') }),
]);

const iteration = z.strictObject({
  iteration: count,
  task: text,
  performer: text,
  startedAt: time,
  endedAt: optional(time),
  outcome: optional(z.enum(['succeeded', 'failed', 'handed-off', 'escalated', 'interrupted'])),
  phase: text,
  completed: texts,
  pending: texts,
  errors: texts,
  checkpoint: optional(text),
  usage: optional(usage),
  handoff: optional(text),
  health: text,
});

const history = z.strictObject({
  iterations: z.array(iteration),
  checks: z.array(z.strictObject({ iteration: count, task: text, check: text, passed: z.boolean() })),
  accepted: z
    .array(z.strictObject({ task: text, by: text, at: time, what: text }))
    .describe('changes of tests and checks that a person said yes to'),
  evidence: z
    .record(text, z.array(z.strictObject({ criterion: count, evidence: text })))
    .describe('what the agents gave as evidence with the last claim of each task, by a tool'),
  errors: texts,
  counts: z.record(text, count),
  reported: optional(z.record(text, z.unknown()).describe('what the agent of a goal reported last')),
});

const standings = 'starting running checking waiting paused not-running completed stopped taken-back'.split(' ');
const standing = z.enum(standings as [Standing, ...Standing[]]);

const limits = z.strictObject({
  ...Object.fromEntries(limitNames.map(name => [name, name.endsWith('At') ? time.nullable() : count.nullable()])),
  escalationsPerTaskMax: count,
});

/** A LoopView of docs/library.md. */
const view = {
  loop: text.describe('its id'),
  name: text,
  goal: text,
  document: text,
  directory: text,
  mode: text,
  agents: texts,
  startedAt: time,
  seq: count.describe('events so far'),
  liveness,
  state: standing.describe('how it stands, in one word'),
  summary: text.describe('how it ended or stands, in one sentence'),
  tasks: z.strictObject({
    total: count,
    done: count,
    skipped: count,
    blocked: count,
    open: count,
    unverified: count,
    items: optional(
      z.array(
        z.strictObject({
          id: text,
          title: text,
          status,
          verified: optional(z.boolean()),
          level: optional(level),
          attempts: count,
          note: optional(text),
        }),
      ),
    ),
  }),
  live: z.array(
    z.strictObject({
      iteration: count,
      task: text,
      performer: text,
      attempt: count,
      startedAt: time,
      heardAt: time,
      contextUsed: optional(z.number()),
    }),
  ),
  checking: z.array(z.strictObject({ iteration: count, task: text })),
  questions: z.array(question),
  waits: optional(z.strictObject({ kind: text, what: text, until: optional(time) })),
  spend: z.strictObject({
    iterations: count,
    activeMs: count,
    cost: text.describe('in words; `not reported` while no agent has reported any'),
    usage: optional(usage),
  }),
  limits,
  permissionModes: optional(z.record(text, text)),
  windows: optional(
    z.record(
      text,
      z.array(
        z.strictObject({
          name: text,
          usedFraction: optional(z.number()),
          resetAt: optional(time),
          isUsedUp: z.boolean(),
        }),
      ),
    ),
  ),
  health: z.strictObject({
    state: z.enum(['healthy', 'degraded', 'stuck', 'failing', 'terminated', 'not-running']),
    because: text,
  }),
  ending: optional(
    z.strictObject({
      reason: text,
      because: text,
      limit: optional(text),
      at: time,
      exitCode: count,
      verified: z.boolean(),
    }),
  ),
};

const exitCode = count.describe('what the process ends with');

const step = z.strictObject({
  seq: count,
  at: time,
  type: text,
  task: optional(text),
  iteration: optional(count),
  sentence: text,
});
const ofLoop = { loop: text, name: text };
const ofMaybeLoop = { loop: text.nullable(), name: text.nullable() };
const task = {
  id: text,
  title: text,
  status,
  attempts: count,
  verified: z.boolean().nullable(),
  level: optional(level),
  dependsOn: texts,
  waitsFor: texts,
  question: text.nullable(),
  blockedBecause: text.nullable(),
};

/** By the name of their file. */
export const schemas = {
  error: output({ exitCode, error: z.strictObject({ code: text, message: text, hint: text }) }),
  said: output({ exitCode, said: texts }),
  loop: output(view),
  run: output({ ...view, exitCode }),
  'dry-run': output({
    dryRun: z.literal(true),
    would: z
      .enum(['start', 'resume', 'ask', 'watch', 'nothing'])
      .describe('what the command would do; `ask`: it has ended with work left'),
    because: text,
    loop: z
      .strictObject({ version: z.literal(2), ...view })
      .nullable()
      .describe('as it stands; null before the first run'),
    document: text,
    directory: text,
    mode: text,
    goal: text,
    tasks: z.array(z.strictObject({ id: text, title: text, done: z.boolean(), skipped: z.boolean() })),
    agents: texts,
    checks: texts,
    limits,
    worktree: z.boolean(),
    parallel: count,
    checkpoints: z.boolean(),
    commits: z.boolean(),
    sandbox: text,
  }),
  report: output({ ...view, history }),
  'loops-show': output({
    ...view,
    hash: text,
    folded: z.record(text, z.unknown()).describe('the whole state; it may change with any version'),
  }),
  'loops-list': output({ loops: z.array(z.strictObject({ version: z.literal(2), ...view })) }),
  inbox: output({ questions: z.array(question.extend(ofLoop)) }),
  explain: output({ ...ofLoop, steps: z.array(step) }),
  event: z
    .looseObject({ version: z.literal(2), loop: text, seq: count, hash: text, type: text, at: time })
    .describe('one line for each event; docs/events.md says what each carries'),
  'task-list': output({
    ...ofMaybeLoop,
    ended: text.nullable(),
    running: z.boolean(),
    document: text,
    tasks: z.array(z.strictObject(task)),
    unread: z.array(z.strictObject({ id: text, title: text })),
    counts: z.record(status, count),
  }),
  'task-show': output({
    ...ofMaybeLoop,
    document: text,
    task: z.strictObject({
      ...task,
      description: text,
      criteria: texts,
      rejection: text.nullable(),
      neededBy: texts,
    }),
    earlier: count,
    history: z.array(step),
  }),
  'checkpoint-list': output({
    ...ofLoop,
    checkpoints: z.array(
      z.strictObject({
        number: count,
        checkpoint: text,
        at: time,
        iteration: count,
        task: text.nullable(),
        label: text,
        filesChanged: count.nullable(),
        marks: texts,
        ref: text,
        commit: text,
        tree: text,
        skipped: z.array(z.strictObject({ path: text, why: text })),
      }),
    ),
    records: z
      .array(z.strictObject({ number: count, at: time, iteration: count, task: text, label: text, phase: text }))
      .describe('without files: after each iteration where no trees are kept, and of every good end'),
  }),
  'checkpoint-show': output({
    ...ofLoop,
    number: count,
    record: z.record(text, z.unknown()).describe('the record as it is stored, with its own names and version'),
  }),
  diff: output({
    ...ofLoop,
    span: text,
    from: text,
    to: text,
    files: z.array(z.strictObject({ path: text, added: count.nullable(), deleted: count.nullable() })),
    patch: optional(text),
    cut: optional(z.boolean()),
  }),
  restore: output({
    ...ofLoop,
    to: count,
    restored: z.boolean(),
    before: count.nullable(),
    written: texts,
    deleted: texts,
    merged: texts,
    kept: texts,
    tasks: z.array(
      z.strictObject({ id: text, status: z.enum(['pending', 'done', 'skipped']), attempts: z.int().optional() }),
    ),
  }),
  'agents-list': output({
    agents: z.array(
      z.strictObject({
        name: text,
        installed: text.nullable(),
        version: text.nullable(),
        login: z.strictObject({ known: z.boolean(), words: text, command: text.nullable() }),
        can: z.strictObject({
          steer: z.boolean(),
          resume: z.boolean(),
          interactive: z.boolean(),
          usage: z.boolean(),
        }),
        proof: z.enum(['live', 'recorded', 'documented']),
        install: text,
      }),
    ),
  }),
  'agents-test': output({
    agent: text,
    started: z.boolean(),
    firstByteMs: z.number().nullable(),
    message: text,
    obeyed: z.boolean(),
    tokens: count.nullable(),
    costUsdMicros: count.nullable(),
    costEstimated: z.boolean(),
    clean: z.boolean(),
    failure: z.looseObject({ kind: text, detail: text, hint: text }).nullable(),
  }),
  'hook-status': output({
    hooks: z.array(
      z.strictObject({
        agent: text,
        isOfProject: z.boolean(),
        path: text,
        hook: z.enum(['current', 'other', 'absent', 'unreadable']),
      }),
    ),
    loops: z.array(
      z.strictObject({
        loop: text.describe('its name'),
        session: text.describe('empty: the first one that ends a turn there'),
        directory: text,
        blocks: count.describe('turns that went on since the last tool call'),
      }),
    ),
    troubles: z.array(z.strictObject({ at: time, session: text, problem: text })),
  }),
  'hook-test': output({ agent: text, path: text, ok: z.boolean(), ms: count }),
  doctor: output({
    ok: z.boolean(),
    findings: z.array(
      z.strictObject({
        name: text,
        verdict: z.enum(['ok', 'warning', 'unknown', 'bad']),
        detail: text,
        fix: optional(text),
      }),
    ),
  }),
  'audit-verify': output({
    ok: z.boolean(),
    loops: z.array(
      z.strictObject({
        ...ofLoop,
        ok: z.boolean(),
        anchors: count,
        anchorsExpected: count,
        differs: optional(count),
        isCut: optional(z.literal(true)),
        events: optional(count),
        head: optional(text),
        seq: optional(count),
        detail: optional(text),
      }),
    ),
  }),
  'notes-show': output({ path: text, on: z.boolean(), text: text.describe('Markdown; empty when there are none yet') }),
  'plan-lint': output({
    file: text,
    ok: z.boolean(),
    problems: z.array(
      z.strictObject({ message: text, line: optional(count), column: optional(count), fix: optional(text) }),
    ),
    notices: texts,
  }),
  'plan-show': output({
    plan: text,
    objective: text,
    file: text,
    hash: text,
    approvalRequired: z.boolean(),
    approval: z.strictObject({ by: text, at: time, because: text, hash: text, holds: z.boolean() }).nullable(),
    ...ofMaybeLoop,
    status: text.nullable(),
    steps: z.array(
      z.strictObject({
        id: text,
        title: text,
        status,
        attempts: count,
        dependsOn: texts,
        performer: text,
        order: z.record(text, z.unknown()).nullable(),
      }),
    ),
  }),
} satisfies Readonly<Record<string, z.ZodType>>;

type SchemaName = keyof typeof schemas;

const runs = ['run', 'resume', 'review', 'interview', 'execute', 'plan run'];
const others: Readonly<Record<string, SchemaName>> = {
  status: 'loop',
  events: 'event',
  'checkpoint diff': 'diff',
  undo: 'restore',
  'checkpoint restore': 'restore',
};

/** What a command prints with `--json`, beside an error. Where it had nothing to show, a run prints what it said. */
export function schemasOf(command: string): readonly SchemaName[] {
  if (runs.includes(command)) return ['run', 'dry-run', 'said'];
  const own = others[command] ?? command.replace(' ', '-');
  return Object.hasOwn(schemas, own) ? [own as SchemaName] : ['said'];
}

/** Readers may meet fields of a later release; a time is told by its format. */
function opened({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

/** The files of docs/schemas, and the page that says which command prints which. */
export function schemaPages(table: (head: readonly string[], rows: readonly (readonly string[])[]) => string) {
  const link = (name: string): string => `[${name}](schemas/${name}.json)`;
  const rows = commands
    .filter(row => row.printsNoJson === undefined)
    .map(row => nameOf(row).join(' '))
    .map(name => [`\`ralph ${name}\``, schemasOf(name).map(link).join(' or ')]);
  const page = [
    '# JSON for programs',
    [
      'With `--json`, before or behind a command, standard output holds exactly one JSON object (`events`: one for each line), also',
      `for an error: ${link('error')}, where \`code\` is stable, \`message\` and \`hint\` are for people. They are on standard error`,
      'too, unless `--quiet` is said. The exit code says how it ended, as always.',
    ].join('\n'),
    [
      'Names are in camelCase, times are ISO 8601 in UTC, money is integer micro-dollars. What is not known is absent or `null`,',
      'never 0. `version` is 2; it changes when a field is renamed or removed. New fields may be added without that, so a reader',
      'should leave those alone that it does not know. `status.json`, `report.json` and the records of checkpoints have formats of their own.',
    ].join('\n'),
    table(['command', 'schema'], rows),
  ].join('\n\n');
  const files = Object.entries(schemas).map(([name, schema]) => {
    const made = { title: `ralph --json: ${name}`, ...z.toJSONSchema(schema, { override: opened }) };
    return [`docs/schemas/${name}.json`, `${JSON.stringify(made, null, 2)}\n`] as const;
  });
  return { page, files: Object.fromEntries(files) };
}
