// What a check runs must stay what it was: scripts of a manifest, targets of a Makefile, and what runs before them.
import { describe, expect, it } from 'vitest';
import { screenWork } from '../../../src/checks/tamper/screen.ts';
import type { ChangedFile } from '../../../src/checks/tamper/weakening.ts';

const screen = (files: readonly ChangedFile[], checks: readonly string[], folder = '') =>
  screenWork({ files, checks, folder });
const kinds = (...given: Parameters<typeof screen>) =>
  screen(...given).map(({ kind, severity }) => `${kind}/${severity}`);
const [neutered, told] = [['check-neutered/refuse'], ['configuration-changed/report']];

const manifest = (scripts: object, rest: object = {}) => JSON.stringify({ name: 'shop', ...rest, scripts });
const scripts = { test: 'node --test', lint: 'biome check', prepare: 'husky' };
const edited = (changes: object, path = 'package.json', before: object = scripts): readonly ChangedFile[] => [
  { path, before: manifest(before), after: manifest({ ...before, ...changes }) },
];

describe('given a script of package.json', () => {
  it.each(['node -e 0', 'echo ok && git status', 'node --test test/nothing.js', 'node --test | cat', 'node --test &'])(
    'when npm test becomes %j, then the work is not done, and both are shown',
    line => {
      const [finding, ...others] = screen(edited({ test: line }), ['npm test']);
      expect(others).toEqual([]);
      expect(finding).toMatchObject({ kind: 'check-neutered', severity: 'refuse' });
      expect(finding?.detail).toContain(`it was "node --test", it is ${JSON.stringify(line)}`);
    },
  );

  it('when it is very long, then what is shown is not', () => {
    const [finding] = screen(edited({ test: `node ${'x'.repeat(5_000)}\u001b[31m` }), ['npm test']);
    expect(finding?.detail.length).toBeLessThan(400);
    expect(finding?.detail).toContain('characters)');
  });

  const unit = { test: 'npm run unit && run-s check:*', unit: 'node --test', 'check:types': 'tsc', docs: 'typedoc' };
  it.each([
    ['that the used one runs', { unit: 'node -e 0' }],
    ['that it runs by a pattern', { 'check:types': 'tsc --version' }],
  ])('when one changes %s, then the work is not done', (_, changes) => {
    expect(kinds(edited(changes, 'package.json', unit), ['npm test'])).toEqual(neutered);
  });

  it.each([
    ['prepare hides a failure', { prepare: 'husky || true' }, ['npm test']],
    ['lint hides a failure', { lint: 'biome check || true' }, ['npm test']],
    ['another one is changed', { lint: 'eslint .' }, ['npm test']],
    ['another one is removed', { lint: undefined }, ['npm test']],
    ['prepare hides a failure, and a script is the check', { prepare: 'husky || true' }, ['./verify.sh']],
    ['the test is changed, and the check is another program', { test: 'node -e 0' }, ['pytest -q']],
  ])('when %s, then that is only told', (_, changes, checks) => {
    expect(kinds(edited(changes), checks)).toEqual(told);
  });

  it('when a check may run it unseen and it proves nothing, then the work is not done', () => {
    for (const check of ['./verify.sh', 'make test', 'just test'])
      expect(kinds(edited({ test: 'true' }), [check])).toEqual(neutered);
  });

  it('when it is one of another package, then only what hides a failure counts, unless the check runs all packages', () => {
    const other = edited({ test: 'node --test smoke' }, 'packages/a/package.json');
    expect(kinds(other, ['npm test'])).toEqual(told);
    expect(kinds(edited({ test: 'true' }, 'packages/a/package.json'), ['npm test'])).toEqual(neutered);
    for (const check of [
      'npm test --workspaces',
      'pnpm -r test',
      'npm --prefix packages/a test',
      'cd packages/a && npm test',
    ])
      expect(kinds(other, [check])).toEqual(neutered);
    expect(kinds(other, ['npm test'], 'packages/a')).toEqual(neutered);
  });

  it('when a test runner is told in the manifest to leave tests out, then the work is not done', () => {
    const after = manifest(scripts, { jest: { passWithNoTests: true } });
    expect(kinds([{ path: 'package.json', before: manifest(scripts), after }], ['npm test'])).toEqual(neutered);
  });
});

const makefile = `PYTEST = pytest
.PHONY: test all
all: test
test: build
\t./run-tests
\t$(PYTEST) -q
build: shop.o
\tcc -o shop shop.o
clean:
\trm -rf build
`;
const remade = (from: string, to: string): readonly ChangedFile[] => [
  { path: 'Makefile', before: makefile, after: makefile.replace(from, () => to) },
];

