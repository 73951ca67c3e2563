// Every command in one table: what it is called, what it takes, how it is used, and the file that does it.
import { options as settingOptions } from '../config/help.ts';
import { backCommands } from './back-commands.ts';
import type { Context, Flags, Words } from './context.ts';
import { modeCommands } from './mode-commands.ts';
import { planCommands } from './plan-commands.ts';
import { taskCommands } from './task-commands.ts';

export interface FlagRow {
  readonly flags: string;
  readonly description: string;
  readonly repeatable?: boolean;
  /** `--no-commit` is a setting of that name rather than the denial of `--commit`. */
  readonly isSetting?: true;
}

interface CommandModule {
  execute(context: Context, words: Words, flags: Flags): Promise<number>;
}

export interface CommandRow {
  readonly group?: string;
  readonly usage: string;
  readonly summary: string;
  readonly options?: readonly FlagRow[];
  readonly examples: readonly string[];
  /** Commands a loop or starts one: refused to agents (F34). */
  readonly changes?: true;
  readonly load: () => Promise<CommandModule>;
}

const json: FlagRow = { flags: '--json', description: 'print JSON for programs' };
/** The settings that mean something in this mode; all of them where the mode is not known before. */
const settingsFor = (mode?: string): readonly FlagRow[] =>
  settingOptions()
    .filter(option => mode === undefined || option.modes === undefined || option.modes.includes(mode))
    .map(option => ({
      flags: option.flags,
      description: `${option.description} (${option.example})`,
      repeatable: option.isRepeatable ? true : undefined,
      isSetting: true,
    }));
const settings = settingsFor();
const limitFlags = settings.filter(one =>
  /--(max-iterations|max-cost|max-tokens|max-duration|deadline) /.test(one.flags),
);

/** How a loop is run, whatever it works on. */
const running: readonly FlagRow[] = [
  { flags: '--yes', description: 'start without asking' },
  { flags: '--no-input', description: 'never ask anything at the terminal' },
  { flags: '--new', description: 'start a new loop although one of this file ended with work left' },
  { flags: '--force', description: 'allow / or the home folder as the place of work' },
  { flags: '--dry-run', description: 'show what would happen and write nothing' },
  { flags: '--quiet', description: 'print only the ending' },
  { flags: '--json', description: 'print the ending as JSON' },
  { flags: '--ascii', description: 'plain characters only' },
];

