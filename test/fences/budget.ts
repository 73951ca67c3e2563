// Static-import budget per command: how many modules and bytes of src a command loads before it does anything.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import type { Finding } from './check.ts';
import { type House, house } from './house.ts';
import { loadedAtStart } from './import-rules.ts';
import { loadedWith, type Module, type Modules, readModules } from './module.ts';

interface Weight {
  readonly modules: number;
  readonly bytes: number;
}

/** How far a command may grow before somebody must say so by writing the table again. */
const growthMax = 1.05;

export function* importBudget(
  modules: Modules,
  { budgetFile, coldStartEntry }: House,
  root: string,
): Iterable<Finding> {
  if (budgetFile === undefined || coldStartEntry === undefined) return;
  const path = join(root, budgetFile);
  const budget: Record<string, Weight> = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
  const weights = weightsOf(modules, coldStartEntry);
  for (const [command, weight] of Object.entries(weights)) {
    const most = budget[command];
    if (most === undefined) yield { file: budgetFile, detail: `${command} has no budget` };
    else
      for (const unit of ['modules', 'bytes'] as const) {
        if (weight[unit] > most[unit] * growthMax)
          yield { file: budgetFile, detail: `${command} loads ${weight[unit]} ${unit}, its budget is ${most[unit]}` };
      }
  }
  for (const command of Object.keys(budget)) {
    if (!(command in weights)) yield { file: budgetFile, detail: `${command} is no command` };
  }
}

function weightsOf(modules: Modules, entry: string): Record<string, Weight> {
  const start = loadedAtStart(modules, entry);
  const rows = [...modules.values()].flatMap(module => module.nodes.flatMap(node => commandIn(module, node)));
  return Object.fromEntries(
    rows
      .sort((a, b) => (a.command < b.command ? -1 : 1))
      .map(({ command, file }) => {
        const loaded = [...loadedWith(modules, [...start, file])].filter(name => modules.has(name));
        const bytes = loaded.reduce((sum, name) => sum + Buffer.byteLength(modules.get(name)!.text), 0);
        return [command, { modules: loaded.length, bytes }];
      }),
  );
}

/** A row of the command table: an object with `usage` and `load: () => import('./file.ts')`. */
function commandIn({ imports }: Module, node: ts.Node): { command: string; file: string }[] {
  if (!ts.isObjectLiteralExpression(node)) return [];
  const value = (name: string): ts.Expression | undefined =>
    node.properties.filter(ts.isPropertyAssignment).find(one => one.name.getText() === name)?.initializer;
  const usage = value('usage');
  const words = usage !== undefined && ts.isStringLiteralLike(usage) ? usage.text.split(' ') : [];
  const specifier = /\bimport\('([^']+)'\)/.exec(value('load')?.getText() ?? '')?.[1];
  const file = imports.find(one => one.specifier === specifier)?.target;
  const command = words.filter(word => /^[a-z]/.test(word)).join(' ');
  return command === '' || file === undefined ? [] : [{ command, file }];
}

export function writeBudget(root: string, modules: Modules): void {
  const weights = weightsOf(modules, house.coldStartEntry!);
  writeFileSync(join(root, house.budgetFile!), `${JSON.stringify(weights, null, 2)}\n`);
}

// `node test/fences/budget.ts --write` writes the table again.
if (import.meta.main === true && process.argv.includes('--write')) {
  const root = join(import.meta.dirname, '..', '..');
  writeBudget(root, readModules(root, 'src'));
}
