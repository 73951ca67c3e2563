// Real-life work on tests in the usual ecosystems: what the tamper screen must find, and what it must leave alone.
import type { ChangedFile } from '../../../src/checks/tamper/weakening.ts';

export interface Case {
  readonly name: string;
  readonly files: readonly ChangedFile[];
  readonly checks?: readonly string[];
}

const vitest = `import { expect, it } from 'vitest';
it('adds two numbers', () => {
  expect(add(1, 2)).toBe(3);
  expect(add(-1, 1)).toBe(0);
});
it('refuses text', () => {
  expect(() => add('1', 2)).toThrow();
});
`;
const jest = `describe('cart', () => {
  test('holds what was put in', async () => {
    const cart = new Cart();
    await cart.put(book);
    expect(cart.items).toEqual([book]);
    expect(cart.total).toBe(12);
  });
});
`;
const nodeTest = `import assert from 'node:assert/strict';
import { test } from 'node:test';
test('parses', () => {
  assert.equal(parse('1'), 1);
  assert.deepEqual(parse('[]'), []);
});
`;
const pytest = `import pytest
from shop import price

def test_price_with_tax():
    """assert in a docstring does not count"""
    assert price(100, tax=0.2) == 120
    assert price(0) == 0

def test_negative_is_refused():
    with pytest.raises(ValueError):
        price(-1)
`;
const unittest = `class ShopTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1, 2]), 3)
        self.assertTrue(is_even(2))
`;
const go = `package shop

func TestPrice(t *testing.T) {
	if got := Price(100); got != 120 {
		t.Errorf("got %d, want 120", got)
	}
}

func TestRefund(t *testing.T) {
	require.NoError(t, Refund(1))
	assert.Equal(t, 0, Balance())
}
`;
const rust = `pub fn add(a: i32, b: i32) -> i32 {
    assert!(a < 1000, "a lifetime 'a and a quote '\\'' in the way");
    a + b
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first<'a>(text: &'a str) -> &'a str {
        text
    }

    #[test]
    fn adds() {
        assert_eq!(add(1, 2), 3);
        assert!(add(2, 2) == 4);
    }

    #[tokio::test]
    async fn adds_later() {
        assert_ne!(add(1, 2), 4);
    }
}
`;
const java = `class CartTest {
    @Test
    void holdsWhatWasPutIn() {
        cart.put(book);
        assertEquals(1, cart.size());
        assertThat(cart.total()).isEqualTo(12);
    }

    @Test
    void refusesNull() {
        assertThrows(NullPointerException.class, () -> cart.put(null));
    }
}
`;
const rspec = `RSpec.describe Cart do
  it 'holds what was put in' do
    cart.put(book)
    expect(cart.items).to eq([book])
  end

  it "refuses nothing" do
    expect { cart.put(nil) }.to raise_error(ArgumentError)
  end
end
`;
const minitest = `class CartTest < Minitest::Test
  def test_total
    assert_equal 12, cart.total
    refute cart.empty?
  end
end
`;
const phpunit = `<?php
final class CartTest extends TestCase
{
    public function testTotal(): void
    {
        $this->assertSame(12, $this->cart->total());
        self::assertTrue($this->cart->isOpen()); // it's open
    }
}
`;
const xunit = `public class CartTests
{
    [Fact]
    public void HoldsWhatWasPutIn()
    {
        cart.Put(book);
        Assert.Equal(1, cart.Count);
        cart.Total.Should().Be(12);
    }
}
`;
const bats = `@test "adds two numbers" {
  run add 1 2
  [ "$status" -eq 0 ]
  [[ "$output" == 3 ]]
  assert_output "3"
}
`;
const exunit = `defmodule CartTest do
  use ExUnit.Case

  test "holds what was put in" do
    assert Cart.total(cart) == 12
    refute Cart.empty?(cart)
  end
end
`;
const gtest = `TEST(CartTest, HoldsWhatWasPutIn) {
  EXPECT_EQ(cart.size(), 1);
  ASSERT_TRUE(cart.open());
}
`;

