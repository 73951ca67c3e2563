// Reads one TypeScript file into the facts that fences ask for, by the compiler's own parser.
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import ts from 'typescript';

export interface Import {
  readonly specifier: string;
  /** The imported file, relative to the root; undefined for packages and Node's own modules. */
  readonly target: string | undefined;
  readonly isTypeOnly: boolean;
  readonly isStatic: boolean;
}

export interface Module {
  /** Relative to the root, with forward slashes. */
  readonly file: string;
  readonly lines: readonly string[];
  readonly tree: ts.SourceFile;
  readonly imports: readonly Import[];
}

export function readModule(root: string, file: string): Module {
  const text = readFileSync(join(root, file), 'utf8');
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true);
  const imports: Import[] = [];
  visit(tree, node => {
    const found = importOf(node);
    if (found !== undefined) imports.push({ ...found, target: targetOf(file, found.specifier) });
  });
  return { file, lines: text.replace(/\n$/, '').split('\n'), tree, imports };
}

export function visit(node: ts.Node, look: (node: ts.Node) => void): void {
  look(node);
  ts.forEachChild(node, child => visit(child, look));
}

export function lineOf(module: Module, position: number): number {
  return module.tree.getLineAndCharacterOfPosition(position).line + 1;
}

/** `kysely/helpers/sqlite` -> `kysely`; undefined for files and Node's own modules. */
export function packageOf(specifier: string): string | undefined {
  if (/^(\.|\/|node:)/.test(specifier)) return undefined;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

// `import { type A }` is no type-only import: without its types it still loads the file.
function importOf(node: ts.Node): Omit<Import, 'target'> | undefined {
  if (ts.isImportDeclaration(node)) {
    const isTypeOnly = node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
    return fact(node.moduleSpecifier, isTypeOnly, true);
  }
  if (ts.isExportDeclaration(node)) return fact(node.moduleSpecifier, node.isTypeOnly, true);
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return fact(node.argument.literal, true, true);
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    return fact(node.arguments[0], false, false);
  }
  return undefined;
}

function fact(node: ts.Node | undefined, isTypeOnly: boolean, isStatic: boolean): Omit<Import, 'target'> | undefined {
  return node !== undefined && ts.isStringLiteralLike(node)
    ? { specifier: node.text, isTypeOnly, isStatic }
    : undefined;
}

function targetOf(file: string, specifier: string): string | undefined {
  return specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : undefined;
}
