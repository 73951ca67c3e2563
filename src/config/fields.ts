// The one table of settings: schema, flags, environment names, help and docs all derive from it. It must not load zod.
import { looksSecret } from '../core/redact.ts';
import { slugOf } from './name.ts';
import { type Reading, refuse } from './reading.ts';
import {
  durationMsMax,
  readChoice,
  readDeadline,
  readDuration,
  readLine,
  readMoney,
  readNames,
  readPath,
  readTruth,
  readWhole,
} from './values.ts';

/** The type of a value once read. Money is micro-dollars, durations are ms, a deadline is epoch ms. */
interface ValueByKind {
  whole: number;
  money: number;
  duration: number;
  deadline: number;
  line: string;
  path: string;
  slug: string;
  choice: string;
  truth: boolean;
  names: readonly string[];
  commands: readonly string[];
}

export type Kind = keyof ValueByKind;

export interface Field {
  readonly kind: Kind;
  readonly description: string;
  readonly example: string;
  /** Largest number, longest duration (ms) or most characters. */
  readonly most?: number;
  /** The word `unlimited` is allowed and reads as null. */
  readonly unlimited?: true;
  readonly choices?: readonly string[];
  readonly short?: string;
  /** A project's own files cannot set it (DESIGN 6.13); it belongs to the user. */
  readonly userOnly?: true;
  /** Seed names of environment variables still read; with `mode`, in that mode only. The more specific comes first. */
  readonly formerly?: readonly { readonly name: string; readonly mode?: string }[];
}

const million = 1_000_000;
const commandCharactersMax = 10_000;

export const fields = {
  maxIterations: {
    kind: 'whole',
    most: million,
    unlimited: true,
    short: 'n',
    description: 'Most iterations of the loop; failed and interrupted ones count.',
    example: '25',
    formerly: [{ name: 'MAX_PLAN_ITERATIONS', mode: 'plan' }, { name: 'MAX_ITERATIONS' }],
  },
  maxCost: { kind: 'money', unlimited: true, description: 'Most money to spend, in US dollars.', example: '$5' },
  maxTokens: {
    kind: 'whole',
    most: million * million,
    unlimited: true,
    description: 'Most tokens to use, read and written together.',
    example: '2000000',
  },
  maxDuration: {
    kind: 'duration',
    unlimited: true,
    description: 'Most active time: iterations and checks; waiting does not count.',
    example: '2h30m',
  },
  deadline: {
    kind: 'deadline',
    description: 'When the loop ends by the clock: a date-time with zone, or the next local HH:MM.',
    example: '18:30',
  },
  iterationTimeout: { kind: 'duration', description: 'Longest time of one iteration.', example: '45m' },
  maxErrors: {
    kind: 'whole',
    most: million,
    description: 'Failed iterations in a row that end the loop.',
    example: '5',
  },
  noProgress: {
    kind: 'whole',
    most: million,
    description: 'Iterations without anything completed that end the loop.',
    example: '5',
  },
  maxAttempts: {
    kind: 'whole',
    most: million,
    description: 'Most attempts at one task before it is set aside.',
    example: '3',
    formerly: [{ name: 'PLAN_RETRY_ATTEMPTS', mode: 'plan' }],
  },
  maxAverageDuration: {
    kind: 'duration',
    description: 'Ends the loop when iterations take longer than this on average.',
    example: '5m',
  },
  stuckThreshold: {
    kind: 'whole',
    most: million,
    description: 'Identical errors in a row that raise a question to you.',
    example: '3',
    formerly: [{ name: 'STUCK_THRESHOLD' }],
  },
  promise: {
    kind: 'line',
    most: 200,
    description: 'The exact last line with which the agent says that all work is done.',
    example: 'DONE',
  },
  agent: { kind: 'line', most: 64, description: 'Which agent does the work: command or scripted.', example: 'command' },
  agentCommand: {
    kind: 'line',
    most: commandCharactersMax,
    userOnly: true,
    description: 'The program of the command agent; it gets the prompt on standard input.',
    example: 'my-agent --headless',
  },
  agentEnv: {
    kind: 'names',
    userOnly: true,
    description: 'Names of environment variables that the agent may see.',
    example: 'HTTPS_PROXY,LANG',
  },
  script: { kind: 'path', description: 'The script that the scripted agent plays.', example: 'demo.script.json' },
  verify: {
    kind: 'commands',
    most: commandCharactersMax,
    description: 'A command that proves a task done by exiting with 0; may be given several times.',
    example: 'npm test',
  },
  verifyTimeout: { kind: 'duration', description: 'Longest time of one check.', example: '10m' },
  onEscalation: {
    kind: 'choice',
    choices: ['wait', 'skip', 'exit'],
    description: 'What to do when the agent asks you something: wait, skip the task, or exit.',
    example: 'wait',
  },
  answerTimeout: {
    kind: 'duration',
    description: 'How long a question may wait for you before the run exits with code 5.',
    example: '8h',
  },
  requireChecks: {
    kind: 'truth',
    description: 'Work that no check has proven does not count as done.',
    example: 'true',
  },
  contextChars: {
    kind: 'whole',
    most: million,
    description: 'Most characters of earlier iterations in a prompt.',
    example: '5000',
  },
  backoffBase: {
    kind: 'duration',
    most: 60_000, // the longest back-off (seed 001)
    description: 'First wait after a failure; it doubles up to one minute.',
    example: '1s',
  },
  project: { kind: 'line', most: 200, description: 'Project id shown in status and reports.', example: 'shop' },
  taskId: { kind: 'line', most: 200, description: 'Task id shown in status and reports.', example: 'SHOP-12' },
  name: { kind: 'slug', description: 'Name of the loop; other characters become dashes.', example: 'add-login' },
} as const satisfies Readonly<Record<string, Field>>;

