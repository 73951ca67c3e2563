// How a round at the terminal ended, from what its process did; the terminal itself is tried in surfaces/cli.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { performAtTerminal } from '../../src/agents/interactive.ts';
import type { Activity } from '../../src/agents/performer.ts';
import { failureRules } from '../../src/core/failure.ts';
import type { ProcessExit } from '../../src/processes/spawn.ts';
import { orderFor, scratchDirectory } from '../processes/fixture.ts';

const round = vi.hoisted(() => ({ lastsMs: 0, exit: {}, before: () => {} }));
vi.mock('../../src/processes/terminal.ts', () => ({ rememberTerminal: () => () => {} }));
vi.mock('../../src/processes/spawn.ts', () => ({
  runProcess: async function* () {
    yield { type: 'started', pid: 1, startTime: '1', host: 'here' };
    vi.advanceTimersByTime(round.lastsMs);
    round.before();
    yield { type: 'exited', code: 0, signal: null, timedOut: false, stoppedByUs: false, reaped: 0, ...round.exit };
  },
}));

async function ended(
  lastsMs: number,
  exit: Partial<ProcessExit>,
  writes?: string,
  directory = scratchDirectory(),
  { doneFile, asks = [] }: { readonly doneFile?: string; readonly asks?: readonly string[] } = {},
): Promise<Activity | undefined> {
  const path = doneFile ?? join(directory, 'done.md');
  const before = (): void => (writes === undefined ? undefined : writeFileSync(path, writes));
  Object.assign(round, { lastsMs, exit, before });
  let last: Activity | undefined;
  const order = { ...orderFor('', { directory }), doneFile, firstQuestions: () => asks };
  for await (const activity of performAtTerminal(order, new AbortController().signal)) last = activity;
  return last;
}

const failureOf = (last: Activity | undefined) => (last?.type === 'ended' ? last.failure : 'it never ended');

describe('a round at the terminal', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('has failed when the agent ended in its first ten seconds with a code of its own', async () => {
    const failure = { kind: 'process', detail: 'exit code 1: it was over within ten seconds', exitCode: 1 };
    expect(await ended(9_999, { code: 1 })).toMatchObject({ type: 'ended', failure });
    expect(await ended(700, { code: 124 })).toMatchObject({ failure: { kind: 'process' } });
    expect(await ended(700, { code: 139, signal: 'SIGSEGV' })).toMatchObject({ failure: { kind: 'process' } });
  });

  it('given an agent that still asks what it asks when it is new here, then it was left there: that is no failure to try again', async () => {
    const asks = ['Whether you trust this folder.'];
    const failure = { kind: 'permission', detail: expect.stringContaining('Whether you trust this folder.') };
    expect(await ended(700, { code: 1 }, undefined, undefined, { asks })).toMatchObject({ failure });
    expect(failureOf(await ended(700, { code: 1 }, 'did it', undefined, { asks }))).toBeUndefined();
    expect(failureRules.permission.retryable).toBe(false);
  });

  it('has not failed when a person had the time to leave it, whatever the code', async () => {
    expect(failureOf(await ended(10_000, { code: 1 }))).toBeUndefined();
  });

  it('has not failed when it ended early but well, or with done.md', async () => {
    expect(failureOf(await ended(700, { code: 0 }))).toBeUndefined();
    const done = await ended(700, { code: 1 }, 'did it');
    expect(done).toMatchObject({ message: 'did it' });
    expect(failureOf(done)).toBeUndefined();
  });

  it('given done.md without a word, then it still has a message: only a round that was left has none', async () => {
    expect(await ended(700, {}, ' \n')).toMatchObject({ message: 'It wrote an empty done.md.' });
    expect(await ended(700, {})).toMatchObject({ message: '' });
  });

  it('given another place for done.md, then that one ends the round and is removed, and the usual one is not looked at', async () => {
    const directory = scratchDirectory();
    const doneFile = join(scratchDirectory(), 'done.md');
    writeFileSync(join(directory, 'done.md'), 'of somebody else');
    expect(await ended(700, {}, 'did it there', directory, { doneFile })).toMatchObject({ message: 'did it there' });
    expect([existsSync(doneFile), existsSync(join(directory, 'done.md'))]).toEqual([false, true]);
  });

  it('has failed to start when there was no such program, at any time', async () => {
    expect(await ended(60_000, { code: 127 })).toMatchObject({ failure: { kind: 'spawn' } });
  });
});
