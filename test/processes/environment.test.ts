import { expect, it } from 'vitest';
import { minimalEnvironment } from '../../src/processes/limits.ts';

const ambient = {
  PATH: '/bin',
  HOME: '/home/ann',
  LANG: 'C',
  LC_TIME: 'C',
  TMPDIR: '/tmp',
  SOME_API_KEY: 'secret',
  NODE_OPTIONS: '--inspect',
  SSH_AUTH_SOCK: '/tmp/agent',
  EMPTY: '',
  GONE: undefined,
};

it('holds harmless names only', () => {
  const { PATH, HOME, LANG, LC_TIME, TMPDIR } = ambient;
  expect(minimalEnvironment(ambient, [])).toEqual({ PATH, HOME, LANG, LC_TIME, TMPDIR });
});

it('holds a name that the user allowed, also when it is empty, and none that is not set', () => {
  const environment = minimalEnvironment(ambient, ['SOME_API_KEY', 'EMPTY', 'GONE', 'NEVER_SET']);
  expect(environment).toMatchObject({ SOME_API_KEY: 'secret', EMPTY: '' });
  expect(Object.keys(environment)).not.toContain('GONE');
  expect(Object.keys(environment)).not.toContain('NEVER_SET');
});
