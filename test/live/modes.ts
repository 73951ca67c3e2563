// kill -9 in the middle of an iteration in each mode but the list of stories, whose cell every agent has: the same command ends it.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Model } from './mock.ts';
import type { LivePlace } from './place.ts';
import { all, assertExit, noneLeft, type Scenario } from './scenarios.ts';
import { whileTrue } from './story-model.ts';

interface ModeCase {
  readonly mode: string;
  readonly words: readonly string[];
  readonly files: Readonly<Record<string, string>>;
  /** What the model says when the work is done; a mode that only looks changes nothing before. */
  readonly claim: (task: string) => string;
  readonly looks?: true;
  readonly tasks: number;
}

const task = (id: string) => ({ id, title: id, description: id, status: 'pending', dependencies: [], attempts: 0 });
const project = { project_name: 'shop', version: 1, tasks: ['T1', 'T2'].map(task) };
const plan = `---
plan_id: live
objective: Two files
total_steps: 2
approval_required: false
---

- [ ] **Step 1:** Write a file (action_type: agent)
- [ ] **Step 2:** Tell me (action_type: notify_human)
  - Dependencies: step_1
`;
const byLine = (id: string): string => `Task ${id} complete`;

const modes: readonly ModeCase[] = [
  {
    mode: 'prompt',
    words: ['run', 'PROMPT.md'],
    files: { 'PROMPT.md': '# Write a file\n' },
    claim: () => '<promise>LOOP_COMPLETE</promise>',
    tasks: 1,
  },
  {
    mode: 'goal',
    words: ['run', 'a file is written'],
    files: {},
    claim: () => '<promise>DONE</promise>',
    tasks: 1,
  },
  {
    mode: 'project',
    words: ['execute', 'shop'],
    files: { '.artefacts/shop/spec.md': '# shop\n', '.artefacts/shop/tasks.json': JSON.stringify(project) },
    claim: byLine,
    tasks: 2,
  },
  {
    mode: 'plan',
    words: ['plan', 'run', 'live'],
    files: { 'vault/Plans/live.md': plan },
    claim: byLine,
    tasks: 2,
  },
  {
    mode: 'review',
    words: ['review', 'PRD.json', '--rounds', '1'],
    files: {},
    claim: () => '<review>{"confidence": 99, "issues": []}</review>',
    looks: true,
    tasks: 3,
  },
];

/** Writes a file for the task of its prompt, then claims it. */
const worker =
  (place: () => LivePlace, { claim, looks }: ModeCase): Model =>
  asked => {
    const id = /\b(T\d|step_\d)\b/.exec(/\*\*(T\d|step_\d)\*\*/.exec(asked.prompt)?.[0] ?? '')?.[0] ?? 'all';
    if (asked.turn === 0 && looks !== true)
      return { write: join(place().project, `work/${id}.txt`), content: `${id}\nis finished\n` };
    return { text: claim(id) };
  };

const killedIn = (one: ModeCase): Scenario => ({
  name: `kill -9 of ralph in mode ${one.mode}: nothing left, the same command completes`,
  fits: ({ name }) => name === 'claude' || name === 'codex',
  async run(stand) {
    let [place, isKilled]: [LivePlace | undefined, boolean] = [undefined, false];
    const held = (): LivePlace => place!;
    // Who only looks is confined to reading, so it cannot hold the lock: it waits for its model.
    const hold = () => (one.looks ? ({ hang: true } as const) : { sh: held().longCommand });
    place = await stand.place({ model: whileTrue(() => !isKilled, hold, worker(held, one)) });
    for (const [path, text] of Object.entries(one.files)) {
      mkdirSync(dirname(join(place.project, path)), { recursive: true });
      writeFileSync(join(place.project, path), text);
    }
    const words = [...one.words, '--agent', stand.agent.name, ...place.words, '--name', 'live', '--no-input', '--yes'];
    const running = place.start(words);
    await (one.looks ? place.mock.asked(0) : place.toolStarted());
    running.child.kill('SIGKILL');
    await running.ended;
    await noneLeft(place);
    isKilled = true;
    await assertExit(place.start(words).ended, 0);
    const events = await place.events();
    assert.equal(all(events, 'iteration.ended')[0]?.outcome, 'interrupted');
    assert.deepEqual(
      all(events, 'loop.ended').map(({ reason }) => reason),
      ['goal_achieved'],
    );
    assert.equal(new Set(all(events, 'task.closed').map(event => event.task)).size, one.tasks);
    assert.equal(all(events, 'task.closed').length, one.tasks, 'nothing is done twice');
    if (!one.looks) assert.ok(readdirSync(join(place.project, 'work')).length > 0);
    assert.deepEqual(await place.survivors(), []);
  },
});

export const modeScenarios: readonly Scenario[] = modes.map(killedIn);
