// The part of the command table that starts loops by the names of their modes: review, and a project's three steps.
import type { CommandRow, FlagRow } from './command-table.ts';

/** `settingsFor`: the flags of `ralph run` that are settings of a mode; `running`: those about how it runs. */
export const modeCommands = (
  settingsFor: (mode: string) => readonly FlagRow[],
  running: readonly FlagRow[],
): readonly CommandRow[] => [
  {
    usage: 'review <file>',
    summary: 'have a document reviewed in fresh contexts, and what is found mended, until every reviewer is content',
    options: [...settingsFor('review'), ...running],
    examples: [
      'ralph review docs/spec.md',
      'ralph review docs/spec.md --section Risks --reviewer adversarial --reviewer security',
      'ralph review docs/spec.md --rounds 2 --target-confidence 90',
    ],
    changes: true,
    load: () => import('./commands/review.ts'),
  },
  {
    usage: 'init [name]',
    summary: 'begin a project: .artefacts/NAME/spec.md with the questions of a good brief',
    examples: ['ralph init my-project'],
    changes: true,
    load: () => import('./commands/init.ts'),
  },
  {
    usage: 'interview <name>',
    summary: 'agents ask you, one after the other, what the spec of a project leaves open; the last writes its tasks',
    options: [...settingsFor('project'), ...running],
    examples: ['ralph interview my-project', 'ralph interview my-project --rounds 2 --agent claude'],
    changes: true,
    load: () => import('./commands/interview.ts'),
  },
  {
    usage: 'execute <name>',
    summary: 'do the tasks of a project; the same command again resumes',
    options: [
      { flags: '--iterations <number>', description: 'most iterations of the loop (50 unless told)' },
      ...settingsFor('project').filter(one => !one.flags.startsWith('--rounds')),
      ...running,
    ],
    examples: ['ralph execute my-project', "ralph execute my-project --iterations 20 --verify 'npm test'"],
    changes: true,
    load: () => import('./commands/execute-project.ts'),
  },
];
