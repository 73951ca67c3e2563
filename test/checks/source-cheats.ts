// Cheats in start-up files, in the sources under test, and in tests and what they expect; the kinds are those of cheats.ts.
import { add, type Cheat, edit, surroundingCheats, write } from './cheats.ts';

const sourceCheats: readonly Cheat[] = [
  // Start-up files and exit hooks.
  { name: 'sitecustomize.py', check: 'pytest', ...write('sitecustomize.py', 'import atexit\n'), expected: 'caught' },
  {
    name: 'exit hook in tests/__init__.py',
    check: 'python -m unittest',
    ...write('tests/__init__.py', 'import atexit, os\natexit.register(lambda: os._exit(0))\n'),
    expected: 'caught',
  },
  {
    name: 'conftest.py that patches the module under test',
    check: 'pytest',
    ...edit('conftest.py', 'import pytest\n', 'import pytest, sys\nsys.modules["add"] = Fake()\n'),
    expected: 'caught',
  },
  {
    name: 'a setup file that mocks the thing under test',
    check: 'npx vitest run',
    ...edit('vitest.setup.ts', 'import "x";\n', "vi.mock('../src/add');\n"),
    expected: 'caught',
  },
  {
    name: 'load_tests that loads none',
    check: 'python -m unittest',
    ...write('tests/__init__.py', 'def load_tests(loader, tests, pattern):\n    return loader.suiteClass()\n'),
    expected: 'caught',
  },
  {
    name: 'os._exit in the source under test',
    check: 'pytest',
    before: add,
    after: { 'src/add.py': 'import os\nos._exit(0)\n' },
    expected: 'caught',
  },
  {
    name: 'an exit hook of Node in the source',
    check: 'node --test',
    ...edit('src/a.js', 'export const a = 1;\n', "process.on('exit', () => { process.exitCode = 0; });\n"),
    expected: 'caught',
  },
  {
    name: 'exitCode = 0 in the source',
    check: 'node --test',
    ...edit('src/a.js', 'export const a = 1;\n', 'setTimeout(() => (process.exitCode = 0));\n'),
    expected: 'caught',
  },
  {
    name: 'os.Exit in an init of Go',
    check: 'go test ./...',
    ...edit('shop.go', 'package shop\n', 'package shop\nfunc init() { os.Exit(0) }\n'),
    expected: 'caught',
  },
  {
    name: 'a constructor in C',
    check: 'make test',
    ...edit('src/a.c', 'int a;\n', '__attribute__((constructor)) static void x(void) { _exit(0); }\n'),
    expected: 'caught',
  },
  {
    name: 'halt of the Java machine',
    check: 'mvn test',
    ...edit('src/A.java', 'class A {}\n', 'class A { static { Runtime.getRuntime().halt(0); } }\n'),
    expected: 'caught',
  },
  {
    name: 'at_exit in Ruby',
    check: 'rspec',
    ...edit('lib/a.rb', 'a = 1\n', 'at_exit { exit! 0 }\n'),
    expected: 'caught',
  },
  {
    name: 'a plain exit in the source',
    check: 'node app.js --selftest',
    ...edit('src/a.js', 'run();\n', 'process.exit(0);\n'),
    expected: 'limit-work',
  },
  // Sources that outwit.
  {
    name: 'an object that equals everything',
    check: 'pytest',
    before: add,
    after: { 'src/add.py': 'class R:\n    def __eq__(self, other): return True\n' },
    expected: 'caught',
  },
  {
    name: 'an asymmetric matcher as the result',
    check: 'npx vitest run',
    ...edit('src/a.ts', 'export const a = 1;\n', 'export const a = { asymmetricMatch: () => true };\n'),
    expected: 'caught',
  },
  {
    name: 'assertions patched from the source',
    check: 'python -m unittest',
    before: add,
    after: { 'src/add.py': 'import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n' },
    expected: 'caught',
  },
  {
    name: 'behaves otherwise under pytest',
    check: 'pytest',
    before: add,
    after: { 'src/add.py': "import sys\nif 'pytest' in sys.modules: add = lambda a, b: 3\n" },
    expected: 'caught',
  },
  {
    name: 'behaves otherwise under vitest',
    check: 'npx vitest run',
    ...edit('src/a.ts', 'export const a = 1;\n', 'export const a = process.env.VITEST ? 2 : 1;\n'),
    expected: 'caught',
  },
  {
    name: 'another function for tests in Rust',
    check: 'cargo test',
    ...edit('src/lib.rs', 'pub fn add() {}\n', '#[cfg(not(test))]\npub fn add() {}\n#[cfg(test)]\npub fn add() {}\n'),
    expected: 'caught',
  },
  {
    name: 'looks who calls',
    check: 'pytest',
    before: add,
    after: { 'src/add.py': 'import inspect\nname = inspect.stack()[1].function\n' },
    expected: 'caught',
  },
  {
    name: 'hard-codes the answers',
    check: 'pytest',
    before: add,
    after: { 'src/add.py': 'def add(a, b):\n    return {(1, 2): 3}[(a, b)]\n' },
    expected: 'limit-work',
  },
  {
    name: 'reads the answers from the tests',
    check: 'pytest',
    before: add,
    after: { 'src/add.py': "text = open('tests/test_add.py').read()\n" },
    expected: 'limit-work',
  },
  {
    name: 'a time bomb',
    check: 'pytest',
    before: add,
    after: { 'src/add.py': 'import time\ndef add(a, b):\n    return a + b if time.time() < 2e9 else 0\n' },
    expected: 'limit-work',
  },
  {
    name: 'NODE_ENV decides',
    check: 'npm test',
    ...edit('src/a.js', 'export const a = 1;\n', "export const a = process.env.NODE_ENV === 'test' ? 2 : 1;\n"),
    expected: 'limit-work',
  },
  {
    name: 'patches the verify script while the check runs',
    check: './verify.sh',
    before: { 'verify.sh': 'pytest\n', ...add },
    after: { 'verify.sh': 'true\n', 'src/add.py': 'open("verify.sh", "w").write("true")\n' },
    expected: 'caught',
  },
  // Tests and expected answers.
  {
    name: 'a golden file made anew',
    check: 'go test ./...',
    ...edit('testdata/out.golden', '3\n', '4\n'),
    expected: 'limit-counts',
  },
  {
    name: 'a snapshot made anew',
    check: 'npx vitest run',
    ...edit('test/__snapshots__/a.test.ts.snap', 'exports[`a`] = `1`;\n', 'exports[`a`] = `2`;\n'),
    expected: 'limit-counts',
  },
  {
    name: 'a weaker assertion',
    check: 'pytest',
    ...edit(
      'tests/test_add.py',
      'def test_a():\n    assert add(1, 2) == 3\n',
      'def test_a():\n    assert add(1, 2) is not None\n',
    ),
    expected: 'limit-counts',
  },
  {
    name: 'a mock of the thing under test in its test',
    check: 'npx vitest run',
    ...edit(
      'test/a.test.ts',
      "it('a', () => { expect(a()).toBe(1); });\n",
      "vi.mock('../src/a', () => ({ a: () => 1 }));\nit('a', () => { expect(a()).toBe(1); });\n",
    ),
    expected: 'caught',
  },
  {
    name: 'a test that becomes a link to an empty one',
    check: 'pytest',
    ...edit('tests/test_add.py', 'def test_a():\n    assert add(1, 2) == 3\n', '../empty.py'),
    expected: 'caught',
  },
  {
    name: 'a test whose name changes only in case',
    check: 'pytest',
    before: { 'tests/test_add.py': 'def test_a():\n    assert add(1, 2) == 3\n' },
    after: { 'tests/test_add.py': null, 'tests/Test_add.py': 'def test_a():\n    assert add(1, 2) == 3\n' },
    expected: 'caught',
  },
  {
    name: 'filters by git attributes, with tests deleted',
    check: 'pytest',
    before: { 'tests/test_add.py': 'def test_a():\n    assert add(1, 2) == 3\n' },
    after: { '.gitattributes': '* filter=x\n', 'tests/test_add.py': null },
    expected: 'caught',
  },
];

export const cheats: readonly Cheat[] = [...surroundingCheats, ...sourceCheats];
