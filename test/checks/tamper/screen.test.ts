// The tamper screen finds tests that were silenced, weakened or removed, in every usual ecosystem, and leaves honest work alone.

import { describe, expect, it } from 'vitest';
import { screenWork } from '../../../src/checks/tamper/screen.ts';
import { isTestConfiguration } from '../../../src/checks/tamper/source-files.ts';
import type { Finding } from '../../../src/core/task.ts';
import { honest, skipped, suites, weakened } from './cases.ts';

const screen = (files: Parameters<typeof screenWork>[0]['files'], checks: readonly string[] = []) =>
  screenWork({ files, checks });
const kinds = (findings: readonly Finding[]) => findings.map(({ kind, severity }) => `${kind}/${severity}`);

describe('given work that touched tests', () => {
  it.each(Object.entries(suites))('when %s is deleted, then that is found', (path, [before]) => {
    const [finding] = screen([{ path, before }]);
    expect(finding).toMatchObject({ kind: 'test-deleted', path, severity: 'refuse' });
    expect(finding?.detail).toMatch(/^it held [1-9]\d* tests? and [1-9]\d* assertions?$/);
  });

  it.each(Object.entries(suites))(
    'when %s only gets blanks and a comment, then nothing is found',
    (path, [before, name]) => {
      const comment = /python|unittest|pytest|r.*spec|minitest|bats|exunit/.test(name) ? '# a note' : '// a note';
      expect(screen([{ path, before, after: `${before}\n\n${comment}\n` }])).toEqual([]);
    },
  );

  it.each(skipped)('when tests are silenced by $name, then the work is not done', ({ files }) => {
    const findings = screen(files);
    expect(kinds(findings)).toContain('test-skipped/refuse');
    expect(findings.every(finding => finding.kind === 'test-skipped' || finding.kind.startsWith('fewer'))).toBe(true);
  });

  it.each(weakened)('when $name, then the work is not done', ({ files }) => {
    const findings = screen(files);
    expect(kinds(findings)).toEqual(['fewer-assertions/refuse']);
    expect(findings[0]?.detail).toMatch(/^\d+ assertions before, \d+ now$/);
  });

  it.each(honest)('when $name, then nothing is found', ({ files }) => {
    expect(screen(files)).toEqual([]);
  });
});

