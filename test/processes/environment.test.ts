import { expect, it } from 'vitest';
import { minimalEnvironment, openEnvironment } from '../../src/processes/limits.ts';

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

it('of a check is the user’s own, all but what looks like a credential; those are named, and one may be allowed', () => {
  const user = {
    ...ambient,
    DATABASE_URL: 'postgres://ann@db/shop',
    JAVA_HOME: '/jdk',
    CI: '1',
    PWD: '/work',
    OLDPWD: '/',
  };
  const secret = {
    SOME_API_KEY: 'k',
    GITHUB_TOKEN: 't',
    PGPASSWORD: 'p',
    AWS_ACCESS_KEY_ID: 'a',
    npm_config__auth: 'x',
  };
  const open = openEnvironment({ ...user, ...secret }, []);
  expect(open.environment).toEqual(JSON.parse(JSON.stringify({ ...user, SOME_API_KEY: undefined })));
  expect(open.withheld).toEqual(Object.keys(secret).sort());
  expect(openEnvironment({ ...user, ...secret }, ['GITHUB_TOKEN']).environment).toMatchObject({ GITHUB_TOKEN: 't' });
});
