// The line to a living process: more input, its end, and what the timers are told through it.
import { describe, expect, it } from 'vitest';
import { openStdin, type ProcessOrder, runProcess } from '../../src/processes/spawn.ts';
import { orderFor, tell } from './fixture.ts';

const shell = (script: string, more: Partial<ProcessOrder> = {}): ProcessOrder => ({
  ...orderFor('', { args: ['-c', script], ...more }),
  command: 'sh',
});

describe('a process with a stdin', () => {
  it('reads what is written to it while it lives, after its prompt and until the stdin is ended', async () => {
    const stdin = openStdin();
    const { output, exit } = await tell(shell('cat', { input: 'prompt\n', stdin }), event => {
      if (event.type !== 'output') return;
      if (event.text === 'prompt\n') stdin.write('more\n');
      else stdin.end();
    });
    expect(output).toBe('prompt\nmore\n');
    expect(exit).toMatchObject({ code: 0 });
    expect(exit.cause).toBeUndefined();
  });

  it('gets what was written before its start', async () => {
    const stdin = openStdin();
    stdin.write('early\n');
    stdin.end();
    expect((await tell(shell('cat', { input: 'prompt\n', stdin }))).output).toBe('prompt\nearly\n');
  });

  it('may close its side, or end, while more is written', async () => {
    const stdin = openStdin();
    const { exit, output } = await tell(shell('exec <&-; echo shut; sleep 0.1; echo over', { stdin }), () => {
      stdin.write('nobody reads this\n'.repeat(100_000));
    });
    stdin.write('too late\n');
    stdin.end();
    expect({ code: exit.code, output }).toEqual({ code: 0, output: 'shut\nover\n' });
  });

  it('is known not to read what was written to it', async () => {
    const stdin = openStdin();
    const unread: number[] = [];
    await tell(shell('echo deaf; exec sleep 100000', { stdin, timers: { silenceMs: 100 } }), event => {
      if (event.type !== 'output') return;
      stdin.write('x'.repeat(1_000_000));
      unread.push(stdin.unreadBytes());
    });
    expect(unread[0]).toBeGreaterThan(500_000);
    expect(stdin.unreadBytes()).toBe(0);
  });

  it('without one has its stdin closed after the prompt', async () => {
    expect((await tell(shell('cat; echo closed', { input: 'prompt\n' }))).output).toBe('prompt\nclosed\n');
  });
});

describe('a process that hangs', () => {
  it('without a first byte is ended for that reason (F25)', async () => {
    const { exit, output } = await tell(shell('exec sleep 100000', { timers: { firstByteMs: 100 } }));
    expect({ exit, output }).toMatchObject({ exit: { cause: 'first-byte', timedOut: false, signal: 'SIGTERM' } });
    expect(exit.stoppedByUs).toBe(false);
  });

  it('has spoken when it spoke on stderr only', async () => {
    const timers = { firstByteMs: 5_000, silenceMs: 100 };
    const { exit } = await tell(shell('echo warning >&2; exec sleep 100000', { timers }));
    expect(exit).toMatchObject({ cause: 'silence', timedOut: true });
  });

  it('after its last word is ended, and its output is whole', async () => {
    const stdin = openStdin();
    const order = shell('echo result; exec sleep 100000', { stdin, timers: { afterResultMs: 100 } });
    const { exit, output } = await tell(order, event => {
      if (event.type === 'output') stdin.finished();
    });
    expect(output).toBe('result\n');
    expect(exit).toMatchObject({ cause: 'result', timedOut: false, stoppedByUs: false, signal: 'SIGTERM' });
  });

  it('after a last word that it took back is a silent one', async () => {
    const stdin = openStdin();
    const order = shell('echo result; exec sleep 100000', { stdin, timers: { afterResultMs: 100, silenceMs: 300 } });
    const { exit } = await tell(order, event => {
      if (event.type !== 'output') return;
      stdin.finished();
      stdin.resumed();
    });
    expect(exit).toMatchObject({ cause: 'silence', timedOut: true });
  });

  it('in the middle goes on when a nudge wakes it (F26)', async () => {
    const stdin = openStdin();
    const onSilence = (): boolean => {
      stdin.write('go on\n');
      return true;
    };
    const script = 'echo first; read line; echo "heard: $line"';
    const { exit, output } = await tell(shell(script, { stdin, onSilence, timers: { silenceMs: 100 } }));
    expect(output).toBe('first\nheard: go on\n');
    expect(exit).toMatchObject({ code: 0, timedOut: false });
  });

  it('in the middle and deaf is ended with all its children, killed if need be (F26, F22)', async () => {
    const order = orderFor('ignores-term', {
      timers: { silenceMs: 100, nudgedMs: 50 },
      graceMs: 100,
      onSilence: () => true,
    });
    const { exit } = await tell(order);
    expect(exit).toMatchObject({ cause: 'silence', timedOut: true, signal: 'SIGKILL', reaped: 2 });
  });

  it('and is stopped by us first keeps that as the reason', async () => {
    const { exit } = await tell(
      shell('exec sleep 100000', { timers: { firstByteMs: 100_000 }, stop: AbortSignal.timeout(50) }),
    );
    expect(exit).toMatchObject({ stoppedByUs: true, timedOut: false });
    expect(exit.cause).toBeUndefined();
  });
});

it('a slow consumer is no silence of the agent', async () => {
  const order = orderFor('floods', { args: ['3000000'], timers: { firstByteMs: 50_000, silenceMs: 150 } });
  const run = runProcess(order);
  await run.next();
  await run.next();
  const until = performance.now() + 600; // four times the allowed silence
  while (performance.now() < until) await new Promise(resolve => setImmediate(resolve));
  let chars = 0;
  for await (const event of run) {
    if (event.type === 'output') chars += event.text.length;
    else expect(event).toMatchObject({ code: 0, timedOut: false });
  }
  expect(chars).toBeGreaterThan(2_900_000);
});
