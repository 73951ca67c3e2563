// The zod schema of a config file, built from the table of fields; the only file that loads zod.
import { z } from 'zod';
import { nearest } from '../text/similarity.ts';
import { fieldOf, isKey, type Key, keys, type Values } from './fields.ts';
import { type Field, kinds } from './kinds.ts';
import { parseText } from './options.ts';
import { shown } from './reading.ts';

function expectation(field: Field): string {
  if (field.kind === 'choice') return `one of ${field.choices?.map(choice => `"${choice}"`).join(', ')}`;
  return `${kinds[field.kind].expected}${field.unlimited === true ? ', or "unlimited"' : ''}`;
}

function found(input: unknown): string {
  if (typeof input === 'string') return `the text ${shown(input)}`;
  if (input === null || typeof input === 'boolean' || typeof input === 'number') return String(input);
  return Array.isArray(input) ? 'a list' : 'an object';
}

/** Begins with "must be": `problemsOf` puts the path before it. */
const mustBe = (what: string) => (issue: { readonly input?: unknown }) => `must be ${what}, not ${found(issue.input)}`;

function inputOf(key: Key): z.ZodType {
  const field = fieldOf(key);
  const error = mustBe(expectation(field));
  if (field.kind === 'whole' && field.unlimited) return z.union([z.number(), z.literal('unlimited')], { error });
  if (field.kind === 'whole') return z.number({ error });
  if (field.kind === 'money') return z.union([z.number(), z.string()], { error });
  if (field.kind === 'truth') return z.boolean({ error });
  if (field.kind === 'choice') return z.enum(field.choices as [string, ...string[]], { error });
  if (kinds[field.kind].isList)
    return z
      .array(z.string({ error: mustBe('text in quotes') }), { error })
      .max(100, { error: 'must be at most 100 entries' });
  return z.string({ error });
}

function fieldSchema(key: Key, now: number): z.ZodType {
  return inputOf(key)
    .transform((input: unknown, context) => {
      const isList = Array.isArray(input);
      const read = (isList ? input : [input]).map((entry, index) =>
        parseText(key, String(entry), isList ? `${key}[${index}]` : key, now),
      );
      read.forEach((reading, index) => {
        if (!reading.ok)
          context.addIssue({ code: 'custom', message: reading.problem, path: isList ? [index] : [], input });
      });
      const values = read.map(reading => (reading.ok ? reading.value : undefined));
      return isList ? values.flat() : values[0];
    })
    .optional()
    .describe(fieldOf(key).description);
}

/** `now` is what a deadline must be after. */
export function configSchema(now: number): z.ZodType<Values> {
  const shape = Object.fromEntries(keys.map(key => [key, fieldSchema(key, now)]));
  return z.strictObject(
    // Editors use $schema; we allow it and never fetch it (B28).
    { $schema: z.string({ error: mustBe('text in quotes') }).optional(), ...shape },
    {
      error: issue =>
        issue.code === 'invalid_type' ? `must be an object of settings, not ${found(issue.input)}` : undefined,
    },
  ) as unknown as z.ZodType<Values>;
}

interface FieldProblem {
  /** Like `verify[1]`; empty for the document itself. */
  readonly path: string;
  readonly message: string;
}

export type Validated =
  | { readonly ok: true; readonly values: Values }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

export function validateDocument(document: unknown, now: number): Validated {
  const result = configSchema(now).safeParse(document);
  if (!result.success) return { ok: false, problems: result.error.issues.flatMap(problemsOf) };
  const known = Object.entries(result.data).filter(([key, value]) => isKey(key) && value !== undefined);
  return { ok: true, values: Object.fromEntries(known) as Values };
}

function problemsOf(issue: z.core.$ZodIssue): FieldProblem[] {
  const path = issue.path
    .map((step, index) => (typeof step === 'number' ? `[${step}]` : `${index === 0 ? '' : '.'}${String(step)}`))
    .join('');
  if (issue.code === 'unrecognized_keys') return issue.keys.map(unknownKey);
  if (issue.code === 'custom') return [{ path, message: issue.message }];
  return [{ path, message: `${path === '' ? 'the document' : path} ${issue.message}.` }];
}

function unknownKey(key: string): FieldProblem {
  const meant = nearest(key, keys);
  return {
    path: key,
    message: `unknown key ${shown(key)}; ${meant === undefined ? 'remove it.' : `did you mean ${meant}?`}`,
  };
}
