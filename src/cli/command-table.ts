// Every command in one table: what it is called, what it takes, how it is used, and the file that does it.
import { settingFlags } from '../config/flags.ts';
import { interviewRules } from '../modes/interview/rules.ts';
import { planRules } from '../modes/plan/rules.ts';
import { projectRules } from '../modes/project/rules.ts';
import { modeNames } from '../modes/registry.ts';
import { reviewRules } from '../modes/review/rules.ts';
import { anyOf } from '../text/format.ts';
import { ascii, type CommandRow, dryRun, type FlagRow, json, noInput, printing, running, yes } from './global-flags.ts';

/** The words that name a command. */
export const nameOf = ({ usage }: CommandRow): readonly string[] =>
  usage.split(' ').filter(word => /^[a-z]/.test(word));

const projectHook: FlagRow = { flags: '--project', description: 'in the settings of this project, not in your own' };
const headless: FlagRow = { flags: '--headless', description: 'go on outside of the session that it works in' };

/** What a session has not: trees and processes of its own. */
const ofHeadless = /^--(?:worktree|parallel|max-memory|max-processes|first-byte|silence|iteration-timeout)/;

// What a loop changed, and the way back.

const restoreFlags: readonly FlagRow[] = [
  dryRun,
  { flags: '--overwrite', description: 'take the old version where yours cannot be merged with it' },
  yes,
  json,
  ascii,
];

const confirm: FlagRow = {
  flags: '--confirm <name>',
  description: "the loop's name: do it without asking, although it cannot be undone",
};

const backCommands: readonly CommandRow[] = [
  {
    usage: 'diff [loop] [span]',
    summary: 'what a loop has changed since it began, in one iteration, or between two checkpoints',
    options: [
      { flags: '--iteration <number>', description: 'only what this iteration changed' },
      { flags: '--stat', description: 'only the files and how many lines' },
      json,
      ascii,
    ],
    examples: ['ralph diff', 'ralph diff my-loop --stat', 'ralph diff --iteration 3', 'ralph diff my-loop 2..5'],
    load: async () => ({ execute: (await import('./commands/diff.ts')).diff }),
  },
  {
    usage: 'undo [loop]',
    summary: 'take back the last iteration, files and task state; once more takes the undo back',
    options: [
      { flags: '--steps <number>', description: 'take back so many iterations that stand in the files' },
      ...restoreFlags,
    ],
    examples: ['ralph undo --dry-run', 'ralph undo my-loop', 'ralph undo my-loop --steps 3 --yes'],
    changes: true,
    load: async () => ({ execute: (await import('./commands/restore.ts')).undo }),
  },
  {
    usage: 'checkpoint list [loop]',
    summary: 'all checkpoints of a loop: number, time, iteration, task, files changed',
    options: [json, ascii],
    examples: ['ralph checkpoint list', 'ralph checkpoint list my-loop --json'],
    load: () => import('./commands/checkpoint-list.ts'),
  },
  {
    usage: 'checkpoint show <number> [loop]',
    summary: 'one checkpoint: what was done and open, decisions, cost, git ids, and whether its record is whole',
    options: [{ flags: '--json', description: 'print the record itself' }, ascii],
    examples: ['ralph checkpoint show 3', 'ralph checkpoint show 3 my-loop --json'],
    load: () => import('./commands/checkpoint-show.ts'),
  },
  {
    usage: 'checkpoint diff <number> [loop]',
    summary: 'what changed up to a checkpoint since the one before, or between two (A..B)',
    options: [{ flags: '--stat', description: 'only the files and how many lines' }, json, ascii],
    examples: ['ralph checkpoint diff 3', 'ralph checkpoint diff 1..4 my-loop --stat'],
    load: async () => ({ execute: (await import('./commands/diff.ts')).checkpointDiff }),
  },
  {
    usage: 'checkpoint create [loop]',
    summary: 'keep what is there now',
    options: [{ flags: '--label <text>', description: 'why, for the list' }],
    examples: ['ralph checkpoint create', 'ralph checkpoint create my-loop --label "before I edit"'],
    changes: true,
    load: () => import('./commands/checkpoint-create.ts'),
  },
  {
    usage: 'checkpoint restore [number] [loop]',
    summary: 'files, untracked files and task state as at a checkpoint; without a number the newest that verifies',
    options: [
      { flags: '--iteration <number>', description: 'as it was after this iteration; 0 is before the first' },
      { flags: '--code-only', description: 'files only: task states stay' },
      ...restoreFlags,
    ],
    examples: ['ralph checkpoint restore 3 --dry-run', 'ralph checkpoint restore 3 my-loop --yes'],
    changes: true,
    load: async () => ({ execute: (await import('./commands/restore.ts')).restore }),
  },
  {
    usage: 'checkpoint prune [loop]',
    summary: 'let old checkpoints go; the first, the last good one and what undo needs stay',
    options: [{ flags: '--keep <number>', description: 'so many of the newest stay (20)' }, dryRun, confirm],
    examples: ['ralph checkpoint prune --dry-run', 'ralph checkpoint prune my-loop --keep 5 --confirm my-loop'],
    changes: true,
    load: () => import('./commands/checkpoint-prune.ts'),
  },
];

