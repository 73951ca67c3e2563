// Finds every place where the repository leaves the fences that DESIGN section 3 puts round it.
import { existsSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { childProcess, coldStart, heavyPackage, imports } from './import-rules.ts';
import { type Module, readModule } from './module.ts';
import { barrel, fileSize, firstLine, functionSize, name, purity, testSize } from './text-rules.ts';

export interface Finding {
  readonly detail: string;
}

export interface Break extends Finding {
  readonly file: string;
  readonly rule: Rule;
}

const perSourceFile = {
  imports,
  purity,
  'child-process': childProcess,
  barrel,
  name,
  'file-size': fileSize,
  'function-size': functionSize,
  'first-line': firstLine,
  'heavy-package': heavyPackage,
} satisfies Record<string, (module: Module) => Iterable<Finding>>;

export type Rule = keyof typeof perSourceFile | 'test-size' | 'cold-start';

const sourceRules = Object.keys(perSourceFile) as (keyof typeof perSourceFile)[];

export const rules: readonly Rule[] = [...sourceRules, 'test-size', 'cold-start'];

export function findBreaks(root: string): Break[] {
  const breaks: Break[] = [];
  const sources = new Map(typescriptIn(root, 'src').map(file => [file, readModule(root, file)]));
  for (const [file, module] of sources) {
    for (const rule of sourceRules) {
      for (const { detail } of perSourceFile[rule](module)) breaks.push({ file, rule, detail });
    }
  }
  for (const { file, detail } of coldStart(sources)) breaks.push({ file, rule: 'cold-start', detail });
  for (const file of typescriptIn(root, 'test')) {
    for (const { detail } of testSize(readModule(root, file))) breaks.push({ file, rule: 'test-size', detail });
  }
  return breaks;
}

function typescriptIn(root: string, folder: string): string[] {
  const top = join(root, folder);
  if (!existsSync(top)) return [];
  return readdirSync(top, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.endsWith('.ts'))
    .map(entry => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter(file => !file.startsWith('test/fixtures/'))
    .sort();
}
