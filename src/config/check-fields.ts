// The settings of checks beyond their commands: a part of the one table, which would be too long with them.
import type { Field } from './kinds.ts';

export const checkFields = {
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
    description: 'A file or folder put back before every check; !PATH lifts that of a check’s own script.',
    example: 'scripts/verify',
  },
  judge: {
    kind: 'judge',
    description: 'An agent that reads each finished task’s diff and may refuse it; auto: of another vendor.',
    example: 'auto',
  },
} as const satisfies Readonly<Record<string, Field>>;
