// Every command in every manner of being looked at: a terminal of 80 and of 60 columns, a pipe, without color, as JSON,
// as JSON with an error. No crash, no escape code where no color is, no line beyond the terminal, JSON as its schema says.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { schemas, schemasOf } from '../../scripts/docs-schemas.ts';
import { commands, nameOf } from '../../src/cli/command-table.ts';
import { columnsOf } from '../../src/text/columns.ts';
import { planText } from '../modes/plan/session/vault-kit.ts';
import { asks, claims, type Manner, type Scratch, scratch, type Told } from './kit.ts';
import { makeRepository, runWith, worker } from './repository.ts';

let place: Scratch;

beforeAll(async () => {
  place = scratch();
  makeRepository(place, ['US-001', 'US-002']);
  expect((await place.ralph(runWith(worker))).code).toBe(0);
  const others = join(place.root, 'others');
  mkdirSync(join(others, 'vault/Plans'), { recursive: true });
  place.put('../others/vault/Plans/a.md', planText('plan_a'));
  place.put('../others/goal.json', JSON.stringify({ turns: [{ steps: [asks] }, claims()] }));
  const goal = ['run', 'make the tests of the parser pass again', '--script', 'goal.json', '--name', 'asks', '--yes'];
  expect((await place.ralph([...goal, '--quiet'], { cwd: others })).code).toBe(5);
});

afterAll(() => place.end());

/** What they are asked for. Others get a word that names nothing: what they say then is looked at too. */
const asked: Readonly<Record<string, readonly string[]>> = {
  run: ['make the tests pass again', '--dry-run', '--agent-command', 'my-agent --headless', '--verify', 'npm test'],
  status: ['asks'],
  inbox: [],
  explain: ['shop'],
  events: ['shop'],
  logs: ['shop'],
  report: ['shop'],
  review: ['a.txt', '--dry-run', '--agent-command', 'my-agent'],
  'plan lint': ['../others/vault/Plans/a.md', '--vault', '../others/vault'],
  'plan show': ['../others/vault/Plans/a.md', '--vault', '../others/vault'],
  'task list': ['shop'],
  'task show': ['US-001', '--loop', 'shop'],
  'task import': ['PRD.json', '--to', 'list.md', '--dry-run'],
  'task export': ['shop', '--format', 'checklist'],
  diff: ['shop'],
  undo: ['shop', '--dry-run'],
  'checkpoint list': ['shop'],
  'checkpoint show': ['2', 'shop'],
  'checkpoint diff': ['1..3', 'shop', '--stat'],
  'checkpoint restore': ['1', 'shop', '--dry-run'],
  'checkpoint prune': ['shop', '--keep', '1', '--dry-run'],
  'loops list': [],
  'loops show': ['shop'],
  'audit verify': [],
  'agents list': [],
  doctor: [],
};

/** These change something, or go on: without a word that names nothing they are tests of their own. */
const left = ['demo', 'plan watch', 'init'];
const rows = commands.filter(row => !left.includes(nameOf(row).join(' ')));
const nothingOf = (usage: string): readonly string[] =>
  (usage.match(/[<[]\w+(\.\.\.)?[\]>]/g) ?? []).map(() => 'no/body');

/** Data, which is never broken into other lines. */
const unbroken = ['diff', 'events', 'logs', 'task export', 'task import'];

/** A path, an address or a hash that is longer than the line stays whole, to be copied. */
const isTooWide = (line: string, columns: number): boolean =>
  columnsOf(line) > columns && line.split(' ').every(word => columnsOf(word) < columns - 12);

const manners: readonly (readonly [string, Manner])[] = [
  ['80 columns', { columns: 80 }],
  ['60 columns', { columns: 60 }],
  ['a pipe', {}],
  ['NO_COLOR', { columns: 80, env: { NO_COLOR: '1' } }],
];

function expectJson(command: string, { stdout, code }: Told, isError: boolean): void {
  const known = isError || code !== 0 ? (['error', ...schemasOf(command)] as const) : schemasOf(command);
  const values = schemasOf(command)[0] === 'event' && !isError ? stdout.trim().split('\n') : [stdout];
  for (const text of values) {
    const value = JSON.parse(text) as object;
    const problems = known.map(name => schemas[name].safeParse(value).error?.message ?? '');
    expect([command, problems.includes('') || problems]).toEqual([command, true]);
    if (isError) expect(Object.keys(value)).toEqual(['version', 'exitCode', 'error']);
  }
}

describe.each(rows.map(row => [nameOf(row).join(' '), row] as const))('ralph %s', (name, row) => {
  const words = [...name.split(' '), ...(asked[name] ?? nothingOf(row.usage))];

  it.concurrent.each(manners)('at %s', async (_manner, manner) => {
    const { stdout, stderr } = await place.ralph(words, manner);
    expect(stderr).not.toContain('internal error');
    expect(asked[name] === undefined || stdout !== '' || stderr !== '').toBe(true);
    const { columns, env } = manner;
    if (columns === undefined || env !== undefined) expect(stdout + stderr).not.toContain('\u001b');
    if (columns === undefined) return;
    const lines = stripVTControlCharacters(unbroken.includes(name) ? stderr : stdout + stderr).split('\n');
    expect(lines.filter(line => isTooWide(line, columns))).toEqual([]);
  });

  it.concurrent('as JSON, and an error as JSON', async () => {
    const refused = row.printsNoJson !== undefined;
    const [told, wrong] = await Promise.all([
      place.ralph([...words, '--json']),
      place.ralph(['--json', ...words, '--no-such-flag']),
    ]);
    expectJson(name, told, refused);
    expectJson(name, wrong, true);
    expect([wrong.code, JSON.parse(wrong.stdout).error.code]).toEqual([2, 'unknown-option']);
  });
});

it('every command that has JSON has a schema, and every schema a command', () => {
  const used = new Set(
    commands.filter(row => row.printsNoJson === undefined).flatMap(row => schemasOf(nameOf(row).join(' '))),
  );
  expect([...used, 'error'].sort()).toEqual(Object.keys(schemas).sort());
});

it.each([
  ['status', 'shop'],
  ['task', 'list', 'shop'],
  ['run', 'make the tests pass', '--dry-run', '--agent-command', 'cat'],
])('the real binary writes no escape code into a pipe: ralph %s', async (...words) => {
  const { stdout, stderr } = await place.start(words, { env: { TERM: 'xterm-256color' } }).ended;
  expect(stdout).not.toBe('');
  expect(stdout + stderr).not.toContain('\u001b');
});
