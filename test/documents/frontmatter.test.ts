// Proves that front matter is read safely and changed one value at a time, whatever the rest of the file looks like.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Plain, readFrontMatter, setFrontMatter } from '../../src/documents/frontmatter.ts';

function valuesOf(text: string) {
  const read = readFrontMatter(text);
  if (!read.ok) throw new Error(read.problems.map(problem => problem.message).join('\n'));
  return { ...read.values };
}
function problemsOf(text: string) {
  const read = readFrontMatter(text);
  return read.ok ? [] : read.problems;
}

describe('given a front matter', () => {
  const text =
    '\uFEFF---\r\nactive:   true  # now\r\npromise: "say \\"x\\""\r\nempty:   # none\r\n--- \r\nbody\r\n---\r\nmore';

  it('then its values, their places and the body are found', () => {
    const read = readFrontMatter(text);
    expect(valuesOf(text)).toEqual({ active: true, promise: 'say "x"', empty: null });
    if (!read.ok) throw new Error('unreadable');
    expect(text.slice(read.bodyStart)).toBe('body\r\n---\r\nmore');
    expect(text.startsWith('true', read.offsets.get('active'))).toBe(true);
  });

  it.each<[string, Plain, string, string]>([
    ['active', false, 'active:   true  # now', 'active:   false  # now'],
    ['active', true, 'active:   true  # now', 'active:   true  # now'],
    ['promise', 'say "x"', '"say \\"x\\""', '"say \\"x\\""'],
    ['promise', 'DONE', '"say \\"x\\""', 'DONE'],
    ['promise', 'two words: #1', '"say \\"x\\""', '"two words: #1"'],
    ['promise', 'true', '"say \\"x\\""', '"true"'],
    ['empty', 7, 'empty:   # none', 'empty: 7   # none'],
    ['added', null, '--- \r\nbody', 'added: null\r\n--- \r\nbody'],
  ])('then %s can become %j, and no other byte changes', (key, value, before, after) => {
    const changed = setFrontMatter(text, key, value);
    expect(changed).toBe(text.replace(before, () => after));
    expect(valuesOf(changed)).toEqual({ ...valuesOf(text), [key]: value });
  });

  it('then texts over several lines are replaced as a whole', () => {
    const block = '---\na: |\n  one\n  two\nb: "x\n  y"\n  # kept\nc: 1\n---\n';
    expect(setFrontMatter(block, 'a', 'one\ntwo\n')).toBe(block);
    expect(setFrontMatter(block, 'a', 'z')).toBe('---\na: z\nb: "x\n  y"\n  # kept\nc: 1\n---\n');
    expect(setFrontMatter(block, 'b', 'z')).toBe('---\na: |\n  one\n  two\nb: z\n  # kept\nc: 1\n---\n');
  });

  it('then a list is never overwritten, and an indented block gets its new key at its own depth', () => {
    expect(setFrontMatter('---\na: [1]\n---\n', 'a', 2)).toBe('---\na: [1]\n---\n');
    expect(setFrontMatter('---\n  a: 1\n---\n', 'b', 2)).toBe('---\n  a: 1\n  b: 2\n---\n');
  });
});

it('given YAML that one more key would break, then it stays as it is', () => {
  const odd = '---\na:\n\n# c\n  b\n---\n';
  expect(valuesOf(odd)).toEqual({ a: 'b' });
  expect(setFrontMatter(odd, 'z', true)).toBe(odd);
});

it('given no front matter, then all is body, and a value has no place', () => {
  expect(readFrontMatter('\uFEFFtext')).toMatchObject({ ok: true, isPresent: false, bodyStart: 1 });
  expect(setFrontMatter('\uFEFFtext\r\n', 'a', 1)).toBe('\uFEFFtext\r\n');
});

