// Deleted tests that live on elsewhere are no loss; tests that are gone, or where no runner looks, are one.
import { describe, expect, it } from 'vitest';
import { screenWork } from '../../../src/checks/tamper/screen.ts';
import type { ChangedFile } from '../../../src/checks/tamper/weakening.ts';

const found = (...files: readonly ChangedFile[]) =>
  screenWork({ files, checks: [] }).map(({ kind, severity, path, detail }) => `${kind}/${severity} ${path}: ${detail}`);
const cases = (from: number, to: number, call = 'it') =>
  Array.from(
    { length: to - from },
    (_, n) => `${call}('adds ${from + n} to it', () => {\n  expect(add(${from + n}, 1)).toBe(${from + n + 1});\n});\n`,
  ).join('');
const shell = 'feature_works() {\n  ./feature | grep -q works\n}\nfeature_works || exit 1\n';
const hidden = 'it was moved to a name that test runners do not look for';

describe('given a test file that is gone from its place', () => {
  it.each([
    ['tests/feature_test.sh', 'tests/feature.sh', shell],
    ['tests/test_price.py', 'tests/price.py', 'def test_price():\n    assert price(100) == 120\n'],
    ['shop/price_test.go', 'test/price.go', 'func TestPrice(t *testing.T) {\n\tassert.Equal(t, 120, Price(100))\n}\n'],
    ['src/add.test.ts', 'spec/add.ts', cases(0, 4)],
  ])('when %s becomes %s, then no runner finds it, and the work is not done', (from, to, text) => {
    expect(found({ path: from, before: text }, { path: to, after: text })).toEqual([
      `test-deleted/refuse ${from}: ${hidden}`,
    ]);
  });

  it.each([
    ['tests/feature_test.sh', 'test/feature-test.sh', shell],
    ['test/add.test.js', 'test/add.js', cases(0, 4)],
    ['tests/world.ts', 'tests/shared/world.ts', cases(0, 4)],
    ['test/Spec.hs', 'test/Main.hs', 'main = hspec $ describe "add" spec\nspec = it "adds" (1 `shouldBe` 1)\n'],
  ])('when %s becomes %s, then nothing is lost', (from, to, text) => {
    expect(found({ path: from, before: text }, { path: to, after: text })).toEqual([]);
  });

  it.each([
    ['t/basic.t', 'use Test::More;\nis(add(1, 2), 3);\n'],
    ['features/cart.feature', 'Feature: cart\n  Scenario: put\n    Then it is there\n'],
    ['test/Spec.hs', 'main = hspec spec\n'],
    ['tests/smoke', '#!/bin/sh\n./shop --version\n'],
    ['tests/test_odd.py', 'run_everything_by_magic()\n'],
  ])('when %s is deleted, then it counts, although nothing in it can be counted', (path, before) => {
    expect(found({ path, before })).toEqual([`test-deleted/refuse ${path}: its tests cannot be counted`]);
  });

  it.each([
    ['test/data.json', '{"a": 1}\n'],
    ['test/notes.txt', 'a note\n'],
    ['test/__snapshots__/a.snap', 'exports = 1\n'],
    ['test/fixtures/page', 'content\n'],
    ['test/logo.png', 'pixels\n'],
    ['shop/tests.py', 'from django.test import TestCase\n\n# Create your tests here.\n'],
    ['tests/test_empty.py', ''],
    ['src/Shop.hs', 'module Shop where\n'],
  ])('when %s is deleted, then nothing is lost', (path, before) => {
    expect(found({ path, before })).toEqual([]);
  });
});

describe('given tests in another shape', () => {
  it('when one file is split into three, then nothing is lost; when one part is left out, then it is', () => {
    const parts = [cases(0, 4), cases(4, 8), cases(8, 12)].map((after, n) => ({ path: `src/${n}.test.ts`, after }));
    const whole = { path: 'src/add.test.ts', before: cases(0, 12) };
    expect(found(whole, ...parts)).toEqual([]);
    expect(found(whole, ...parts.slice(1))).toEqual([
      'fewer-tests/refuse src/1.test.ts: 12 tests before, 4 now',
      'fewer-assertions/refuse src/1.test.ts: 12 assertions before, 4 now',
    ]);
  });

  it('when a file is rewritten for another runner, then its names tell; with less in it, the work is not done', () => {
    const rewritten = cases(0, 6, 'test').replace(
      /expect\(add\((\d), 1\)\)\.toBe\((\d)\)/g,
      'assert.equal(add($1, 1), $2)',
    );
    const old = { path: 'test/add.test.js', before: cases(0, 6) };
    expect(found(old, { path: 'src/add.spec.mjs', after: rewritten })).toEqual([]);
    const less = rewritten.replace(/^ {2}assert\.equal\(add\(3.*$/m, '  add(3, 1);');
    expect(found(old, { path: 'src/add.spec.mjs', after: less })).toEqual([
      'fewer-assertions/refuse src/add.spec.mjs: 6 assertions before, 5 now',
    ]);
  });

  it('when test files are only added, then there are never fewer tests', () => {
    expect(found({ path: 'a.test.ts', after: cases(0, 1) }, { path: 'b.test.ts', after: '' })).toEqual([]);
  });

  it('when a helper ends a program of its own, then that is told; when a test does, then it is refused', () => {
    const after = 'process.on("SIGTERM", () => process.exit(0));\n';
    expect(found({ path: 'test/server.js', after })).toEqual([
      'check-neutered/report test/server.js: it can end a program with exit code 0',
    ]);
    const refused = (path: string) => [`check-neutered/refuse ${path}: it ends the test run with exit code 0`];
    expect(found({ path: 'test/server.test.js', after })).toEqual(refused('test/server.test.js'));
    expect(found({ path: 'test/all.js', after: `${after}${cases(0, 1)}` })).toEqual(refused('test/all.js'));
  });

  it('when a new TestMain runs no test, then the work is not done', () => {
    const main = (body: string) => ({ path: 'main_test.go', after: `func TestMain(m *testing.M) {${body}}\n` });
    expect(found(main(''))).toEqual(['check-neutered/refuse main_test.go: it ends the test run with exit code 0']);
    expect(found(main(' os.Exit(m.Run()) '))).toEqual([]);
  });
});
