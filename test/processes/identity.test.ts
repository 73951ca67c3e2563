import { describe, expect, it } from 'vitest';
import { isAlive, parseStat, startTimeOf, thisHost } from '../../src/processes/identity.ts';

const stat = (name: string, state = 'S') =>
  `42 (${name}) ${state} 7 42 40 0 -1 4194304 100 0 0 0 1 2 0 0 20 0 1 0 987654 1000 10 18446744073709551615\n`;

describe('the line that the kernel keeps about a process', () => {
  it.each(['node', 'tmux: server', '(sd-pam)', 'a) S 1 1 1', ') Z 0 (', ''])('is read with the name %j', name => {
    expect(parseStat(stat(name))).toEqual({ pid: 42, parent: 7, session: 40, startTime: '987654', zombie: false });
  });

  it('tells the dead from the living', () => {
    expect(parseStat(stat('gone', 'Z'))?.zombie).toBe(true);
  });

  it.each(['', '42', '42 (cut', '42 (cut) S 7 42'])('is not read when it is cut short: %j', text => {
    expect(parseStat(text)).toBeUndefined();
  });
});

describe('a process', () => {
  it('is alive under its own start time only', () => {
    const startTime = startTimeOf(process.pid)!;
    expect(isAlive(process.pid, startTime)).toBe(true);
    expect(isAlive(process.pid, `${startTime}1`)).toBe(false);
  });

  it.each([0, -1, 1.5, Number.NaN, 4_194_305])('with the number %d has no start time', pid => {
    expect(startTimeOf(pid)).toBeUndefined();
    expect(isAlive(pid, '1')).toBe(false);
  });
});

it('this host is the same at every call', () => {
  expect(thisHost()).toEqual(thisHost());
  expect(thisHost().host).not.toBe('');
  expect(thisHost().boot).toMatch(/^\S+ pid:\[\w+\]$/);
});
