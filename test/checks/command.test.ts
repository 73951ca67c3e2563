import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandCheck } from '../../src/checks/command.ts';
import { checkContract } from '../contracts/check.ts';
import { agentPath, plainEnvironment, scratchDirectory, signOfLife } from '../processes/fixture.ts';

const commands = {
  passes: 'exit 0',
  fails: 'echo 1 test failed; exit 1',
  hangs: `'${agentPath('ignores-term')}'`,
  'hangs-past-its-time': `'${agentPath('hangs')}'`,
};
const checkFor = (command: string, timeMsMax = 60_000) =>
  commandCheck({ command, timeMsMax, environment: plainEnvironment, graceMs: 100 });
const run = (command: string, directory = scratchDirectory()) =>
  checkFor(command).run(directory, new AbortController().signal);

checkContract({
  name: 'command',
  make: behaviour => checkFor(commands[behaviour], behaviour === 'hangs-past-its-time' ? 100 : 60_000),
  directory: scratchDirectory,
});

describe('a command line as a check', () => {
  it('is named after its command', () => {
    expect(checkFor('npm test').name).toBe('npm test');
  });

  it('runs in the directory that it shall prove', async () => {
    const directory = scratchDirectory();
    expect((await run('test -f proof', directory)).passed).toBe(false);
    writeFileSync(join(directory, 'proof'), '');
    expect((await run('test -f proof', directory)).passed).toBe(true);
  });

  it('says how many tests ran when the runner does, and nothing otherwise', async () => {
    expect((await run('echo "===== 12 passed in 0.1s ====="')).tests).toBe(12);
    expect((await run('echo fine')).tests).toBeUndefined();
  });

  it('keeps the end of its output as detail, both channels, with the code', async () => {
    const { detail } = await run('echo out; echo err >&2; exit 3');
    expect(detail.split('\n').sort()).toEqual(['Exit code 3.', 'err', 'out']);
  });

  it('says by which signal it ended', async () => {
    expect((await run('kill -SEGV $$')).detail).toBe('Ended by SIGSEGV.');
  });

  it('keeps at most 2,000 characters, the last ones', async () => {
    const { detail } = await run(`'${agentPath('floods')}' 100000; echo the verdict; exit 1`);
    expect(detail.length).toBeLessThanOrEqual(2_000);
    expect(detail.endsWith('the verdict\nExit code 1.')).toBe(true);
  });

  it('never begins inside a word, where a token would be no redactor’s find any more', async () => {
    const line = `token ghp_${'a1B2'.repeat(9)} refused\n`;
    for (const spare of [0, 7, 12, 30]) {
      const { detail } = await run(`printf '%s' '${line}${'.'.repeat(1_990 - spare)}'; exit 1`);
      expect(detail).not.toMatch(/a1B2a1B2/);
    }
  });

  it('says of a variable that it speaks of and does not get how to give it', async () => {
    const withheld = ['NPM_TOKEN', 'OTHER_KEY'];
    const order = { environment: plainEnvironment, graceMs: 100, withheld };
    const check = commandCheck({ ...order, command: 'echo NPM_TOKEN is not set; exit 1' });
    expect((await check.run(scratchDirectory(), new AbortController().signal)).detail).toBe(
      'NPM_TOKEN is not set\nExit code 1. It names NPM_TOKEN, which checks do not get: --check-env NPM_TOKEN',
    );
  });

  it('keeps no control sequences', async () => {
    expect((await run(`printf '\\033[31mred\\033[0m \\033]0;title\\007plain\\n'; exit 1`)).detail).toBe(
      'red plain\nExit code 1.',
    );
  });

  it('gets nothing on its stdin and does not wait for it', async () => {
    expect((await run('cat')).passed).toBe(true);
  });

  it('sees only the environment that it was given', async () => {
    const check = commandCheck({ command: 'test -z "$HOME"', environment: { PATH: plainEnvironment['PATH']! } });
    expect((await check.run(scratchDirectory(), new AbortController().signal)).passed).toBe(true);
  });

  it('passes or fails by its own exit, whatever it left behind; that is ended', async () => {
    const directory = scratchDirectory();
    const life = signOfLife(directory);
    expect((await run(`'${agentPath('spawns-orphan')}'`, directory)).passed).toBe(true);
    expect(life.anyAlive()).toBe(false);
  });
});
