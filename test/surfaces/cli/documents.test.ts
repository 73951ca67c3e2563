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
    notes: /^note: Task set-up is ticked already, without a record of it/m,
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
        const agent = 'cat > /dev/null; echo "$RALPH_TASK" >> order; echo "Task $RALPH_TASK complete"';
        const told = await place.ralph(['run', file, '--agent-command', agent, '--verify', 'true']);
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
      await refused(place, ['run', '--mode', 'gaol', ...agent], /no mode "gaol"\.\n {2}Say one of goal, prompt/);
    }));
});
