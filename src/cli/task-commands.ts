// The part of the command table that is about tasks: look at them, decide about one, add one, carry lists over.
import type { CommandRow, FlagRow } from './command-table.ts';

const json: FlagRow = { flags: '--json', description: 'print JSON for programs' };
const ascii: FlagRow = { flags: '--ascii', description: 'plain characters only' };
const loop: FlagRow = { flags: '--loop <loop>', description: 'of this loop (the newest of this folder unless told)' };
const force: FlagRow = { flags: '--force', description: 'replace the file if it is there already' };

export const taskCommands: readonly CommandRow[] = [
  {
    group: 'task',
    usage: 'list [what]',
    summary: 'the tasks of a loop or of a file, in order: status, attempts, title, what each waits for',
    options: [json, ascii],
    examples: ['ralph task list', 'ralph task list my-loop --json', 'ralph task list fix_plan.md'],
    load: () => import('./commands/task-list.ts'),
  },
  {
    group: 'task',
    usage: 'show <id>',
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
    group: 'task',
    usage: 'skip <id>',
    summary: 'leave a task out of its loop, also while it runs; retry takes that back',
    options: [loop],
    examples: ['ralph task skip US-003', 'ralph task skip US-003 --loop my-loop'],
    changes: true,
    load: async () => ({ execute: (await import('./commands/task-change.ts')).skip }),
  },
  {
    group: 'task',
    usage: 'retry <id>',
    summary: 'open a task again that is parked, skipped or done; its attempts count from 0',
    options: [
      loop,
      {
        flags: '--again',
        description: 'also a step of a plan that was carried out, or may have been: it is done twice',
      },
    ],
    examples: ['ralph task retry US-003', 'ralph task retry US-003 --loop my-loop'],
    changes: true,
    load: async () => ({ execute: (await import('./commands/task-change.ts')).retry }),
  },
  {
    group: 'task',
    usage: 'add <title>',
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
    group: 'task',
    usage: 'import <file>',
    summary: 'the tasks of any document that Ralph reads as a new document; says what could not be carried over',
    options: [
      { flags: '--to <file>', description: 'PRD.json unless told; tasks.json, NAME.md (a checklist), NAME.yaml' },
      { flags: '--accept-ticked', description: 'keep what is ticked as done; without it everything is open' },
      { flags: '--dry-run', description: 'print the new document and write nothing' },
      force,
    ],
    examples: ['ralph task import fix_plan.md', 'ralph task import tasks.yaml --to tasks.json --dry-run'],
    changes: true,
    load: () => import('./commands/task-import.ts'),
  },
  {
    group: 'task',
    usage: 'export [what]',
    summary: 'the tasks of a loop, with the statuses of its ledger, or of a file, as another document',
    options: [
      { flags: '--to <file>', description: 'where to; - is standard output (default)' },
      { flags: '--format <name>', description: 'prd, tasks, checklist, yaml or json (by the name of the file)' },
      force,
    ],
    examples: ['ralph task export --format checklist', 'ralph task export my-loop --to done.md'],
    load: () => import('./commands/task-export.ts'),
  },
];
