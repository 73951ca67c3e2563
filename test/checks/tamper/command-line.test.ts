// Which files of the project a check's command line runs, and which it only looks at.
import { describe, expect, it } from 'vitest';
import { checkScripts, manifestScripts } from '../../../src/checks/tamper/command-line.ts';

describe('the scripts of a command line', () => {
  it.each<readonly [string, readonly string[]]>([
    ['./verify.sh', ['verify.sh']],
    ['node scripts/check.mjs README.md', ['scripts/check.mjs']],
    ['bash -e check.sh && echo fine', ['check.sh']],
    ["bash -c './a.sh; ./b.sh'", ['a.sh', 'b.sh']],
    ['CI=1 timeout -k 5 60 ./a/../check.sh', ['check.sh']],
    ['cd sub && ./go.sh | grep -q ok', ['sub/go.sh']],
    ['cd a && cd b && node ../x.js > out.txt 2>&1', ['a/x.js']],
    ['node --import ./hooks.mjs check.mjs', ['hooks.mjs', 'check.mjs']],
    ['python3 -u "my check.py"', ['my check.py']],
    ['. ./env.sh; make test', ['env.sh']],
    ['/opt/check.sh', ['/opt/check.sh']],
    ['if ./a.sh; then ./b.sh; fi', ['a.sh', 'b.sh']],
  ])('%s', (line, scripts) => expect(checkScripts(line)).toEqual(scripts));

  it.each([
    'npm test',
    'grep -q yes answer.txt',
    'test -f out.txt',
    'python3 -m pytest tests/test_a.py',
    "node -e 'x' a.js",
    'pytest -q tests/a.py',
    'diff a.txt b.txt',
    '',
    '"',
    "'",
    '\\',
  ])('%j runs none: what it looks at is the work', line => expect(checkScripts(line)).toEqual([]));
});

it.each<readonly [string, readonly string[]]>([
  ['npm test -- --ci', ['test']],
  ['npm t', ['test']],
  ['npm run --silent lint && pnpm run unit', ['lint', 'unit']],
  ['yarn check', ['check']],
  ['cargo test', []],
])('%s runs the package.json scripts %j', (line, names) => {
  expect(manifestScripts(line).filter(name => !/^(pre|post)/.test(name))).toEqual(names);
});