type Fields = typeof fields;
export type Key = keyof Fields;
type Choice<Row> = Row extends { readonly choices: readonly (infer Word)[] } ? Word : never;
type Plain<Row extends Field> = Row['kind'] extends 'choice' ? Choice<Row> : ValueByKind[Row['kind']];
export type Value<Name extends Key> = Plain<Fields[Name]> | (Fields[Name] extends { unlimited: true } ? null : never);
/** Settings as read; a key that nobody set is absent. */
export type Values = { readonly [Name in Key]?: Value<Name> };

export const keys = Object.keys(fields) as readonly Key[];

export function fieldOf(key: Key): Field {
  return fields[key];
}

export function isKey(word: string): word is Key {
  return Object.hasOwn(fields, word);
}

export function flagName(key: Key): string {
  return `--${key.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`;
}

export function environmentName(key: Key): string {
  return `RALPH_${key.replace(/[A-Z]/g, letter => `_${letter}`).toUpperCase()}`;
}

type Reader = (label: string, text: string, field: Field, now: number) => Reading<unknown>;

const readers: Readonly<Record<Kind, Reader>> = {
  whole: (label, text, field) => readWhole(label, text, field.most ?? million, field.unlimited === true),
  money: (label, text, field) => readMoney(label, text, field.unlimited === true),
  duration: (label, text, field) => readDuration(label, text, field.most ?? durationMsMax, field.unlimited === true),
  deadline: (label, text, _field, now) => readDeadline(label, text, now),
  line: (label, text, field) => readLine(label, text, field.most ?? 200),
  path: (label, text) => readPath(label, text),
  slug: (label, text) => slugOf(text, label),
  choice: (label, text, field) => readChoice(label, text, field.choices ?? []),
  truth: (label, text) => readTruth(label, text),
  names: (label, text) => readNames(label, text),
  commands: (label, text, field) => {
    const line = readLine(label, text, field.most ?? commandCharactersMax);
    return line.ok ? { ok: true, value: [line.value] } : line;
  },
};

/** Reads one text as the value of a key; `label` is what the problem calls it. */
export function parseText<Name extends Key>(key: Name, text: string, label: string, now: number): Reading<Value<Name>> {
  return readers[fields[key].kind](label, text, fields[key], now) as Reading<Value<Name>>;
}

/** Reads the value of one flag. A secret is refused, because every process can see the flags of another (B19). */
export function parseFlag<Name extends Key>(key: Name, text: string, now: number = Date.now()): Reading<Value<Name>> {
  const flag = flagName(key);
  if (looksSecret(text))
    return refuse(
      `${flag}: its value looks like a secret, and flags show in ps; use an environment variable or a file.`,
    );
  return parseText(key, text, flag, now);
}
