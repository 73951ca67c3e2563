// Global flags and variables: before or after the command, the same for every one, and an error for programs is JSON too.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/command-table.ts';
import { settledFlags, unknownVariables } from '../../src/cli/global-flags.ts';
import { beTold, confirm } from '../../src/cli/terminal.ts';
import { claims, inScratch, runScript, type Scratch, scratch, scripted } from './kit.ts';

let place: Scratch;

beforeAll(async () => {
  place = scratch();
  scripted(place, ['US-001'], [claims()]);
  expect((await place.ralph([...runScript, '--yes'])).code).toBe(0);
});

afterAll(() => place.end());

describe('a global flag', () => {
  it.concurrent('means the same before the command, between its words and behind it', async () => {
    const wanted = await place.ralph(['loops', 'list', '--json']);
    for (const words of [
      ['--json', 'loops', 'list'],
      ['loops', '--json', 'list'],
      ['--no-color', '--no-input', 'loops', 'list', '--json'],
    ])
      expect(await place.ralph(words)).toEqual(wanted);
    expect((await place.ralph(['--debug', 'status', 'nobody'])).stderr).toMatch(/No loop is called[\s\S]*\n {4}at /);
  });

  it.concurrent('--quiet leaves only what was asked for, and errors', async () => {
    expect(await place.ralph(['--quiet', 'inbox'])).toEqual({ code: 0, stdout: '', stderr: '' });
    expect((await place.ralph(['inbox'])).stderr).not.toBe('');
    expect((await place.ralph(['--quiet', 'status', 'nobody'])).stderr).toContain('No loop is called');
    expect((await place.ralph(['undo', '--quiet'])).stderr).toContain('--quiet hides what ralph undo would ask');
  });

  it.concurrent('--json makes one object of what a command says that has no data', async () => {
    const told = await place.ralph(['task', 'add', 'More', '--criterion', 'x', '--json', '--file', 'PRD.json']);
    const { said, ...rest } = JSON.parse(told.stdout);
    expect([rest, said[0]]).toEqual([{ version: 2, exitCode: 0 }, 'US-002']);
    expect(said[1]).toMatch(/^Added to PRD\.json/);
  });
});

describe('an error with --json', () => {
  const cases: readonly (readonly [string, readonly string[], object])[] = [
    ['a loop that is not there', ['status', 'nobody'], { code: 'no-such-loop', hint: /ralph loops list/ }],
    ['an unknown command', ['stauts'], { code: 'unknown-command', message: /did you mean status/ }],
    ['an unknown flag', ['status', '--jsn'], { code: 'unknown-option', message: /did you mean --json/ }],
    ['a missing word', ['loops', 'show'], { code: 'missing-argument', hint: /ralph help loops show/ }],
    ['half a command', ['loops'], { code: 'missing-command', message: /list, show or rm/ }],
    ['no command', [], { code: 'usage', message: /needs a command/ }],
    ['a command that has none', ['logs'], { code: 'no-json', message: /as it is/ }],
    ['a word that is refused', ['run', 'PRD.json', '-n', '0'], { code: 'usage', message: /--max-iterations/ }],
  ];
  it.concurrent.each(cases)('of %s is one object: code, message and hint', async (_what, words, wanted) => {
    for (const all of [
      [...words, '--json'],
      ['--json', ...words],
    ]) {
      const told = await place.ralph(all);
      const { error, ...rest } = JSON.parse(told.stdout);
      expect([told.code, rest]).toEqual([2, { version: 2, exitCode: 2 }]);
      expect(Object.keys(error)).toEqual(['code', 'message', 'hint']);
      for (const [name, one] of Object.entries(wanted)) expect(error[name]).toMatch(one);
      expect(told.stderr).toContain(error.message);
    }
  });

  it.concurrent('names the damaged database and what to type', () =>
    inScratch(async own => {
      scripted(own, ['US-001'], [claims()]);
      await own.ralph([...runScript, '--yes']);
      const path = join(own.home, 'ralph.db');
      writeFileSync(path, 'garbage');
      const told = await own.ralph(['status', '--json']);
      const { error } = JSON.parse(told.stdout);
      expect([told.code, error.code]).toEqual([1, 'ledger-corrupt']);
      expect(error.message).toContain(`${path} is damaged: `);
      expect(error.hint).toContain('ralph resume');
      const mended = await own.ralph(['resume']);
      expect(mended.stderr).toMatch(/was damaged lies unchanged in .*ralph\.db\.corrupt-/);
      expect((await own.ralph(['loops', 'list'])).code).toBe(0);
    }));
});

describe('a variable', () => {
  it('RALPH_NO_INPUT=1 means --no-input; 0 does not', async () => {
    const row = commands.find(one => one.usage === 'undo [loop]')!;
    const inputOf = (value: string): unknown => settledFlags(row, 'undo', {}, { RALPH_NO_INPUT: value })['input'];
    expect(['0', '', 'false', '1', 'true'].map(inputOf)).toEqual([undefined, undefined, undefined, false, false]);
    await expect(confirm('?')).rejects.toThrow('--no-input was said');
    beTold({ color: true, input: true });
  });

  it('that Ralph does not read is noted, with what may be meant; in an agent’s run none is', async () => {
    const env = { RALPH_HOM: '/x', RALPH_MAX_ITERATION: '3', RALPH_XYZZY_ELSE: '1', RALPH_HOME: '/x', HOME: '/h' };
    expect(await unknownVariables(env)).toEqual([
      'RALPH_HOM is not a setting; did you mean RALPH_HOME?',
      'RALPH_MAX_ITERATION is not a setting; did you mean RALPH_MAX_ITERATIONS?',
      'RALPH_XYZZY_ELSE is not a setting: it has no effect.',
    ]);
    expect(await unknownVariables({ ...env, RALPH_LOOP: 'x', RALPH_TASK: 'y' })).toEqual([]);
    const told = await place.ralph(['status'], { env: { RALPH_HOEM: '1' } });
    expect(told.stderr).toBe('note: RALPH_HOEM is not a setting; did you mean RALPH_HOME?\n');
  });
});