describe('given a check that the work could bend', () => {
  const manifest = (scripts: object) => JSON.stringify({ name: 'shop', scripts }, null, 2);
  const real = { test: 'vitest run', lint: 'biome check', build: 'tsc' };
  const package_ = (scripts: object) => [{ path: 'package.json', before: manifest(real), after: manifest(scripts) }];

  it.each([
    ['becomes true', { ...real, test: 'true' }],
    ['becomes an echo', { ...real, test: 'echo "all 12 tests passed"' }],
    ['becomes exit 0', { ...real, test: 'exit 0' }],
    ['passes when it fails', { ...real, test: 'vitest run || true' }],
    ['passes when it fails, said with a colon', { ...real, test: 'vitest run || :' }],
    ['ends well after all', { ...real, test: 'vitest run; exit 0' }],
    ['passes without tests', { ...real, test: 'vitest run --passWithNoTests' }],
    ['is removed', { lint: real.lint, build: real.build }],
    ['gets a predecessor that bends it', { ...real, pretest: 'node bend.js || true' }],
  ])('when the test script of package.json %s, then the work is not done', (_, scripts) => {
    expect(kinds(screen(package_(scripts), ['npm test']))).toEqual(['check-neutered/refuse']);
  });

  it.each([
    ['a script is added', { ...real, dev: 'vite' }],
    ['a script that no check runs hides a failure', { ...real, lint: 'biome check || true' }],
    ['the build prints something', { ...real, build: 'tsc && echo built' }],
  ])('when %s, then it is only told', (_, scripts) => {
    expect(kinds(screen(package_(scripts), ['npm test']))).toEqual(['configuration-changed/report']);
  });

  it('when the placeholder of npm init becomes a real script, then it is only told', () => {
    const before = manifest({ test: 'echo "Error: no test specified" && exit 1' });
    const files = [{ path: 'package.json', before, after: manifest(real) }];
    expect(kinds(screen(files, ['npm test']))).toEqual(['configuration-changed/report']);
  });

  const verify = '#!/bin/sh\nset -e\nnpm run lint\nnpm test\n';
  it.each([
    ['exit 0', verify.replace('npm run lint', 'exit 0')],
    ['|| true', verify.replace('npm test', 'npm test || true')],
    ['set +e', verify.replace('set -e', 'set +e')],
    ['an empty one', '#!/bin/sh\n# all is well\n'],
    ['only words', '#!/bin/sh\necho ok\n'],
  ])('when its script becomes one with %s, then the work is not done', (_, after) => {
    const files = [{ path: 'scripts/verify.sh', before: verify, after }];
    expect(kinds(screen(files, ['sh scripts/verify.sh']))).toEqual(['check-neutered/refuse']);
    expect(kinds(screen(files, ['npm test']))).toEqual([]);
  });

  it('when checks run in a part of the repository, then their script is found there', () => {
    const files = [{ path: "packages/a man's shop/verify.sh", before: verify, after: 'exit 0' }];
    const found = screenWork({ files, checks: ['./verify.sh'], folder: "packages/a man's shop" });
    expect(kinds(found)).toEqual(['check-neutered/refuse']);
    expect(kinds(screen(files, ['./verify.sh']))).toEqual([]);
  });

  it('when its script is deleted, then the work is not done', () => {
    expect(kinds(screen([{ path: 'check.mjs', before: 'run();' }], ['node check.mjs']))).toEqual([
      'check-neutered/refuse',
    ]);
  });

  it('when its script gains a step, or exit 0 only in a comment, then that is told', () => {
    const after = `${verify}npm run e2e # never exit 0 here\n`;
    expect(kinds(screen([{ path: 'verify.sh', before: verify, after }], ['./verify.sh']))).toEqual([
      'configuration-changed/report',
    ]);
  });

  it.each([
    ['conftest.py', 'import pytest\n', 'import pytest\ncollect_ignore = ["test_price.py"]\n'],
    ['conftest.py', '', 'import os\ndef pytest_configure(config):\n    os._exit(0)\n'],
    ['pytest.ini', '[pytest]\n', '[pytest]\naddopts = --deselect tests/test_price.py\n'],
    ['vitest.config.ts', 'export default {};', 'export default { test: { passWithNoTests: true } };'],
    ['Makefile', 'test:\n\tpytest\n', 'test:\n\t-pytest\n'],
    ['Makefile', 'test:\n\tpytest\n', 'test:\n\tpytest || true\n'],
    ['pom.xml', '<project/>', '<project><properties><maven.test.skip>true</maven.test.skip></properties></project>'],
  ])('when %s lets tests out or failures through, then the work is not done', (path, before, after) => {
    expect(kinds(screen([{ path, before, after }]))).toEqual(['check-neutered/refuse']);
  });

  it.each([
    ['Cargo.toml', '[package]\n', '[package]\nedition = "2024"\n'],
    ['tsconfig.json', '{}', '{"strict": true}'],
    ['go.mod', 'module shop\n', 'module shop\n\ngo 1.25\n'],
    ['Makefile', 'test:\n\tpytest\n', 'test:\n\tpytest -q\nclean:\n\trm -f *.o\n'],
  ])('when %s changes in another way, then that is told', (path, before, after) => {
    expect(kinds(screen([{ path, before, after }]))).toEqual(['configuration-changed/report']);
  });

  it.each([
    [
      'tests/test_price.py',
      'def test_a():\n    assert a() == 1\n',
      'import os\ndef test_a():\n    os._exit(0)\n    assert a() == 1\n',
    ],
    ['a.test.js', "it('a', () => expect(a()).toBe(1));\n", "process.exit(0);\nit('a', () => expect(a()).toBe(1));\n"],
    [
      'a_test.go',
      'func TestA(t *testing.T) { assert.Equal(t, 1, a()) }\n',
      'func init() { os.Exit(0) }\nfunc TestA(t *testing.T) { assert.Equal(t, 1, a()) }\n',
    ],
  ])('when %s ends the whole run well, then the work is not done', (path, before, after) => {
    expect(kinds(screen([{ path, before, after }]))).toEqual(['check-neutered/refuse']);
  });

  it.each([
    'package.json',
    'pnpm-workspace.yaml',
    'packages/a/package.json',
    'vitest.config.ts',
    'jest.config.js',
    'Makefile',
    'pyproject.toml',
    'pytest.ini',
    'Cargo.toml',
    'go.mod',
    'tsconfig.build.json',
    'phpunit.xml',
    'build.gradle.kts',
    'mix.exs',
    '.mocharc.yml',
    'conftest.py',
  ])('%s decides how tests run', path => expect(isTestConfiguration(path)).toBe(true));

  it.each(['src/index.ts', 'README.md', 'package-lock.json', 'src/config.ts', 'data/project.csv'])(
    '%s does not',
    path => expect(isTestConfiguration(path)).toBe(false),
  );
});

