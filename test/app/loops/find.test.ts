// Which loop is meant without a name: what changes something must belong to the folder it is said in.
import { expect, it } from 'vitest';
import { findLoop } from '../../../src/app/loops/find.ts';
import type { Ledger, LoopRow } from '../../../src/ledger/ledger.ts';

const row = (name: string, directory: string, document: string): LoopRow => ({
  loop: name,
  name,
  directory,
  document,
  startedAt: 0,
  seq: 0,
  reason: null,
  endedAt: null,
});
const rows = [
  row('newest', '/else', '/else/PRD.json'),
  row('tree', '/home/worktrees/x', '/p/PRD.json'),
  row('inner', '/p/a', '/p/a/PRD.json'),
];
const ledger = { store: { loops: async () => rows } } as unknown as Ledger;
const found = async (directory: string, changes: boolean) =>
  (await findLoop(ledger, undefined, directory, changes)).name;

it('given a folder of a loop, or one below it, or that of its document, then that loop; the nearest one wins', async () => {
  expect(await found('/p', true)).toBe('tree');
  expect(await found('/p/lib', true)).toBe('tree');
  expect(await found('/p/a/b', true)).toBe('inner');
  expect(await found('/home/worktrees/x', true)).toBe('tree');
});

it('given a folder without a loop, then the newest may be looked at, but nothing of it may be changed unnamed', async () => {
  expect(await found('/nowhere', false)).toBe('newest');
  expect(await found('/pp', false)).toBe('newest');
  await expect(found('/nowhere', true)).rejects.toThrow('No loop belongs to this folder.');
});
