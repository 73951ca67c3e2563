// Guards: what stands round an assertion so that it may never run or never fail, read from the lines and how far they are indented.
import { assertionsAt } from './count.ts';
import { codeOnly, type Language } from './source-files.ts';
import { comparesWithItself, takesValueForMessage } from './strength.ts';

const { raw } = String;

/** A line of code, with what it is indented by. */
interface Line {
  readonly text: string;
  readonly indent: number;
}

interface Block {
  readonly lines: readonly Line[];
  readonly words: ReadonlyMap<string, number>;
  /** What is known of its lines: each is asked for every assertion below it. */
  readonly exits: Map<number, boolean>;
  readonly language: Language;
}

/** In these an assertion is itself a condition: `if got != want { t.Error… }`. */
const conditional: ReadonlySet<Language> = new Set<Language>(['go', 'shell', 'cpp']);

const never =
  /\b(?:if|while|unless|elif)\b[ (!]*(?:(?:false|False|FALSE|0|nil|null|None)\b|[^\n]*(?:&&|;)\s*false\b|[^\n]*\band False\b)/;
const condition = /^[ \t}]*(?:(?:else )?if|unless|while|until)\b/;
const otherwise = /^[ \t}]*(?:else|elif|elsif|elseif)\b/;
const emptyLoop =
  /\brange \w+\[:0\]|\b(?:of|in|:)\s+(?:\[\s*\]|\(\s*\)|range\(0\)|\{\s*\}|0\.\.0\b|\w+\.slice\(0,\s*0\))|\[\s*\]\.(?:each|forEach|map|iter)\b/;
