import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isAlive, statOf, thisHost } from '../../src/processes/identity.ts';
import { launchScript } from '../../src/processes/launcher.ts';
import { holdsBack, runProcess } from '../../src/processes/spawn.ts';
import { orderFor, plainEnvironment, scratchDirectory, tell, tellUntilFirstWord } from './fixture.ts';
import { flood } from './flood.ts';

const ended = { code: 0, signal: null, timedOut: false, stoppedByUs: false, reaped: 0 };

describe('a process that runs to its end', () => {
  it('is announced first, with the number and start time under which it can be found', async () => {
    const stopping = new AbortController();
    const alive: boolean[] = [];
    const { events } = await tell(orderFor('hangs', { stop: stopping.signal }), event => {
      const first = event.type === 'started' ? event : undefined;
      if (first) alive.push(isAlive(first.pid, first.startTime));
      stopping.abort();
    });
    expect(events[0]).toMatchObject({ type: 'started', host: thisHost().host });
    expect(alive).toEqual([true]);
  });

  it('ends with its exit and nothing after it', async () => {
    const { events, exit } = await tell(orderFor('half-line'));
    expect(exit).toEqual({ type: 'exited', ...ended });
    expect(events.filter(event => event.type === 'exited')).toHaveLength(1);
  });

  it('keeps a last line without newline', async () => {
    expect((await tell(orderFor('half-line'))).output).toBe('one line\nhalf a li');
  });

  it('may say nothing at all', async () => {
    const { events } = await tell(orderFor('says-nothing'));
    expect(events.map(event => event.type)).toEqual(['started', 'exited']);
  });

  it('has its errors kept apart from its output', async () => {
    const { output, errors, exit } = await tell(orderFor('fails-at-once'));
    expect({ output, errors, code: exit.code }).toEqual({ output: '', errors: 'error: cannot begin\n', code: 1 });
  });

  it('has characters put together again that were written in halves', async () => {
    expect((await tell(orderFor('split-utf8'))).output).toBe(`${'é'.repeat(500)}\ufffd`);
  });

  it('sees the environment that was given and nothing of ours', async () => {
    process.env['RALPH_TEST_SECRET'] = 'not for agents';
    const directory = scratchDirectory();
    const environment = { PATH: plainEnvironment['PATH']!, GREETING: 'hello there' };
    const { output } = await tell(orderFor('shows-environment', { directory, environment }));
    delete process.env['RALPH_TEST_SECRET'];
    const lines = output.trim().split('\n');
    expect(lines[0]).toBe(directory);
    expect(lines).toContain('GREETING=hello there');
    expect(lines.map(line => line.split('=')[0])).not.toContain('RALPH_TEST_SECRET');
    expect(lines.filter(line => /^(HOME|USER|LANG)=/.test(line))).toEqual([]);
  });

  it.each([200_000, 5_000_000])('gets a prompt of %d bytes whole (F78)', async bytes => {
    expect((await tell(orderFor('reads-prompt', { input: 'é'.repeat(bytes / 2) }))).output.trim()).toBe(String(bytes));
  });

  it('may leave its prompt unread', async () => {
    expect((await tell(orderFor('says-nothing', { input: 'x'.repeat(5_000_000) }))).exit).toMatchObject(ended);
  });

  it.each([
    [2, null],
    [124, null],
    [130, 'SIGINT'],
    [137, 'SIGKILL'],
    [143, 'SIGTERM'],
    [255, null],
  ])('has its exit code %d given back, as signal %s (F31)', async (code, signal) => {
    const { exit } = await tell(orderFor('exits-with', { args: [String(code)] }));
    expect(exit).toMatchObject({ code, signal, stoppedByUs: false, timedOut: false });
  });

  it('ended by a real signal looks the same as one that says so itself', async () => {
    const killed = await tell({ ...orderFor(''), command: 'sh', args: ['-c', 'kill -SEGV $$'] });
    expect(killed.exit).toMatchObject({ code: 139, signal: 'SIGSEGV' });
    expect(killed.errors).toBe('');
  });
});

