// The one table of settings: config files, flags, environment names, help and docs all derive from it. Help loads it, so it loads no reader.
import { modesWith } from '../modes/registry.ts';
import { capitalized, flagOf } from '../text/format.ts';
import { commandCharactersMax, type Field, million } from './kinds.ts';
import type { ValueOf } from './values.ts';

/** The settings of checks beyond their commands. */
const checkFields = {
  verifyRuns: {
    kind: 'runs',
    description: 'For flaky checks: passed when N of at most M runs pass. A run out of time ends it.',
    example: '2/3',
  },
  detectChecks: {
    kind: 'choice',
    choices: ['auto', 'none'],
    description: 'Without --verify, take the test command that the project itself names, or none.',
    example: 'none',
  },
  allowRedStart: {
    kind: 'truth',
    description: 'Begin although a check fails before any work was done.',
    example: 'true',
  },
  protect: {
    kind: 'paths',
    description: 'A file or folder that is put back before every check; !PATH leaves a check’s own script unprotected.',
    example: 'scripts/verify',
  },
  judge: {
    kind: 'judge',
    description: 'An agent that reads each finished task’s diff and may refuse it; auto: of another vendor.',
    example: 'auto',
  },
} as const satisfies Readonly<Record<string, Field>>;

/** Known to some modes only, as their rules say. */
const modeFields = {
  rounds: {
    kind: 'whole',
    most: 100,
    description: 'Rounds of a review or an interview.',
    example: '3',
  },
  targetConfidence: {
    kind: 'whole',
    most: 100,
    description: 'how sure every reviewer must be, in percent.',
    example: '95',
  },
  reviewer: {
    kind: 'roles',
    description: 'who looks at the document, by role; .ralph/prompts/review-ROLE.md says what a role looks for.',
    example: 'adversarial',
  },
  section: {
    kind: 'line',
    most: 200,
    description: 'only this section of the document.',
    example: 'Risks',
  },
  workflow: {
    kind: 'line',
    most: 200,
    description: 'the workflow that the document belongs to, for prompts and the state file.',
    example: 'create-prd',
  },
  haltOnMaxAttempts: {
    kind: 'truth',
    description: 'A task that has used up its attempts ends the loop, instead of being blocked.',
    example: 'true',
  },
  checkpointInterval: {
    kind: 'whole',
    most: 1_000_000,
    description: 'after how many iterations the work so far is committed although it is not done.',
    example: '10',
  },
  retries: {
    kind: 'whole',
    most: 100,
    description: 'how often a step that failed is tried again, after 5, 10, 20 s.',
    example: '3',
  },
  onApproval: {
    kind: 'choice',
    choices: ['fail', 'skip', 'wait'],
    description: 'what to do when a person must approve it first. Nothing ever approves itself.',
    example: 'wait',
  },
  mcpConfig: {
    kind: 'path',
    userOnly: true,
    description: 'the file that names the MCP servers; unless told, mcp.json in the user configuration.',
    example: 'mcp.json',
  },
} as const satisfies Readonly<Record<string, Field>>;