describe('given a target of make', () => {
  it.each([
    ['has no recipe any more', '\n\t./run-tests\n\t$(PYTEST) -q', ''],
    ['is empty', 'test: build\n\t./run-tests\n\t$(PYTEST) -q', 'test: ;'],
    ['only speaks', '\t./run-tests\n\t$(PYTEST) -q', '\t@echo ok'],
    ['may fail', '\t./run-tests', '\t-./run-tests'],
    ['may fail, behind a variable', '\t$(PYTEST)', '\t-$(PYTEST)'],
    ['needs something else', 'test: build', 'test: bend'],
    ['is gone', 'test: build', 'other: build'],
    ['runs another program by a variable', 'PYTEST = pytest', 'PYTEST = true'],
    ['is no longer phony', '.PHONY: test all', '.PHONY: all'],
    ['has another shell', 'PYTEST =', 'SHELL = /bin/true\nPYTEST ='],
    ['has another shell of its own', 'test: build', 'test: SHELL = /bin/true\ntest: build'],
    ['gets flags', 'PYTEST =', 'MAKEFLAGS += -i\nPYTEST ='],
    ['is ignored', 'PYTEST =', '.IGNORE:\nPYTEST ='],
    ['needs what may fail now', '\tcc -o', '\t-cc -o'],
  ])('when it %s, then the work is not done', (_, from, to) => {
    const files = remade(from, to);
    expect(files[0]?.after).not.toBe(makefile);
    for (const check of ['make test', 'CI=1 make -j 4 all', 'make', 'cd . && make -C . test V=1']) {
      const found = kinds(files, [check]);
      expect(found.length).toBeGreaterThan(0);
      expect(new Set(found)).toEqual(new Set(neutered));
    }
  });

  it.each([
    ['clean may fail', '\trm -rf', '\t-rm -rf'],
    ['a target is added', 'clean:', 'docs:\n\t-mkdocs || true\nclean:'],
    ['a build needs one more file', 'build: shop.o', 'build: shop.o cart.o'],
    ['another variable is set', 'PYTEST =', 'CFLAGS = -O2\nPYTEST ='],
    ['a note is written', '\t./run-tests', '\t# first the quick ones\n\t./run-tests'],
  ])('when %s, then that is only told', (_, from, to) => {
    for (const checks of [['make test'], ['npm test'], ['./verify.sh'], []])
      expect(kinds(remade(from, to), checks)).toEqual(told);
  });

  it('when a check may make it unseen, then only what hides a failure counts', () => {
    for (const check of ['npm test', './verify.sh']) {
      expect(kinds(remade('\t./run-tests', '\t-./run-tests'), [check])).toEqual(neutered);
      expect(kinds(remade('\t./run-tests', '\t./run-all-tests'), [check])).toEqual(told);
    }
    expect(kinds(remade('\t./run-tests', '\t-./run-tests'), ['pytest -q'])).toEqual(told);
  });

  it('when the work writes the Makefile, then that is told; when it puts one before it, then it is refused', () => {
    const after = 'test:\n\tpytest\n';
    expect(kinds([{ path: 'Makefile', after }], ['make test'])).toEqual(told);
    expect(kinds([{ path: 'GNUmakefile', after }], ['make test'])).toEqual(neutered);
    expect(kinds([{ path: 'Makefile', after: 'test: ;\n' }], ['make test'])).toEqual(neutered);
    expect(kinds([{ path: 'sub/Makefile', before: after, after: 'test: ;\n' }], ['make -C sub test'])).toEqual(
      neutered,
    );
  });

  it('when a Makefile is hostile, then it is still read', () => {
    for (const part of ['a ', 'a:', 'a: a\n', 'a=b ', 'a:\n\t$(MAKE) a\n', '\\\n', ';', '$(', 'test test '])
      expect(() =>
        kinds(
          [{ path: 'Makefile', before: part.repeat(20_000), after: `test:${part.repeat(20_000)}` }],
          ['make test a'],
        ),
      ).not.toThrow();
  });
});

describe('given what runs before a check', () => {
  it.each<readonly [string, ChangedFile, readonly string[]]>([
    ['a shell for scripts', { path: '.npmrc', after: 'script-shell=/bin/true\n' }, ['npm test']],
    [
      'options for node',
      { path: '.npmrc', before: 'fund=false\n', after: 'fund=false\nnode-options = -r ./x.js\n' },
      [],
    ],
    ['another shell', { path: '.npmrc', before: 'script-shell=bash\n', after: 'script-shell=./bend\n' }, ['npm test']],
    [
      'a shell in the settings of pnpm',
      { path: 'pnpm-workspace.yaml', after: 'scriptShell: /bin/true\n' },
      ['pnpm test'],
    ],
    ['a module that stands for unittest', { path: 'unittest.py', after: 'print("OK")\n' }, ['python3 -m unittest -q']],
    ['a package that stands for pytest', { path: 'pytest/__init__.py', after: '' }, ['python -m pytest']],
    ['its main file', { path: 'sub/pytest/__main__.py', after: '' }, ['cd sub && python -m pytest tests']],
    ...['pyfunc_call', 'runtest_protocol', 'runtest_makereport', 'collection_modifyitems', 'ignore_collect'].map(
      hook =>
        [
          `the hook ${hook}`,
          { path: 'tests/conftest.py', before: 'x = 1\n', after: `x = 1\ndef pytest_${hook}():\n    return True\n` },
          ['pytest'],
        ] as const,
    ),
  ])('when the work writes %s, then it is not done', (_, file, checks) => {
    expect(kinds([file], checks)).toEqual(neutered);
  });

  it.each<readonly [string, ChangedFile, readonly string[]]>([
    ['other settings of npm', { path: '.npmrc', before: 'fund=true\n', after: 'fund=false\n' }, ['npm test']],
    [
      'a shell that was there',
      { path: '.npmrc', before: 'script-shell=sh\n', after: 'script-shell=sh\nfund=false\n' },
      [],
    ],
    ['settings of yarn', { path: '.yarnrc.yml', after: 'nodeLinker: node-modules\n' }, ['yarn test']],
    ['settings of bun', { path: 'bunfig.toml', after: '[test]\n' }, ['bun test']],
    ['a module that no check runs', { path: 'unittest.py', after: 'print("OK")\n' }, ['pytest']],
    ['a module of its own', { path: 'shop/__main__.py', after: 'main()\n' }, ['python -m shop']],
    [
      'a fixture',
      { path: 'conftest.py', before: '', after: '# no pytest_runtest_setup\ndef shop():\n    yield\n' },
      [],
    ],
  ])('when it writes %s, then that is only told', (_, file, checks) => {
    expect(kinds([file], checks)).toEqual(told);
  });
});
