// Checkpoints and restores that are killed at a few moments; `npm run prove -- restore` does the same by the hundred.
import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { whyNoTracing } from '../ledger/run-program.ts';
import { killAtCall, killKeeping, makeTemplate, type Template } from '../prove/restore.ts';
import { makeRepo, saved } from './repo.ts';

const noTracing = whyNoTracing();
const whenTraced = noTracing === undefined ? '' : ` [skipped: ${noTracing}]`;

let template: Template;
beforeAll(async () => {
  template = await makeTemplate(18);
});
afterAll(() => template.repo.cleanUp());

it.each([1, 2])(
  'killed at a random moment, the tree is the old or the new one, and again completes it: seed %i',
  async seed => {
    await expect(killKeeping(seed, template, 100)).resolves.not.toThrow();
  },
  60_000,
);

it.skipIf(noTracing !== undefined).each([
  ['rename', 7],
  ['unlink', 2],
])(
  `F07: killed at a chosen %s of the switch (%i), it is finished from the journal${whenTraced}`,
  async (call, count) => {
    expect(await killAtCall(call, count, template)).toBeGreaterThan(0);
  },
  60_000,
);

it('a lock that a killed git left on a ref of ours does not stop the next checkpoint', async () => {
  const repo = makeRepo();
  onTestFinished(() => repo.cleanUp());
  const checkpoints = await repo.checkpoints();
  await saved(checkpoints, 1);
  const lock = join(repo.top, '.git', 'refs/ralph/loop-1/2.lock');
  writeFileSync(lock, '');
  utimesSync(lock, 1, 1);
  const { commit } = await saved(checkpoints, 2);
  expect(repo.git('rev-parse', 'refs/ralph/loop-1/2').trim()).toBe(commit);
});