describe('a process that prints too much', () => {
  it('has a line without end cut at 1 MB with a marker, and what follows is kept (F28)', async () => {
    const { output } = await tell(orderFor('one-long-line', { args: ['30000000'] }));
    expect(output).toBe(`${'x'.repeat(1_000_000)}[… line cut at 1 MB]\nafter\n`);
  });

  it('leaves our memory flat, whatever the length of its line (F28)', () => {
    const { growthBytes, ...told } = flood(100_000_000);
    expect(told).toEqual({ chars: 1_000_000 + '[… line cut at 1 MB]\nafter\n'.length, isMarked: true, code: 0 });
    expect(growthBytes).toBeLessThan(64_000_000);
  });

  it('loses nothing of many short lines', async () => {
    const { output } = await tell(orderFor('floods', { args: ['20000000'] }));
    expect(output.length).toBe(20_000_000);
  });

  it('has to wait while nobody takes what it prints', async () => {
    const directory = scratchDirectory();
    const floods = orderFor('floods').command;
    const args = ['-c', '"$0" 20000000; : > flooded', floods];
    const run = runProcess({ ...orderFor(''), command: 'sh', args, directory });
    await run.next();
    await run.next();
    // An unbounded reader has it all within a fraction of this; one that waits for its consumer never has.
    const until = performance.now() + 400;
    while (performance.now() < until) await new Promise(resolve => setImmediate(resolve));
    expect(existsSync(join(directory, 'flooded'))).toBe(false);
    let chars = 0;
    for await (const event of run) if (event.type === 'output') chars += event.text.length;
    expect(chars).toBeGreaterThan(19_000_000);
    expect(existsSync(join(directory, 'flooded'))).toBe(true);
  });
});

describe.runIf(holdsBack({}))('a process that may not begin yet (skipped where there is no namespace)', () => {
  it.each([true, false])('waits for our word, by whomever it was started, and runs when it is %s', async may => {
    const directory = scratchDirectory();
    for (const channels of [orderFor('').channels, undefined]) {
      let say: (may: boolean) => void = () => {};
      const mayBegin = new Promise<boolean>(done => {
        say = done;
      });
      const order = {
        ...orderFor('', { directory, channels, mayBegin }),
        command: 'sh',
        args: ['-c', 'echo "$$" >ran'],
      };
      const { exit } = await tell(order, event => {
        if (event.type !== 'started') return;
        expect(existsSync(join(directory, 'ran'))).toBe(false);
        say(may);
      });
      expect([existsSync(join(directory, 'ran')), exit.code]).toEqual([may, may ? 0 : 1]);
      rmSync(join(directory, 'ran'), { force: true });
    }
  });
});

