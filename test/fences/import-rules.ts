// Fences about who imports whom: the rooms of the house, processes, heavy packages, cold start.
import type { Finding } from './check.ts';
import { coldStartEntry, everything, heavyPackages, house } from './house.ts';
import { type Import, type Module, packageOf } from './module.ts';

/** `src/core/task.ts` -> `core`; `src/app.ts` -> `app.ts`. */
export function roomOf(file: string): string {
  return file.split('/')[1] ?? '';
}

export function* imports(module: Module): Iterable<Finding> {
  const room = roomOf(module.file);
  if (house[room] === undefined) yield { detail: `src/${room} is not in the house (test/fences/house.ts)` };
  else
    for (const one of module.imports) {
      if (!isAllowed(module.file, one)) yield { detail: `${room} may not import ${one.target ?? one.specifier}` };
    }
}

function isAllowed(file: string, { specifier, target, isTypeOnly }: Import): boolean {
  const from = roomOf(file);
  const room = house[from]!;
  if (target === undefined) return from !== 'core' || packageOf(specifier) === undefined;
  if (target === 'package.json') return from === 'version.ts';
  if (!target.startsWith('src/')) return false;
  const to = roomOf(target);
  if (from === to) return from !== 'surfaces' || surfaceOf(file) === surfaceOf(target);
  const open = isTypeOnly ? [...room.values, ...(room.types ?? [])] : room.values;
  return open.some(name => name === everything || name === to || `src/${name}` === target);
}

function surfaceOf(file: string): string | undefined {
  return file.split('/')[2];
}

export function* childProcess(module: Module): Iterable<Finding> {
  if (roomOf(module.file) === 'process') return;
  for (const { specifier } of module.imports) {
    if (/^(node:)?child_process$/.test(specifier)) yield { detail: 'only src/process may spawn' };
  }
}

export function* heavyPackage(module: Module): Iterable<Finding> {
  for (const { specifier } of module.imports) {
    const name = packageOf(specifier);
    const home = name === undefined ? undefined : heavyPackages[name];
    if (home === undefined || (home !== null && module.file.startsWith(home))) continue;
    yield { detail: `${name} belongs ${home === null ? 'outside src' : `in ${home}`}` };
  }
}

/** Walks what the CLI loads before it does anything: static imports only, breadth first, so the chain told is the shortest. */
export function* coldStart(modules: ReadonlyMap<string, Module>): Iterable<Finding & { file: string }> {
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
