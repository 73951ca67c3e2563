// Finds the room of a file and what a room opens to another: paths with placeholders, the longest match wins.
import { everything, type House, type Room } from './house.ts';

export interface Place {
  /** As it stands in the house: `modes/<mode>`. */
  readonly key: string;
  /** Which one of them: `modes/plan`. */
  readonly name: string;
  readonly room: Room;
  /** What its placeholders stand for: `{ '<mode>': 'plan' }`. */
  readonly bound: Readonly<Record<string, string>>;
}

const isPlaceholder = (part: string): boolean => /^<.+>$/.test(part);

/** `src/core/task.ts` -> `core`; `src/version.ts` -> `version.ts`; `src/modes/plan/rules.ts` -> `modes/<mode>/rules.ts`. */
export function placeOf({ rooms }: House, file: string): Place | undefined {
  const parts = file.split('/').slice(1);
  let best: Place | undefined;
  for (const [key, room] of Object.entries(rooms)) {
    const bound = boundBy(key.split('/'), parts);
    if (bound === undefined || (best !== undefined && rank(best.key) >= rank(key))) continue;
    best = { key, room, bound, name: filled(key, bound) };
  }
  return best;
}

/** Longer before shorter, then fewer placeholders before more. */
function rank(key: string): number {
  const parts = key.split('/');
  return parts.length * 100 - parts.filter(isPlaceholder).length;
}

function boundBy(key: readonly string[], parts: readonly string[]): Record<string, string> | undefined {
  if (key.length > parts.length) return undefined;
  const bound: Record<string, string> = {};
  for (const [at, wanted] of key.entries()) {
    const part = parts[at]!;
    const isFile = at === parts.length - 1;
    if (isPlaceholder(wanted) && !isFile) bound[wanted] = part;
    else if (wanted !== part) return undefined;
  }
  return bound;
}

function filled(name: string, bound: Readonly<Record<string, string>>): string {
  return name
    .split('/')
    .map(part => bound[part] ?? part)
    .join('/');
}

/** Whether `name`, in a room's list, opens the file `target` to a file that is at `from`. */
export function isOpened(name: string, from: Place, target: string, to: Place | undefined): boolean {
  if (name === everything) return true;
  const wanted = filled(name, from.bound);
  return `src/${wanted}` === target || (to !== undefined && (wanted === to.name || wanted === anyOf(to.key)));
}

/** `modes/<mode>` -> `modes/*`, as lists write it. */
export function anyOf(key: string): string {
  return key
    .split('/')
    .map(part => (isPlaceholder(part) ? everything : part))
    .join('/');
}

/** Where it counts when cycles between rooms are looked for. */
export function layerOf({ name, room }: Place): string {
  return room.layer ?? name.split('/')[0]!;
}

/** `src/a/` holds `src/a/b.ts`; `src/a.ts` holds itself. */
export function isWithin(file: string, paths: readonly string[]): boolean {
  return paths.some(path => file === path || (path.endsWith('/') && file.startsWith(path)));
}