describe('the launcher', () => {
  it('starts one after the other by the same pipes, and nothing of one reaches the next', async () => {
    const directory = scratchDirectory();
    const channels = join(directory, 'run');
    const echo = (input: string) =>
      tell(orderFor('', { command: 'sh', args: ['-c', 'read word; echo "$word"'], input, channels }));
    const said = [await echo('one\nleft over\n'), await echo('two\n'), await echo('three\n')];
    expect(said.map(({ output }) => output)).toEqual(['one\n', 'two\n', 'three\n']);
    const [launcher = ''] = readdirSync(channels);
    const sets = new Set(readdirSync(join(channels, launcher)).map(name => name.split('.')[0]));
    expect([...sets].sort()).toEqual(['1', '2']); // one works, and the next is made meanwhile
  });

  it('makes the container of the fourth ahead, and whatever is new by then reaches what runs in it', async () => {
    const channels = join(scratchDirectory(), 'run');
    const look = 'echo "$1, $MARK,$ONCE"; tr "\\0" "\\n" </proc/1/environ | grep ^MARK';
    const say = (word: string, environment: Readonly<Record<string, string>>) =>
      tell(orderFor('', { command: 'sh', args: ['-c', look, 'sh', word], environment, channels }));
    const at = (mark: string): Record<string, string> => ({ ...plainEnvironment, MARK: mark });
    await say('zero', plainEnvironment);
    await say('one', { ...at('1'), ONCE: 'x' });
    expect((await say('two', { ...at('2'), ONCE: 'x' })).output).toBe('two, 2,x\nMARK=2\n');
    const last = await say('$(last) "it\'s"', at('3; exit 7'));
    expect(last.output).toBe('$(last) "it\'s", 3; exit 7,\nMARK=2\n');
    expect(last.exit).toMatchObject({ code: 0, reaped: 0 });
  });

  it('and what it starts wait for nobody who was killed before he opened his ends of the pipes', async () => {
    const folder = scratchDirectory();
    const pathOf = (name: string): string => join(folder, name);
    expect(spawnSync('mkfifo', ['in', 'out', 'err', 'told', 'answers'].map(pathOf)).status).toBe(0);
    const script = '[ ! -e ended ] && echo word; cat; read answer <&4 || : >ended';
    const order = { command: 'sh', args: ['-c', script], directory: folder, environment: plainEnvironment };
    const shell = spawn('sh', { stdio: ['pipe', 'pipe', 'ignore'] });
    const exited = once(shell, 'exit');
    shell.stdin.end(`trap : PIPE\n${launchScript(order, pathOf)}wait\n`);
    await exited;
  });

  it('that was killed takes nobody along who starts later', async () => {
    const channels = join(scratchDirectory(), 'run');
    const order = orderFor('', { command: 'sh', args: ['-c', 'echo well'], channels });
    let launcher = 0;
    await tell(order, event => {
      if (event.type === 'started') launcher = statOf(event.pid)!.parent;
    });
    expect(statOf(launcher)?.parent).toBe(process.pid);
    process.kill(launcher, 'SIGKILL');
    expect((await tell(order)).output).toBe('well\n');
  });
});

describe('a process that is asked to end', () => {
  it('ends by TERM when it heeds it', async () => {
    const { exit } = await tellUntilFirstWord(orderFor('hangs'));
    expect(exit).toMatchObject({ code: 143, signal: 'SIGTERM', stoppedByUs: true, timedOut: false, reaped: 0 });
  });

  it('may tidy up first, with commands of its own', async () => {
    const { output, exit } = await tellUntilFirstWord(orderFor('tidies-up'));
    expect(output).toBe('working\ntidied\n');
    expect(exit).toMatchObject({ code: 0, stoppedByUs: true });
  });

  it('is given the same time when a shell above it has ended at once', async () => {
    const script = `trap - TERM; "$0" & wait`;
    const order = { ...orderFor(''), command: 'sh', args: ['-c', script, orderFor('tidies-up').command] };
    expect((await tellUntilFirstWord(order)).output).toBe('working\ntidied\n');
  });

  it('ends itself when it works below a wrapper that passes nothing on (F79)', async () => {
    const script = 'trap : TERM; "$0"; echo "wrapper saw $?"';
    const order = { ...orderFor(''), command: 'sh', args: ['-c', script, orderFor('tidies-up').command] };
    const { output, exit } = await tellUntilFirstWord(order);
    expect(output).toBe('working\ntidied\nwrapper saw 0\n');
    expect(exit).toMatchObject({ code: 0, stoppedByUs: true, reaped: 0 });
  });

  it('is killed after the grace when it ignores TERM (F22)', async () => {
    const { exit, errors } = await tellUntilFirstWord(orderFor('ignores-term', { graceMs: 100 }));
    expect(exit).toMatchObject({ code: 137, signal: 'SIGKILL', stoppedByUs: true, reaped: 2 });
    expect(errors).toBe('');
  });

  it('ends when its time is up', async () => {
    const { exit } = await tell(orderFor('hangs', { timeMsMax: 100 }));
    expect(exit).toMatchObject({ timedOut: true, stoppedByUs: false, signal: 'SIGTERM' });
  });

  it('is not ended at once by a time limit that is longer than a timer can be', async () => {
    expect((await tell(orderFor('half-line', { timeMsMax: Number.MAX_SAFE_INTEGER }))).exit).toMatchObject(ended);
  });

  it('is never started when the stop came before', async () => {
    const { events } = await tell(orderFor('hangs', { stop: AbortSignal.abort() }));
    expect(events).toEqual([{ type: 'exited', ...ended, code: null, stoppedByUs: true }]);
  });

  it('ends soon when the stop comes while it is still starting', async () => {
    const stopping = new AbortController();
    const { exit } = await tell(orderFor('hangs', { stop: stopping.signal }), event => {
      if (event.type === 'started') stopping.abort();
    });
    expect(exit).toMatchObject({ stoppedByUs: true, reaped: 0 });
  });

  it('leaves no listener on the stop signal', async () => {
    const stopping = new AbortController();
    let listeners = 0;
    const { addEventListener, removeEventListener } = stopping.signal;
    stopping.signal.addEventListener = (...args: unknown[]) => {
      listeners += 1;
      Reflect.apply(addEventListener, stopping.signal, args);
    };
    stopping.signal.removeEventListener = (...args: unknown[]) => {
      listeners -= 1;
      Reflect.apply(removeEventListener, stopping.signal, args);
    };
    await tell(orderFor('says-nothing', { stop: stopping.signal }));
    expect(listeners).toBe(0);
  });
});