it.each([
  ['a key that stands twice', '---\na: 1\na: 2\n---\n', 'The key "a" stands twice.', 3],
  ['a prototype key (B47)', '---\nx:\n  - __proto__: 1\n---\n', 'The key "__proto__" is not allowed.', 3],
  ['a tag (B47)', '---\na: !!js/function "x"\n---\n', 'The tag "tag:yaml.org,2002:js/function" is not allowed.', 2],
  ['a second document', '---\na: 1\n...\nb: 2\n---\n', 'The YAML holds a second document.', 4],
  ['an alias', '---\na: &x 1\nb: *x\n---\n', 'The YAML has an alias here.', 3],
  ['a number that JSON has not', '---\na: .inf\n---\n', '"Infinity" is no plain value.', 2],
  ['keys on one line', '---\n{a: 1}\n---\n', 'The front matter must be keys and values.', 2],
  ['a list instead of keys', '---\n- a\n---\n', 'The front matter must be keys and values.', 2],
  ['a quote that is never closed', '---\na: "x\n---\n', /^This is not YAML: /, 3],
  ['no closing line', '---\na: 1\n', 'The front matter is never closed.', 1],
  ['a failed merge (B42)', '---\n<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> x\n---\n', /unfinished merge/, 2],
  ['nesting without end (B47)', `---\na: ${'['.repeat(20_000)}\n---\n`, 'The YAML is nested too deeply.', 2],
  ['deep nesting (B47)', `---\na: ${'['.repeat(200)}${']'.repeat(200)}\n---\n`, /deeper than 100 levels/, 2],
  ['a block of 5 MB (B47)', `---\na: ${'x'.repeat(5_000_000)}\n---\n`, /larger than 256 KB/, 2],
])('given %s, then it is refused with its line', (_name, text, message, line) => {
  const [problem, ...others] = problemsOf(text);
  expect(others).toEqual([]);
  expect(problem!.message).toMatch(message);
  expect(problem!.line).toBe(line);
  expect(setFrontMatter(text, 'a', 3)).toBe(text);
});

it('for any keys, spacing and value: only that value changes, and setting it twice is setting it once', () => {
  const scalar = fc.constantFrom(
    '1',
    'true',
    'null',
    'word',
    '"quo\\"ted"',
    "'it''s'",
    '|\n  block\n  text',
    '>-\n  folded',
    '',
  );
  const line = fc
    .tuple(fc.constantFrom(' ', '   ', '\t'), scalar, fc.constantFrom('', '  # note', ' '))
    .map(([gap, value, end]) => (value.includes('\n') ? ` ${value}` : value === '' ? end : gap + value + end));
  const blocks = fc
    .tuple(fc.array(line, { minLength: 1, maxLength: 5 }), fc.constantFrom('\n', '\r\n'), fc.boolean())
    .map(([lines, lineEnd, hasMark]) => {
      const keys = lines.map((value, row) => `key${row}:${value}\n${row % 2 ? '# comment\n\n' : ''}`);
      return (hasMark ? '\uFEFF' : '') + `---\n${keys.join('')}---\nbody: 1\n---\n`.replaceAll('\n', lineEnd);
    });
  const value = fc.oneof(
    fc.constantFrom<Plain>(true, false, null, 0, 12, 'yes', '~', '- a', 'x: y'),
    fc.string({ unit: 'grapheme' }),
  );
  fc.assert(
    fc.property(blocks, fc.nat(5), value, (text, row, next) => {
      const key = `key${row}`;
      const changed = setFrontMatter(text, key, next);
      expect(valuesOf(changed)).toEqual({ ...valuesOf(text), [key]: next });
      expect(setFrontMatter(changed, key, next)).toBe(changed);
      const entry = new RegExp(`^${key}:[\\s\\S]*?(?=^(?:key|#|---))`, 'm');
      expect(changed.replace(entry, '')).toBe(text.replace(entry, ''));
    }),
    { numRuns: Number(process.env['PROVE_RUNS'] ?? 100), seed: 5 },
  );
});

it('given front matter below a comment, then it is changed where it stands', () => {
  const text = '<!-- Plan.md -->\n---\na: 1\n---\n';
  expect(setFrontMatter(text, 'a', 2, text.indexOf('---\n'))).toBe(text.replace('1', '2'));
});
