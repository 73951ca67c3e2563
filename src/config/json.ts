// JSON of config files: comments and trailing commas are allowed (B27), duplicate and dangerous keys are not (B22, B23).
import { withEdits } from '../documents/edits.ts';
import { type JsonPath, keyWatcher, scanJson } from '../documents/json.ts';
import { parseJson } from '../documents/json-tasks.ts';
import { pathText } from '../documents/problems.ts';
import { shown } from './reading.ts';

const depthMax = 50;
/** Settings are never deeper than this, so that a hostile file cannot make the table of places large. */
const placedDepthMax = 2;

export type ReadJson =
  /** `places`: the offset of each key and element by its path, like `verify[1]`. */
  | { readonly ok: true; readonly value: unknown; readonly places: ReadonlyMap<string, number> }
  | { readonly ok: false; readonly message: string; readonly offset: number };

export function readCommentedJson(text: string): ReadJson {
  const places = new Map<string, number>();
  const ignored: { start: number; end: number; text: '' }[] = [];
  let refused: ReadJson | undefined;
  const keys = keyWatcher((what, key, offset) => {
    const message = `the key ${shown(key)} is ${what === 'twice' ? 'given twice; keep one' : 'not allowed; remove it'}`;
    refused ??= { ok: false, message, offset };
  });
  const place = (path: JsonPath, depth: number, offset: number): void => {
    const name = depth > placedDepthMax ? '' : pathText(path.slice(0, depth));
    if (name !== '' && !places.has(name)) places.set(name, offset);
  };
  const fault = scanJson(text, {
    depthMax,
    key(path, depth, offset) {
      keys.key(path, depth, offset);
      place(path, depth, offset);
    },
    value(path, depth, start) {
      keys.value(path, depth, start, start);
      if (typeof path[depth - 1] === 'number') place(path, depth, start);
    },
    ignored: (start, end) => ignored.push({ start, end, text: '' }),
  });
  if (refused !== undefined) return refused;
  if (fault === undefined) return { ok: true, value: parseJson(withEdits(text, ignored)), places };
  return { ok: false, message: `${fault.message} ${fault.fix.replace(/\.$/, '')}`, offset: fault.offset };
}
