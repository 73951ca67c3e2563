// Strength of an assertion: what it compares with what, whether that can fail, and whether an exact one became a loose one.

const charsMax = 300;

/** Quoted text, brackets, and what parts arguments. */
const marks = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|[([{]|[)\]}]|,/g;

/** The arguments of a call, whose parenthesis opens before `from`; quotes and brackets are kept together. */
function argumentsAt(text: string, from: number): readonly string[] {
  const rest = text.slice(from, from + charsMax);
  const found: string[] = [];
  let [depth, start] = [0, 0];
  for (const { 0: mark, index: at } of rest.matchAll(marks)) {
    const isEnd = depth === 0 && /^[)\]}]$/.test(mark);
    if (isEnd || (depth === 0 && mark === ',')) {
      found.push(rest.slice(start, at).trim());
      start = at + 1;
    }
    if (isEnd) break;
    if (/^[([{]$/.test(mark)) depth += 1;
    else if (/^[)\]}]$/.test(mark)) depth -= 1;
  }
  return found.filter(argument => argument !== '');
}

/** How each runner writes that two things are equal. */
const expectation = /\bexpect\(/;
const matcher =
  /\.(?:to(?:Be|(?:Strict)?Equal|MatchObject)|(?:to\.)?(?:deep\.)?(?:equals?|eql?))\(|\bto (?:eq|eql|equal|be)[ (]/;
const equality =
  /\b(?:assert(?:_?[eE]quals?|Same|Is|_eq!?|ListEqual|DictEqual|_same)?|(?:assert|t|require|chai\.assert)\.(?:\w*[eE]qual\w*|is|same))!?\(/;
const pythonAssert = /^\s*assert\s+(.+?)\s+(?:==|is)\s+(.+?)\s*$/;

/** What an assertion compares, as it is written. */
function sidesOf(line: string): readonly [string, string] | undefined {
  const text = line.slice(0, charsMax);
  const expected = expectation.exec(text);
  if (expected !== null) {
    const [actual = ''] = argumentsAt(text, expected.index + expected[0].length);
    const found = matcher.exec(text);
    const [wanted = ''] = found === null ? [] : argumentsAt(text, found.index + found[0].length);
    return found === null || wanted === '' ? undefined : [actual, wanted];
  }
  const python = pythonAssert.exec(text);
  if (python !== null) return [python[1] as string, python[2] as string];
  const call = equality.exec(text);
  const all = call === null ? [] : argumentsAt(text, call.index + call[0].length);
  const [one, other] = /^t$/.test(all[0] ?? '') ? all.slice(1) : all;
  return one === undefined || other === undefined ? undefined : [one, other];
}

const assigned = /^\s*(?:(?:const|let|var|final|auto)\s+)?(\w+)\s*:?=\s*(.+?);?\s*$/;

/** Both sides are the same, or one was just taken from what the other says. */
export function comparesWithItself(line: string, above: readonly string[]): boolean {
  const sides = sidesOf(line);
  if (sides === undefined) return false;
  const [one, other] = sides;
  if (one === other) return /[a-z]/i.test(one);
  const source = above.findLast(each => assigned.exec(each)?.[1] === other);
  return source !== undefined && one.includes('(') && assigned.exec(source)?.[2] === one;
}

const isValue = (word: string): boolean => /^(?:[\d([{]|(?:True|False|None|true|false|null|nil)$)/.test(word);

/** `assertTrue(total, 5)`: what stands there to be compared is taken for a message. */
export function takesValueForMessage(line: string): boolean {
  const call = /\b(?:assertTrue|assert\.ok|assertFalse)\(/.exec(line);
  if (call === null) return false;
  const [one, other] = argumentsAt(line, call.index + call[0].length);
  return one !== undefined && !/^["'`]/.test(one) && other !== undefined && isValue(other);
}

const loose =
  /\btypeof\b|\bisArray\b|\bisinstance\(|\s(?:[<>]=?|!==?)\s|\b(?:assert\.ok|assertTrue|assertNotNull|assertIsNotNone|toBeTruthy|toBeDefined|toBe(?:Less|Greater)Than\w*|be_truthy|assert_operator|assertIsInstance)\b/;
const exact =
  /\b(?:toBe|to(?:Strict)?Equal|\w*[eE]quals?|\w*(?:Strict|Deep)Equal|assertSame|assert_eq|eq|eql|isEqualTo|toThrow\w*|assertThrows|throws|raises)\b|(?<![!<>=])={2,3}(?!=)/;

/** What it is worth; undefined: no comparison. */
export const strengthOf = (line: string): 'exact' | 'loose' | undefined =>
  loose.test(line) ? 'loose' : exact.test(line) ? 'exact' : undefined;