const changed = (path: string, before: string, ...edits: readonly (readonly [string, string])[]): ChangedFile => {
  let after = before;
  for (const [from, to] of edits) {
    if (!after.includes(from)) throw new Error(`${path} does not hold ${from}`);
    after = after.replace(from, () => to);
  }
  return { path, before, after };
};
const one = (name: string, path: string, before: string, ...edits: readonly (readonly [string, string])[]): Case => ({
  name,
  files: [changed(path, before, ...edits)],
});
const without = (text: string, line: string): readonly [string, string] => [
  text.split('\n').find(each => each.includes(line)) ?? line,
  '',
];

export const suites: Readonly<Record<string, readonly [string, string]>> = {
  'src/add.test.ts': [vitest, 'vitest'],
  'test/cart.spec.js': [jest, 'jest'],
  'test/parse.test.mjs': [nodeTest, 'node:test'],
  'tests/test_price.py': [pytest, 'pytest'],
  'shop/tests.py': [unittest, 'unittest'],
  'shop/price_test.go': [go, 'go'],
  'src/lib.rs': [rust, 'rust'],
  'src/test/java/CartTest.java': [java, 'junit'],
  'spec/cart_spec.rb': [rspec, 'rspec'],
  'test/cart_test.rb': [minitest, 'minitest'],
  'tests/CartTest.php': [phpunit, 'phpunit'],
  'Shop.Tests/CartTests.cs': [xunit, 'xunit'],
  'test/add.bats': [bats, 'bats'],
  'test/cart_test.exs': [exunit, 'exunit'],
  'tests/cart_test.cc': [gtest, 'gtest'],
};

export const skipped: readonly Case[] = [
  one('it.skip', 'src/add.test.ts', vitest, ["it('adds", "it.skip('adds"]),
  one('xit', 'src/add.test.ts', vitest, ["it('adds", "xit('adds"]),
  one('it.todo', 'src/add.test.ts', vitest, ["it('adds", "it.todo('adds"]),
  one('it.only', 'src/add.test.ts', vitest, ["it('adds", "it.only('adds"]),
  one('fit', 'src/add.test.ts', vitest, ["it('adds", "fit('adds"]),
  one('it.skipIf', 'src/add.test.ts', vitest, ["it('adds", "it.skipIf(true)('adds"]),
  one('test.fixme', 'test/cart.spec.js', jest, ["test('holds", "test.fixme('holds"]),
  one('describe.skip', 'test/cart.spec.js', jest, ['describe(', 'describe.skip(']),
  one('an option of node:test', 'test/parse.test.mjs', nodeTest, ["'parses', ", "'parses', { skip: true }, "]),
  one('t.skip()', 'test/parse.test.mjs', nodeTest, ['() => {\n', "t => {\n  t.skip('flaky');\n"]),
  one('pytest.mark.skip', 'tests/test_price.py', pytest, ['def test_price', '@pytest.mark.skip\ndef test_price']),
  one('pytest.mark.xfail', 'tests/test_price.py', pytest, [
    'def test_price',
    '@pytest.mark.xfail(reason="x")\ndef test_price',
  ]),
  one('pytest.skip()', 'tests/test_price.py', pytest, ['    with pytest', '    pytest.skip("later")\n    with pytest']),
  one('unittest.skip', 'shop/tests.py', unittest, [
    '    def test_total',
    '    @unittest.skip("later")\n    def test_total',
  ]),
  one('self.skipTest', 'shop/tests.py', unittest, [
    '        self.assertEqual',
    '        self.skipTest("x")\n        self.assertEqual',
  ]),
  one('t.Skip', 'shop/price_test.go', go, ['\tif got', '\tt.Skip("flaky")\n\tif got']),
  one('a build constraint', 'shop/price_test.go', go, ['package shop', '//go:build integration\n\npackage shop']),
  one('#[ignore]', 'src/lib.rs', rust, ['#[test]', '#[test]\n    #[ignore = "slow"]']),
  one('@Disabled', 'src/test/java/CartTest.java', java, ['@Test', '@Disabled("later") @Test']),
  one('@Ignore', 'src/test/java/CartTest.java', java, ['@Test', '@Ignore\n    @Test']),
  one('xit of rspec', 'spec/cart_spec.rb', rspec, ["  it 'holds", "  xit 'holds"]),
  one('pending', 'spec/cart_spec.rb', rspec, ['    cart.put(book)', '    pending\n    cart.put(book)']),
  one('skip of minitest', 'test/cart_test.rb', minitest, ['    assert_equal', '    skip "later"\n    assert_equal']),
  one('markTestSkipped', 'tests/CartTest.php', phpunit, [
    '        $this->assert',
    "        $this->markTestSkipped('x');\n        $this->assert",
  ]),
  one('Fact(Skip)', 'Shop.Tests/CartTests.cs', xunit, ['[Fact]', '[Fact(Skip = "later")]']),
  one('skip of bats', 'test/add.bats', bats, ['  run add', '  skip "later"\n  run add']),
  one('@tag :skip', 'test/cart_test.exs', exunit, ['  test "holds', '  @tag :skip\n  test "holds']),
  one('an alias of skip', 'test/cart.spec.js', jest, ['describe(', 'const d = describe.skip;\nd(']),
  one('an alias of only', 'src/add.test.ts', vitest, ["it('adds", "const alone = it.only;\nalone('adds"]),
  one('return at once', 'src/add.test.ts', vitest, ['() => {\n', '() => {\n  return;\n']),
  one('return at once in python', 'tests/test_price.py', pytest, [
    '    assert price(100',
    '    return\n    assert price(100',
  ]),
  one('return at once in go', 'shop/price_test.go', go, ['{\n\tif got', '{\n\treturn\n\tif got']),
  one('__test__ = False', 'shop/tests.py', unittest, [
    '    def test_total',
    '    __test__ = False\n\n    def test_total',
  ]),
  one('#[cfg(any())]', 'src/lib.rs', rust, ['#[cfg(test)]', '#[cfg(any())]\n#[cfg(test)]']),
  one('#[cfg(all(test, any()))]', 'src/lib.rs', rust, ['#[cfg(test)]', '#[cfg(all(test, any()))]']),
  one('GTEST_SKIP', 'tests/cart_test.cc', gtest, ['  EXPECT_EQ', '  GTEST_SKIP();\n  EXPECT_EQ']),
];