describe('a process that cannot be started', () => {
  const notStarted = { type: 'exited', ...ended, code: null };

  it('is reported when its directory is missing', async () => {
    const { events } = await tell(orderFor('hangs', { directory: '/no/such/directory' }));
    expect(events).toEqual([{ ...notStarted, spawnError: 'no such directory: /no/such/directory' }]);
  });

  it('is reported when its command line is too long (E2BIG)', async () => {
    const { events } = await tell(orderFor('hangs', { args: ['x'.repeat(3_000_000)] }));
    expect(events).toEqual([{ ...notStarted, spawnError: 'spawn E2BIG' }]);
  });

  it('is reported when its command line holds a NUL', async () => {
    const { exit } = await tell(orderFor('hangs', { args: ['a\0b'] }));
    expect(exit.spawnError).toContain('null bytes');
  });

  it.each([
    ['/no/such/program', 127],
    [join(import.meta.dirname, 'fixture.ts'), 126],
  ])('says so by its exit code when %s is no program', async (command, code) => {
    const { exit, errors } = await tell({ ...orderFor(''), command });
    expect(exit.code).toBe(code);
    expect(errors).toContain(command);
  });

  it('is reported when we have no file left to open (EMFILE, F42)', () => {
    const script = `
      import { openSync } from 'node:fs';
      import { runProcess } from ${JSON.stringify(join(import.meta.dirname, '../../src/processes/spawn.ts'))};
      import { containment } from ${JSON.stringify(join(import.meta.dirname, '../../src/processes/contain.ts'))};
      containment();
      try { for (;;) openSync('/dev/null'); } catch {}
      const run = runProcess({ command: 'true', args: [], directory: '/', environment: {}, input: '', timeMsMax: 1e4,
        stop: new AbortController().signal });
      for await (const event of run) process.stdout.write(JSON.stringify(event));`;
    const shell = 'ulimit -n 64; exec "$@"';
    const args = ['-c', shell, 'sh', process.execPath, '--input-type=module-typescript', '-e', script];
    const { stdout, stderr } = spawnSync('sh', args, { encoding: 'utf8', env: plainEnvironment });
    expect(stderr.replace(/.*Warning.*\n/g, '')).toBe('');
    expect(JSON.parse(stdout)).toMatchObject({ type: 'exited', spawnError: expect.stringContaining('EMFILE') });
  });
});
