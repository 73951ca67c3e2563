// An agent takes open tasks out of the document: they are put back, it is told, and no box of another task is touched.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Activity, Assignment } from '../../src/agents/performer.ts';
import type { TaskSource } from '../../src/documents/document.ts';
import { fileSource } from '../../src/documents/file.ts';
import { listMode } from '../../src/modes/lists/mode.ts';
import type { Mode } from '../../src/modes/mode.ts';
import { prdMode } from '../../src/modes/prd/mode.ts';
import { defaultSettings } from '../../src/modes/registry.ts';
import { eventsIn, makeEngine, makeWorld, runWorld } from './world.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ralph-lost-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const text = (name: string): string => readFileSync(join(folder, name), 'utf8');
const put = (name: string, content: string): void => writeFileSync(join(folder, name), content);
function source(name: string, { formats, damage }: Mode): TaskSource {
  const path = join(folder, name);
  const format = formats.find(one => one.recognises(name, text(name)))!;
  return fileSource({ path, format, copyPath: join(folder, 'copy'), ...(damage === undefined ? {} : { damage }) });
}

/** Runs the document with an agent that writes something over it in its first iteration. */
async function course(name: string, mode: Mode, edits: (task: string) => void, iterationsMax = 9) {
  let count = 0;
  const agent = async function* ({ task }: Assignment): AsyncGenerator<Activity> {
    count += 1;
    if (count === 1) edits(task);
    yield { type: 'ended', message: count === 1 ? 'I have been busy.' : `Task ${task} complete` };
  };
  const world = makeWorld(0);
  const limits = { ...defaultSettings('prd').limits, iterationsMax };
  const result = await runWorld(world, makeEngine(world, agent, { source: source(name, mode) }), {
    settings: { limits },
  });
  return { result, events: await eventsIn(world.ledger) };
}

const prd = (...stories: readonly (readonly [string, boolean])[]): string =>
  JSON.stringify({
    project: 'p',
    description: 'd',
    userStories: stories.map(([id, passes]) => ({ id, title: id, description: 'd', criteria: ['c'], passes })),
  });

it('given a PRD.json without two of its stories, then they come back and are worked on, and the tick is a claim', async () => {
  put('PRD.json', prd(['A', false], ['B', false], ['C', false]));
  const { result, events } = await course('PRD.json', prdMode, () => put('PRD.json', prd(['A', true], ['N', false])));
  expect(result).toMatchObject({ type: 'ended', state: { control: { ended: { reason: 'goal_achieved' } } } });
  expect(text('PRD.json')).toBe(prd(['A', true], ['B', true], ['C', true]));
  expect(text('copy.edited')).toBe(prd(['A', true], ['N', false]));
  const told = events.find(event => event.type === 'guidance.given');
  expect(told).toMatchObject({
    by: 'ralph',
    text: expect.stringMatching(/PRD\.json lost B, C while an iteration ran/),
  });
  expect(events.some(event => event.type === 'tasks.added')).toBe(false);
});

it('given a checklist of which only the own item is left, then the others come back', async () => {
  put('fix_plan.md', '# Plan\n- [ ] One\n- [ ] Two\n');
  const { result } = await course('fix_plan.md', listMode, () => put('fix_plan.md', '- [x] One\n'));
  expect(result).toMatchObject({
    state: { control: { ended: { reason: 'goal_achieved' } }, iterations: { begun: 2 } },
  });
  expect(text('fix_plan.md')).toBe('# Plan\n- [x] One\n- [x] Two\n');
});

it('given a checklist in which items are annotated, moved and added, then no task is doubled and each box is its own', async () => {
  put('fix_plan.md', '## API\n- [ ] Add tests\n- [ ] Greet\n## Web\n- [ ] Add tests\n');
  const now =
    '## API\n- [ ] Greet\n## Web\n- [ ] Add tests\n## Done\n- [x] Add tests (in api.test.ts)\n## New\n- [ ] More\n';
  const { result } = await course('fix_plan.md', listMode, () => put('fix_plan.md', now));
  expect(result).toMatchObject({
    state: { control: { ended: { reason: 'goal_achieved' } }, iterations: { begun: 4 }, tasks: { size: 4 } },
  });
  expect(text('fix_plan.md')).toBe(now.replaceAll('[ ]', '[x]'));
});

it('given one limit, then a loop whose document lost everything but what is done is not done', async () => {
  put('fix_plan.md', '- [ ] One\n- [ ] Two\n');
  const { result } = await course(
    'fix_plan.md',
    listMode,
    () => put('fix_plan.md', '- [x] One\n- [x] Cache all\n- [x] Log all\n'),
    2,
  );
  expect(result).toMatchObject({ state: { control: { ended: { reason: 'max_iterations' } } } });
});

it('given an item that was reworded, then its own box is ticked when it is done', async () => {
  put('fix_plan.md', '- [ ] Greet\n- [ ] B\n');
  const { result } = await course('fix_plan.md', listMode, () =>
    put('fix_plan.md', '- [ ] Greet (half done)\n- [ ] B\n'),
  );
  expect(result).toMatchObject({ state: { control: { ended: { reason: 'goal_achieved' } }, tasks: { size: 2 } } });
  expect(text('fix_plan.md')).toBe('- [x] Greet (half done)\n- [x] B\n');
});

it('given a task that is gone while its twin is still there, then the twin is not ticked for it', async () => {
  put('fix_plan.md', '## API\n- [ ] Add tests\n## Web\n- [ ] Add tests\n');
  const now = '## API\n- [ ] Cache it\n## Web\n- [ ] Add tests\n';
  const { result } = await course('fix_plan.md', listMode, () => put('fix_plan.md', now), 2);
  expect(result).toMatchObject({ state: { tasks: { counts: { done: 1 } } } });
  expect(text('fix_plan.md')).toBe(now);
});
