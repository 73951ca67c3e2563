// What `ralph interview` and `ralph execute` refuse before a loop is prepared, each with the way on.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { Context } from '../../../src/cli/context.ts';
import { execute, interview } from '../../../src/modes/project/commands.ts';

const directory = mkdtempSync(join(tmpdir(), 'ralph-project-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const folder = (name: string): string => join(directory, '.artefacts', name);
for (const name of ['brief', 'whole']) {
  mkdirSync(folder(name), { recursive: true });
  writeFileSync(join(folder(name), 'spec.md'), '# shop\n');
}
writeFileSync(join(folder('whole'), 'tasks.json'), '[]\n');

const context: Context = {
  env: {},
  directory,
  out: () => expect.unreachable('it prints no data'),
  print: () => expect.unreachable('it prints no answer'),
  say: () => expect.unreachable('it only refuses'),
  home: () => expect.unreachable('it prepares no loop'),
  hasLedger: () => expect.unreachable('it prepares no loop'),
  ledger: () => expect.unreachable('it prepares no loop'),
  loops: () => expect.unreachable('it prepares no loop'),
  close: async () => {},
  by: 'ada',
};

const bothLimits = { iterations: '3', maxIterations: '3' };

it.each([
  ['an interview of nothing', interview, 'nothing', {}, 'There is no project nothing in this folder.', 'ralph init'],
  ['the tasks of nothing', execute, 'nothing', {}, 'There is no project nothing in this folder.', 'ralph init'],
  ['tasks before there are any', execute, 'brief', {}, 'The project brief has no tasks.json yet.', 'ralph interview'],
  ['one limit by two names', execute, 'whole', bothLimits, '--iterations and --max-iterations say the same.', 'Leave'],
])('%s', async (_what, command, name, flags, message, way) => {
  await expect(command(context, [name], flags)).rejects.toMatchObject({
    message,
    hint: expect.stringContaining(way),
    exitCode: 2,
  });
});
