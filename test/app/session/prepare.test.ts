// A flag that can do nothing in a mode is a mistake of whoever typed it: refused before anything is written.
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { prepareLoop } from '../../../src/app/session/prepare.ts';
import { UsageError } from '../../../src/text/errors.ts';

let folder: string;
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'ralph-idle-')));
  await writeFile(join(folder, 'PROMPT.md'), '# Work\n');
  await writeFile(join(folder, 'list.md'), '- [ ] One thing\n');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const refusal = async (file: string, flags: Record<string, unknown>): Promise<string> => {
  const place = { env: { PATH: '' }, directory: folder, home: join(folder, 'home') };
  const error = await prepareLoop({ ...place, file, flags: { agentCommand: 'cat', ...flags } }).catch(one => one);
  return error instanceof UsageError ? error.message : `${error}`;
};

it.each([
  ['PROMPT.md', { retries: '3' }, '--retries has no effect in the mode prompt.'],
  ['PROMPT.md', { haltOnMaxAttempts: true }, '--halt-on-max-attempts has no effect in the mode prompt.'],
  ['list.md', { rounds: '3' }, '--rounds has no effect in the mode lists.'],
  ['list.md', { checkpointInterval: '3' }, '--checkpoint-interval has no effect in the mode lists.'],
  ['make it so', { section: 'Risks' }, '--section has no effect in the mode goal.'],
])('%s with %o: %s', async (file, flags, sentence) => {
  expect(await refusal(file, flags)).toBe(sentence);
});

it('where the flag means something, nothing is refused for it', async () => {
  expect(await refusal('PROMPT.md', { checkpointInterval: '3' })).not.toContain('no effect');
  expect(await refusal('list.md', { haltOnMaxAttempts: true })).not.toContain('no effect');
});
