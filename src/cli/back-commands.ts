// The part of the command table that looks at what a loop changed, and takes it back.
import type { CommandRow, FlagRow } from './command-table.ts';

const json: FlagRow = { flags: '--json', description: 'print JSON for programs' };
const ascii: FlagRow = { flags: '--ascii', description: 'plain characters only' };
const restoreFlags: readonly FlagRow[] = [
  { flags: '--dry-run', description: 'show what would happen and change nothing' },
  { flags: '--overwrite', description: 'take the old version where yours cannot be merged with it' },
  { flags: '--yes', description: 'do not ask first' },
  json,
  ascii,
];

export const backCommands: readonly CommandRow[] = [
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
    load: () => import('./commands/diff.ts'),
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
    load: () => import('./commands/undo.ts'),
  },
  {
    group: 'checkpoint',
    usage: 'list [loop]',
    summary: 'all checkpoints of a loop: number, time, iteration, task, files changed',
    options: [json, ascii],
    examples: ['ralph checkpoint list', 'ralph checkpoint list my-loop --json'],
    load: () => import('./commands/checkpoint-list.ts'),
  },
  {
    group: 'checkpoint',
    usage: 'show <number> [loop]',
    summary: 'one checkpoint: what was done and open, decisions, cost, git ids, and whether its record is whole',
    options: [{ flags: '--json', description: 'print the record itself' }, ascii],
    examples: ['ralph checkpoint show 3', 'ralph checkpoint show 3 my-loop --json'],
    load: () => import('./commands/checkpoint-show.ts'),
  },
  {
    group: 'checkpoint',
    usage: 'diff <number> [loop]',
    summary: 'what changed up to a checkpoint since the one before, or between two (A..B)',
    options: [{ flags: '--stat', description: 'only the files and how many lines' }, json, ascii],
    examples: ['ralph checkpoint diff 3', 'ralph checkpoint diff 1..4 my-loop --stat'],
    load: () => import('./commands/checkpoint-diff.ts'),
  },
  {
    group: 'checkpoint',
    usage: 'create [loop]',
    summary: 'keep what is there now',
    options: [{ flags: '--label <text>', description: 'why, for the list' }],
    examples: ['ralph checkpoint create', 'ralph checkpoint create my-loop --label "before I edit"'],
    changes: true,
    load: () => import('./commands/checkpoint-create.ts'),
  },
  {
    group: 'checkpoint',
    usage: 'restore [number] [loop]',
    summary: 'files, untracked files and task state as at a checkpoint; without a number the newest that verifies',
    options: [
      { flags: '--iteration <number>', description: 'as it was after this iteration; 0 is before the first' },
      { flags: '--code-only', description: 'files only: task states stay' },
      ...restoreFlags,
    ],
    examples: ['ralph checkpoint restore 3 --dry-run', 'ralph checkpoint restore 3 my-loop --yes'],
    changes: true,
    load: () => import('./commands/checkpoint-restore.ts'),
  },
  {
    group: 'checkpoint',
    usage: 'prune [loop]',
    summary: 'let old checkpoints go; the first, the last good one and what undo needs stay',
    options: [
      { flags: '--keep <number>', description: 'so many of the newest stay (20)' },
      { flags: '--dry-run', description: 'show what would go and change nothing' },
      { flags: '--yes', description: 'do not ask first' },
    ],
    examples: ['ralph checkpoint prune --dry-run', 'ralph checkpoint prune my-loop --keep 5'],
    changes: true,
    load: () => import('./commands/checkpoint-prune.ts'),
  },
];