// Review, and a project's three steps: loops that are started by the name of their mode.

const modeCommands: readonly CommandRow[] = [
  {
    usage: 'review <file>',
    summary: 'have a document reviewed in fresh contexts, and what is found mended, until every reviewer is content',
    get options(): readonly FlagRow[] {
      return [...settingFlags(reviewRules.flags, ['review']), ...running];
    },
    examples: [
      'ralph review docs/spec.md',
      'ralph review docs/spec.md --section Risks --reviewer adversarial --reviewer security',
      'ralph review docs/spec.md --rounds 2 --target-confidence 90',
    ],
    changes: true,
    load: () => import('../modes/review/commands.ts'),
  },
  {
    usage: 'init [name]',
    summary: 'begin a project: .artefacts/NAME/spec.md with the questions of a good brief',
    examples: ['ralph init my-project'],
    changes: true,
    load: async () => ({ execute: (await import('../modes/project/commands.ts')).init }),
  },
  {
    usage: 'interview <name>',
    summary: 'agents ask you, one after the other, what the spec of a project leaves open; the last writes its tasks',
    get options(): readonly FlagRow[] {
      return [...settingFlags(interviewRules.flags, ['interview']), ...running];
    },
    examples: ['ralph interview my-project', 'ralph interview my-project --rounds 2 --agent claude'],
    changes: true,
    load: async () => ({ execute: (await import('../modes/project/commands.ts')).interview }),
  },
  {
    usage: 'execute <name>',
    summary: 'do the tasks of a project; the same command again resumes',
    get options(): readonly FlagRow[] {
      return [
        {
          flags: '--iterations <number>',
          description: 'most iterations of the loop (50 unless told)',
          group: 'limits',
        },
        ...settingFlags(projectRules.flags, ['project']),
        ...running,
      ];
    },
    examples: ['ralph execute my-project', "ralph execute my-project --iterations 20 --verify 'npm test'"],
    changes: true,
    load: () => import('../modes/project/commands.ts'),
  },
];

// Plans and their vault.

const vault: FlagRow = { flags: '--vault <folder>', description: 'the vault (./vault unless told)', group: 'mode' };
const ticked: FlagRow = {
  flags: '--accept-ticked',
  description: 'boxes that were ticked before are right',
  group: 'mode',
};

const planCommands: readonly CommandRow[] = [
  {
    usage: 'plan lint <file>',
    summary: 'everything that is wrong with a plan, at once',
    options: [vault, json],
    examples: ['ralph plan lint vault/Plans/onboarding.md', 'ralph plan lint Plan.md --json'],
    load: () => import('../modes/plan/commands/lint.ts'),
  },
  {
    usage: 'plan show <plan>',
    summary: 'the steps of a plan, how far it is, and whether its approval still holds',
    options: [vault, json],
    examples: ['ralph plan show plan_client_onboarding_001', 'ralph plan show vault/Plans/onboarding.md --json'],
    load: () => import('../modes/plan/commands/show.ts'),
  },
  {
    usage: 'plan approve <plan>',
    summary: 'show exactly what would be done, and record your yes to it; an edit afterwards needs a new one',
    get options(): readonly FlagRow[] {
      return [
        { flags: '--yes', description: 'approve without asking; for whoever has read it' },
        ticked,
        ...settingFlags(['mcpConfig']).filter(one => one.flags.startsWith('--mcp-config')),
        noInput,
        vault,
      ];
    },
    examples: ['ralph plan approve plan_client_onboarding_001', 'ralph plan approve vault/Plans/onboarding.md --yes'],
    changes: true,
    load: () => import('../modes/plan/commands/approve.ts'),
  },
  {
    usage: 'plan run <plan>',
    summary: 'carry out one plan that is approved, or that needs no approval; the same command again resumes',
    get options(): readonly FlagRow[] {
      return [
        ...settingFlags(planRules.flags, ['plan']),
        vault,
        { flags: '--yes', description: 'start without asking; it approves nothing', group: 'start' },
        ticked,
        noInput,
        ...printing,
      ];
    },
    examples: ['ralph plan run plan_client_onboarding_001', 'ralph plan run Plan.md --on-approval wait'],
    changes: true,
    load: () => import('../modes/plan/commands/run.ts'),
  },
  {
    usage: 'plan watch',
    summary: 'start every plan that is moved into Approved/Plans, one after the other, each exactly once',
    get options(): readonly FlagRow[] {
      return [
        ...settingFlags(planRules.flags, ['plan']).filter(one => !one.flags.startsWith('--on-approval')),
        vault,
        { flags: '--once', description: 'do what is there now, then leave (for cron)', group: 'start' },
        { flags: '--quiet', description: 'print only the endings', group: 'output' },
        ascii,
      ];
    },
    examples: ['ralph plan watch', 'ralph plan watch --vault ~/notes/vault', 'ralph plan watch --once'],
    printsNoJson: 'it goes on and on; ralph loops list --json shows what became of each plan',
    changes: true,
    load: () => import('../modes/plan/commands/watch.ts'),
  },
];

