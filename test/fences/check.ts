// Finds every place where the repository leaves the fences that the house puts round it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { importBudget } from './budget.ts';
import { fileCycle, roomCycle } from './cycle-rules.ts';
import { agentNames, conditionalSpread, modeNames, prose } from './expression-rules.ts';
import { deadPath, folderSize } from './folder-rules.ts';
import type { House } from './house.ts';
import { childProcess, coldStart, entry, heavyPackage, imports } from './import-rules.ts';
import { linesOf, type Module, type Modules, readModules, typescriptIn } from './module.ts';
import { barrel, fileSize, firstLine, functionSize, gitWords, name, purity, tooLong } from './text-rules.ts';

export interface Finding {
  readonly detail: string;
  /** Where it is; rules that look at one file need not say. */
  readonly file?: string;
}

export interface Break extends Finding {
  readonly file: string;
  readonly rule: Rule;
}

const perFile = {
  imports,
  entry,
  purity,
  'child-process': childProcess,
  barrel,
  name,
  'file-size': fileSize,
  'function-size': functionSize,
  'first-line': firstLine,
  'heavy-package': heavyPackage,
  'git-words': gitWords,
  'conditional-spread': conditionalSpread,
  prose,
} satisfies Record<string, (module: Module, house: House) => Iterable<Finding>>;

const perTree = {
  'cold-start': coldStart,
  'import-budget': importBudget,
  'file-cycle': fileCycle,
  'room-cycle': roomCycle,
  'folder-size': folderSize,
  'dead-path': deadPath,
  'mode-names': modeNames,
  'agent-names': agentNames,
  'test-size': testSize,
} satisfies Record<string, (modules: Modules, house: House, root: string) => Iterable<Finding>>;

export type Rule = keyof typeof perFile | keyof typeof perTree;

const fileRules = Object.keys(perFile) as (keyof typeof perFile)[];
const treeRules = Object.keys(perTree) as (keyof typeof perTree)[];

export const rules: readonly Rule[] = [...fileRules, ...treeRules];

export function findBreaks(root: string, house: House, modules: Modules = readModules(root, 'src')): Break[] {
  const breaks: Break[] = [];
  for (const [file, module] of modules) {
    for (const rule of fileRules) {
      for (const { detail } of perFile[rule](module, house)) breaks.push({ file, rule, detail });
    }
  }
  for (const rule of treeRules) {
    for (const { file = '', detail } of perTree[rule](modules, house, root)) breaks.push({ file, rule, detail });
  }
  return breaks;
}

function* testSize(_modules: Modules, { linesMax }: House, root: string): Iterable<Finding> {
  for (const file of typescriptIn(root, 'test')) {
    for (const { detail } of tooLong(linesOf(readFileSync(join(root, file), 'utf8')), linesMax.test))
      yield { file, detail };
  }
}
