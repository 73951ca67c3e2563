// How `npm test` runs: real processes need room, so files run in forks and nothing retries.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/fixtures/**'],
    pool: 'forks',
    testTimeout: 120_000,
    hookTimeout: 60_000,
    retry: 0,
    passWithNoTests: false,
  },
});
