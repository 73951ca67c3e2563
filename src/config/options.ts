// Options of one run, by setting: texts as they are typed or values of a program, read and held to the same bounds.
import { looksSecret } from '../secrets/redactor.ts';
import { fieldOf, fields, flagName, type Key, type Value } from './fields.ts';
import { type Field, kinds } from './kinds.ts';
import { good, goodAll, type Reading, refuse } from './reading.ts';
import { holdNumber, readKind } from './values.ts';

/** Settings as somebody gives them for one run: texts as they are typed, or values as they are once read. */
export type RunOptions = { readonly [Name in Key]?: Value<Name> | string | readonly string[] };

/** Reads one text as the value of a key; `label` is what the problem calls it. */
export function parseText<Name extends Key>(key: Name, text: string, label: string, now: number): Reading<Value<Name>> {
  const field: Field = fields[key];
  return readKind(field.kind, { label, text, field, now }, field.unlimited) as Reading<Value<Name>>;
}

/** Reads the value of one flag. A secret is refused, because every process can see the flags of another (B19). */
export function parseFlag<Name extends Key>(key: Name, text: string, now: number = Date.now()): Reading<Value<Name>> {
  const flag = flagName(key);
  if (looksSecret(text))
    return refuse(
      `${flag}: its value looks like a secret, and flags show in ps; use an environment variable or a file.`,
    );
  return parseText(key, text, flag, now);
}

/** What was given for one run: texts are read as those of a flag, values are held to the same bounds. */
export function readOption(key: Key, given: RunOptions[Key], now: number): Reading<unknown> {
  const field = fieldOf(key);
  const { kind, unlimited } = field;
  if (given === null || typeof given === 'number')
    return holdNumber(kind, { label: flagName(key), field, now }, given, unlimited);
  if (typeof given === 'boolean' && kind === 'truth') return good(given);
  if (typeof given !== 'object') return parseFlag(key, String(given), now);
  if (!kinds[kind].isList) return refuse(`${flagName(key)}: it is given ${given.length} times; give it once.`);
  return goodAll(given.map(text => parseFlag(key, text, now)));
}