export const commands: readonly CommandRow[] = [
  {
    usage: 'run [what]',
    summary:
      'work until it is done and proven: a goal in words, a task list, a prompt, a plan; the same command again resumes',
    options: [
      ...settings,
      { flags: '--mode <name>', description: 'what the document is: goal, prompt, prd, project, plan or review' },
      { flags: '--no-criteria', description: 'allow stories without acceptance criteria' },
      { flags: '--accept-ticked', description: 'take boxes that were ticked before for done' },
      ...running,
    ],
    examples: [
      "ralph run PRD.json --agent claude --verify 'npm test'",
      'ralph run "make the tests of the parser pass" --max-cost 5',
      'ralph run PROMPT.md --max-duration 4h',
      "ralph run PRD.json --agent claude/opus --fallback codex,gemini --verify 'npm test'",
      "ralph run PRD.json --agent-command 'my-agent --headless' --verify 'npm test'",
      'ralph run PRD.json --max-iterations 10 --max-cost 5 --max-duration 2h',
    ],
    changes: true,
    load: () => import('./commands/run.ts'),
  },
  {
    usage: 'demo',
    summary: 'a whole loop in a scratch folder with a scripted agent: no key, no question, under a minute',
    options: [
      { flags: '--ascii', description: 'plain characters only' },
      { flags: '--fast', description: 'without the pauses that make it readable' },
    ],
    examples: ['ralph demo'],
    load: () => import('./commands/demo.ts'),
  },
  {
    usage: 'status [loop]',
    summary: 'what a loop is doing, and why',
    options: [json],
    examples: ['ralph status', 'ralph status my-loop --json'],
    load: () => import('./commands/status.ts'),
  },
  {
    usage: 'inbox',
    summary: 'the questions that wait for you',
    options: [json],
    examples: ['ralph inbox'],
    load: () => import('./commands/inbox.ts'),
  },
  {
    usage: 'answer <id>',
    summary: 'answer a question: a numbered option, your own words, skip, retry or abort',
    options: [
      { flags: '--option <number>', description: 'take this option' },
      { flags: '--text <text>', description: 'give guidance in your own words; - reads standard input' },
      { flags: '--skip', description: 'leave the task out' },
      { flags: '--retry', description: 'try again without guidance' },
      { flags: '--abort', description: 'end the loop' },
    ],
    examples: ['ralph answer E1 --option 1', 'ralph answer my-loop/E2 --text "use the v2 endpoint"'],
    changes: true,
    load: () => import('./commands/answer.ts'),
  },
  {
    usage: 'tell [loop] [text]',
    summary: 'guidance for the agent at work where it can be told, else for the next iteration',
    options: [{ flags: '--task <id>', description: 'only for this task' }],
    examples: ['ralph tell "keep the public API as it is"', 'ralph tell my-loop - < note.txt'],
    changes: true,
    load: () => import('./commands/tell.ts'),
  },
  {
    usage: 'pause [loop]',
    summary: 'let the live iteration finish, then wait',
    options: [{ flags: '--now', description: 'interrupt the live iteration' }],
    examples: ['ralph pause', 'ralph pause my-loop --now'],
    changes: true,
    load: () => import('./commands/pause.ts'),
  },
  {
    usage: 'resume [loop]',
    summary: 'go on after a pause, end a wait for a reset, or reopen a loop that ended at a limit (counters kept)',
    options: limitFlags,
    examples: ['ralph resume my-loop', 'ralph resume my-loop --max-iterations 80'],
    changes: true,
    load: () => import('./commands/resume.ts'),
  },
  {
    usage: 'stop [loop]',
    summary: 'end the loop; the live iteration is stopped at once',
    examples: ['ralph stop', 'ralph stop my-loop'],
    changes: true,
    load: () => import('./commands/stop.ts'),
  },
  {
    usage: 'explain [loop]',
    summary: 'why everything happened, step by step',
    options: [{ flags: '--task <id>', description: 'only what concerns this task' }],
    examples: ['ralph explain', 'ralph explain my-loop --task US-002'],
    load: () => import('./commands/explain.ts'),
  },
  {
    usage: 'events [loop]',
    summary: 'the ledger: every event, in order',
    options: [json, { flags: '-f, --follow', description: 'go on printing as they come' }],
    examples: ['ralph events my-loop', 'ralph events -f --json'],
    load: () => import('./commands/events.ts'),
  },
  {
    usage: 'logs [loop]',
    summary: 'what the agent printed',
    options: [
      { flags: '--iteration <number>', description: 'of this iteration (the last one unless told)' },
      { flags: '--prompt', description: 'the prompt instead of the output' },
      { flags: '-f, --follow', description: 'go on printing as it comes' },
    ],
    examples: ['ralph logs', 'ralph logs my-loop --iteration 3', 'ralph logs my-loop --prompt'],
    load: () => import('./commands/logs.ts'),
  },
  {
    usage: 'report [loop]',
    summary: 'the account of a loop: tasks, proof, cost, reason',
    options: [json],
    examples: ['ralph report', 'ralph report my-loop --json'],
    load: () => import('./commands/report.ts'),
  },
  ...modeCommands(settingsFor, running),
  ...planCommands(settingsFor('plan')),
  ...taskCommands,
  ...backCommands,
  {
    group: 'loops',
    usage: 'list',
    summary: 'all loops, newest first',
    options: [json],
    examples: ['ralph loops list'],
    load: () => import('./commands/loops-list.ts'),
  },
  {
    group: 'loops',
    usage: 'show <loop>',
    summary: 'one loop: settings, tasks, questions',
    options: [json],
    examples: ['ralph loops show my-loop'],
    load: () => import('./commands/loops-show.ts'),
  },
  {
    group: 'agents',
    usage: 'list',
    summary:
      'the agents that Ralph can drive: installed or not, version, login, what they can do, how well we know them',
    options: [json],
    examples: ['ralph agents list', 'ralph agents list --json'],
    load: () => import('./commands/agents-list.ts'),
  },
  {
    group: 'agents',
    usage: 'test [agent]',
    summary: 'one tiny real question to an agent, in a scratch folder and with your own login; it costs a little',
    options: [{ flags: '--yes', description: 'do not ask first' }, json],
    examples: ['ralph agents test', 'ralph agents test claude/haiku --yes'],
    load: () => import('./commands/agents-test.ts'),
  },
  {
    usage: 'doctor',
    summary: 'what a loop needs from this machine: agents, logins, containment, git, home folder, disk, ledger',
    options: [json],
    examples: ['ralph doctor', 'ralph doctor --json'],
    load: () => import('./commands/doctor.ts'),
  },
  {
    group: 'audit',
    usage: 'verify [loop]',
    summary: 'prove the hash chain and name the first bad event',
    options: [json],
    examples: ['ralph audit verify', 'ralph audit verify my-loop'],
    load: () => import('./commands/audit-verify.ts'),
  },
];
