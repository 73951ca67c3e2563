// Refuses what no type can refuse in plain JavaScript: options that there are not, and values of another kind.
import { nearest } from '../../text/nearest.ts';
import { UsageError } from '../../text/errors.ts';
import { limitPresets } from '../../core/settings.ts';

/** Whether a value is one, and what it has to be. */
export type Kind = readonly [isIt: (value: unknown) => boolean, wanted: string];
type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string';
const isFunction = (value: unknown): boolean => typeof value === 'function';

const has = (value: unknown, ...names: readonly string[]): boolean =>
  isObject(value) && names.every(name => isFunction(value[name]));

const truth: Kind = [value => typeof value === 'boolean', 'true or false'];
const path: Kind = [value => isText(value) && !value.includes('\0'), 'a path'];
const callback: Kind = [isFunction, 'a function'];
const table: Kind = [isObject, 'an object'];
const isOwn = (value: unknown): boolean => isText(value) || isObject(value);
const own: Kind = [value => Array.isArray(value) && value.every(isOwn), 'a list of names or objects only'];

const isSignal = (value: unknown): boolean =>
  value instanceof AbortSignal || (has(value, 'addEventListener') && typeof (value as Fields)['aborted'] === 'boolean');

const isLedger = (value: unknown): boolean =>
  isObject(value) &&
  has(value['store'], 'append', 'read', 'loops', 'lease') &&
  has(value['mailbox'], 'send', 'waiting', 'watch') &&
  has(value['snapshots'], 'save', 'latest');

const modeNames = Object.keys(limitPresets);

const isEnvironment = (value: unknown): boolean =>
  isObject(value) && Object.values(value).every(one => one === undefined || isText(one));

const isLine = (value: unknown): boolean => isText(value) && /^[^\p{Cc}]{1,200}$/u.test(value.trim());

export const modeKind: Kind = [value => modeNames.some(name => name === value), `one of ${modeNames.join(', ')}`];

export const optionKinds: Readonly<Record<string, Kind>> = {
  goal: [isText, 'a text'],
  document: path,
  mode: modeKind,
  directory: path,
  home: path,
  memory: truth,
  ledger: [isLedger, 'a ledger'],
  agent: [isOwn, 'a name or an object'],
  performers: own,
  checks: own,
  limits: table,
  settings: table,
  new: truth,
  onEscalation: [
    value => isFunction(value) || ['exit', 'skip', 'wait'].some(word => word === value),
    '"exit", "skip", "wait" or a function',
  ],
  onEvent: callback,
  onNotice: callback,
  signal: [isSignal, 'an AbortSignal'],
  environment: [isEnvironment, 'an object of texts only'],
  by: [isLine, 'a line of at most 200 characters'],
};

function shown(value: unknown): string {
  if (isText(value)) return JSON.stringify(value.slice(0, 50));
  if (Array.isArray(value)) return 'a list';
  return value === null || typeof value === 'number' || typeof value === 'boolean' ? String(value) : typeof value;
}

/** `where` stands before the name, as in `limits.`. What is undefined was not said. */
export function refuseShape(given: unknown, kinds: Readonly<Record<string, Kind>>, where: string, what: string): void {
  if (!isObject(given)) throw new UsageError(`${what}s must be an object.`);
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