const swallowing =
  /\bsuppress\s*\(|\bcatch_unwind\b|\brunCatching\b|\b(?:setTimeout|setInterval|setImmediate|requestIdleCallback)\s*\(/;
const attempt = /^[ \t]*(?:try|begin)\b/;
const handler = /^[ \t}]*(?:catch|except|rescue)\b/;
/** Errors among which a failed assertion is. */
const wideError =
  /^(?:\w+(?:\.|::|\\))*(?:\w*Assert\w*|Xunit\w*|\w*Expectation\w*|Throwable|Exception|BaseException|Error|StandardError|Object)$/;
const passesOn =
  /\b(?:throw|raise|rethrow|reject|done|fail\w*|expect\w*|assert\w*|exit|panic)\b|\bt\.(?!log|diagnostic|skip|Skip|Log)\w+\(/;
const ignoredPromise = /\.catch\(\s*(?:\(\w*\)|\w+)\s*=>\s*(?:\{\s*\}|undefined|null|void 0)\s*\)/;
const leaves = /^[ \t]*(?:return|next|break|continue)(?:[ \t]+(?:0|nil|null|None|undefined|true))?[ \t]*;?[ \t]*$/;
const leavesIf =
  /^[ \t]*(?:if\b[^\n]*[):][ \t]*\{?[ \t]*return\b[ \t]*;?[ \t]*\}?[ \t]*$|(?:return|next)[ \t]+(?:if|unless)\b)/;
const lonelyFunction =
  /^[ \t]+(?:(?:const|let|var)[ \t]+(\w+)[ \t]*=[ \t]*(?:async[ \t]*)?(?:function\b|\(|\w+[ \t]*=>)|(?:async[ \t]+)?(?:function|def)[ \t]+(\w+))/;
/** On the line of an assertion, before and after it. */
const guardBefore = /(?:^|[\s;{}])(?:(?:if|unless|while)\b|return\s*;)[^\n]*$|(?:&&|\|\||\?)\s*$/;
const guardAfter =
  /^[^\n]*?(?:\|\|\s*(?:true|:)(?=\W|$)|\bor\s+True\b|[\s)](?:if|unless)\s+\S|\.catch\(|\}\s*catch\s*(?:\(\w*\)\s*)?\{\s*\})/;
/** It holds for nearly every value, by the words of several runners. */
const weak = new RegExp(
  [
    raw`^expect\b.*\.(?:toBeDefined|toBeTruthy|toBeFalsy|toBeInstanceOf|toThrow(?:Error)?\(\)|not\.to(?:Be|Equal|StrictEqual|BeNull|BeUndefined)\()`,
    raw`^expect\b.*(?:expect\.(?:any|anything)\(|\.toContain\(""\)|toBeGreaterThan(?:OrEqual)?\((?:0|-)|\bbe_(?:truthy|an?|kind_of|present)\b|not_to be_nil)`,
    raw`^expect\(\s*typeof\b`,
    raw`^(?:[\w$]+(?:\.|->|::))*(?:assert)?(?:IsNotNone|NotNull|NotNil|NotEmpty|IsInstance|InstanceOf|IsType)\(`,
    raw`^(?:refute_nil|assert_not_nil|assert_(?:kind|instance)_of)\b`,
    raw`^assert\s+(?:isinstance\(|[\w.()[\]]+\s+(?:is\s+not\s+None|>=?\s*0)\s*$|.*approx\(.*\b(?:abs|rel)=(?:\d\d|\d+e\+?\d))`,
    raw`^assert\s+\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*,\s*\w?"[^"]*"\s*\)\s*$`,
    raw`^expect\b.*toBeCloseTo\(.*,\s*-\d`,
    raw`^(?:pytest\.raises|self\.assertRaises)\(\s*(?:Base)?Exception\b|^(?:\w+\.)?assertThrows\(\s*(?:Throwable|Exception)\.class`,
  ].join('|'),
);
/** A promise that nobody waits for. */
const unawaited = /\.(?:rejects|resolves)\.|\.then\(/;
const awaited = /\b(?:await|return|yield)\b|=>\s*$|^\s*\./;

// So that neither a long line nor a long block is looked at again and again.
const lineCharsMax = 300;
const blockLinesMax = 300;

const linesOf = (code: string): readonly Line[] =>
  code
    .split('\n')
    .map(line => ({ text: line.slice(0, lineCharsMax), indent: line.slice(0, lineCharsMax).search(/\S/) }));

const opens = ({ text }: Line): boolean => /^[ \t]*\{[ \t]*$/.test(text);

/** The first line behind `at` that is indented no deeper. */
function siblingOf({ lines }: Block, at: number): number {
  const { indent } = lines[at] as Line;
  const most = Math.min(lines.length, at + blockLinesMax);
  let next = at + 1;
  // A brace of its own (C#, PHP) opens the same block.
  while (
    next < most &&
    ((lines[next] as Line).indent === -1 || (lines[next] as Line).indent > indent || opens(lines[next] as Line))
  )
    next += 1;
  return next;
}

function textBetween({ lines }: Block, from: number, to: number): string {
  return lines
    .slice(from, to)
    .map(({ text }) => text)
    .join('\n');
}

/** Behind what the lines of this block end with: `}` of its own stands before `else` or `catch` in C#. */
function afterClosing(block: Block, at: number): number {
  const next = siblingOf(block, at);
  return /^[ \t]*\}[ \t]*$/.test(block.lines[next]?.text ?? '') ? next + 1 : next;
}

function isSwallowed(block: Block, at: number): boolean {
  const next = afterClosing(block, at);
  const head = block.lines[next]?.text ?? '';
  if (!handler.test(head)) return false;
  const types = head.match(/\b[A-Z]\w*(?:(?:\.|::|\\)\w+)*/g) ?? [];
  if (types.length > 0 && !types.some(type => wideError.test(type))) return false;
  return !passesOn.test(textBetween(block, next, siblingOf(block, next)));
}

/** How often each word of a code stands in it. */
function wordsOf(code: string): ReadonlyMap<string, number> {
  const words = new Map<string, number>();
  for (const [word] of code.matchAll(/\w+/g)) words.set(word, (words.get(word) ?? 0) + 1);
  return words;
}

function isUncalled({ words }: Block, text: string): boolean {
  const [, ...names] = lonelyFunction.exec(text) ?? [];
  const name = names.find(one => one !== undefined);
  return name !== undefined && words.get(name) === 1;
}

/** `expect(result.ok).toBe(true); if (result.ok) …`: what it asks was just asserted. */
function isAsserted({ lines }: Block, at: number): boolean {
  const [, asked] = /\b(?:if|unless)\b[ (]*([\w.$]+)[ )]*[:{]?[ \t]*$/.exec((lines[at] as Line).text) ?? [];
  const above = lines.slice(Math.max(0, at - 5), at);
  return asked !== undefined && above.some(({ text }) => /\b(?:expect|assert)/.test(text) && text.includes(asked));
}

/** What opens a block with an assertion in it makes it one that may never fail. */
function isGuard(block: Block, at: number, isCall: boolean): boolean {
  const { text } = block.lines[at] as Line;
  if (never.test(text) || emptyLoop.test(text) || swallowing.test(text)) return true;
  if (/\.then\(/.test(text) && !awaited.test(text)) return block.language === 'js';
  if (attempt.test(text)) return isSwallowed(block, at);
  if (ignoredPromise.test(block.lines[siblingOf(block, at)]?.text ?? '')) return true;
  if (/^(js|python)$/.test(block.language) && isUncalled(block, text)) return !/\bdef test/.test(text);
  if ((conditional.has(block.language) && !isCall) || !condition.test(text) || isAsserted(block, at)) return false;
  return !otherwise.test(block.lines[afterClosing(block, at)]?.text ?? '');
}

function isExit(block: Block, at: number): boolean {
  const known = block.exits.get(at) ?? endsTest(block, at);
  block.exits.set(at, known);
  return known;
}

/** It ends the test before what follows in the same block. */
function endsTest(block: Block, at: number): boolean {
  const { text } = block.lines[at] as Line;
  if (leaves.test(text) || leavesIf.test(text)) return true;
  if (!condition.test(text)) return false;
  const body = block.lines.slice(at + 1, siblingOf(block, at));
  return body.some(line => leaves.test(line.text)) && !passesOn.test(body.map(line => line.text).join('\n'));
}

/** An assertion by itself, where others are conditions. */
const isCalledAssertion = ({ language, lines }: Block, at: number): boolean =>
  language === 'go' && /^[ \t]*(?:assert|require)\.\w+\(/.test(lines[at]?.text ?? '');

/** From the line of an assertion up to what opens its test. */
function isGuarded(block: Block, at: number): boolean {
  let indent = block.lines[at]?.indent ?? 0;
  const isCall = isCalledAssertion(block, at);
  for (let above = at - 1; above >= Math.max(0, at - blockLinesMax) && indent > 0; above -= 1) {
    const line = block.lines[above] as Line;
    if (line.indent === -1 || line.indent > indent || opens(line)) continue;
    if (line.indent === indent) {
      if (isExit(block, above)) return true;
      continue;
    }
    indent = line.indent;
    if (isGuard(block, above, isCall)) return true;
  }
  return false;
}

export interface Assertions {
  /** The lines of those that run and can fail. */
  readonly firm: readonly string[];
  readonly guarded: readonly string[];
}

/** It compares what is the same anyway, or nothing. */
function isVain(lines: readonly string[], at: number): boolean {
  const line = lines[at] as string;
  return takesValueForMessage(line) || comparesWithItself(line, lines.slice(Math.max(0, at - 10), at));
}

export function assertionsIn(text: string, language: Language, isWholeFile: boolean): Assertions {
  const code = codeOnly(text, language);
  const block: Block = { lines: linesOf(code), words: wordsOf(code), exits: new Map(), language };
  const lines = text.split('\n').map(one => one.slice(0, lineCharsMax));
  const vain = new Map<number, boolean>();
  const found = { firm: [] as string[], guarded: [] as string[] };
  let [line, start] = [0, 0];
  for (const at of assertionsAt(code, language, isWholeFile)) {
    for (let next = code.indexOf('\n', start); next !== -1 && next < at; next = code.indexOf('\n', start)) {
      line += 1;
      start = next + 1;
    }
    if (!vain.has(line)) vain.set(line, isVain(lines, line));
    const end = code.indexOf('\n', at);
    const rest = code.slice(at, Math.min(end === -1 ? code.length : end, at + lineCharsMax));
    const isSoft =
      weak.test(rest) ||
      (unawaited.test(rest) && !awaited.test(code.slice(start, at))) ||
      guardAfter.test(rest) ||
      (!conditional.has(language) && guardBefore.test(code.slice(Math.max(start, at - lineCharsMax), at))) ||
      isGuarded(block, line) ||
      vain.get(line) === true;
    found[isSoft ? 'guarded' : 'firm'].push((lines[line] as string).trim());
  }
  return found;
}
