// The document that a new task goes into: of the loop that works here, else the one that `ralph run` would take.
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { targetOf } from '../../src/app/task-subject.ts';
import type { Event } from '../../src/core/event.ts';
import { memoryLedger } from '../../src/ledger/memory.ts';
import { type SettingsPart, Story } from '../core/given.ts';

const directory = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-target-')));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
for (const name of ['PRD.json', 'todo.md']) writeFileSync(join(directory, name), '');

const ended: Event = { type: 'loop.ended', reason: 'goal_achieved', because: 'all are done', at: 1 };

/** A loop over todo.md, in a folder where `ralph run` alone would take PRD.json. */
async function target(part: SettingsPart = {}, then: readonly Event[] = []): Promise<string> {
  const ledger = memoryLedger();
  const here = new Story(part).events.map(event =>
    event.type === 'loop.started' ? { ...event, directory, document: join(directory, 'todo.md') } : event,
  );
  await ledger.store.append('loop-0001', 0, [...here, ...then]);
  return targetOf({ directory, home: directory, ledger }, undefined);
}

it.each<[string, string, SettingsPart, readonly Event[]]>([
  ['of an open loop over a list', 'todo.md', {}, []],
  ['that run would take, when the loop is over', 'PRD.json', {}, [ended]],
  ['that run would take, when the loop has no list', 'PRD.json', { mode: 'prompt' }, []],
])('is the one %s', async (_whose, name, part, then) => {
  expect(await target(part, then)).toBe(join(directory, name));
});

it('is the file that was named, and one that is not there is refused', async () => {
  const place = { directory, home: directory, ledger: undefined };
  expect(await targetOf(place, 'todo.md')).toBe(join(directory, 'todo.md'));
  await expect(targetOf(place, 'gone.md')).rejects.toMatchObject({ message: 'There is no file "gone.md".' });
});
