// JSON with comments: what JSON.parse would say, and besides where things stand and what must not be in it.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readCommentedJson } from '../../src/config/json.ts';

function parsed(text: string): unknown {
  const json = readCommentedJson(text);
  return json.ok ? json.value : { problem: json.message, offset: json.offset };
}

/** Said another way than the reader does it: texts as they are, and no comma between a value and a closing bracket. */
const withoutTrailingCommas = (text: string): string =>
  text.replace(/("(?:\\.|[^"\\])*")|(?<![[{,] *),(?= *[\]}])/g, (_comma, quoted: string | undefined) => quoted ?? '');

describe('B27: comments and trailing commas', () => {
  test.each([
    ['{"a": 1, // one\n"b": 2}', { a: 1, b: 2 }],
    ['/* head */ {"a": /* x */ 1,}', { a: 1 }],
    ['{"a": [1, 2, /* last */ ], // end\r\n}', { a: [1, 2] }],
    ['{"url": "http://x/*y*/,]"}', { url: 'http://x/*y*/,]' }],
    ['{"q": "\\"// no\\\\",}', { q: '"// no\\' }],
    ['{} // no line break at the end', {}],
    ['{"a": [[1,],],}', { a: [[1]] }],
  ])('B27: %j is read', (text, value) => {
    expect(parsed(text)).toEqual(value);
  });

  test.each(['[,]', '[1,,]', '{,}', '{"a":,}', '{"a":1,,}', ',', '[1 2]', '/', '{} /', '# x\n{}'])(
    'B27: %j stays an error',
    text => {
      expect(parsed(text)).toHaveProperty('problem');
    },
  );

  test('B27: a comment that is not closed is found where it begins', () => {
    const problem = 'This comment is never closed. End it with */';
    expect(parsed('{"a": 1} /* open')).toEqual({ problem, offset: 9 });
    expect(parsed('/* open')).toEqual({ problem, offset: 0 });
  });

  test('a byte order mark before it is passed over, and a second one is a problem', () => {
    expect(parsed('\uFEFF{"a": 1}')).toEqual({ a: 1 });
    expect(parsed('\uFEFF\uFEFF{"a": 1}')).toHaveProperty('problem');
  });

  test('B27: single quotes are refused with the right ones', () => {
    expect(parsed("{'a': 1}")).toMatchObject({
      problem: expect.stringContaining('where a key in double quotes must be'),
    });
    expect(parsed(`{"a": 'x'}`)).toEqual({
      problem: '"\'" stands where a value must be. Use double quotes',
      offset: 6,
    });
  });

  test('comments between any two tokens of any JSON text change nothing', () => {
    const blank = fc.constantFrom('', ' ', '\n', '/* , " */', '// ]"\r\n');
    fc.assert(
      fc.property(fc.json({ maxDepth: 3 }), fc.array(blank, { minLength: 1, maxLength: 9 }), (text, blanks) => {
        if (/"(__proto__|constructor|prototype)":/.test(text)) return;
        const tokens = text.match(/"(?:\\.|[^"\\])*"|[{}[\],:]|[^{}[\],:"\s]+/g) ?? [];
        const commented = tokens.map((token, at) => blanks[at % blanks.length] + token).join('');
        expect(parsed(commented)).toEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });
});

describe('strict JSON', () => {
  test('any JSON value is read as JSON.parse reads it', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), text => {
        if (/"(__proto__|constructor|prototype)":/.test(text)) return;
        expect(parsed(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  test('any text that JSON.parse refuses even without its trailing commas is refused', () => {
    const units = fc.constantFrom(
      '"',
      '\\',
      ',',
      ']',
      '}',
      '[',
      '{',
      ':',
      '1',
      '0',
      '.',
      '-',
      'e',
      'true',
      'null',
      ' ',
      'u',
    );
    fc.assert(
      fc.property(fc.string({ unit: units, maxLength: 12 }), text => {
        const strict = withoutTrailingCommas(text);
        let isJson = true;
        try {
          JSON.parse(strict);
        } catch {
          isJson = false;
        }
        const read = readCommentedJson(text);
        if (!isJson) expect(read.ok).toBe(false);
        else if (read.ok) expect(read.value).toEqual(JSON.parse(strict));
        else expect(read.message).toContain('given twice');
      }),
      { numRuns: 800, examples: [['[null,]'], ['[,]'], ['[1,,]'], ['{"":[0,],}'], ['",]"'], ['[0],']] },
    );
  });

  test.each([
    ['', 0, 'The document is empty.'],
    ['{"a": 1', 7, 'ends before its JSON is complete'],
    ['{"a" 1}', 5, '"1" stands where a colon after the key must be'],
    ['{"a": yes}', 6, 'yes is not a JSON value. Write text in double quotes'],
    ['{"a": 0123}', 6, '0123 is not a JSON value'],
    ['{"a": NaN}', 6, 'NaN is not a JSON value'],
    ['{"a": "x\ny"}', 8, 'A line break stands inside a quoted text'],
    ['{"a": "\u0000"}', 7, 'A control character'],
    ['{"a": "\\x"}', 7, 'starts no JSON escape'],
    ['{} {}', 3, '"{" stands after the end'],
    ['{"a": \u001b}', 6, 'U+001B'],
  ])('%j is refused at offset %d', (text, offset, why) => {
    expect(parsed(text)).toEqual({ problem: expect.stringContaining(why), offset });
  });

  test('each key and list entry has its place', () => {
    const json = readCommentedJson('{"a": 1, "b": [2, 3]}');
    expect(json.ok && [...json.places]).toEqual([
      ['a', 1],
      ['b', 9],
      ['b[0]', 15],
      ['b[1]', 18],
    ]);
  });
});

describe('hostile JSON', () => {
  test('B21: 50 levels are read, 51 are refused, 100,000 are refused without a stack overflow', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}1${']'.repeat(depth)}`;
    expect(parsed(nested(50))).toEqual(JSON.parse(nested(50)));
    expect(parsed(nested(51))).toMatchObject({ problem: 'The JSON is nested deeper than 50 levels. Flatten it' });
    expect(parsed(nested(100_000))).toMatchObject({ problem: 'The JSON is nested deeper than 50 levels. Flatten it' });
    expect(parsed('{"a":'.repeat(100_000))).toMatchObject({
      problem: 'The JSON is nested deeper than 50 levels. Flatten it',
    });
  });

  test.each(['{"a": 1, "a": 1}', '{"a": 1, "\\u0061": 2}', '{"x": {"a": 1, "a": 1}}'])(
    'B22: the duplicate key in %s is an error',
    text => {
      expect(parsed(text)).toMatchObject({ problem: 'the key "a" is given twice; keep one' });
    },
  );

  test.each(['__proto__', 'constructor', 'prototype', '\\u005f_proto__'])(
    'B23: the key %s is refused at any depth',
    key => {
      expect(parsed(`{"${key}": {"polluted": true}}`)).toMatchObject({
        problem: expect.stringContaining('is not allowed'),
        offset: 1,
      });
      expect(parsed(`{"a": [{"${key}": 1}]}`)).toMatchObject({ problem: expect.stringContaining('is not allowed') });
      expect({}).not.toHaveProperty('polluted');
    },
  );
});
