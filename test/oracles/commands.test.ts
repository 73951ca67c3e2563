// The read commands understand a home that 0.4.0 filled: the same exit codes, and JSON where it is asked for.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { UsageError } from '../../src/text/errors.ts';
import { unpack } from './unpack.ts';

/** When the home was filled. */
const recordedAt = Date.UTC(2026, 10, 16, 15);

const loops = [
  'shop',
  'asks',
  'fails',
  'tampers',
  'plain',
  'list',
  'yaml',
  'goal',
  'prompt',
  'project',
  'review',
  'plan-acme',
] as const;
const firstTask: Readonly<Record<string, string>> = {
  list: 'add-a-login-form',
  yaml: 'create-user-model',
  goal: 'goal',
  prompt: 'prompt',
  project: 'T1',
  review: 'R1-adversarial',
  'plan-acme': 'step_1',
};

const withJson = (...words: readonly string[]): readonly (readonly string[])[] => [words, [...words, '--json']];

function ofLoop(loop: string): readonly (readonly string[])[] {
  const task = firstTask[loop] ?? 'US-001';
  return [
    ...withJson('status', loop),
    ...withJson('report', loop),
    ...withJson('events', loop),
    ['explain', loop],
    ['explain', loop, '--task', task],
    ['logs', loop],
    ['logs', loop, '--iteration', '1'],
    ['logs', loop, '--iteration', '1', '--prompt'],
    ...withJson('loops', 'show', loop),
    ...withJson('task', 'list', loop),
    ...withJson('task', 'show', task, '--loop', loop),
    ...withJson('audit', 'verify', loop),
    ['task', 'export', loop, '--format', 'json'],
  ];
}

// The repository of the work is not there, so commands about checkpoints say so.
const general = [
  ...withJson('inbox').map(command => ({ command, code: 0 })),
  ...withJson('loops', 'list').map(command => ({ command, code: 0 })),
  ...withJson('audit', 'verify').map(command => ({ command, code: 0 })),
  { command: ['status'], code: 0 },
  { command: ['status', 'nobody'], code: 2 },
  { command: ['logs', 'shop', '--iteration', '99'], code: 2 },
  { command: ['checkpoint', 'list', 'shop'], code: 2 },
  { command: ['checkpoint', 'show', '1', 'shop'], code: 2 },
  { command: ['task', 'show', 'US-099', '--loop', 'shop'], code: 2 },
];

let root = '';
let home = '';
const before = { cwd: process.cwd(), env: process.env };

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-oracle-')));
  home = join(root, 'home');
  const elsewhere = join(root, 'elsewhere');
  mkdirSync(elsewhere);
  unpack('home.json.gz', home);
  process.env = { PATH: '/usr/bin:/bin', HOME: elsewhere, RALPH_HOME: home, TMPDIR: root, LANG: 'C.UTF-8', TZ: 'UTC' };
  process.chdir(elsewhere);
  vi.useFakeTimers({ toFake: ['Date'], now: recordedAt });
});

afterAll(() => {
  vi.useRealTimers();
  process.chdir(before.cwd);
  process.env = before.env;
  rmSync(root, { recursive: true, force: true });
});

/** As main.ts does it, in this process. */
async function print(command: readonly string[]): Promise<{ code: number; stdout: string }> {
  const told = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map(name =>
    vi.spyOn(process[name], 'write').mockImplementation(text => {
      told[name] += String(text);
      return true;
    }),
  );
  try {
    return { code: await runProgram(command), stdout: told.stdout };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { code: error.exitCode, stdout: told.stdout };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

describe('the read commands', () => {
  it.each(loops)('tell of the loop %s', async loop => {
    for (const command of ofLoop(loop)) {
      const { code, stdout } = await print(command);
      expect([command, code, stdout.length > 0]).toEqual([command, 0, true]);
      const isLines = command[0] === 'events';
      if (command.includes('--json'))
        for (const value of isLines ? stdout.trim().split('\n') : [stdout])
          expect(JSON.parse(value)).toBeTypeOf('object');
    }
  });

  it.each(general)('exit as they did: %j', async ({ command, code }) => {
    expect((await print(command)).code).toBe(code);
  });
});
