// B15: where data and configuration lie when variables are set, relative, empty or missing.
import { describe, expect, test } from 'vitest';
import { homeDirectory, userConfigDirectory } from '../../src/config/home.ts';

const account = () => '/account';
const unknownAccount = () => {
  throw new Error('no such user');
};

describe('B15: the data directory', () => {
  test.each([
    ['RALPH_HOME wins', { RALPH_HOME: '/r', XDG_DATA_HOME: '/x', HOME: '/h' }, '/r'],
    ['then XDG_DATA_HOME', { XDG_DATA_HOME: '/x', HOME: '/h' }, '/x/ralph'],
    ['then HOME', { HOME: '/h' }, '/h/.local/share/ralph'],
    ['HOME unset: the account’s home', {}, '/account/.local/share/ralph'],
    ['HOME relative: the account’s home', { HOME: 'h' }, '/account/.local/share/ralph'],
    ['empty variables count as unset', { RALPH_HOME: '', XDG_DATA_HOME: '', HOME: '/h' }, '/h/.local/share/ralph'],
  ])('B15: %s', (_name, env, path) => {
    expect(homeDirectory(env, account)).toEqual({ path });
  });

  test.each(['data', './data', '~/data', '../data'])(
    'B15: a relative RALPH_HOME %j is refused with a sentence',
    home => {
      expect(homeDirectory({ RALPH_HOME: home, HOME: '/h' }, account)).toEqual({
        problem: 'RALPH_HOME is a relative path; give an absolute one, so that every folder sees the same loops.',
      });
    },
  );

  test('B15: a relative XDG_DATA_HOME is ignored with a notice', () => {
    expect(homeDirectory({ XDG_DATA_HOME: 'x', HOME: '/h' }, account)).toEqual({
      path: '/h/.local/share/ralph',
      notice: 'XDG_DATA_HOME is a relative path and is ignored, as the XDG rules say; using /h/.local/share/ralph.',
    });
  });

  test('B15: without HOME and without an account the sentence says what to set', () => {
    expect(homeDirectory({}, unknownAccount)).toEqual({
      problem: 'No home folder is known for this user; set HOME or RALPH_HOME to an absolute path.',
    });
    expect(homeDirectory({ XDG_DATA_HOME: '/x' }, unknownAccount)).toEqual({ path: '/x/ralph' });
  });

  test('B15: with the system’s own account an absolute path comes out', () => {
    expect(homeDirectory({})).toHaveProperty('path', expect.stringMatching(/^\/.*\.local\/share\/ralph$/));
  });
});

describe('B15: the user’s config directory', () => {
  test.each([
    [{ XDG_CONFIG_HOME: '/x', HOME: '/h' }, '/x/ralph'],
    [{ HOME: '/h' }, '/h/.config/ralph'],
    [{}, '/account/.config/ralph'],
  ])('B15: %j gives %s', (env, path) => {
    expect(userConfigDirectory(env, account)).toEqual({ path });
  });

  test('B15: a relative XDG_CONFIG_HOME is ignored with a notice', () => {
    expect(userConfigDirectory({ XDG_CONFIG_HOME: 'x', HOME: '/h' }, account)).toMatchObject({
      path: '/h/.config/ralph',
      notice: expect.stringContaining('XDG_CONFIG_HOME'),
    });
  });
});