// Tasks: look at them, decide about one, add one, carry lists over.

const loop: FlagRow = { flags: '--loop <loop>', description: 'the loop (the newest of this folder unless told)' };
const force: FlagRow = { flags: '--force', description: 'replace the file if it is there already' };

const taskCommands: readonly CommandRow[] = [
  {
    usage: 'task list [what]',
    summary: 'the tasks of a loop or of a file, in order: status, attempts, title, what each waits for',
    options: [json, ascii],
    examples: ['ralph task list', 'ralph task list my-loop --json', 'ralph task list fix_plan.md'],
    load: () => import('./commands/task-list.ts'),
  },
  {
    usage: 'task show <id>',
    summary: 'one task: description, criteria, dependencies, attempts, why its last claim was refused, its history',
    options: [
      { flags: '--loop <loop>', description: 'of this loop or file (the newest loop of this folder unless told)' },
      json,
      ascii,
    ],
    examples: ['ralph task show US-002', 'ralph task show US-002 --loop my-loop --json'],
    load: () => import('./commands/task-show.ts'),
  },
  {
    usage: 'task done <id>',
    summary: 'call a task done that you did yourself: it counts as done by you, unverified; retry takes that back',
    options: [loop],
    examples: ['ralph task done US-003', 'ralph task done US-003 --loop my-loop'],
    changes: true,
    load: async () => ({ execute: (await import('./commands/task-change.ts')).done }),
  },
  {
    usage: 'task skip <id>',
    summary: 'leave a task out of its loop, also while it runs; retry takes that back',
    options: [loop],
    examples: ['ralph task skip US-003', 'ralph task skip US-003 --loop my-loop'],
    changes: true,
    load: async () => ({ execute: (await import('./commands/task-change.ts')).skip }),
  },
  {
    usage: 'task retry <id>',
    summary: 'open a task again that is blocked, skipped or done; its attempts count from 0',
    options: [
      loop,
      {
        flags: '--again',
        description: 'also a step of a plan that was carried out, or may have been: it is done twice',
      },
      { flags: '--with-work', description: 'bring back what earlier attempts had done before it was set aside' },
    ],
    examples: ['ralph task retry US-003', 'ralph task retry US-003 --with-work'],
    changes: true,
    load: async () => ({ execute: (await import('./commands/task-change.ts')).retry }),
  },
  {
    usage: 'task add <title>',
    summary: 'write one task more into the document, in its own style; a loop that runs takes it up',
    options: [
      { flags: '--description <text>', description: 'what is to be done; - reads standard input' },
      { flags: '--criterion <text>', description: 'what must be true when it is done (repeatable)', repeatable: true },
      { flags: '--after <id>', description: 'a task that must be done first (repeatable)', repeatable: true },
      { flags: '--id <id>', description: 'its id (the next in the style of the document unless told)' },
      { flags: '--file <file>', description: "the document (the open loop's, else the one that ralph run takes)" },
      { flags: '--no-criteria', description: 'allow a story without acceptance criteria' },
    ],
    examples: [
      'ralph task add "Greet by name" --criterion \'sh greet.sh Ada prints "Hello, Ada"\'',
      'ralph task add "Pay by card" --after US-002 --criterion "a test pays" --file PRD.json',
      'ralph task add "Mend the login" --file fix_plan.md',
    ],
    changes: true,
    load: () => import('./commands/task-add.ts'),
  },
  {
    usage: 'task import <file>',
    summary: 'the tasks of any document that Ralph reads as a new document; says what could not be carried over',
    options: [
      { flags: '--to <file>', description: 'PRD.json unless told; tasks.json, NAME.md (a checklist), NAME.yaml' },
      { flags: '--accept-ticked', description: 'keep what is ticked as done; else only what a loop has recorded' },
      { flags: '--dry-run', description: 'print the new document and write nothing' },
      force,
    ],
    examples: ['ralph task import fix_plan.md', 'ralph task import tasks.yaml --to tasks.json --dry-run'],
    changes: true,
    load: async () => ({ execute: (await import('./commands/task-convert.ts')).importTasks }),
  },
  {
    usage: 'task export [what]',
    summary: 'the tasks of a loop, with the statuses of its ledger, or of a file, as another document',
    options: [
      { flags: '--to <file>', description: 'where to; - is standard output (default)' },
      {
        flags: '--format <name>',
        description: 'one of prd, tasks, checklist, yaml, json (unless told, by the name of the file)',
      },
      force,
    ],
    examples: ['ralph task export --format checklist', 'ralph task export my-loop --to done.md'],
    printsNoJson: 'it prints the document; --format json is one of its formats',
    load: async () => ({ execute: (await import('./commands/task-convert.ts')).exportTasks }),
  },
];

