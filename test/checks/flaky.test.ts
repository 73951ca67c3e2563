// N of M: a flaky check passes when enough of its runs do, says that it is flaky, and never runs on after a time-out (F37).
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandCheck } from '../../src/checks/command.ts';
import { plainEnvironment, scratchDirectory } from '../processes/fixture.ts';

/** The n-th run does what the n-th word says. */
async function runs(needed: number, most: number, ...words: readonly string[]) {
  const directory = scratchDirectory();
  writeFileSync(join(directory, 'words'), `${words.join('\n')}\n`);
  const command =
    'echo run >>ran; word=$(sed -n "$(wc -l <ran)p" words); echo "this run: $word"; case $word in pass) exit 0;; hang) sleep 1000;; *) exit 3;; esac';
  const check = commandCheck({
    command,
    environment: plainEnvironment,
    timeMsMax: words.includes('hang') ? 1_000 : 60_000,
    graceMs: 100,
    runs: { needed, most },
  });
  const result = await check.run(directory, new AbortController().signal);
  return { ...result, ran: readFileSync(join(directory, 'ran'), 'utf8').split('\n').length - 1 };
}

describe('given a check that must pass N of at most M runs', () => {
  it('when the first runs pass, then no more are needed, and nothing is said of flakiness', async () => {
    const result = await runs(2, 3, 'pass', 'pass', 'fail');
    expect(result).toMatchObject({ passed: true, ran: 2 });
    expect(result.flaky).toBeUndefined();
    expect(result.detail).not.toContain('flaky');
  });

  it('when one of three fails, then it passes, flaky, and what failed is shown', async () => {
    const result = await runs(2, 3, 'pass', 'fail', 'pass');
    expect(result).toMatchObject({ passed: true, flaky: true, ran: 3 });
    expect(result.detail).toBe('this run: fail\nExit code 3.\nflaky: 2 of 3 runs passed.');
  });

  it('when too many fail, then it ends as soon as it cannot pass any more', async () => {
    expect(await runs(2, 3, 'fail', 'fail', 'pass')).toMatchObject({ passed: false, ran: 2 });
    expect(await runs(2, 3, 'pass', 'fail', 'fail')).toMatchObject({ passed: false, flaky: true, ran: 3 });
  });

  it('when a run takes too long, then it is no pass and no further run is tried', async () => {
    const result = await runs(1, 3, 'hang', 'pass', 'pass');
    expect(result).toMatchObject({ passed: false, ran: 1 });
    expect(result.detail).toContain('Not done after 1 s.');
  });

  it('when a run takes too long after a good one, then that is no pass either', async () => {
    const result = await runs(2, 3, 'pass', 'hang', 'pass');
    expect(result).toMatchObject({ passed: false, flaky: true, ran: 2 });
    expect(result.detail).toContain('flaky: 1 of 2 runs passed; no more were tried.');
  });

  it('when it is to run once, then one failure is a failure', async () => {
    expect(await runs(1, 1, 'fail', 'pass')).toMatchObject({
      passed: false,
      ran: 1,
      detail: 'this run: fail\nExit code 3.',
    });
  });
});
