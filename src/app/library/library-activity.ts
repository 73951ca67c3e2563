// Reads what a program's own performer yields: made anew of known parts, or one sentence about what is wrong with it.
import type { Usage } from '../../core/event.ts';
import { failureRules } from '../../core/failure.ts';
import { present } from '../../core/fold.ts';
import { takeCharacters, takeLastCharacters } from '../../text/text.ts';
import type { Activity } from '../../agents/performer.ts';

/** A field, whether a value is one, and what it has to be. */
type Part = readonly [name: string, isIt: (value: unknown) => boolean, wanted: string];
type Fields = Readonly<Record<string, unknown>>;
type Taken = { readonly ok: true; readonly fields: Fields } | { readonly ok: false; readonly problem: string };

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => Number.isFinite(value);
/** What cannot be counted would count for nothing against a limit. */
const isAmount = (value: unknown): boolean => isNumber(value) && Number(value) >= 0 && Number(value) <= amountMax;
const amountMax = Number.MAX_SAFE_INTEGER;
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
const orNone =
  (isIt: Part[1]): Part[1] =>
  value =>
    value === undefined || isIt(value);

const amount = (name: string): Part => [name, isAmount, 'a number from 0 on'];
const text = (name: string): Part => [name, isText, 'a text'];

const usageParts: readonly Part[] = [
  amount('inputTokens'),
  amount('outputTokens'),
  amount('cacheReadTokens'),
  amount('cacheWriteTokens'),
  amount('costUsdMicros'),
  ['estimated', value => typeof value === 'boolean', 'true or false'],
];

const kinds = Object.keys(failureRules);

const failureParts: readonly Part[] = [
  ['kind', value => kinds.some(kind => kind === value), `one of ${kinds.join(', ')}`],
  text('detail'),
  ['exitCode', orNone(isNumber), 'a number'],
  ['resetAtMs', orNone(isNumber), 'a time'],
];

const parts: { readonly [Type in Activity['type']]: readonly Part[] } = {
  // One that outlives us is ended by its id, so it must be one.
  spawned: [
    ['pid', value => Number.isSafeInteger(value) && Number(value) > 1, 'the id of a process'],
    text('startTime'),
    text('host'),
  ],
  text: [text('text'), ['channel', value => value === 'output' || value === 'errors', '"output" or "errors"']],
  tool: [text('name'), text('detail')],
  usage: [['usage', isObject, 'an object']],
  context: [['usedFraction', isAmount, 'a number from 0 to 1']],
  told: [text('note')],
  session: [text('id')],
  limit: [['resetAtMs', isNumber, 'a time'], text('detail')],
  ended: [text('message'), ['failure', orNone(isObject), 'an object'], ['reaped', orNone(isAmount), 'a number']],
};

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(takeCharacters(value, 50));
  return value === null || typeof value === 'number' ? String(value) : typeof value;
}

/** Each field is looked at once; those that are not known are left behind. */
function take(value: Fields, known: readonly Part[], at: string): Taken {
  const all = known.map(([name]) => [name, value[name]] as const).filter(([, one]) => one !== undefined);
  const fields: Fields = Object.fromEntries(all);
  const wrong = known.find(([name, isIt]) => !isIt(fields[name]));
  if (wrong === undefined) return { ok: true, fields };
  const [name, , wanted] = wrong;
  return { ok: false, problem: `${at}.${name} is ${shown(fields[name])}, not ${wanted}` };
}

/** As much as an agent CLI may say; what counts stands at its end. */
const messageCharsMax = 1_000_000;
const detailCharsMax = 4_000;

const cuts: Readonly<Record<string, (value: string) => string>> = {
  message: value => takeLastCharacters(value, messageCharsMax),
  detail: value => takeLastCharacters(value, detailCharsMax),
  name: value => takeCharacters(value, detailCharsMax),
};

const cut = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? (cuts[name]?.(value) ?? value) : value,
    ]),
  );

type Read<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly problem: string };

export function readUsage(value: unknown, at = 'usage'): Read<Usage> {
  if (!isObject(value)) return { ok: false, problem: `${at} is ${shown(value)}, not an object` };
  const taken = take(value as Fields, usageParts, at);
  return taken.ok ? { ok: true, value: taken.fields as unknown as Usage } : taken;
}

export function readActivity(value: unknown): Read<Activity> {
  if (!isObject(value)) return { ok: false, problem: `an activity is ${shown(value)}, not an object` };
  const { type } = value as { readonly type?: unknown };
  if (typeof type !== 'string' || !Object.hasOwn(parts, type))
    return { ok: false, problem: `its type is ${shown(type)}, not one of ${Object.keys(parts).join(', ')}` };
  const taken = take(value as Fields, parts[type as Activity['type']], type);
  if (!taken.ok) return taken;
  const { usage, failure, usedFraction } = taken.fields;
  const inner = type === 'usage' ? readUsage(usage, 'usage.usage') : undefined;
  if (inner?.ok === false) return inner;
  const failed = failure === undefined ? undefined : take(failure as Fields, failureParts, 'ended.failure');
  if (failed?.ok === false) return failed;
  const activity = present({
    type,
    ...cut(taken.fields),
    usage: inner?.value,
    failure: failed && cut(failed.fields),
    usedFraction: usedFraction === undefined ? undefined : Math.min(1, Number(usedFraction)),
  });
  return { ok: true, value: activity as unknown as Activity };
}
