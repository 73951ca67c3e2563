// Measures of a source tree as a table: sizes, halves, mode names, spreads, prose, dialect. `--root DIR` measures another
// checkout, `--breaks` lists what leaves the fences instead, `--calls` counts the functions of one `ralph run`.
import { basename, dirname, join, resolve } from 'node:path';
import ts from 'typescript';
import { calledFunctions, callRows } from './calls.ts';
import { findBreaks, rules } from './check.ts';
import { agentNames, conditionalSpread, modeNames, prose } from './expression-rules.ts';
import { house } from './house.ts';
import { type Modules, readModules } from './module.ts';

/** The words that HOUSE section 2 names, and those of its table of names that are no words of the field. */
const dialect = new Set(
  'kept held spared placed ground deeds deed wishes wish cares theirs aside brought landed staff hired'.split(' '),
);
const renamed = new Set(
  (
    'spot hireable anew survey trial clocked unsaved echoes substance refusal stepwise sparingly workplace seal sweep ' +
    'territory runDetached helm strike remembered'
  ).split(' '),
);

function largestFolder(modules: Modules): string {
  const sizes = new Map<string, number>();
  for (const file of modules.keys()) sizes.set(dirname(file), (sizes.get(dirname(file)) ?? 0) + 1);
  const [folder, count] = [...sizes].reduce((best, one) => (one[1] > best[1] ? one : best));
  return `${count} (${folder})`;
}

/** Files with exactly one importer, in their own folder: halves of it, more often than not. */
function halves(modules: Modules): string[] {
  const importers = new Map<string, Set<string>>();
  for (const [file, { imports }] of modules) {
    for (const { target } of imports) {
      if (target !== undefined) importers.set(target, (importers.get(target) ?? new Set()).add(file));
    }
  }
  return [...modules.keys()].filter(file => {
    const [only, ...more] = importers.get(file) ?? [];
    return only !== undefined && more.length === 0 && dirname(only) === dirname(file);
  });
}

function statements(modules: Modules): number {
  const isOne = (node: ts.Node): boolean =>
    node.kind >= ts.SyntaxKind.FirstStatement && node.kind <= ts.SyntaxKind.LastStatement;
  const isDeclared = (node: ts.Node): boolean =>
    ts.isImportDeclaration(node) ||
    ts.isExportDeclaration(node) ||
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node);
  let count = 0;
  for (const { nodes } of modules.values()) count += nodes.filter(node => isOne(node) || isDeclared(node)).length;
  return count;
}

const wordsIn = (name: string): string[] => name.split(/(?=[A-Z])|[-_.]/).map(word => word.toLowerCase());

function spoken(modules: Modules, list: ReadonlySet<string>): string {
  const speaks = (name: string): boolean => wordsIn(name).some(word => list.has(word));
  const names = new Set<string>();
  let count = 0;
  for (const { nodes } of modules.values()) {
    for (const node of nodes) {
      if (!ts.isIdentifier(node) || !speaks(node.text)) continue;
      count += 1;
      names.add(node.text);
    }
  }
  const files = [...modules.keys()].filter(file => speaks(basename(file, '.ts')));
  return `${count} identifiers (${names.size} different), ${files.length} file names`;
}

function measures(root: string): Record<string, string | number> {
  const modules = readModules(root, 'src');
  const all = [...modules.values()];
  const anywhere = { ...house, proseReaders: [] };
  const found = halves(modules);
  return {
    files: modules.size,
    lines: all.reduce((sum, { lines }) => sum + lines.length, 0),
    statements: statements(modules),
    'largest folder': largestFolder(modules),
    'halves (one importer, in their own folder)': found.length,
    'mode names outside src/modes': [...modeNames(modules, house)].length,
    'agent names outside their records': [...agentNames(modules, house)].length,
    'conditional spreads': all.flatMap(module => [...conditionalSpread(module)]).length,
    'prose decisions': all.flatMap(module => [...prose(module, house)]).length,
    'prose decisions, readers of foreign text included': all.flatMap(module => [...prose(module, anywhere)]).length,
    'dialect words': spoken(modules, dialect),
    'other names to be replaced': spoken(modules, renamed),
  };
}

function breaks(root: string): string {
  const found = findBreaks(root, house);
  return rules
    .map(rule => {
      const own = found.filter(one => one.rule === rule);
      return [`## ${rule}: ${own.length}`, ...own.map(({ file, detail }) => `${file}: ${detail}`), ''].join('\n');
    })
    .join('\n');
}

const words = process.argv.slice(2);
const at = words.indexOf('--root');
const root = at < 0 ? join(import.meta.dirname, '..', '..') : resolve(words[at + 1] ?? '.');
if (words.includes('--breaks')) console.log(breaks(root));
else if (words.includes('--calls')) {
  console.log('| room | files | named functions | anonymous functions |\n|---|---|---|---|');
  for (const row of callRows(calledFunctions(root))) console.log(`| ${row.join(' | ')} |`);
} else for (const [name, value] of Object.entries(measures(root))) console.log(`| ${name} | ${value} |`);
