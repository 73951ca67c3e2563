// How `npm test` runs: real processes need room, so files run in forks and nothing retries; pure ones share theirs.
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Nothing in these folders keeps state between two files, so they need no process each. */
const pure = ['text', 'messages', 'secrets', 'core', 'documents/formats', 'documents/convert', 'views', 'config'].map(
  name => `test/${name}/**/*.test.ts`,
);
const left = ['test/fixtures/**'];

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: Math.max(3, availableParallelism()), // many tests wait for processes: two cores serve three of them
    testTimeout: 120_000,
    hookTimeout: 60_000,
    retry: 0,
    passWithNoTests: false,
    projects: [
      { extends: true, test: { name: 'pure', include: pure, exclude: left, isolate: false } },
      { extends: true, test: { name: 'real', include: ['test/**/*.test.ts'], exclude: [...left, ...pure] } },
    ],
  },
});
