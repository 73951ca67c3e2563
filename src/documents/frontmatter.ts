// Front matter, the block of YAML at the top of a Markdown document: read safely, changed one value at a time.
import { isMap, isScalar, type Pair, type Scalar, type YAMLMap } from 'yaml';
import type { Json } from '../core/task.ts';
import { shown } from '../text/text.ts';
import type { Refusal } from './document.ts';
import { type Edit, startOf, withEdits } from './edits.ts';
import { ProblemList } from './problems.ts';
import { readYaml, yamlScalar } from './yaml.ts';

/** A front matter is a handful of values; the text belongs below it. */
const blockCharsMax = 256 * 1024;

export interface FrontMatter {
  readonly ok: true;
  /** False: the text has none, and all of it is the body. */
  readonly isPresent: boolean;
  /** Without a prototype: every key is the document's own. */
  readonly values: Readonly<Record<string, Json>>;
  /** Where the value of each key stands in the text, for problems that name their line. */
  readonly offsets: ReadonlyMap<string, number>;
  /** Where the body begins: behind the closing line, a BOM left out. */
  readonly bodyStart: number;
}

export type FrontMatterResult = FrontMatter | Refusal;

interface Block {
  /** [start, end) is the YAML between the two lines. */
  readonly start: number;
  readonly end: number;
  readonly bodyStart: number;
  readonly lineEnd: string;
}

const opening = /^---[ \t]*(\r?\n)/;
const closing = /^---[ \t]*(?:\r?\n|$)/gm;

function locate(text: string, begin: number): Block | 'absent' | 'unclosed' {
  const first = opening.exec(text.slice(begin, begin + 200));
  if (first === null) return 'absent';
  const start = begin + first[0].length;
  closing.lastIndex = start;
  const last = closing.exec(text);
  if (last === null) return 'unclosed';
  return { start, end: last.index, bodyStart: last.index + last[0].length, lineEnd: first[1]! };
}

/** `begin`: where the line that opens it must stand. The problems have none yet. */
export function readFrontMatter(text: string, begin = startOf(text), problems = new ProblemList()): FrontMatterResult {
  const block = locate(text, begin);
  if (block === 'absent') {
    return { ok: true, isPresent: false, values: Object.create(null), offsets: new Map(), bodyStart: begin };
  }
  if (block === 'unclosed') {
    problems.add(begin, 'The front matter is never closed.', 'Add a line --- behind its last key.');
    return problems.refusal(text);
  }
  const read = readBlock(text, block, problems);
  if (problems.count > 0 || read === undefined) return problems.refusal(text);
  const offsets = new Map(read.pairs.map(pair => [String(pair.key.value), block.start + valueStart(pair)]));
  return { ok: true, isPresent: true, values: read.values, offsets, bodyStart: block.bodyStart };
}

type BlockPair = Pair<Scalar, Scalar | null>;

interface ReadBlock {
  readonly values: Readonly<Record<string, Json>>;
  readonly pairs: readonly BlockPair[];
  readonly indent: string;
}

function readBlock(text: string, block: Block, problems: ProblemList): ReadBlock | undefined {
  if (block.end - block.start > blockCharsMax) {
    problems.add(block.start, 'The front matter is larger than 256 KB.', 'Move the text below it.');
    return undefined;
  }
  const source = text.slice(block.start, block.end);
  // A value that others point to could not be changed alone.
  const read = readYaml(source, problems, { offset: block.start, aliasesMax: 0 });
  if (read === undefined) return undefined;
  const { contents } = read.document;
  if (contents === null || (isScalar(contents) && contents.source === '')) {
    return { values: Object.create(null), pairs: [], indent: '' };
  }
  if (!isMap(contents) || contents.flow === true) {
    problems.add(block.start, 'The front matter must be keys and values.', 'Write one "key: value" on each line.');
    return undefined;
  }
  const start = contents.range![0];
  return {
    values: read.value as Readonly<Record<string, Json>>,
    pairs: (contents as YAMLMap<Scalar, Scalar>).items,
    indent: source.slice(source.lastIndexOf('\n', start - 1) + 1, start),
  };
}

function valueStart(pair: BlockPair): number {
  return (pair.value ?? pair.key).range![0];
}

export type Plain = string | number | boolean | null;

/**
 * The text with this one value; the key is added at the end of the block when it is missing. A text whose front matter is
 * absent or cannot be read, or whose value is a list or a map, comes back as it is.
 */
export function setFrontMatter(text: string, key: string, value: Plain, begin = startOf(text)): string {
  const block = locate(text, begin);
  if (typeof block === 'string') return text;
  const problems = new ProblemList();
  const read = readBlock(text, block, problems);
  if (read === undefined || problems.count > 0) return text;
  if (Object.hasOwn(read.values, key) && read.values[key] === value) return text;
  const pair = read.pairs.find(each => String(each.key.value) === key);
  const line = `${read.indent}${key}: ${written(value)}${block.lineEnd}`;
  const added: Edit = { start: block.end, end: block.end, text: line };
  const edit = pair === undefined ? added : valueEdit(text, block, pair, written(value));
  const changed = edit === undefined ? text : withEdits(text, [edit]);
  // Odd YAML may read differently with one more line in it; then no change is the smaller fault.
  const after = readFrontMatter(changed, begin);
  return after.ok && after.values[key] === value ? changed : text;
}

/** The new value in the place of the old one; undefined for what is no scalar. */
function valueEdit(text: string, block: Block, pair: BlockPair, next: string): Edit | undefined {
  const { key, value } = pair;
  if (value !== null && !isScalar(value)) return undefined;
  if (value === null || value.range![0] === value.range![1]) {
    const colon = text.indexOf(':', block.start + key.range![1]) + 1;
    return { start: colon, end: colon, text: ` ${next}` };
  }
  const start = block.start + value.range![0];
  let end = block.start + value.range![1];
  while (end > start && /[\r\n]/.test(text[end - 1]!)) end -= 1;
  return { start, end, text: next };
}

const word = /^[A-Za-z_][\w./-]*$/;
const written = (value: Plain): string => (typeof value === 'string' ? yamlScalar(value, word) : String(value));

/** Adds problems at the values of keys, or at the top of the document where a key is missing. */
export const valueProblems =
  (problems: ProblemList, { offsets, values }: FrontMatter) =>
  (key: string, rule: string, fix: string): void =>
    problems.add(offsets.get(key) ?? 0, `${key} must be ${rule}, not ${shown(values[key])}.`, fix);
