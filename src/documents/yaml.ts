// YAML as plain data with the place of every node: no tags, no prototype keys, bounded depth, size and aliases.
import { type Document, isAlias, isMap, isScalar, isSeq, type Node, parseDocument, type YAMLMap } from 'yaml';
import type { Json } from '../core/task.ts';
import { shown, visible } from '../text/text.ts';
import { dangerousKeys, depthMax } from './json.ts';
import { conflictOffset, type ProblemList } from './problems.ts';

/** Each alias may repeat a whole tree; more than this is an attack (YAML bomb), not a document. */
const aliasesHighest = 100;
const nodesMax = 4_000_000;

/** Faults that the package words for programmers, by its code or the start of its message. */
const tooDeep = { sign: 'Maximum call stack', message: 'The YAML is nested too deeply.', fix: 'Flatten it.' };
const secondDocument = { sign: 'MULTIPLE_DOCS', message: 'The YAML holds a second document.' };
const faults = [tooDeep, { ...secondDocument, fix: 'Keep one: remove the --- or ... before it.' }];

export interface YamlText {
  readonly document: Document.Parsed;
  readonly value: Json;
}

/** Undefined when the source is no YAML at all; with problems added, the value is not to be used. */
export function readYaml(
  source: string,
  problems: ProblemList,
  { offset = 0, aliasesMax = aliasesHighest }: { readonly offset?: number; readonly aliasesMax?: number } = {},
): YamlText | undefined {
  let document: Document.Parsed;
  try {
    // Our own walk finds keys that stand twice: the package compares each with all before it.
    document = parseDocument(source, { schema: 'core', uniqueKeys: false, prettyErrors: false, logLevel: 'error' });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    problems.add(offset, tooDeep.message, tooDeep.fix);
    return undefined;
  }
  const [fault] = document.errors;
  const known = faults.find(({ sign }) => fault?.code === sign || fault?.message.startsWith(sign));
  if (fault !== undefined && known !== undefined) {
    problems.add(offset + fault.pos[0], known.message, known.fix);
    return undefined;
  }
  if (fault === undefined) return { document, value: new YamlWalk(document, problems, offset, aliasesMax).read() };
  const conflict = conflictOffset(source);
  if (conflict !== undefined) problems.addMerge(offset + conflict);
  else {
    const message = visible(fault.message.split('\n')[0]!.slice(0, 200)).replace(/\.$/, '');
    problems.add(offset + fault.pos[0], `This is not YAML: ${message}.`, 'Correct the YAML here or just before.');
  }
  return undefined;
}

const reservedWords = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

/** A text as YAML on one line: plain where the pattern says that this is safe, in double quotes elsewhere. */
export function yamlScalar(text: string, plain: RegExp): string {
  if (plain.test(text) && !reservedWords.test(text)) return text;
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff]/g,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

class YamlWalk {
  private readonly document: Document.Parsed;
  private readonly problems: ProblemList;
  private readonly offset: number;
  private readonly aliasesMax: number;
  private aliases = 0;
  private nodes = 0;

  constructor(document: Document.Parsed, problems: ProblemList, offset: number, aliasesMax: number) {
    this.document = document;
    this.problems = problems;
    this.offset = offset;
    this.aliasesMax = aliasesMax;
  }

  read(node: Node | null = this.document.contents, depth = 0): Json {
    if (node === null) return null;
    this.nodes += 1;
    if (depth > depthMax || this.nodes > nodesMax) {
      const what = depth > depthMax ? `nested deeper than ${depthMax} levels` : 'larger than 4,000,000 values';
      if (this.nodes <= nodesMax + 1) this.fail(node, `The YAML is ${what}.`, 'Flatten it.');
      return null;
    }
    if (isAlias(node)) return this.readAlias(node, depth);
    if (node.tag !== undefined) {
      this.fail(node, `The tag ${shown(node.tag)} is not allowed.`, 'Write the value without a tag.');
      return null;
    }
    if (isSeq(node)) return node.items.map(item => this.read(item as Node | null, depth + 1));
    return isMap(node) ? this.readMap(node, depth) : this.readScalar(node);
  }

  private readMap(map: YAMLMap, depth: number): Json {
    const members: Record<string, Json> = Object.create(null) as Record<string, Json>;
    for (const { key, value } of map.items) {
      const name = this.readKey(key as Node, members);
      const member = this.read(value as Node | null, depth + 1);
      if (name !== undefined) members[name] = member;
    }
    return members;
  }

  private readScalar(node: Node): Json {
    const value: unknown = isScalar(node) ? node.value : null;
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    this.fail(node, `${shown(String(value))} is no plain value.`, 'Write text, a plain number, true, false or null.');
    return null;
  }

  private readAlias(node: Node, depth: number): Json {
    this.aliases += 1;
    if (this.aliases > this.aliasesMax) {
      const what = this.aliasesMax === 0 ? 'an alias here' : `more than ${this.aliasesMax} aliases`;
      if (this.aliases === this.aliasesMax + 1) this.fail(node, `The YAML has ${what}.`, 'Write the values out.');
      return null;
    }
    const target = isAlias(node) ? node.resolve(this.document) : undefined;
    if (target !== undefined) return this.read(target, depth + 1);
    this.fail(node, 'This alias has no anchor before it.', 'Write the value out.');
    return null;
  }

  private readKey(key: Node, members: Readonly<Record<string, Json>>): string | undefined {
    // What stands before a key hides where its line begins, and so where another key could be added.
    const isPlain = isScalar(key) && key.anchor === undefined && key.tag === undefined;
    const value: unknown = isPlain ? key.value : undefined;
    const isWord = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
    const name = String(value);
    if (!isWord) this.fail(key, 'A key must be a plain word.', 'Write it as text.');
    else if (dangerousKeys.has(name)) {
      this.fail(key, `The key ${shown(name)} is not allowed.`, 'Rename or remove it.');
    } else if (name in members) this.fail(key, `The key ${shown(name)} stands twice.`, 'Keep one of the two.');
    else return name;
    return undefined;
  }

  private fail(node: Node, message: string, fix: string): void {
    this.problems.add(this.offset + (node.range?.[0] ?? 0), message, fix);
  }
}