export const weakened: readonly Case[] = [
  one('an assertion goes', 'src/add.test.ts', vitest, without(vitest, 'add(-1, 1)')),
  one('an assertion is commented out', 'src/add.test.ts', vitest, ['  expect(add(-1', '  // expect(add(-1']),
  one('an assertion that cannot fail takes its place', 'src/add.test.ts', vitest, [
    'expect(add(1, 2)).toBe(3)',
    'expect(true).toBe(true)',
  ]),
  one('an assertion becomes a text', 'test/cart.spec.js', jest, [
    'expect(cart.total).toBe(12);',
    '`expect(cart.total).toBe(12)`;',
  ]),
  one('assert.ok(true)', 'test/parse.test.mjs', nodeTest, ["assert.equal(parse('1'), 1)", 'assert.ok(true)']),
  one('assert True', 'tests/test_price.py', pytest, ['assert price(0) == 0', 'assert True']),
  one('a python assertion goes', 'tests/test_price.py', pytest, without(pytest, 'price(0)')),
  one('assertEqual of one value', 'shop/tests.py', unittest, [
    'self.assertEqual(total([1, 2]), 3)',
    'self.assertEqual(1, 1)',
  ]),
  one('t.Errorf becomes t.Logf', 'shop/price_test.go', go, ['t.Errorf', 't.Logf']),
  one('a rust assertion goes', 'src/lib.rs', rust, without(rust, 'assert_eq!')),
  one('assert!(true)', 'src/lib.rs', rust, ['assert!(add(2, 2) == 4)', 'assert!(true)']),
  one('a java assertion goes', 'src/test/java/CartTest.java', java, without(java, 'assertEquals')),
  one('an rspec expectation goes', 'spec/cart_spec.rb', rspec, without(rspec, 'eq([book])')),
  one('a minitest assertion goes', 'test/cart_test.rb', minitest, without(minitest, 'refute')),
  one('a phpunit assertion goes', 'tests/CartTest.php', phpunit, without(phpunit, 'assertTrue')),
  one('an xunit assertion goes', 'Shop.Tests/CartTests.cs', xunit, without(xunit, 'Should()')),
  one('a bats bracket goes', 'test/add.bats', bats, without(bats, '[[')),
  one('an exunit assertion goes', 'test/cart_test.exs', exunit, without(exunit, 'refute')),
  one('a gtest assertion goes', 'tests/cart_test.cc', gtest, without(gtest, 'ASSERT_TRUE')),
];

