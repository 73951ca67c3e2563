// Fences about what a file says at its surface: purity, barrels, names, sizes, git words, the sentence at its top.
import ts from 'typescript';
import type { Finding } from './check.ts';
import type { House } from './house.ts';
import { lineOf, type Module } from './module.ts';
import { isWithin, placeOf } from './rooms.ts';

const impureGlobals = new Set(
  'Date performance process globalThis setTimeout setInterval setImmediate queueMicrotask fetch crypto'.split(' '),
);

export function* purity(module: Module, house: House): Iterable<Finding> {
  if (placeOf(house, module.file)?.room.isPure !== true) return;
  for (const { specifier } of module.imports) {
    if (specifier.startsWith('node:')) yield { detail: `imports ${specifier}` };
  }
  for (const node of module.nodes) {
    const what = impurityOf(node);
    if (what !== undefined) yield { detail: `line ${lineOf(module, node)}: ${what}` };
  }
}

function impurityOf(node: ts.Node): string | undefined {
  if (ts.isAwaitExpression(node) || (ts.isForOfStatement(node) && node.awaitModifier !== undefined)) return 'await';
  if (ts.isPropertyAccessExpression(node) && node.getText() === 'Math.random') return 'Math.random';
  if (ts.isIdentifier(node) && impureGlobals.has(node.text) && isReference(node) && !isGivenMoment(node))
    return node.text;
  return undefined;
}

/** `new Date(at).toISOString()`: the same text for the same moment everywhere. */
function isGivenMoment({ text, parent }: ts.Identifier): boolean {
  return text === 'Date' && /^new Date\([^)]+\)\.toISOString$/.test(parent.parent.getText());
}

// A property or a declaration may bear the name of a global: `failure.process`, `{ process: 1 }`.
function isReference(node: ts.Identifier): boolean {
  const parent = node.parent;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isQualifiedName(parent)) return parent.left === node;
  return ts.isShorthandPropertyAssignment(parent) || (parent as { name?: ts.Node }).name !== node;
}

/** What the package opens to programs. */
const packageEntries = ['src/index.ts', 'src/core-types.ts'];

export function* barrel(module: Module): Iterable<Finding> {
  if (packageEntries.includes(module.file)) return;
  const { statements } = module.tree;
  const hasExports = statements.some(ts.isExportDeclaration);
  const hasOwn = statements.some(one => !ts.isExportDeclaration(one) && !ts.isImportDeclaration(one));
  if (hasExports && !hasOwn) yield { detail: 'only passes on what others export' };
}

export function* name(module: Module, { namesRefused }: House): Iterable<Finding> {
  for (const part of module.file.split('/')) {
    const last = part.replace(/\..*$/, '').split('-').at(-1)!;
    if (namesRefused.includes(last)) yield { detail: `"${part}" says nothing about what is in it` };
  }
}

export function* fileSize(module: Module, { linesMax, tables }: House): Iterable<Finding> {
  yield* tooLong(module.lines, isWithin(module.file, tables) ? linesMax.table : linesMax.source);
}

export function* tooLong(lines: readonly string[], max: number): Iterable<Finding> {
  if (lines.length > max) yield { detail: `${lines.length} lines, at most ${max}` };
}

export function* functionSize(module: Module, { linesMax }: House): Iterable<Finding> {
  for (const node of module.nodes) {
    if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) continue;
    const first = lineOf(module, node);
    const count = module.tree.getLineAndCharacterOfPosition(node.getEnd()).line + 2 - first;
    if (count > linesMax.function)
      yield { detail: `line ${first}: ${nameOf(node)}, ${count} lines, at most ${linesMax.function}` };
  }
}

function nameOf(node: ts.SignatureDeclaration): string {
  const named = node.name ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name : undefined);
  return named?.getText() ?? 'a function';
}

const questionWords = ['What', 'How', 'Where', 'Which', 'Who', 'Whether', 'When', 'Why'];

/** The sentence may run over several comment lines; it has a capital, three words and an end. */
export function* firstLine(module: Module, { firstLineNamesTheThing }: House): Iterable<Finding> {
  const end = module.lines.findIndex(line => !line.startsWith('// '));
  const comment = module.lines
    .slice(0, end < 0 ? undefined : end)
    .map(line => line.slice(3))
    .join(' ');
  const words = comment.split(' ');
  const isSentence = /^["'`\p{Lu}\d]/u.test(comment) && words.length >= 3 && /[.!?]\)?$/.test(comment);
  if (!isSentence) yield { detail: 'does not start with a `//` sentence saying why it exists' };
  else if (firstLineNamesTheThing && questionWords.includes(words[0]!))
    yield { detail: `begins with "${words[0]}" and names no thing` };
}

/** As a person would type it. */
const destructivePhrases: readonly RegExp[] = [
  /reset['"`,\s]+--hard/,
  /clean['"`,\s]+-[a-z]*f/,
  /(?<!no-)checkout['"`,\s]+(-f|--[\s'"`]|\.)/,
  /\bstash\s+(push|pop|drop|clear|apply|create|store)/,
  /push['"`,\s]+(-f\b|--force)/,
  /git\s+gc\b/,
];
/** As an argument of ours. */
const destructiveWord = /['"`](reset|clean|checkout|stash|push|pull|gc|prune|repack|reflog|filter-branch)['"`]/g;

/** Nothing says what could destroy a user's work: reset, clean, checkout, stash, push by force, gc. */
export function* gitWords(module: Module, { gitWordsOfOthers }: House): Iterable<Finding> {
  for (const phrase of destructivePhrases) {
    const found = phrase.exec(module.text);
    if (found !== null) yield { detail: `says ${found[0]}` };
  }
  const others = gitWordsOfOthers[module.file] ?? [];
  for (const [, word] of module.text.matchAll(destructiveWord)) {
    if (!others.includes(word!)) yield { detail: `says '${word}'` };
  }
}
