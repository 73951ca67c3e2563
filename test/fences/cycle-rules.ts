// Fence against import cycles, between files and between rooms.
import type { Finding } from './check.ts';
import type { House } from './house.ts';
import type { Import, Modules } from './module.ts';
import { layerOf, placeOf } from './rooms.ts';

type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** Between files types count too; a lazy import ends a chain, since it is followed when everything is loaded. */
export function* fileCycle(modules: Modules, _house: House): Iterable<Finding> {
  const values = graphOf(modules, one => one.isStatic && !one.isTypeOnly);
  const told = new Set<string>();
  for (const group of knots(values)) {
    for (const file of group) told.add(file);
    yield { file: group[0]!, detail: `values: ${chainOf(values, group)}` };
  }
  const types = graphOf(modules, one => one.isStatic);
  for (const group of knots(types)) {
    if (!group.every(file => told.has(file))) yield { file: group[0]!, detail: `types: ${chainOf(types, group)}` };
  }
}

/** Types count here too. Parts of a room that belong to another layer count as that (`Room.layer`). */
export function* roomCycle(modules: Modules, house: House): Iterable<Finding> {
  const layer = (file: string): string => {
    const place = placeOf(house, file);
    return place === undefined ? file : layerOf(place);
  };
  const rooms = new Map<string, Set<string>>();
  const because = new Map<string, string>();
  for (const [file, targets] of graphOf(modules, one => one.isStatic)) {
    const from = layer(file);
    const open = rooms.get(from) ?? new Set();
    rooms.set(from, open);
    for (const target of targets) {
      const to = layer(target);
      if (to === from) continue;
      open.add(to);
      because.set(`${from} ${to}`, `${file} imports ${target}`);
    }
  }
  for (const group of knots(rooms)) {
    const ring = ringOf(rooms, group);
    const why = ring.slice(1).map((to, at) => because.get(`${ring[at]} ${to}`));
    yield { file: `src/${group[0]}`, detail: `${ring.join(' -> ')} (${why.join('; ')})` };
  }
}

function graphOf(modules: Modules, counts: (one: Import) => boolean): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>();
  for (const [file, module] of modules) {
    const targets = module.imports.filter(one => counts(one) && one.target !== undefined && modules.has(one.target));
    graph.set(file, new Set(targets.map(one => one.target!)));
  }
  return graph;
}

/** Groups in which each reaches each other (Tarjan), the smallest name first. */
function knots(graph: Graph): string[][] {
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const enter = (name: string): void => {
    order.set(name, order.size);
    low.set(name, order.get(name)!);
    stack.push(name);
    for (const next of graph.get(name) ?? []) {
      if (!order.has(next)) enter(next);
      if (stack.includes(next)) low.set(name, Math.min(low.get(name)!, low.get(next)!));
    }
    if (low.get(name) !== order.get(name)) return;
    const group = stack.splice(stack.indexOf(name));
    if (group.length > 1 || graph.get(name)?.has(name)) found.push(group.sort());
  };
  for (const name of graph.keys()) if (!order.has(name)) enter(name);
  return found;
}

function chainOf(graph: Graph, group: readonly string[]): string {
  const ring = ringOf(graph, group).join(' -> ');
  return group.length + 1 > ring.split(' -> ').length ? `${ring} (one of several among ${group.length} files)` : ring;
}

/** The shortest way from a member of the group back to itself. */
function ringOf(graph: Graph, group: readonly string[]): string[] {
  const rings = group.map(first => {
    const chains = new Map([[first, [first]]]);
    for (const [name, chain] of chains) {
      for (const next of graph.get(name) ?? []) {
        if (next === first) return [...chain, first];
        if (group.includes(next) && !chains.has(next)) chains.set(next, [...chain, next]);
      }
    }
    return [];
  });
  return rings.reduce((best, ring) => (ring.length < best.length ? ring : best));
}
