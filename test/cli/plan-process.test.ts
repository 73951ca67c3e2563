// `ralph plan watch` as a process: a plan that is moved in is carried out, a killed watch goes on, Ctrl-C leaves cleanly.
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { eventsOf, inScratch, type Scratch } from './kit.ts';

const text = (id: string): string => `---
plan_id: ${id}
objective: Write two pages
total_steps: 2
approval_required: true
---

- [ ] **Step 1:** Write the first page (action_type: agent)
  - Dependencies: none
- [ ] **Step 2:** Write the second page (action_type: agent)
  - Dependencies: step_1
`;

const watch = ['plan', 'watch', '--script', 'script.json'] as const;
const vault = (place: Scratch, name: string): string => join(place.project, 'vault', name);

function prepared(place: Scratch): void {
  for (const folder of ['Plans', 'Approved/Plans']) mkdirSync(vault(place, folder), { recursive: true });
  const turns = [{ steps: [{ say: 'Written.' }, { claim: true }] }];
  place.put('script.json', JSON.stringify({ turns }));
  place.put('vault/Plans/pages.md', text('plan_pages'));
}

const moveIn = (place: Scratch): void =>
  renameSync(vault(place, 'Plans/pages.md'), vault(place, 'Approved/Plans/pages.md'));

it.concurrent('given a plan that is moved in, then it is done once, and Ctrl-C ends the watch with 130', () =>
  inScratch(async place => {
    prepared(place);
    const live = place.start(watch);
    await live.says('Watching ');
    moveIn(place);
    await live.says('Done: 2 of 2 tasks done');
    live.child.kill('SIGINT');
    const { code, stderr } = await live.ended;
    expect(code).toBe(130);
    expect(stderr).toContain('Stopped watching: no other plan is started.');
    expect((await place.ralph([...watch, '--once'])).code).toBe(0);
    expect(existsSync(vault(place, 'Approved/Plans/pages.md'))).toBe(false);
    const done = readFileSync(vault(place, 'Done/pages.md'), 'utf8');
    expect(done).toMatch(/^status: completed$/m);
    expect(done.match(/^- \[x\]/gm)).toHaveLength(2);
    const events = await eventsOf(place);
    expect(events.filter(one => one['type'] === 'iteration.started')).toHaveLength(2);
    expect(events.filter(one => one['type'] === 'approval.given')).toMatchObject([{ by: 'file move' }]);
  }));

it.concurrent('given a watch that is killed in the middle of a step, then the next one goes on with the same loop', () =>
  inScratch(async place => {
    prepared(place);
    moveIn(place);
    const agent = `id=$(grep -o '[*][*]step_[0-9][*][*]' | head -1 | tr -d '*'); test -f go || sleep 3600; echo "Task $id complete"`;
    const live = place.start(['plan', 'watch', '--agent-command', agent]);
    await live.says('Iteration 1: step_1');
    live.child.kill('SIGKILL');
    await live.ended;
    place.put('go', '');
    const told = await place.ralph(['plan', 'watch', '--once', '--agent-command', agent]);
    expect(told.code).toBe(0);
    expect(told.stderr).toContain('Plan plan_pages: goes on.');
    expect(existsSync(vault(place, 'Done/pages.md'))).toBe(true);
    expect(existsSync(vault(place, 'In_Progress/plan_pages'))).toBe(false);
    const { loops } = (await place.json(['loops', 'list', '--json'])) as { loops: unknown[] };
    expect(loops).toHaveLength(1);
    expect((await eventsOf(place)).filter(one => one['type'] === 'approval.given')).toHaveLength(1);
  }));
