// Fences about who imports whom: rooms, entry files, processes, heavy packages, cold start, import budgets.
import type { Finding } from './check.ts';
import type { House } from './house.ts';
import { type Import, loadedWith, type Module, type Modules, packageOf } from './module.ts';
import { isOpened, isWithin, type Place, placeOf } from './rooms.ts';

export function* imports(module: Module, house: House): Iterable<Finding> {
  const place = placeOf(house, module.file);
  if (place === undefined) yield { detail: `${module.file} is in no room of the house (test/fences/house.ts)` };
  else
    for (const one of module.imports) {
      if (!isAllowed(house, module.file, place, one))
        yield { detail: `${place.name} may not import ${one.target ?? one.specifier}` };
    }
}

function isAllowed(house: House, file: string, from: Place, { specifier, target, isTypeOnly }: Import): boolean {
  const { values, types = [], takesNoPackage } = from.room;
  if (target === undefined) return takesNoPackage !== true || packageOf(specifier) === undefined;
  if (target === 'package.json') return file === house.packageJsonReader;
  if (!target.startsWith('src/')) return false;
  const to = placeOf(house, target);
  if (from.name === to?.name) return true;
  return (isTypeOnly ? [...values, ...types] : values).some(name => isOpened(name, from, target, to));
}

/** Of a folder with an entry, outsiders know the entry; of an adapter, those who put the program together know all. */
export function* entry(module: Module, { entries, ports, compositionRoots }: House): Iterable<Finding> {
  const isRoot = isWithin(module.file, compositionRoots);
  const doors = [...Object.entries(entries), ...(isRoot ? [] : Object.entries(ports))];
  for (const { target } of module.imports) {
    for (const [folder, files] of doors) {
      if (target === undefined || !target.startsWith(folder) || module.file.startsWith(folder)) continue;
      if (!files.some(name => target === `${folder}${name}`))
        yield { detail: `imports ${target}; outsiders import ${files.join(', ')} of ${folder}` };
    }
  }
}

export function* childProcess(module: Module, { spawners }: House): Iterable<Finding> {
  if (isWithin(module.file, spawners)) return;
  for (const { specifier } of module.imports) {
    if (/^(node:)?child_process$/.test(specifier)) yield { detail: `only ${spawners.join(', ')} may spawn` };
  }
}

export function* heavyPackage(module: Module, { heavyPackages }: House): Iterable<Finding> {
  for (const { specifier } of module.imports) {
    const name = packageOf(specifier);
    const home = name === undefined ? undefined : heavyPackages[name];
    if (home === undefined || (home !== null && module.file.startsWith(home))) continue;
    yield { detail: `${name} belongs ${home === null ? 'outside src' : `in ${home}`}` };
  }
}

/** Walks what the CLI loads before it does anything: static imports only, breadth first, so the chain told is the shortest. */
export function* coldStart(modules: Modules, { coldStartEntry, heavyPackages }: House): Iterable<Finding> {
  if (coldStartEntry === undefined) return;
  const chains = new Map([[coldStartEntry, [coldStartEntry]]]);
  for (const [file, chain] of chains) {
    for (const { specifier, target, isTypeOnly, isStatic } of modules.get(file)?.imports ?? []) {
      if (isTypeOnly || !isStatic) continue;
      const name = packageOf(specifier);
      if (name !== undefined && name in heavyPackages) yield { file, detail: [...chain, name].join(' -> ') };
      if (target !== undefined && !chains.has(target)) chains.set(target, [...chain, target]);
    }
  }
}

/** The files that are loaded with the CLI before a command is: the entry's static imports and those of its lazy ones. */
export function loadedAtStart(modules: Modules, entryFile: string): ReadonlySet<string> {
  const first = loadedWith(modules, [entryFile]);
  const lazy = (modules.get(entryFile)?.imports ?? []).filter(one => !one.isStatic && modules.has(one.target ?? ''));
  return loadedWith(modules, [...first, ...lazy.map(one => one.target!)]);
}
