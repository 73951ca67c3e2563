// Proves that a mode is its folder and its row: `triage`, made from a PRD's parts, does in every command what prd does.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Copy, copyOfRepository } from '../recipes/copy.ts';
import { addTriage } from '../recipes/triage.ts';

interface Said {
  readonly words: readonly string[];
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const story = (id: string, ...after: readonly string[]) => ({
  id,
  title: `Make ${id}`,
  description: 'Make it.',
  criteria: ['it is there'],
  depends_on: after,
  passes: false,
});
const question = { type: 'blocked', summary: 'Which?', context: '', options: ['red', 'blue'], question: 'Which?' };
const make = (id: string) => ({ task: id, steps: [{ write: `${id}.txt`, text: `${id}\n` }, { claim: true }] });
const turns = [
  make('US-001'),
  { task: 'US-002', attempt: 1, steps: [{ escalate: question }] },
  ...['US-002', 'US-003', 'US-004', 'US-005', 'US-006'].map(make),
  { task: 'US-009', steps: [{ fail: 'process', detail: 'it broke' }] },
];

const script = ['--script', 'script.json'];
const run = [...script, '--verify', 'test -f PRD.json', '--yes', '--no-input', '--on-escalation', 'exit'];
/** Each with the code that it exits with. */
const commands = (mode: string): readonly (readonly [number, ...string[]])[] => [
  [2, 'run', 'PRD.json', '--mode', mode, '--rounds', '2'],
  [2, 'run', 'PRD.json', '--mode', mode, '--retries', '2'],
  [0, 'run', 'PRD.json', '--mode', mode, ...script, '--dry-run'], // it finds the project's own check
  [5, 'run', 'PRD.json', '--mode', mode, ...run],
  [0, 'status', '--json'],
  [0, 'status'],
  [0, 'inbox', '--json'],
  [0, 'task', 'list', '--json'],
  [0, 'task', 'show', 'US-001', '--json'],
  [0, 'task', 'skip', 'US-003'],
  [0, 'task', 'retry', 'US-003'],
  [0, 'task', 'add', 'Make US-004', '--criterion', 'it is there'],
  [0, 'tell', 'shop', 'Be quick'],
  [0, 'pause', 'shop'],
  [5, 'resume', 'shop'],
  [0, 'answer', 'shop/E1', '--option', '1'],
  [0, 'run', 'PRD.json', '--mode', mode, ...run, '--json'],
  [0, 'loops', 'list', '--json'],
  [0, 'loops', 'show', 'shop', '--json'],
  [0, 'report', '--json'],
  [0, 'explain'],
  [0, 'events'],
  [0, 'logs', 'shop', '--prompt'],
  [0, 'diff'],
  [0, 'checkpoint', 'list'],
  [0, 'undo', '--dry-run'],
  [0, 'undo', '--yes'],
  [0, 'task', 'list'],
  [0, 'task', 'export', '--format', 'checklist'],
  [0, 'audit', 'verify'],
  [0, 'run', 'side.json', '--mode', mode, ...run, '--parallel', '2', '--quiet'],
  [0, 'status', 'side'],
  [5, 'run', 'broken.json', '--mode', mode, ...run, '--backoff-base', '1ms', '--quiet'], // the third error is a question
  [0, 'inbox'],
];

let copy: Copy;
let told: Readonly<Record<'prd' | 'triage', readonly Said[]>>;

async function tellOf(mode: string): Promise<readonly Said[]> {
  const root = join(copy.folder, 'scratch', mode.padEnd(6, '-')); // as long as the other: lines are folded alike
  const project = join(root, 'project');
  mkdirSync(project, { recursive: true });
  const put = (name: string, value: unknown) => writeFileSync(join(project, name), JSON.stringify(value));
  put('PRD.json', { project: 'Shop', userStories: [story('US-001'), story('US-002'), story('US-003', 'US-002')] });
  put('side.json', { project: 'Side', userStories: [story('US-005'), story('US-006')] });
  put('broken.json', { project: 'Broken', userStories: [story('US-009')] });
  put('script.json', { turns });
  put('package.json', { scripts: { test: 'test -f PRD.json' } });
  const git = (...words: readonly string[]) => execFileSync('git', words, { cwd: project, stdio: 'ignore' });
  git('init', '-q');
  git('add', '.');
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'first');
  const env = { HOME: root, RALPH_HOME: join(root, 'home'), NO_COLOR: '1' };
  const ran = await copy.node(
    [join(copy.folder, 'src', 'drive.ts'), JSON.stringify(commands(mode).map(([, ...words]) => words))],
    {
      cwd: project,
      env,
    },
  );
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  return JSON.parse(ran.stdout.replaceAll(root, 'ROOT')) as readonly Said[];
}

/** Without what differs from run to run: ids, hashes, times, whether an agent was waited for, how much was saved by then. */
const alike = (text: string): string =>
  text
    .replaceAll('triage', 'prd')
    .replace(/^.*iteration\.heartbeat.*\n/gm, '')
    .replace(
      /("(?:seq|\w*(?:At|Ms|[mM]sSum|_minutes|_hours|at|pid))": ?)-?[\d.]+|^ +\d+(?= {2}\S)|\d+(?= events)/gm,
      '$1N',
    )
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}|\b[0-9a-f]{7,64}\b/g, 'ID')
    .replace(/\d{4}-\d\d-\d\d[T\s][\d:.]+Z?|\b\d\d:\d\d(:\d\d)?(Z|\b)|(\d+[hm] ?)*\b\d+(\.\d+)? ?m?s\b/g, 'TIME')
    .replace(/ +\d+ {2}(?=after iteration)/g, ' N  ');

beforeAll(async () => {
  copy = copyOfRepository();
  addTriage(copy);
  copy.add('drive.ts', 'src/drive.ts');
  told = { prd: await tellOf('prd'), triage: await tellOf('triage') }; // the second need not compile the copy again
});
afterAll(() => copy.end());

it('is shown by its own name', () => {
  expect(JSON.parse(told.triage[4]?.stdout ?? '')).toMatchObject({ mode: 'triage' });
});

it.each(commands('MODE').map(([code, ...words], at) => [code, words.join(' '), at] as const))(
  'exits with %s: ralph %s',
  (code, _words, at) => {
    const seen = ({ stdout, stderr }: Said) => [alike(stdout), alike(stderr)];
    expect([told.prd[at]?.code, told.triage[at]?.code]).toEqual([code, code]);
    expect(seen(told.triage[at]!)).toEqual(seen(told.prd[at]!));
  },
);
