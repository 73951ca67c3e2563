// How `npm test` runs: files share three forks and what these have loaded; nothing retries.
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** These replace modules for themselves (vi.mock), or the whole process (its folder, its environment, its signals). */
const alone = [
  'test/agents/interactive.test.ts',
  'test/app/agents/confinement.test.ts',
  'test/app/loops/loops.test.ts',
  'test/git/cut.test.ts',
  'test/git/git-commits.test.ts',
  'test/git/repair.test.ts',
];
const left = ['test/fixtures/**'];

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: Math.max(3, availableParallelism()), // many tests wait for processes: two cores serve three of them
    testTimeout: 120_000,
    hookTimeout: 60_000,
    retry: 0,
    globalSetup: 'test/scratch-folder.ts',
    passWithNoTests: false,
    projects: [
      {
        extends: true,
        test: { name: 'shared', include: ['test/**/*.test.ts'], exclude: [...left, ...alone], isolate: false },
      },
      { extends: true, test: { name: 'alone', include: alone } },
    ],
  },
});
