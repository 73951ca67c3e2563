// Proves the proof of an interview: an unusable spec.md or tasks.json is refused, and everything wrong is named at once.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { CheckResult } from '../../../src/checks/check.ts';
import { taskFromSpec } from '../../../src/core/task.ts';
import { interviewTasks } from '../../../src/modes/interview/mode.ts';
import { tasksReadyCheck } from '../../../src/modes/interview/session.ts';
import { isUntouchedSpec, specTemplate } from '../../../src/modes/project/templates.ts';

const root = mkdtempSync(join(tmpdir(), 'ralph-tasks-ready-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let folder = '';
let count = 0;
beforeEach(() => {
  count += 1;
  folder = join(root, String(count));
  mkdirSync(folder);
  writeFileSync(join(folder, 'spec.md'), '# shop\n\nA shop.\n');
});

const rounds = interviewTasks(2).map(taskFromSpec);
const never = new AbortController().signal;

const run = (round: number | undefined, stop = never): Promise<CheckResult> =>
  tasksReadyCheck({
    spec: join(folder, 'spec.md'),
    tasks: join(folder, 'tasks.json'),
    lastRound: 2,
    isUntouched: text => isUntouchedSpec(text, 'shop'),
    begunBefore: new Set(['old']),
  }).run(folder, stop, round === undefined ? undefined : rounds[round - 1]);

const write = (name: string, content: string | Buffer): void => writeFileSync(join(folder, name), content);
const list = (...tasks: readonly (readonly [string, readonly string[]])[]): string =>
  JSON.stringify({
    project_name: 'shop',
    version: 1,
    tasks: tasks.map(([id, dependencies]) => ({ id, title: id, description: '', dependencies })),
  });

describe('a round before the last', () => {
  it('is good with a spec.md that somebody wrote, whatever tasks.json says', async () => {
    write('tasks.json', '{ broken');
    expect(await run(1)).toMatchObject({
      passed: true,
      name: 'spec.md and tasks.json',
      detail: 'spec.md is ready for the next round.',
    });
  });

  it.each([
    ['empty', '', /spec\.md: It is empty/],
    ['blank but for its byte order mark', '\uFEFF \n\t\n', /spec\.md: It is empty/],
    ['still the template', specTemplate.replace('{{project_name}}', 'shop'), /still the empty template/],
    ['larger than a megabyte', 'x'.repeat(1024 * 1024 + 1), /larger than 1 MB/],
    ['ten megabytes', Buffer.alloc(10 * 1024 * 1024, 120), /larger than 1 MB/],
    ['no text', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1]), /NUL byte/],
    ['not UTF-8', Buffer.from([0x68, 0xff, 0xfe]), /not valid UTF-8/],
  ])('is refused with a spec.md that is %s', async (_what, content, words) => {
    write('spec.md', content);
    const { passed, detail } = await run(1);
    expect(passed).toBe(false);
    expect(detail).toMatch(words);
  });

  it('is refused without a spec.md, and with a folder in its place', async () => {
    rmSync(join(folder, 'spec.md'));
    expect(await run(1)).toMatchObject({ passed: false, detail: expect.stringContaining('does not exist') });
    mkdirSync(join(folder, 'spec.md'));
    expect(await run(1)).toMatchObject({ passed: false, detail: expect.stringContaining('is a directory') });
  });

  it('is refused when it was stopped', async () => {
    expect(await run(1, AbortSignal.abort())).toMatchObject({
      passed: false,
      detail: expect.stringContaining('Stopped'),
    });
  });
});

describe('the last round', () => {
  it.each([2, undefined])('is good with tasks that can be done (round %s)', async round => {
    write('tasks.json', list(['T1', []], ['T2', ['T1']]));
    expect(await run(round)).toMatchObject({ passed: true, detail: 'spec.md and tasks.json are ready.' });
  });

  it('is refused without tasks.json', async () => {
    expect(await run(2)).toMatchObject({
      passed: false,
      detail: expect.stringMatching(/^tasks\.json: .*does not exist/),
    });
  });

  it.each([
    ['no JSON', '{ "tasks": [', /^tasks\.json:1:\d+: /],
    ['no task', list(), /tasks is empty/],
    ['a circle', list(['T1', ['T2']], ['T2', ['T1']]), /T1 -> T2 -> T1/],
    ['an id twice', list(['T1', []], ['t1', []]), /t1/i],
    ['a dependency that is nobody', list(['T1', ['T9']]), /T9/],
  ])('is refused with a tasks.json that holds %s', async (_what, content, words) => {
    write('tasks.json', content);
    const { passed, detail } = await run(2);
    expect(passed).toBe(false);
    expect(detail).toMatch(words);
  });

  it.each([{ status: 'completed' }, { status: 'blocked' }, { skipped: true }, { attempts: 1 }])(
    'is refused with a task that says %j, because nobody has worked yet',
    async claim => {
      const tasks = ['T1', 'old'].map(id => ({ id, title: id, description: '', dependencies: [], ...claim }));
      write('tasks.json', JSON.stringify({ project_name: 'shop', version: 1, tasks }));
      const { passed, detail } = await run(2);
      expect(passed).toBe(false);
      expect(detail).toBe(
        'tasks.json: Nobody has worked on T1 yet. Write "status": "pending", and no attempts.', // `old` was over before
      );
    },
  );

  it('names everything that is wrong, in both files', async () => {
    write('spec.md', '');
    write('tasks.json', '{"tasks": [{"id": "T 1", "title": ""}]}');
    const { detail } = await run(2);
    expect(detail.split('\n').length).toBeGreaterThanOrEqual(4);
    expect(detail).toMatch(/spec\.md: It is empty[\s\S]*project_name[\s\S]*id/);
  });

  it('reads a tasks.json that is a link, as everything else does', async () => {
    write('elsewhere.json', list(['T1', []]));
    symlinkSync(join(folder, 'elsewhere.json'), join(folder, 'tasks.json'));
    expect((await run(2)).passed).toBe(true);
  });
});
