// The read commands on a home that 0.4.0 filled print what 0.4.0 printed, with the same exit codes.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { UsageError } from '../../src/text/errors.ts';
import { outputChanges } from './changes.ts';
import { unpack } from './unpack.ts';

/** When the outputs were recorded: ages and times are the same again. */
const recordedAt = Date.UTC(2026, 10, 16, 15);
const outputsFile = join(import.meta.dirname, 'outputs.json.gz');

interface Printed {
  readonly command: readonly string[];
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

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

const general = [
  ...withJson('inbox'),
  ...withJson('loops', 'list'),
  ...withJson('audit', 'verify'),
  ['status'],
  ['status', 'nobody'],
  ['logs', 'shop', '--iteration', '99'],
  // The repository of the work is not there, so these say so; with one they are proven by the tests of the command line.
  ...withJson('checkpoint', 'list', 'shop'),
  ...withJson('checkpoint', 'show', '1', 'shop'),
  ['task', 'show', 'US-099', '--loop', 'shop'],
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

const neutral = (text: string): string => text.replaceAll(home, '/srv/demo/home').replaceAll(root, '/srv/demo');

/** As main.ts does it, in this process. */
async function print(command: readonly string[]): Promise<Printed> {
  const told = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map(name =>
    vi.spyOn(process[name], 'write').mockImplementation(text => {
      told[name] += String(text);
      return true;
    }),
  );
  let code: number;
  try {
    code = await runProgram(command);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    told.stderr += `ralph: ${error.message}\n  ${error.hint}\n`;
    code = error.exitCode;
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return { command, code, stdout: neutral(told.stdout), stderr: neutral(told.stderr) };
}

/** One JSON value is compared as a value: programs do not see the order of its keys. */
function read(stdout: string): unknown {
  try {
    return JSON.parse(stdout) as unknown;
  } catch {
    return stdout;
  }
}

const commands = [...general, ...loops.flatMap(ofLoop)];

/** Only with 0.4.0's code: these are its words. */
if (process.env['RALPH_RECORD_ORACLES'] === '0.4.0')
  it('are recorded', async () => {
    const printed: Printed[] = [];
    for (const command of commands) printed.push(await print(command));
    writeFileSync(outputsFile, gzipSync(JSON.stringify(printed), { level: 9 }));
  });

const recorded = JSON.parse(gunzipSync(readFileSync(outputsFile)).toString('utf8')) as readonly Printed[];

describe('the read commands', () => {
  it('were all recorded, and most of them went well', () => {
    expect(recorded.map(one => one.command)).toEqual(commands);
    expect(recorded.filter(one => one.code === 0).length).toBeGreaterThan(recorded.length * 0.95);
  });

  it.each(['', ...loops])('print what they printed: %s', async loop => {
    const wanted = recorded.filter(
      ({ command }) =>
        (general.some(one => one.join() === command.join()) ? '' : loops.find(name => command.includes(name))) === loop,
    );
    expect(wanted.length).toBeGreaterThan(5);
    for (const one of wanted) {
      const printed = await print(one.command);
      const changed = (text: string): string =>
        outputChanges.reduce((output, change) => change.rewrite(output, one.command, printed.stdout), text);
      expect({ ...printed, stdout: read(printed.stdout) }).toEqual({
        ...one,
        stdout: read(changed(one.stdout)),
        stderr: changed(one.stderr),
      });
    }
  });
});
