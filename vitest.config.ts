// How `npm test` runs: files share a few forks and what these have loaded, real processes have room, and nothing retries.
import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** No processes here: they are kept from the forks that start some, since a start copies the page tables of all memory. */
const pure = ['text', 'messages', 'secrets', 'core', 'documents', 'views', 'config', 'simulate', 'checks/tamper'].map(
  name => `test/${name}/**/*.test.ts`,
);
/** Few processes beside much memory: 700 MB, where the others need 130. */
pure.push(...['oracles', 'recipes', 'app/library', 'modes/plan'].map(name => `test/${name}/**/*.test.ts`));
pure.push('test/tidy.test.ts', 'test/docs.test.ts', 'test/actions/mcp/tool.test.ts');
/** These replace modules or the clock for themselves, which a shared fork would show to others. */
const alone = globSync('test/**/*.test.ts').filter(path =>
  /\bvi\.(mock|useFakeTimers|stubGlobal|stubEnv)\(/.test(readFileSync(path, 'utf8')),
);
const left = ['test/fixtures/**'];

/** The longest ones, so that none of them begins when the others are done. */
const slow = /\/(recipes|crashes|undo|migrate|fooling|parallel|ledger|bad-flags|orphans|demo|crash|kills)\.test\.ts$/;

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [...sorted.filter(one => slow.test(one.moduleId)), ...sorted.filter(one => !slow.test(one.moduleId))];
  }
}

/** Node loads the sources itself, as it does for Ralph, and keeps what it compiled for the next fork and the hosts. */
const native = { isolate: false, experimental: { viteModuleRunner: false, nodeLoader: false } };

/** Tests that start processes wait for them most of the time. */
const cores = availableParallelism();
const [busy, waiting] = [Math.max(2, cores), cores + 2];

/** One project after the other: a fork is kept only for the next file of its own project. */
const project = (
  groupOrder: number,
  test: { name: string; include: string[]; exclude?: string[]; setupFiles?: string; maxWorkers: number } & Partial<
    typeof native
  >,
) => ({
  extends: true as const,
  test: { ...test, sequence: { groupOrder } },
});

export default defineConfig({
  test: {
    pool: 'forks',
    testTimeout: 120_000,
    hookTimeout: 60_000,
    retry: 0,
    globalSetup: 'test/scratch-folder.ts',
    sequence: { sequencer: SlowFirst },
    passWithNoTests: false,
    projects: [
      project(0, { name: 'pure', maxWorkers: busy, include: pure, exclude: [...left, ...alone], ...native }),
      project(1, { name: 'alone', maxWorkers: waiting, include: alone }),
      project(2, {
        name: 'shared',
        maxWorkers: waiting,
        include: ['test/**/*.test.ts'],
        exclude: [...left, ...pure, ...alone],
        setupFiles: 'test/end-leftovers.ts',
        ...native,
      }),
    ],
  },
});
