// Proves what is code in each language: comments vanish, literals keep their quotes, and everything keeps its place.
import { expect, it } from 'vitest';
import { codeOnly, type Language } from '../../../src/checks/tamper/source-files.ts';

it.each<readonly [Language, string, string]>([
  ['js', 'a(1) // b', 'a(1)     '],
  ['js', 'a /* b */ c', 'a         c'],
  ['js', 'x = "a\\"b" + 1', 'x = "    " + 1'],
  ['js', `x = \`a\${\`b\`}c\`;`, 'x = "        ";'],
  ['js', 'x = /[/"]/.test(y)', 'x = "    ".test(y)'],
  ['js', 'x = a / b; y = /z; "q"', 'x = a / b; y = /z; " "'],
  ['python', '"""a\nb""" # c', '"   \n   "    '],
  ['rust', 'fn f<\'a>(c: \'x\') r#"a"b"#', 'fn f<\'a>(c: " ") "      "'],
  ['php', '#[Test] # a', '#[Test]    '],
  ['csharp', '@"a\\" + b', '"   " + b'],
  ['shell', 'echo $# a # b', 'echo $# a    '],
  ['shell', "echo 'a\\' b", 'echo "  " b'],
  ['go', 'x := `a\nb`', 'x := " \n "'],
])('%s: %j', (language, text, code) => expect(codeOnly(text, language)).toBe(code));