export const commands: readonly CommandRow[] = [
  {
    usage: 'run [what]',
    summary:
      'work on a goal in words, a task list, a prompt or a plan until it is done and proven; the same command resumes',
    get options(): readonly FlagRow[] {
      return [
        ...settingFlags(),
        { flags: '--mode <name>', description: `what the document is: ${anyOf(modeNames)}`, group: 'mode' },
        { flags: '--no-criteria', description: 'allow stories without acceptance criteria', group: 'mode' },
        {
          flags: '--accept-ticked',
          description: 'boxes that were ticked before are right; say no more of them',
          group: 'mode',
        },
        ...running,
      ];
    },
    examples: [
      "ralph run PRD.json --agent claude --verify 'npm test'",
      'ralph run "make the tests of the parser pass" --max-cost 5',
      'ralph run PROMPT.md --max-duration 4h',
      "ralph run PRD.json --agent claude/opus --fallback codex --verify 'npm test'",
      "ralph run PRD.json --agent-command 'my-agent --headless' --verify 'npm test'",
      'ralph run PRD.json --max-iterations 10 --max-cost 5 --max-duration 2h',
    ],
    changes: true,
    load: () => import('./commands/run.ts'),
  },
  {
    usage: 'demo',
    summary: 'a whole loop in a scratch folder with a scripted agent: no key, no question, under a minute',
    options: [ascii, { flags: '--fast', description: 'without the pauses that make it readable' }],
    examples: ['ralph demo'],
    printsNoJson: 'it is made to be watched',
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
    usage: 'inbox [question]',
    summary: 'the questions that wait for you, those of this folder first; or all of one question',
    options: [json],
    examples: ['ralph inbox', 'ralph inbox E1', 'ralph inbox my-loop/E2'],
    load: () => import('./commands/inbox.ts'),
  },
  {
    usage: 'answer [id...]',
    summary: 'answer one question, or several alike: a numbered option, your own words, skip, retry or abort',
    options: [
      { flags: '--option <number>', description: 'take this option', isOnce: true },
      { flags: '--text <text>', description: 'give guidance in your own words; - reads standard input', isOnce: true },
      { flags: '--skip', description: 'leave the task out' },
      { flags: '--retry', description: 'try again without guidance' },
      { flags: '--abort', description: 'end the loop' },
      { flags: '--all-like <id>', description: 'every open question of its loop about the same finding and path' },
      { flags: '--yes', description: 'with --all-like: do not ask first' },
    ],
    examples: [
      'ralph answer E1 --option 1',
      'ralph answer my-loop/E2 --text "use the v2 endpoint"',
      'ralph answer E1 E2 E5 --retry',
      'ralph answer --all-like E2 --option 1',
    ],
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
    usage: 'notes show',
    summary: 'what earlier loops in this repository found out; agents of later loops are shown it',
    options: [json],
    examples: ['ralph notes show'],
    load: async () => ({ execute: (await import('./commands/notes.ts')).show }),
  },
  {
    usage: 'notes edit',
    summary: 'change these notes in your editor (VISUAL or EDITOR)',
    examples: ['ralph notes edit'],
    printsNoJson: 'it opens your editor',
    changes: true,
    load: async () => ({ execute: (await import('./commands/notes.ts')).edit }),
  },
  {
    usage: 'notes off',
    summary: 'add nothing to the notes of this repository, and show them to no agent; the file stays',
    examples: ['ralph notes off'],
    changes: true,
    load: async () => ({ execute: (await import('./commands/notes.ts')).off }),
  },
  {
    usage: 'notes on',
    summary: 'go on with the notes of this repository',
    examples: ['ralph notes on'],
    changes: true,
    load: async () => ({ execute: (await import('./commands/notes.ts')).on }),
  },
  {
    usage: 'pause [loop]',
    summary: 'let the live iteration finish, then wait',
    options: [{ flags: '--now', description: 'interrupt the live iteration' }],
    examples: ['ralph pause', 'ralph pause my-loop --now'],
    changes: true,
    load: async () => ({ execute: (await import('./commands/steer.ts')).pause }),
  },
  {
    usage: 'resume [loop]',
    summary:
      'go on with a loop, counters kept: it runs with what it was started with; one that is at work is only unpaused',
    get options(): readonly FlagRow[] {
      return [headless, ...settingFlags(), ...running.filter(one => one.flags !== '--new')];
    },
    examples: [
      'ralph resume my-loop',
      'ralph resume my-loop --max-iterations 80',
      'ralph resume my-loop --agent codex   # from now on another agent',
    ],
    changes: true,
    load: () => import('./commands/resume.ts'),
  },
  {
    usage: 'stop [loop]',
    summary: 'end the loop; the live iteration is stopped at once',
    examples: ['ralph stop', 'ralph stop my-loop'],
    changes: true,
    load: async () => ({ execute: (await import('./commands/steer.ts')).stop }),
  },
  {
    usage: 'explain [loop]',
    summary: 'why everything happened, step by step',
    options: [
      { flags: '--task <id>', description: 'only what concerns this task' },
      { flags: '--before <number>', description: 'only what came before this event: 500 steps at a time are shown' },
      json,
    ],
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
      { flags: '-f, --follow', description: 'go on as it comes, into the next iterations until the loop ends' },
    ],
    examples: ['ralph logs', 'ralph logs my-loop --iteration 3', 'ralph logs my-loop --prompt'],
    printsNoJson: 'it prints what the agent printed, as it is',
    load: () => import('./commands/logs.ts'),
  },
  {
    usage: 'report [loop]',
    summary: 'the account of a loop: tasks, proof, cost, reason',
    options: [json, { flags: '--md', description: 'as Markdown at a terminal too, as in a pipe' }],
    examples: ['ralph report', 'ralph report my-loop --md', 'ralph report my-loop --json'],
    load: () => import('./commands/report.ts'),
  },
  ...modeCommands,
  ...planCommands,
  ...taskCommands,
  ...backCommands,
  {
    usage: 'loops list',
    summary: 'all loops, newest first',
    options: [json],
    examples: ['ralph loops list'],
    load: () => import('./commands/loops-list.ts'),
  },
  {
    usage: 'loops show <loop>',
    summary: 'one loop: settings, tasks, questions',
    options: [json],
    examples: ['ralph loops show my-loop'],
    load: () => import('./commands/loops-show.ts'),
  },
  {
    usage: 'loops rm <loop>',
    summary: 'remove a loop with its worktrees, refs and checkpoints; asks for its name',
    options: [dryRun, confirm],
    examples: ['ralph loops rm my-loop --dry-run', 'ralph loops rm my-loop --confirm my-loop'],
    changes: true,
    load: () => import('./commands/loops-rm.ts'),
  },
  {
    usage: 'agents list',
    summary:
      'the agents that Ralph can drive: installed or not, version, login, what they can do, how well we know them',
    options: [json],
    examples: ['ralph agents list', 'ralph agents list --json'],
    load: () => import('./commands/agents-list.ts'),
  },
  {
    usage: 'agents test [agent]',
    summary: 'one tiny real question to an agent, in a scratch folder and with your own login; it costs a little',
    options: [yes, json],
    examples: ['ralph agents test', 'ralph agents test claude/haiku --yes'],
    load: () => import('./commands/agents-test.ts'),
  },
  {
    usage: 'config trust',
    summary: 'let the config of this project set what only you may set, such as its agent, for exactly these values',
    options: [yes],
    examples: ['ralph config trust'],
    changes: true,
    load: () => import('./commands/config-trust.ts'),
  },
  {
    usage: 'doctor',
    summary: 'what a loop needs from this machine: agents, logins, containment, git, home folder, disk, ledger',
    options: [json],
    examples: ['ralph doctor', 'ralph doctor --json'],
    load: () => import('./commands/doctor.ts'),
  },
  {
    usage: 'hook start [what]',
    summary: 'begin a loop that works in the session of an agent, turn by turn, and print its first prompt',
    get options(): readonly FlagRow[] {
      return [
        { flags: '--session <id>', description: 'else the one that this is typed in, else the first one here' },
        { flags: '--agent <name>', description: 'whose session it is; else the one that this is typed in' },
        { flags: '--completion-promise <text>', description: 'the same as --promise' },
        { flags: '--mode <name>', description: `what the document is: ${anyOf(modeNames)}`, group: 'mode' },
        { flags: '--headless-ok', description: 'when the agent lets no more turns go on, go on headless by itself' },
        { flags: '--new', description: 'start a new loop although one of this file ended with work left' },
        ...settingFlags().filter(({ flags, group }) => group !== 'agent' && !ofHeadless.test(flags)),
      ];
    },
    examples: [
      'ralph hook start "Make the tests of the parser pass" --verify \'npm test\' --max-iterations 20',
      'ralph hook start notes.md --mode review',
    ],
    printsNoJson: 'it prints the first prompt',
    changes: true,
    load: () => import('./commands/hook-start.ts'),
  },
  {
    usage: 'hook install [agent]',
    summary: 'let an agent call Ralph at the end of its turns: shows the change in its settings, keeps other hooks',
    options: [projectHook, dryRun, yes, noInput],
    examples: ['ralph hook install claude --dry-run', 'ralph hook install codex --project'],
    changes: true,
    load: async () => ({ execute: (await import('./commands/hook.ts')).install }),
  },
  {
    usage: 'hook uninstall [agent]',
    summary: 'take the hook out again; where nobody changed the file since, it is as it was before',
    options: [projectHook, dryRun, yes, noInput],
    examples: ['ralph hook uninstall claude'],
    changes: true,
    load: async () => ({ execute: (await import('./commands/hook.ts')).uninstall }),
  },
  {
    usage: 'hook status',
    summary: 'where the hook is installed, which sessions have a loop, and when it gave up',
    options: [json],
    examples: ['ralph hook status'],
    load: async () => ({ execute: (await import('./commands/hook.ts')).status }),
  },
  {
    usage: 'hook test [agent]',
    summary: 'call the installed hook as the agent does, for a session without a loop',
    options: [projectHook, json],
    examples: ['ralph hook test claude'],
    load: async () => ({ execute: (await import('./commands/hook.ts')).test }),
  },
  {
    usage: 'hook stop',
    summary: 'what the agent calls when a turn ends: reads the event on standard input, answers with the next prompt',
    options: [
      { flags: '--timeout <seconds>', description: 'how long the agent waits for it' },
      { flags: '--cap <turns,variable>', description: 'how many in a row the agent lets go on without a tool call' },
      { flags: '--count <session>', description: 'only count the tokens that the hook had no time for' },
    ],
    examples: ['ralph hook stop --timeout 1260 < event.json'],
    printsNoJson: 'it prints what the agent takes',
    load: () => import('./commands/hook-stop.ts'),
  },
  {
    usage: 'hook event',
    summary: 'what the plugin calls when a session begins, or when a command is typed there that begins a loop',
    examples: ['ralph hook event < event.json'],
    printsNoJson: 'it prints what the agent takes',
    load: () => import('./commands/hook-event.ts'),
  },
  {
    usage: 'mcp serve',
    summary: 'the loops of this machine as tools for another program (MCP): look, pause, say something; never decide',
    examples: ['ralph mcp serve', 'claude mcp add loops -- ralph mcp serve'],
    printsNoJson: 'it speaks MCP on standard output',
    changes: true,
    load: () => import('./commands/mcp-serve.ts'),
  },
  {
    usage: 'audit verify [loop]',
    summary: 'prove the hash chain of a loop, or of every loop on this machine, and name the first bad event',
    options: [json],
    examples: ['ralph audit verify', 'ralph audit verify my-loop'],
    load: () => import('./commands/audit-verify.ts'),
  },
  {
    usage: 'version',
    summary: 'print the version, as --version and -v do',
    examples: ['ralph version'],
    load: () => import('./commands/version.ts'),
  },
];
