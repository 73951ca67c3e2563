// A surface of its own, served over HTTP on 127.0.0.1: what it needs of loops it has through the doors.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
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
  const env = { PATH: process.env['PATH'], HOME: root, XDG_CONFIG_HOME: join(root, 'config') };
  page = await openPage({ home: join(root, 'home'), directory: project, env });
});
afterAll(async () => {
  await page.close();
  rmSync(root, { recursive: true, force: true, maxRetries: 3 });
});

interface Shown {
  readonly name: string;
  readonly questions: readonly { readonly id: string }[];
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
    const seen = text
      .split('\n')
      .slice(0, -1)
      .map(line => (JSON.parse(line) as Event).type);
    if (seen.includes(type)) return seen;
  }
  throw new Error(`${type} did not come: ${text}`);
}

it('starts a loop, follows it, sees its question, answers it, and undoes what came of it', async () => {
  const flags = { script: join(root, 'script.json'), verify: ['test -f PRD.json'], onEscalation: 'wait' };
  const loop = String(await post('', { file: 'PRD.json', flags }));
  expect(await until(loop, 'escalation.raised')).toContain('iteration.ended');
  expect(await get()).toMatchObject([{ loop, name: 'shop' }]);
  const { questions, name } = await get(`/${loop}`);
  expect(questions).toMatchObject([{ summary: 'Which colour?', options: ['red', 'blue'] }]);

  const answer = { escalation: questions[0]?.id, answer: { kind: 'option', option: 1 } };
  expect(await post(`/${name}/answers`, answer)).toEqual({ became: 'taken' });
  expect(await until(loop, 'loop.ended')).toContain('task.closed');
  expect(await get(`/${loop}`)).toMatchObject({ ending: { reason: 'goal_achieved' }, questions: [] });
  expect(existsSync(made)).toBe(true);

  expect(await post(`/${name}/undo`, {})).toMatchObject({ type: 'done' });
  expect(existsSync(made)).toBe(false);
  expect(await until(loop, 'checkpoint.restored')).toContain('restore.asked');
});

it('says why it cannot start or find something', async () => {
  expect(await post('', { file: 'nothing.json', flags: {} })).toEqual({ problem: 'There is no file "nothing.json".' });
  expect(await get('/nobody')).toEqual({ problem: 'No loop is called "nobody".' });
});
