// Proves `ralph init NAME` at its edge: what it says, where it writes, and what it does without a name.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { Context } from '../../../src/cli/context.ts';
import { init } from '../../../src/modes/project/commands.ts';

const directory = mkdtempSync(join(tmpdir(), 'ralph-init-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const context = (said: string[]): Context => ({
  env: {},
  directory,
  out: () => expect.unreachable('it prints no data'),
  print: () => expect.unreachable('it prints no answer'),
  say: text => said.push(text),
  home: () => expect.unreachable('it needs no home'),
  hasLedger: () => expect.unreachable('it needs no ledger'),
  ledger: () => expect.unreachable('it needs no ledger'),
  loops: () => expect.unreachable('it needs no loops'),
  close: async () => {},
  by: 'ada',
});

it('writes spec.md and says what comes next', async () => {
  const said: string[] = [];
  expect(await init(context(said), ['shop'])).toBe(0);
  expect(existsSync(join(directory, '.artefacts/shop/spec.md'))).toBe(true);
  expect(said.join('\n')).toMatch(
    /^Wrote \.artefacts\/shop\/spec\.md\.[\s\S]*ralph interview shop[\s\S]*ralph execute shop[\s\S]*Undo: rm \.artefacts\/shop\/spec\.md && rmdir \.artefacts\/shop \.artefacts$/,
  );
});

it('given no name, then one sentence asks for it, with exit code 2', async () => {
  await expect(init(context([]), [undefined])).rejects.toMatchObject({
    message: 'ralph init needs the name of a project.',
    hint: 'Name it: ralph init my-project',
    exitCode: 2,
  });
});