export const fields = {
  maxIterations: {
    kind: 'whole',
    most: million,
    unlimited: true,
    short: 'n',
    description: 'Most iterations of the loop; failed and interrupted ones count.',
    example: '25',
    formerly: ['MAX_ITERATIONS'],
  },
  maxCost: {
    kind: 'money',
    unlimited: true,
    description: 'Most money to spend, in US dollars; unless you set it, it only warns where a subscription pays.',
    example: '$5',
  },
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
    unlimited: true,
    description: 'Failed iterations in a row that end the loop; for a list of tasks only if you set it.',
    example: '5',
  },
  noProgress: {
    kind: 'whole',
    most: million,
    unlimited: true,
    description: 'Iterations in a row without progress that end the loop; for a list of tasks only if you set it.',
    example: '5',
  },
  maxBlocked: {
    kind: 'whole',
    most: million,
    unlimited: true,
    description: 'Different tasks blocked in a row, with none done between, that end the loop.',
    example: '3',
  },
  maxAttempts: {
    kind: 'whole',
    most: million,
    description: 'Most attempts at one task before it is blocked.',
    example: '3',
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
    formerly: ['STUCK_THRESHOLD'],
  },
  promise: {
    kind: 'line',
    most: 200,
    description: 'The exact last line with which the agent says that all work is done.',
    example: 'DONE',
  },
  agent: {
    kind: 'agent',
    description: 'Which agent does the work, with its model if you like; without one, the first that is installed.',
    example: 'claude/sonnet',
  },
  model: {
    kind: 'model',
    description: 'The model of that agent, by the name that the agent knows.',
    example: 'claude-sonnet-4-5',
  },
  fallback: {
    kind: 'agents',
    description: 'Agents that take over, in this order, while the first one cannot work.',
    example: 'codex,gemini/gemini-2.5-pro',
  },
  stronger: {
    kind: 'agent',
    description: 'Who takes a task over when its claims were refused, with its model if you like.',
    example: 'claude/opus',
  },
  strongerAfter: {
    kind: 'whole',
    most: million,
    description: 'Refused claims of a task after which --stronger takes over.',
    example: '3',
  },
  taskAgent: {
    kind: 'pairs',
    description: 'Who does a certain task first; may be given several times.',
    example: 'US-002=codex/gpt-5',
  },
  phaseAgent: {
    kind: 'pairs',
    choices: ['planning', 'implementing', 'testing', 'reviewing'],
    description: 'Who works first in a certain phase; may be given several times.',
    example: 'reviewing=claude/opus',
  },
  agentArgs: {
    kind: 'words',
    most: commandCharactersMax,
    userOnly: true,
    description: 'More arguments for the agent, split as a shell would; nothing in them is executed.',
    example: '--add-dir ../shared',
  },
  acpCommand: {
    kind: 'words',
    most: commandCharactersMax,
    userOnly: true,
    description: 'The program of the acp agent and its arguments; it must speak the Agent Client Protocol.',
    example: 'gemini --acp',
  },
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
  checkEnv: {
    kind: 'names',
    userOnly: true,
    description: 'Names of credentials in the environment that checks may see; all other variables they see anyway.',
    example: 'NPM_TOKEN',
  },
  script: { kind: 'path', description: 'The script that the scripted agent plays.', example: 'demo.script.json' },
  verify: {
    kind: 'commands',
    most: commandCharactersMax,
    description: 'A command that proves a task done by exiting with 0, or file:PATH [contains TEXT]; repeatable.',
    example: 'npm test',
  },
  noCheckpoints: {
    kind: 'truth',
    description: 'Make no checkpoints: no undo, no commits, no look at the work.',
    example: 'true',
  },
  noCommit: { kind: 'truth', description: 'Do not commit the work of tasks that are done.', example: 'true' },
  rollbackAfter: {
    kind: 'whole',
    most: million,
    description: 'Errors in a row after which the files go back to the last good checkpoint.',
    example: '3',
  },
  worktree: {
    kind: 'truth',
    description:
      'Work in a worktree of its own, branch ralph/NAME; of your files only the document and PROMPT.md are written.',
    example: 'true',
  },
  worktreeCopy: {
    kind: 'paths',
    description: 'What is not in git but the worktree needs; copied; may be given several times.',
    example: 'node_modules',
  },
  worktreeSetup: {
    kind: 'line',
    most: commandCharactersMax,
    description: 'A command that makes a new worktree ready; the loop begins when it exits with 0.',
    example: 'npm ci',
  },
  parallel: {
    kind: 'whole',
    most: 50,
    description: 'Tasks at a time, each in a worktree of its own, merged one by one into a branch ralph/NAME.',
    example: '4',
  },
  maxCheckpointFile: {
    kind: 'size',
    least: million,
    description: 'Larger files are left out of checkpoints, and listed; 10 MB unless set.',
    example: '50m',
  },
  noMcp: {
    kind: 'truth',
    description: 'Give agents no tools of Ralph (MCP): their words alone count, as for agents that take no servers.',
    example: 'true',
  },
  sandbox: {
    kind: 'choice',
    choices: ['auto', 'bwrap', 'none'],
    userOnly: true,
    description:
      'Confine agents and checks with bubblewrap: where it works (auto), or else exit 10 (bwrap), or never (none).',
    example: 'bwrap',
  },
  firstByteTimeout: {
    kind: 'duration',
    unlimited: true,
    description: 'Longest wait for the first output of an agent; 2m unless set, none for the command agent.',
    example: '2m',
  },
  silenceTimeout: {
    kind: 'duration',
    unlimited: true,
    description: 'Longest silence of a working agent; 10m unless set, none for the command agent.',
    example: '10m',
  },
  maxMemory: {
    kind: 'size',
    unlimited: true,
    userOnly: true,
    description: 'Most memory of one iteration and all that it starts; 75 % of the machine unless set.',
    example: '8g',
  },
  maxProcesses: {
    kind: 'whole',
    most: million,
    unlimited: true,
    userOnly: true,
    description: 'Most processes of one iteration at a time; 4000 unless set.',
    example: '500',
  },
  interactive: {
    kind: 'truth',
    description: 'The agent gets the terminal, and you talk with it; nothing is read from its screen.',
    example: 'true',
  },
  ...checkFields,
  protectAnew: {
    kind: 'truth',
    userOnly: true,
    description: 'Protect the check scripts as they are now.',
    example: 'true',
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
  ...modeFields,
  project: { kind: 'line', most: 200, description: 'Project id shown in status and reports.', example: 'shop' },
  taskId: { kind: 'line', most: 200, description: 'Task id shown in status and reports.', example: 'SHOP-12' },
  name: { kind: 'slug', description: 'Name of the loop; other characters become dashes.', example: 'add-login' },
} as const satisfies Readonly<Record<string, Field>>;

type Fields = typeof fields;
export type Key = keyof Fields;
type Choice<Row> = Row extends { readonly choices: readonly (infer Word)[] } ? Word : never;
type Plain<Row extends Field> = Row['kind'] extends 'choice' ? Choice<Row> : ValueOf<Row['kind']>;
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

export const flagName = (key: Key): string => flagOf(key);

export function environmentName(key: Key): string {
  return `RALPH_${key.replace(/[A-Z]/g, letter => `_${letter}`).toUpperCase()}`;
}

/** Of one mode alone: its name goes before. */
export function descriptionOf(key: Key): string {
  const { description } = fieldOf(key);
  const [only, ...others] = modesWith(key);
  return only === undefined || others.length > 0 ? description : `${capitalized(only)}: ${description}`;
}
