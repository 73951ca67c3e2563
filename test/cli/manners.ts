// Manners of being looked at: terminals of 80 and 60 columns, a pipe, no color, JSON; and what must hold in each.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { expect } from 'vitest';
import { schemasOf } from '../../scripts/docs-schemas.ts';
import { columnsOf } from '../../src/text/columns.ts';
import type { Manner, Told } from './kit.ts';

export const manners: readonly (readonly [string, Manner])[] = [
  ['80 columns', { columns: 80 }],
  ['60 columns', { columns: 60 }],
  ['a pipe', {}],
  ['NO_COLOR', { columns: 80, env: { NO_COLOR: '1' } }],
];

/** Data, which is never broken into other lines. */
const unbroken = [
  'hook install',
  'hook uninstall',
  'diff',
  'checkpoint diff',
  'events',
  'logs',
  'task export',
  'task import',
];

/** A path, an address or a hash that is longer than the line stays whole, to be copied. */
const isTooWide = (line: string, columns: number): boolean =>
  columnsOf(line) > columns && line.split(' ').every(word => columnsOf(word) < columns - 12);

/** What the line that shows how a live loop stands is wiped with, at a terminal. */
const wipe = '\r\u001b[2K';

/** No crash, no escape code where no color is, no line beyond the terminal. */
export function expectReadable(command: string, { stdout, stderr }: Told, { columns, env }: Manner): void {
  expect(stderr).not.toContain('internal error');
  if (columns === undefined) {
    expect(stdout + stderr).not.toContain('\u001b');
    return;
  }
  const err = stderr.replaceAll(wipe, '\n');
  if (env?.['NO_COLOR'] !== undefined) expect(stdout + err).not.toContain('\u001b');
  const lines = stripVTControlCharacters(unbroken.includes(command) ? err : stdout + err).split('\n');
  expect(lines.filter(line => isTooWide(line, columns))).toEqual([]);
}

const schemaFolder = join(import.meta.dirname, '..', '..', 'docs', 'schemas');
const readers = new Map<string, ReturnType<AjvJsonSchemaValidator['getValidator']>>();

/** By the published file, as a program of somebody else would read it: a validator that knows nothing of our sources. */
function problemOf(schema: string, value: object): string {
  const read =
    readers.get(schema) ??
    new AjvJsonSchemaValidator().getValidator(JSON.parse(readFileSync(join(schemaFolder, `${schema}.json`), 'utf8')));
  readers.set(schema, read);
  return read(value).errorMessage ?? '';
}

/** One value, or one for each line, as the published schema of the command says; `isError`: the one of errors. */
export function expectJson(command: string, { stdout, code }: Told, isError: boolean): void {
  const known = isError || code !== 0 ? (['error', ...schemasOf(command)] as const) : schemasOf(command);
  const values = schemasOf(command)[0] === 'event' && !isError ? stdout.trim().split('\n') : [stdout];
  for (const text of values) {
    const value = JSON.parse(text) as object;
    const problems = known.map(name => problemOf(name, value));
    expect([command, problems.includes('') || problems]).toEqual([command, true]);
    if (isError) expect(Object.keys(value)).toEqual(['version', 'exitCode', 'error']);
  }
}
