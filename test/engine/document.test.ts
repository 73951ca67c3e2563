// People and agents edit the document while the loop runs: what a person adds is done, what an agent decides is not.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Activity } from '../../src/agents/performer.ts';
import type { TaskSource } from '../../src/documents/document.ts';
import { fileSource } from '../../src/documents/file.ts';
import { prdMode } from '../../src/modes/prd/mode.ts';
import { defaultSettings } from '../../src/modes/registry.ts';
import { claims, eventsIn, makeEngine, makeWorld, runWorld } from './world.ts';

interface Story {
  readonly id: string;
  readonly passes: boolean;
  readonly skipped?: boolean;
}

let folder: string;
const path = (): string => join(folder, 'PRD.json');
const story = (id: string, more: object = {}) => ({
  ...{ id, title: id, description: 'd', criteria: ['c'], passes: false },
  ...more,
});
const write = (stories: readonly object[]): void =>
  writeFileSync(path(), JSON.stringify({ project: 'p', description: 'd', userStories: stories }, null, 2));
const stories = (): readonly Story[] => JSON.parse(readFileSync(path(), 'utf8')).userStories;
const source = (): TaskSource =>
  fileSource({
    path: path(),
    format: prdMode.formats[0]!,
    copyPath: join(folder, 'copy'),
    instructions: { path: join(folder, 'PROMPT.md'), text: 'work', isWritten: true },
  });
/** A check that passes, and during which a person may do something. */
const proof = (during: (run: number) => void) => {
  let runs = 0;
  const run = async () => {
    runs += 1;
    during(runs);
    return { name: 'proof', passed: true, detail: '', durationMs: 1 };
  };
  return [{ name: 'proof', run }];
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ralph-document-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a story that a person adds', () => {
  it.each([1, 2])('while check %i of two runs is worked on before the loop calls itself done', async at => {
    write([story('A'), story('B')]);
    const checks = proof(run => {
      if (run === at) write([...stories(), story('C')]);
    });
    const world = makeWorld(0);
    const result = await runWorld(world, makeEngine(world, claims, { source: source(), checks }), {
      settings: { checks: ['proof'] },
    });
    expect(result).toMatchObject({ type: 'ended', state: { control: { ended: { reason: 'goal_achieved' } } } });
    expect(stories().map(({ id, passes }) => [id, passes])).toEqual([
      ['A', true],
      ['B', true],
      ['C', true],
    ]);
  });
});

describe('an agent that edits the document', () => {
  it('cannot skip its own story: the edit is put back', async () => {
    write([story('A')]);
    const skips = async function* (): AsyncGenerator<Activity> {
      write([story('A', { skipped: true })]);
      yield { type: 'ended', message: 'could not do it' };
    };
    const world = makeWorld(0);
    const limits = { ...defaultSettings('prd').limits, iterationsMax: 1 };
    const engine = makeEngine(world, skips, { source: source(), checks: proof(() => {}) });
    await runWorld(world, engine, { settings: { checks: ['proof'], limits } });
    expect(stories()).toMatchObject([{ passes: false, skipped: false }]);
  });
});

describe('a document that cannot be written', () => {
  it('is a question, never a silent "done"; when it can be written again the same run finishes', async () => {
    const world = makeWorld(2);
    let isWritable = false;
    const document: TaskSource = {
      load: () => world.document.load(),
      instructions: () => world.document.instructions(),
      save: async marks =>
        isWritable ? world.document.save(marks) : { type: 'failed', problems: [{ message: 'EACCES' }] },
    };
    const first = await runWorld(world, makeEngine(world, claims, { source: document }));
    expect(first).toMatchObject({
      type: 'waiting',
      state: { questions: { open: [{ kind: 'storage', context: 'EACCES' }] } },
    });
    isWritable = true;
    const again = await runWorld(world, makeEngine(world, claims, { source: document }));
    expect(again).toMatchObject({ type: 'ended', state: { control: { ended: { reason: 'goal_achieved' } } } });
    expect(world.document.tasks.every(task => task.done)).toBe(true);
    const closed = (await eventsIn(world.ledger)).filter(event => event.type === 'task.closed');
    expect(closed).toHaveLength(2);
  });
});
