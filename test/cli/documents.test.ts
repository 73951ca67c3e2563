// Documents that people already have, run to their end by the real binary without conversion; and what is no document.
import { describe, expect, it } from 'vitest';
import { inScratch, refused } from './kit.ts';

interface Kept {
  readonly file: string;
  readonly text: string;
  /** In the order of work. */
  readonly ids: readonly string[];
  readonly done: (text: string) => string;
  readonly notes?: RegExp;
}

const story = (id: string, priority: number): string =>
  `    { "id": "${id}", "title": "Story ${id}", "acceptanceCriteria": ["It works"], "priority": ${priority}, "passes": false, "notes": "" }`;

const kept: Readonly<Record<string, Kept>> = {
  "snarktank's prd.json": {
    file: 'prd.json',
    text: `{\n  "project": "MyApp",\n  "branchName": "ralph/x",\n  "description": "A goal",\n  "userStories": [\n${story('US-002', 2)},\n${story('US-001', 1)}\n  ]\n}\n`,
    ids: ['US-001', 'US-002'],
    done: text => text.replaceAll('false', 'true'),
    notes: /^note: branchName "ralph\/x" is not followed/m,
  },
  'a fix_plan.md with ticked boxes': {
    file: 'fix_plan.md',
    text: '# Fix plan\r\n\r\n## High\r\n- [ ] Add a **login** form\r\n  - [ ] it shows errors\r\n- [x] Set up\r\n* [ ] Write the page\r\n',
    ids: ['add-a-login-form', 'write-the-page'],
    done: text => text.replace('[ ] Add', '[x] Add').replace('[ ] Write', '[x] Write'),
    notes: /^note: Task set-up is marked as done or skipped already, without a record of it/m,
  },
  "ralphy's tasks.yaml": {
    file: 'tasks.yaml',
    text: '# our work\ntasks:\n  - title: "Create User model"   # first\n    completed: false\n  - title: Add login page\n    completed: false\n',
    ids: ['create-user-model', 'add-login-page'],
    done: text => text.replaceAll('false', 'true'),
  },
  "ralphex's plan with sections": {
    file: 'login-plan.md',
    text: '# Plan: Login\n\nWords.\n\n### Task 1: Hash passwords\n- [ ] Create hash.go\n- [ ] Add tests\n\n### Task 2: Handler\n- [ ] Create it\n',
    ids: ['task-1', 'task-2'],
    done: text => text.replaceAll('[ ]', '[x]'),
  },
};

describe('ralph run FILE', () => {
  for (const [name, { file, text, ids, done, notes }] of Object.entries(kept)) {
    it.concurrent(`${name} is worked through and marked where it lies`, () =>
      inScratch(async place => {
        place.put(file, text);
        const agent = 'read -r _; echo "$RALPH_TASK" >> order; echo "Task $RALPH_TASK complete"';
        const told = await place.ralph(['run', file, '--agent-command', agent, '--verify', `file:${file}`]);
        expect(told).toMatchObject({
          code: 0,
          stdout: expect.stringMatching(/^Done: (\d) of \1 tasks done, 2 iterations/),
        });
        if (notes !== undefined) expect(told.stderr).toMatch(notes);
        expect(place.read('order')).toBe(`${ids.join('\n')}\n`);
        expect(place.read(file)).toBe(done(text));
        if (file !== 'prd.json') expect(() => place.read('PROMPT.md')).toThrow('ENOENT');
      }));
  }

  it.concurrent('what is neither a document nor a goal is refused in words, and nothing is written', () =>
    inScratch(async place => {
      place.put('README.md', '# shop\n');
      const agent = ['--agent-command', 'true'];
      await refused(place, ['run', 'fixit', ...agent], /There is no file "fixit"\.\n.*ralph run "make the tests pass"/);
      await refused(place, ['run', ' ', ...agent], /The goal is empty\./);
      await refused(place, ['run', 'README.md', ...agent], /no document that Ralph knows.*\n.*ralph review README\.md/);
      await refused(place, ['run', 'README.md', '--mode', 'goal', ...agent], /is a file, and a goal is said in words/);
      place.put('bad.json', '{"project": "x",\n  "userStories": [');
      await refused(place, ['run', 'bad.json', ...agent], /^ralph: bad\.json:2:19: /);
      await refused(place, ['review', 'nope.md', ...agent], /There is no file "nope\.md"\.\n.*ralph review README\.md/);
      await refused(place, ['review', '.', ...agent], /^ralph: \S+ is a directory/);
      await refused(place, ['run', '--mode', 'gaol', ...agent], /no mode "gaol"\.\n {2}Say one of goal, prompt/);
    }));

  it.concurrent('tasks that an agent wrote out of the list are still to be done, and the same command says so', () =>
    inScratch(async place => {
      place.put('fix_plan.md', '- [ ] Alpha\n- [ ] Beta\n');
      const agent = 'read -r _; printf -- "- [x] Cache it\\n- [x] Log it\\n" > fix_plan.md';
      const run = ['run', 'fix_plan.md', '--agent-command', agent, '--verify', 'true', '--max-iterations', '1'];
      expect((await place.ralph(run)).code).toBe(3);
      place.put('fix_plan.md', '- [x] Cache it\n- [x] Log it\n');
      const again = await place.ralph(run);
      expect(again.code).toBe(3);
      expect(again.stderr).toMatch(/ended with work left[\s\S]*Gone from fix_plan\.md and still open: alpha, beta/);
    }));

  it.concurrent('a tasks.json anywhere else leaves the files beside it to whom they belong', () =>
    inScratch(async place => {
      const tasks = [{ id: 'T1', title: 'One', description: 'd', dependencies: [], status: 'pending' }];
      place.put('tasks.json', JSON.stringify({ project_name: 'shop', version: 1, tasks }));
      for (const mine of ['done.md', 'state.json', 'results.md']) place.put(mine, 'mine');
      const agent = 'read -r _; echo "Task T1 complete"';
      expect((await place.ralph(['run', 'tasks.json', '--agent-command', agent, '--verify', 'true'])).code).toBe(0);
      for (const mine of ['done.md', 'state.json', 'results.md']) expect(place.read(mine)).toBe('mine');
      expect(() => place.read('earlier')).toThrow('ENOENT');
    }));

  it.concurrent('boxes in a file that is no list by its name are not worked through unless that is said', () =>
    inScratch(async place => {
      place.put('README.md', '# shop\n\nBefore you send a change:\n- [ ] Run the tests\n');
      const agent = ['--agent-command', 'read -r _; echo "Task $RALPH_TASK complete"', '--verify', 'true'];
      await refused(place, ['run', 'README.md', ...agent], /"README\.md" holds boxes, but .*\n.*--mode prd/);
      expect((await place.ralph(['run', 'README.md', '--mode', 'prd', ...agent])).code).toBe(0);
      expect(place.read('README.md')).toContain('- [x] Run the tests');
    }));
});
