// Reads one TypeScript file into the facts that fences ask for, by the compiler's own parser, once.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';
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
  readonly text: string;
  readonly lines: readonly string[];
  readonly tree: ts.SourceFile;
  /** Every node of the tree, parents before children. */
  readonly nodes: readonly ts.Node[];
  readonly imports: readonly Import[];
}

export type Modules = ReadonlyMap<string, Module>;

export function readModules(root: string, folder: string): Map<string, Module> {
  return new Map(typescriptIn(root, folder).map(file => [file, readModule(root, file)]));
}

/** Files of fixtures are data, not ours to judge. */
export function typescriptIn(root: string, folder: string): string[] {
  const top = join(root, folder);
  if (!existsSync(top)) return [];
  return readdirSync(top, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.endsWith('.ts'))
    .map(entry => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter(file => !file.startsWith('test/fixtures/'))
    .sort();
}

export function linesOf(text: string): string[] {
  return text.replace(/\n$/, '').split('\n');
}

function readModule(root: string, file: string): Module {
  const text = readFileSync(join(root, file), 'utf8');
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true);
  const nodes: ts.Node[] = [];
  const imports: Import[] = [];
  const add = (node: ts.Node): void => {
    nodes.push(node);
    const found = importOf(node);
    if (found !== undefined) imports.push({ ...found, target: targetOf(file, found.specifier) });
    ts.forEachChild(node, add);
  };
  add(tree);
  return { file, text, lines: linesOf(text), tree, nodes, imports };
}

export function lineOf(module: Module, node: ts.Node): number {
  return module.tree.getLineAndCharacterOfPosition(node.getStart(module.tree)).line + 1;
}

/** `line 12: text of the node`, on one line and cut where it gets long. */
export function told(module: Module, node: ts.Node): string {
  const text = node.getText(module.tree).replace(/\s+/g, ' ');
  return `line ${lineOf(module, node)}: ${text.length > 100 ? `${text.slice(0, 99)}…` : text}`;
}

/** `kysely/helpers/sqlite` -> `kysely`; undefined for files and Node's own modules. */
export function packageOf(specifier: string): string | undefined {
  if (/^(\.|\/|node:)/.test(specifier)) return undefined;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** What is loaded with these files, before any of them does anything: their static imports of values, and so on. */
export function loadedWith(modules: Modules, entries: readonly string[]): ReadonlySet<string> {
  const reached = new Set(entries);
  for (const file of reached) {
    for (const { target, isTypeOnly, isStatic } of modules.get(file)?.imports ?? []) {
      if (target !== undefined && !isTypeOnly && isStatic && modules.has(target)) reached.add(target);
    }
  }
  return reached;
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
