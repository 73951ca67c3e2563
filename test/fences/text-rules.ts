// Fences about what a file says: purity, barrels, names, sizes, the sentence at its top.
import ts from 'typescript';
import type { Finding } from './check.ts';
import { house, linesMax, namesRefused } from './house.ts';
import { roomOf } from './import-rules.ts';
import { lineOf, type Module, visit } from './module.ts';

const impureGlobals = new Set(
  'Date performance process globalThis setTimeout setInterval setImmediate queueMicrotask fetch crypto'.split(' '),
);

export function* purity(module: Module): Iterable<Finding> {
  if (house[roomOf(module.file)]?.isPure !== true) return;
  for (const { specifier } of module.imports) {
    if (specifier.startsWith('node:')) yield { detail: `imports ${specifier}` };
  }
  const found: Finding[] = [];
  visit(module.tree, node => {
    const what = impurityOf(node);
    if (what !== undefined) found.push({ detail: `line ${lineOf(module, node.getStart())}: ${what}` });
  });
  yield* found;
}

function impurityOf(node: ts.Node): string | undefined {
  if (ts.isAwaitExpression(node) || (ts.isForOfStatement(node) && node.awaitModifier !== undefined)) return 'await';
  if (ts.isPropertyAccessExpression(node) && node.getText() === 'Math.random') return 'Math.random';
  if (ts.isIdentifier(node) && impureGlobals.has(node.text) && isReference(node)) return node.text;
  return undefined;
}

// A property or a declaration may bear the name of a global: `failure.process`, `{ process: 1 }`.
function isReference(node: ts.Identifier): boolean {
  const parent = node.parent;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isQualifiedName(parent)) return parent.left === node;
  return ts.isShorthandPropertyAssignment(parent) || (parent as { name?: ts.Node }).name !== node;
}

export function* barrel(module: Module): Iterable<Finding> {
  if (module.file === 'src/index.ts') return;
  const { statements } = module.tree;
  const hasExports = statements.some(ts.isExportDeclaration);
  const hasOwn = statements.some(one => !ts.isExportDeclaration(one) && !ts.isImportDeclaration(one));
  if (hasExports && !hasOwn) yield { detail: 'only passes on what others export' };
}

export function* name(module: Module): Iterable<Finding> {
  for (const part of module.file.split('/')) {
    const last = part.replace(/\..*$/, '').split('-').at(-1)!;
    if (namesRefused.includes(last)) yield { detail: `"${part}" says nothing about what is in it` };
  }
}

export function* fileSize(module: Module): Iterable<Finding> {
  yield* tooLong(module, linesMax.source);
}

export function* testSize(module: Module): Iterable<Finding> {
  yield* tooLong(module, linesMax.test);
}

function* tooLong(module: Module, max: number): Iterable<Finding> {
  if (module.lines.length > max) yield { detail: `${module.lines.length} lines, at most ${max}` };
}

export function* functionSize(module: Module): Iterable<Finding> {
  const found: Finding[] = [];
  visit(module.tree, node => {
    if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) return;
    const first = lineOf(module, node.getStart());
    const count = lineOf(module, node.getEnd()) - first + 1;
    if (count > linesMax.function)
      found.push({ detail: `line ${first}: ${count} lines, at most ${linesMax.function}` });
  });
  yield* found;
}

/** The sentence may run over several comment lines; it has a capital, three words and an end. */
export function* firstLine(module: Module): Iterable<Finding> {
  const end = module.lines.findIndex(line => !line.startsWith('// '));
  const comment = module.lines
    .slice(0, end < 0 ? undefined : end)
    .map(line => line.slice(3))
    .join(' ');
  const isSentence = /^["'`\p{Lu}\d]/u.test(comment) && comment.split(' ').length >= 3 && /[.!?]\)?$/.test(comment);
  if (!isSentence) yield { detail: 'does not start with a `//` sentence saying why it exists' };
}
