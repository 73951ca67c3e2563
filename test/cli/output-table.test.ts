// Every command in every manner of being looked at: a terminal of 80 and of 60 columns, a pipe, without color, as JSON,
// as JSON with an error. No crash, no escape code where no color is, no line beyond the terminal, JSON as its schema says.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { schemas, schemasOf } from '../../scripts/docs-schemas.ts';
import { commands, nameOf } from '../../src/cli/command-table.ts';
import { planText } from '../modes/plan/session/vault-kit.ts';
import { asks, claims, type Scratch, scratch } from './kit.ts';
import { expectJson, expectReadable, manners } from './manners.ts';
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

/** These go on, or would change something although they are asked for nothing: output-work.test.ts has them. */
const left = ['demo', 'plan watch', 'init'];
const rows = commands.filter(row => !left.includes(nameOf(row).join(' ')));
const nothingOf = (usage: string): readonly string[] =>
  (usage.match(/[<[]\w+(\.\.\.)?[\]>]/g) ?? []).map(() => 'no/body');

describe.each(rows.map(row => [nameOf(row).join(' '), row] as const))('ralph %s', (name, row) => {
  const words = [...name.split(' '), ...(asked[name] ?? nothingOf(row.usage))];

  it.concurrent.each(manners)('at %s', async (_manner, manner) => {
    const told = await place.ralph(words, manner);
    expect(asked[name] === undefined || told.stdout !== '' || told.stderr !== '').toBe(true);
    expectReadable(name, told, manner);
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