export const honest: readonly Case[] = [
  one('a test is added', 'src/add.test.ts', vitest, [
    "it('refuses",
    "it('knows 0', () => {\n  expect(add(0, 0)).toBe(0);\n});\nit('refuses",
  ]),
  one('a test is renamed', 'test/cart.spec.js', jest, ['holds what was put in', 'keeps what was put in']),
  one('an expected value is corrected', 'tests/test_price.py', pytest, ['== 120', '== 119']),
  one('a comment about skipping is written', 'src/add.test.ts', vitest, [
    "it('adds",
    "// never it.skip( this\nit('adds",
  ]),
  one('skip is a word of the product', 'test/cart.spec.js', jest, [
    'await cart.put(book);',
    'await cart.put(book);\n    await db.find().skip(5).only(1);\n    await list({ skip: 10 });',
  ]),
  one('a thing to do is test data', 'test/cart.spec.js', jest, [
    'await cart.put(book);',
    'await cart.put(book);\n    await cart.put({ todo: "Buy milk", skip: true, only: true });',
  ]),
  one('a function inside a test returns early', 'src/add.test.ts', vitest, [
    '  expect(add(1',
    '  const stop = () => {\n    return;\n  };\n  expect(add(1',
  ]),
  one('a go test file gets a TestMain that runs the tests', 'shop/price_test.go', go, [
    'func TestPrice',
    'func TestMain(m *testing.M) {\n\tos.Exit(m.Run())\n}\n\nfunc TestPrice',
  ]),
  one('a rust source gets another condition', 'src/lib.rs', rust, [
    'pub fn add',
    '#[cfg(any(unix, windows))]\npub fn add',
  ]),
  one('a description speaks of xit(', 'src/add.test.ts', vitest, ["'adds two", "'xit( adds two"]),
  one('a regular expression holds quotes', 'src/add.test.ts', vitest, [
    '  expect(add(1',
    '  const odd = /`/;\n  expect(add(1',
  ]),
  one('an assertion of the program itself goes', 'src/lib.rs', rust, ['    assert!(a < 1000', '    debug(a < 1000']),
  one('assertions become one of the project', 'src/add.test.ts', vitest, [
    'expect(add(1, 2)).toBe(3)',
    'expectSum(1, 2, 3)',
  ]),
  one('a go test gets a subtest', 'shop/price_test.go', go, [
    '\trequire.NoError',
    '\tt.Run("refund", func(t *testing.T) {})\n\trequire.NoError',
  ]),
  one('a skip is taken away', 'src/add.test.ts', vitest.replace("it('adds", "it.skip('adds"), [
    "it.skip('adds",
    "it('adds",
  ]),
  { name: 'a test file is added', files: [{ path: 'src/new.test.ts', after: vitest }] },
  {
    name: 'a test file is renamed',
    files: [
      { path: 'src/add.test.ts', before: vitest },
      {
        path: 'src/sum.test.ts',
        after: vitest.replaceAll('add(', 'sum(').replace('refuses text', 'refuses words').replaceAll('sum(', 'add('),
      },
    ],
  },
  {
    name: 'a test moves to another file',
    files: [
      changed('src/add.test.ts', vitest, [
        "it('refuses text', () => {\n  expect(() => add('1', 2)).toThrow();\n});\n",
        '',
      ]),
      changed('test/cart.spec.js', jest, [
        'describe(',
        "it('refuses text', () => {\n  expect(() => add('1', 2)).toThrow();\n});\ndescribe(",
      ]),
    ],
  },
  {
    name: 'two test files become one',
    files: [
      { path: 'test/cart.spec.js', before: jest },
      { path: 'src/add.test.ts', before: vitest, after: `${vitest}${jest}` },
    ],
  },
  { name: 'a source file is deleted', files: [{ path: 'src/old.ts', before: 'export const old = 1;\n' }] },
  { name: 'a fixture is deleted', files: [{ path: 'test/fixtures/old.test.js', before: jest }] },
  {
    name: 'a shared file of tests without tests is deleted',
    files: [{ path: 'test/world.ts', before: 'export const world = 1;' }],
  },
  {
    name: 'a rust source loses a function, not its tests',
    files: [changed('src/lib.rs', rust, ['    a + b', '    b + a'])],
  },
];
