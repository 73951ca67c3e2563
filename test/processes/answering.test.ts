// A program that stays open answers in turn, byte by byte; when it ends or hangs that is a value, and it never outlives us.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { type Answering, openAnswering, type Spoken } from '../../src/processes/answering.ts';
import { isAlive, startTimeOf } from '../../src/processes/identity.ts';

const environment = { PATH: process.env['PATH'] ?? '' };
const open = (script: string) => openAnswering({ command: 'sh', args: ['-c', script], directory: '/', environment });

const lineTo = (text: string) => ({ text, read: (spoken: Spoken) => spoken.line() });
const line = (one: Answering, text: string) => one.ask(lineTo(text));

/** Whoever prints its own number, then answers nothing more. */
const silent = 'read question; echo $$; exec sleep 600';

/** A dead one that nobody waited for is dead. */
const isRunning = (pid: number): boolean => isAlive(pid, startTimeOf(pid) ?? '');

describe('a program that answers', () => {
  it('gets its questions one after the other, and every byte of its answers is there', async () => {
    const cat = open('exec cat');
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7) % 256)).toString('latin1');
    const text = Buffer.from(bytes, 'latin1').toString('base64');
    const answers = await Promise.all([
      line(cat, 'one\n'),
      cat.ask({
        text: `${text}\n`,
        async read(spoken) {
          const first = await spoken.bytes(text.length - 10);
          await spoken.skip(11);
          return first.toString('latin1');
        },
      }),
      line(cat, 'three\n'),
    ]);
    expect(answers).toEqual(['one', text.slice(0, -10), 'three']);
  });

  it('says nothing as a value when it ends in the middle, and why', async () => {
    const one = open('read question; printf half; echo broken >&2; exit 3');
    expect(await line(one, 'go\n')).toBeUndefined();
    await vi.waitFor(() => expect(one.problem()).toContain('broken'));
    expect(one.isOpen()).toBe(false);
    expect(await line(one, 'go\n')).toBeUndefined();
  });

  it('is no answer when it cannot be started', async () => {
    const none = openAnswering({
      command: '/no-such-program', // not looked for on PATH, where a folder that may not be entered is another error
      args: [],
      directory: '/',
      environment,
    });
    expect(await line(none, 'go\n')).toBeUndefined();
    expect(none.problem()).toContain('ENOENT');
  });

  it('is killed when its answer could not be read to the end', async () => {
    const one = open('read question; echo $$; exec cat');
    const pid = Number(await line(one, 'go\n'));
    const broken = one.ask({
      text: 'left over\n',
      async read() {
        throw new Error('a bug');
      },
    });
    await expect(broken).rejects.toThrow('a bug');
    expect(await line(one, 'go\n')).toBeUndefined();
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false));
  });

  it('is killed when an answer takes too long', async () => {
    const one = open(silent);
    const pid = Number(await line(one, 'go\n'));
    expect(await one.ask({ ...lineTo('go\n'), timeMsMax: 300 })).toBeUndefined();
    expect(one.problem()).toBe('not done after 0.3 s');
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false));
  });

  it.each(['ends by itself', 'is killed'])('ends when the one who asks %s', async how => {
    const module = pathToFileURL(join(import.meta.dirname, '../../src/processes/answering.ts')).href;
    const text = `
      import { openAnswering } from ${JSON.stringify(module)};
      const environment = { PATH: process.env.PATH };
      const one = openAnswering({ command: 'sh', args: ['-c', 'echo $$; exec cat'], directory: '/', environment });
      console.log(await one.ask({ text: '', read: spoken => spoken.line() }));
      ${how === 'is killed' ? 'setInterval(() => {}, 1_000);' : ''}`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', text], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(parent, 'exit');
    const [said] = (await once(parent.stdout, 'data')) as [Buffer];
    if (how === 'is killed') parent.kill('SIGKILL');
    await ended;
    await vi.waitFor(() => expect(isRunning(Number(said.toString()))).toBe(false));
  });
});
