// Shape checks for values that a program hands over: what each has to be, and one refusal that names what is not.
import { UsageError } from '../../text/errors.ts';
import { isFields } from '../../text/fields.ts';
import { nearest } from '../../text/similarity.ts';

/** Whether a value is one, and what it has to be. */
export type Kind = readonly [isIt: (value: unknown) => boolean, wanted: string];
export type Kinds = Readonly<Record<string, Kind>>;

export const isText = (value: unknown): value is string => typeof value === 'string';

export const text: Kind = [isText, 'a text'];
export const truth: Kind = [value => typeof value === 'boolean', 'true or false'];
export const table: Kind = [isFields, 'an object'];

export const optional = ([isIt, wanted]: Kind): Kind => [value => value === undefined || isIt(value), wanted];
export const orNull = ([isIt, wanted]: Kind): Kind => [value => value === null || isIt(value), `${wanted}, or null`];
export const oneOf = (words: readonly string[]): Kind => [
  value => words.some(word => word === value),
  `one of ${words.join(', ')}`,
];

export function shown(value: unknown): string {
  if (isText(value)) return JSON.stringify(value.slice(0, 50));
  if (Array.isArray(value)) return 'a list';
  return value === null || typeof value === 'number' || typeof value === 'boolean' ? String(value) : typeof value;
}

/** `where` stands before the name, as in `limits.`. What is undefined was not said. */
export function refuseShape(given: unknown, kinds: Kinds, where: string, what: string): void {
  if (!isFields(given)) throw new UsageError(`${what}s must be an object.`);
  for (const [name, value] of Object.entries(given)) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    if (kind === undefined) {
      const known = Object.keys(kinds);
      const close = nearest(name, known);
      const all = known.length > 25 ? '' : `There are: ${known.join(', ')}.`;
      const hint = close === undefined ? all : `Is it ${where}${close}?`;
      throw new UsageError(`There is no ${what} ${JSON.stringify(`${where}${name.slice(0, 50)}`)}.`, hint);
    }
    const [isIt, wanted] = kind;
    if (value !== undefined && !isIt(value)) throw new UsageError(`${where}${name} is ${shown(value)}, not ${wanted}.`);
  }
}
