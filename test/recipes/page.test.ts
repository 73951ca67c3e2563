// A surface of its own, served over HTTP on 127.0.0.1: what it needs of loops it has through the doors.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Event, EventType } from '../../src/core/event.ts';
import { openPage } from '../fixtures/recipes/page.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-page-')));
const project = join(root, 'project');
const made = join(project, 'made.txt');
let page: Awaited<ReturnType<typeof openPage>>;

const story = {
  id: 'US-001',
  title: 'Make it',
  description: 'Make it.',
  acceptanceCriteria: ['it is there'],
  passes: false,
};
const question = {
  type: 'blocked',
  summary: 'Which colour?',
  context: '',
  options: ['red', 'blue'],
  question: 'Which?',
};
const turns = [
  { task: 'US-001', attempt: 1, steps: [{ escalate: question }] },
  { task: 'US-001', steps: [{ write: 'made.txt', text: 'red\n' }, { claim: true }] },
];

beforeAll(async () => {
  mkdirSync(project);
  writeFileSync(join(project, 'PRD.json'), JSON.stringify({ project: 'Shop', userStories: [story] }));
  writeFileSync(join(root, 'script.json'), JSON.stringify({ turns }));
  const git = (...words: readonly string[]) => execFileSync('git', words, { cwd: project, stdio: 'ignore' });
  git('init', '-q');
  git('add', '.');
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'first');
  const environment = { PATH: process.env['PATH'], HOME: root, XDG_CONFIG_HOME: join(root, 'config') };
  page = await openPage({ home: join(root, 'home'), directory: project, environment });
});
afterAll(async () => {
  await page.close();
  rmSync(root, { recursive: true, force: true, maxRetries: 3 });
});

interface Shown {
  readonly name: string;
  readonly questions: readonly { readonly id: string; readonly findings?: readonly string[] }[];
}
const get = async (path = ''): Promise<Shown> => (await fetch(page.url + path)).json() as Promise<Shown>;
const post = async (path: string, body: unknown): Promise<unknown> =>
  (await fetch(page.url + path, { method: 'POST', body: JSON.stringify(body) })).json();

/** Follows the loop from its beginning until something of this type has happened. */
async function until(loop: string, type: EventType): Promise<readonly EventType[]> {
  const { body } = await fetch(`${page.url}/${loop}/events`);
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    const seen = [...text.matchAll(/^data: (.*)\n\n/gm)].map(([, data = '']) => (JSON.parse(data) as Event).type);
    if (seen.includes(type)) return seen;
  }
  throw new Error(`${type} did not come: ${text}`);
}

it('starts a loop, follows it, sees its question, answers it, and undoes what came of it', async () => {
  const settings = { script: join(root, 'script.json') };
  const loop = String(await post('', { document: 'PRD.json', checks: ['test -f PRD.json'], settings }));
  expect(await until(loop, 'escalation.raised')).toContain('iteration.ended');
  expect(await get()).toMatchObject([{ loop, name: 'shop' }]);
  const { questions, name } = await get(`/${loop}`);
  expect(questions).toMatchObject([{ summary: 'Which colour?', options: ['red', 'blue'] }]);

  const answer = { type: 'answer', escalation: questions[0]?.id, answer: { kind: 'option', option: 1 } };
  expect(await post(`/${name}`, answer)).toEqual({ became: 'taken' });
  expect(await until(loop, 'loop.ended')).toContain('task.closed');
  expect(await get(`/${loop}`)).toMatchObject({ ending: { reason: 'goal_achieved' }, questions: [] });
  expect(existsSync(made)).toBe(true);

  const change = { deleted: ['made.txt'], written: [], tasks: [{ id: 'US-001', status: 'pending' }] };
  expect(await post(`/${name}/preview`, {})).toMatchObject(change);
  expect(existsSync(made)).toBe(true);
  expect(await post(`/${name}/undo`, {})).toEqual({ became: 'decided' });
  expect(existsSync(made)).toBe(false);
  expect(await until(loop, 'checkpoint.restored')).toContain('restore.asked');
});

const plan = `---
plan_id: acme
objective: "Onboard Acme"
total_steps: 1
completed_steps: 0
status: pending
approval_required: true
iterations_used: 0
max_iterations: 10
---

# Plan

- [ ] **Step 1:** Write the note (action_type: create_file)
  - Dependencies: none
  - File: vault/notes/one.md
  - Content: first
`;

it('starts a plan, which does nothing before it is approved as it stands', async () => {
  mkdirSync(join(project, 'vault', 'Plans'), { recursive: true });
  writeFileSync(join(project, 'vault', 'Plans', 'acme.md'), plan);
  const note = join(project, 'vault', 'notes', 'one.md');
  const loop = String(await post('', { document: 'vault/Plans/acme.md' }));
  await until(loop, 'escalation.raised');
  const { questions } = await get(`/${loop}`);
  expect(existsSync(note)).toBe(false);
  const yes = { type: 'approve', subject: 'acme', hash: questions[0]?.findings?.[0], because: 'read on the page' };
  expect(await post(`/${loop}`, yes)).toEqual({ became: 'taken' });
  expect(await until(loop, 'loop.ended')).toContain('approval.given');
  expect(existsSync(note)).toBe(true);
});

it('adds a task to the document of a loop', async () => {
  expect(await post('/shop/tasks', { title: 'Pay by card', criteria: ['a test pays'] })).toMatchObject({
    id: 'US-002',
  });
  expect(readFileSync(join(project, 'PRD.json'), 'utf8')).toContain('"Pay by card"');
});

it('says why it cannot start, find or do something', async () => {
  expect(await post('', { document: 'nothing.json' })).toEqual({ problem: 'There is no file "nothing.json".' });
  expect(await get('/nobody')).toEqual({ problem: 'No loop is called "nobody".' });
  expect(await post('/shop', { type: 'explode' })).toEqual({ problem: 'That is no command to a loop.' });
  expect(await post('/shop', { type: 'stop' })).toEqual({ became: 'refused', why: 'ended' });
});
