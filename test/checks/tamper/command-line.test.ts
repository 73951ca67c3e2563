// Which files of the project a check's command line runs, and which it only looks at.
import { describe, expect, it } from 'vitest';
import {
  checkScripts,
  firstOfPatterns,
  manifestScripts,
  unknownScripts,
} from '../../../src/checks/tamper/command-line.ts';

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
    ['nice -n 5 env -u CI ./a.sh', ['a.sh']],
    ['(cd sub && ./a.sh); ./b.sh', ['sub/a.sh', 'b.sh']],
    ['uv run checks/a.py && npx tsx b.ts', ['checks/a.py', 'b.ts']],
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

describe('scripts that stand somewhere else than behind their interpreter (B95)', () => {
  it.each<readonly [string, readonly string[]]>([
    ['sh < check.sh', ['check.sh']],
    ['bash -s fast <check.sh >out.txt 2>&1', ['check.sh']],
    ['python3 - < check.py', ['check.py']],
    ['cat check.sh | sh', ['check.sh']],
    ["cat 'my check.sh' | tr -d x | bash -e", ['x', 'my check.sh']],
    ['sed s/x/y/ check.sh | sh', ['s/x/y', 'check.sh']],
    ['(cat a.sh; cat b.sh) | sh', ['a.sh', 'b.sh']],
    ['echo ./check.sh | sh', ['check.sh']],
    ['bash <<< ./check.sh', ['check.sh']],
    ['sh <<END\n./check.sh\nEND', ['check.sh']],
    ['bash <(cat check.sh)', ['check.sh']],
    ['sh -c "$(cat check.sh)"', ['check.sh']],
    ['eval "$(cat check.sh)"', ['check.sh']],
    ['eval "sh check.sh"', ['check.sh']],
    ['$(cat command.txt)', ['command.txt']],
    ['test "$(sh check.sh)" = fine', ['check.sh']],
    ['test `sh check.sh` = fine', ['check.sh']],
    ['"$PWD/check.sh"', ['check.sh']],
    [`sh $\{PWD}/check.sh`, ['check.sh']],
    ['sh "$(pwd)/check.sh"', ['check.sh']],
    ['cd sub && sh "`pwd`/check.sh"', ['sub/check.sh']],
    ['$(command -v python3) check.py', ['check.py']],
    ['CHECK=check.sh; sh "$CHECK"', ['check.sh']],
    [`sh "$\{CHECK:-check.sh}"`, ['check.sh']],
    ['sh $CHECK_OPTIONS check.sh', ['check.sh']],
    ['sh checks/*.sh', ['checks/*.sh']],
    ['./checks/[ab]*', ['checks/[ab]*']],
    ['for t in tests/*.sh more.sh; do sh "$t" || exit 1; done', ['tests/*.sh', 'more.sh']],
    ["find . -name a -exec sh check.sh {} ';'", ['check.sh']],
    ["bash -lc './check.sh'", ['check.sh']],
    ['timeout 60 sh < check.sh', ['check.sh']],
  ])('%s', (line, scripts) => {
    expect(checkScripts(line)).toEqual(scripts);
    expect(unknownScripts(line)).toEqual([]);
  });

  it('variables of the environment are read as the check will read them', () => {
    expect(checkScripts('sh "$DIR/check.sh"', { DIR: 'tools' })).toEqual(['tools/check.sh']);
    expect(checkScripts('sh "$PWD/check.sh"', { PWD: '/elsewhere' })).toEqual(['check.sh']);
  });

  it.each([
    'sh "$(ls checks | head -1)"',
    'cd "$(git rev-parse --show-toplevel)" && ./check.sh',
    'find tests -name "*.sh" -exec sh {} +',
    'ls tests/*.sh | xargs -n 1 sh',
    'while read t; do sh "$t"; done < list',
    'run() { sh "$1"; }; run check.sh',
    'git show HEAD:check.sh | sh',
    'git log -1 --format=%b | bash',
    'eval "$(git config alias.check)"',
  ])('%s cannot be protected', line => expect(unknownScripts(line)).not.toEqual([]));

  it.each([
    'npm test',
    'make test',
    'curl -s https://example.org/check.sh | sh',
    'test "$(grep -c done list.txt)" -gt 3',
    'echo "$HOME" | grep -q home',
    'cat data.json | node -e "process.stdin"',
    '$RUNNER --fast',
    'for n in 1 2 3; do grep -q "$n" out.txt; done',
    'diff <(sort a.txt) <(sort b.txt)',
    '[ $((1 + 2)) = 3 ]',
    'python3 --version',
    "awk '{print $1}' a.txt | sort | head -1",
    'cargo test && go test ./...',
  ])('%s needs no protection', line => expect([checkScripts(line), unknownScripts(line)]).toEqual([[], []]));

  it('of a pattern behind an interpreter the first file alone is run', () => {
    expect(firstOfPatterns('sh checks/*.sh')).toEqual(['checks/*.sh']);
    expect(firstOfPatterns('for t in checks/*.sh; do sh $t; done')).toEqual([]);
  });
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