describe('given special shapes of work', () => {
  const eight = Array.from(
    { length: 8 },
    (_, n) => `it('adds ${n}', () => {\n  expect(add(${n}, 1)).toBe(${n + 1});\n});\n`,
  ).join('');

  it('when cases move into a table, then the smaller count is told and does not refuse', () => {
    const after = "it.each([[0, 1], [1, 2]])('adds %i', (a, sum) => {\n  expect(add(a, 1)).toBe(sum);\n});\n";
    expect(kinds(screen([{ path: 'a.test.ts', before: eight, after }]))).toEqual([
      'fewer-tests/report',
      'fewer-assertions/report',
    ]);
  });

  it('when a test file is moved and loses tests on the way, then that is found under its new name', () => {
    const findings = screen([
      { path: 'a.test.ts', before: eight },
      { path: 'sub/b.test.ts', after: eight.slice(0, eight.indexOf("it('adds 6")) },
    ]);
    expect(findings).toMatchObject([
      { kind: 'fewer-tests', path: 'sub/b.test.ts', detail: '8 tests before, 6 now' },
      { kind: 'fewer-assertions', path: 'sub/b.test.ts' },
    ]);
  });

  it('when a deleted test file is replaced by as many other tests, then it is still a deletion', () => {
    const others = eight
      .replaceAll(/expect\(add\((\d).*$/gm, 'expect(name$1).toBeDefined();')
      .replaceAll('adds', 'has');
    const kept = eight.slice(0, eight.indexOf("it('adds 2"));
    expect(
      kinds(
        screen([
          { path: 'a.test.ts', before: eight },
          { path: 'b.test.ts', after: `${kept}${others}` },
        ]),
      ),
    ).toEqual(['test-deleted/refuse']);
  });

  it('when a test file becomes one that no runner takes, then it is a deletion', () => {
    expect(
      kinds(
        screen([
          { path: 'a.test.ts', before: eight },
          { path: 'a.txt', after: eight },
        ]),
      ),
    ).toEqual(['test-deleted/refuse']);
  });

  it('when new tests are skipped from the start, then that is told; when one runs alone, then it is refused', () => {
    expect(kinds(screen([{ path: 'a.test.ts', after: eight.replace('it(', 'it.todo(') }]))).toEqual([
      'test-skipped/report',
    ]);
    expect(kinds(screen([{ path: 'a.test.ts', after: eight.replace('it(', 'it.only(') }]))).toEqual([
      'test-skipped/refuse',
    ]);
  });

  it('when a new test runs only on some systems, then that is told; when an old one does, then it is refused', () => {
    const added = `${eight}it.skipIf(isWindows)('links', () => {\n  expect(link()).toBe(1);\n});\n`;
    expect(kinds(screen([{ path: 'a.test.ts', before: eight, after: added }]))).toEqual(['test-skipped/report']);
    const bent = added.replace("it('adds 1", "it.skip('adds 1");
    expect(kinds(screen([{ path: 'a.test.ts', before: eight, after: bent }]))).toEqual(['test-skipped/refuse']);
    const old = eight.replace("it('adds 1", "it.skipIf(isWindows)('adds 1");
    expect(kinds(screen([{ path: 'a.test.ts', before: eight, after: old }]))).toEqual(['test-skipped/refuse']);
  });

  it('when a test file cannot be read any more, then the work is not done', () => {
    expect(kinds(screen([{ path: 'a.test.ts', before: eight, isOpaque: true }]))).toEqual(['fewer-tests/refuse']);
  });

  it('when files are huge or hostile, then they are still counted', () => {
    const long = (part: string) => part.repeat(Math.ceil(20_000 / part.length));
    for (const part of ['it(', '`${', '/*', "'", '"\\', 'a.b.c.', '    ', '|| true\n', '/[', 'r#"', '\t-']) {
      for (const path of ['a.test.ts', 'test_a.py', 'a_test.go', 'src/a.rs', 'Makefile', 'verify.sh'])
        expect(
          screen([{ path, before: long(part), after: long(part) }], ['./verify.sh']).every(
            one => one.severity === 'report',
          ),
        ).toBe(true);
    }
    const after = `${long('// a note\n')}${eight}`;
    expect(screen([{ path: 'a.test.ts', before: eight, after }])).toEqual([]);
  });

  it('when paths are odd, then nothing breaks', () => {
    for (const path of ['', '/', '\n', 'a\u0000b.test.ts', '\u00ff\u00fe.test.js', '.test.ts', 'test'])
      expect(() => screen([{ path, before: eight, after: '' }], ['\u0000', "'"])).not.toThrow();
  });
});
