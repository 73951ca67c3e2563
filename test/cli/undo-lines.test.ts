// Every undo line that is printed, carried out as it stands: afterwards each byte of the project is what it was before.
// The lines are found in the code, so that a new one without a case here fails.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { asks, claims, eventually, inScratch, runScript, type Scratch, scripted, type Told } from './kit.ts';
import { filesOf, git, makeRepository, ok, runWith, worker } from './repository.ts';

const source = join(import.meta.dirname, '..', '..', 'src');
/** What offers a way back: a label, or `ralph undo` with the name of a loop behind it. */
const offer = /\bUndo(?:'|:)|Take it back:|Go back:|ralph undo \$\{|' {2}ralph undo /;

function offersInCode(): Readonly<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const name of readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(one => one.endsWith('.ts')))
    for (const line of readFileSync(join(source, name), 'utf8').split('\n'))
      if (offer.test(line) && !/^\s*(?:\/\/|\/?\*)/.test(line)) found[name] = (found[name] ?? 0) + 1;
  return found;
}

interface Case {
  readonly what: string;
  /** Files of src, once for each of their lines that this carries out. */
  readonly from: readonly string[];
  /** Changes something and returns what was printed; `before` is what must be there again. */
  readonly act: (place: Scratch) => Promise<{ readonly before: unknown; readonly told: Told }>;
}

/** The command itself, as a person would copy it. */
function undoLineOf({ stdout, stderr }: Told): string {
  const lines = `${stdout}\n${stderr}`.split('\n').map(line => line.trim());
  const line = lines.find(one => /^(?:Undo|Take it back|Go back|To take the last restore back):/.test(one));
  const offered = line?.replace(/^[^:]*: /, '') ?? lines.find(one => one.startsWith('ralph undo '));
  const inSentence = /ralph undo [\w-]+/.exec(stderr)?.[0];
  return (offered ?? inSentence ?? '').replace(/\s+#.*$/, '');
}

async function carryOut(place: Scratch, line: string): Promise<void> {
  const [first, ...words] = line.split(' ');
  if (first !== 'ralph') return void execFileSync('sh', ['-c', line], { cwd: place.project, env: place.env });
  await ok(place.ralph([...words, ...(words[0] === 'undo' ? ['--yes'] : [])]));
}

const tasksOf = async (place: Scratch) =>
  JSON.stringify((await place.ralph(['task', 'list', '--json'])).stdout, null, 1);

/** Bytes of all files, and the tasks with their attempts. */
const worldOf = async (place: Scratch) => ({ files: filesOf(place), tasks: await tasksOf(place) });

const filesNow = async (place: Scratch) => ({ files: filesOf(place) });

/** One story was tried and refused, and then asked about; the loop is not over. */
async function restingLoop(place: Scratch): Promise<void> {
  scripted(place, ['US-1', 'US-2'], [{ ...claims(), attempt: 1 }, { steps: [asks] }]);
  const told = await place.ralph([...runScript, '--verify', 'false', '--allow-red-start', '--no-input']);
  expect(told.code).toBe(5);
}

async function endedLoop(place: Scratch): Promise<Told> {
  makeRepository(place, ['US-1', 'US-2']);
  return ok(place.ralph(runWith(worker)));
}

/** As after the first of its two iterations. */
async function afterFirst(place: Scratch): Promise<Told> {
  makeRepository(place, ['US-1', 'US-2']);
  const told = await place.ralph([...runWith(worker), '--max-iterations', '1']);
  expect(told.code).toBe(3);
  return told;
}

const checklist = '# Plan\n\n- [ ] one\n- [ ] two\n';

async function importing(place: Scratch, ...more: readonly string[]): Promise<{ before: unknown; told: Told }> {
  place.put('fix_plan.md', checklist);
  const before = await filesNow(place);
  return { before, told: await ok(place.ralph(['task', 'import', 'fix_plan.md', ...more])) };
}

/** What was there before any iteration: PROMPT.md is made by the loop before its first checkpoint. */
const withPrompt = (place: Scratch) => ({ files: { ...filesOf(place), 'PROMPT.md': expect.any(String) } });

const taskActs = (act: 'skip' | 'done') => async (place: Scratch) => {
  await restingLoop(place);
  await ok(place.ralph(['answer', 'E1', '--text', 'go on']));
  const before = await worldOf(place);
  expect(before.tasks).toMatch(/attempts[^:]*: [1-9]/);
  return { before, told: await ok(place.ralph(['task', act, 'US-1'])) };
};

const cases: readonly Case[] = [
  { what: 'task import, a new file', from: ['cli/task-words.ts'], act: place => importing(place) },
  {
    what: 'task import --force over a file with another text, twice',
    from: ['cli/task-words.ts'],
    async act(place) {
      place.put('tasks.json', 'mine, and not even JSON\n');
      await importing(place, '--to', 'tasks.json', '--force');
      place.put('tasks.json', 'mine again\n');
      return importing(place, '--to', 'tasks.json', '--force');
    },
  },
  {
    what: 'task export --force into a folder with a space',
    from: [],
    async act(place) {
      place.put('fix_plan.md', checklist);
      execFileSync('mkdir', [join(place.project, 'my lists')]);
      place.put('my lists/PRD.json', 'mine\n');
      const before = await filesNow(place);
      const words = ['task', 'export', 'fix_plan.md', '--to', 'my lists/PRD.json', '--force'];
      return { before, told: await ok(place.ralph(words)) };
    },
  },
  {
    what: 'init, the first project',
    from: ['modes/project/commands.ts'],
    async act(place) {
      const before = await filesNow(place);
      return { before, told: await ok(place.ralph(['init', 'shop'])) };
    },
  },
  {
    what: 'init, in a folder that holds other files',
    from: [],
    async act(place) {
      execFileSync('mkdir', ['-p', join(place.project, '.artefacts/shop')]);
      place.put('.artefacts/shop/notes.md', 'mine\n');
      const before = await filesNow(place);
      return { before, told: await ok(place.ralph(['init', 'shop'])) };
    },
  },
  { what: 'task skip', from: ['cli/commands/task-change.ts'], act: taskActs('skip') },
  { what: 'task done', from: [], act: taskActs('done') },
  {
    what: 'task retry of a skipped task',
    from: ['cli/commands/task-change.ts'],
    async act(place) {
      await taskActs('skip')(place);
      const before = await worldOf(place);
      return { before, told: await ok(place.ralph(['task', 'retry', 'US-1'])) };
    },
  },
  {
    what: 'the ending of a loop',
    from: ['views/ending.ts'],
    async act(place) {
      await afterFirst(place);
      const before = await filesNow(place);
      return { before, told: await ok(place.ralph(['resume', '--max-iterations', '9'])) };
    },
  },
  {
    what: 'an interrupted loop',
    from: ['cli/run-host.ts'],
    async act(place) {
      makeRepository(place, ['US-1', 'US-2']);
      const agent = 'read -r _; echo half > half.txt; echo agent at work; sleep 3600';
      const before = withPrompt(place);
      const live = place.start(runWith(agent).filter(word => word !== '--quiet'));
      await live.says('Iteration 1');
      await eventually('half of the work', () => filesOf(place)['half.txt']);
      live.child.kill('SIGINT');
      const told = await live.ended;
      expect(told.code).toBe(130);
      return { before, told };
    },
  },
  {
    what: 'undo, and undo of that',
    from: ['cli/commands/restore.ts'],
    async act(place) {
      await endedLoop(place);
      const before = await worldOf(place);
      return { before, told: await ok(place.ralph(['undo', '--yes'])) };
    },
  },
  {
    what: 'checkpoint list',
    from: ['cli/commands/checkpoint-list.ts'],
    async act(place) {
      await afterFirst(place);
      const before = await filesNow(place);
      await ok(place.ralph(['resume', '--max-iterations', '9']));
      return { before, told: await ok(place.ralph(['checkpoint', 'list'])) };
    },
  },
  {
    what: 'hook install, beside a hook of the user',
    from: ['cli/commands/hook.ts'],
    async act(place) {
      execFileSync('mkdir', [join(place.project, '.claude')]);
      place.put('.claude/settings.json', '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}');
      const before = await filesNow(place);
      return { before, told: await ok(place.ralph(['hook', 'install', 'claude', '--project', '--yes'])) };
    },
  },
  {
    what: 'the record of a checkpoint',
    from: ['views/checkpoint-record.ts'],
    async act(place) {
      await endedLoop(place);
      const before = await filesNow(place);
      await ok(place.ralph(['checkpoint', 'restore', '1', '--yes']));
      const record = JSON.parse((await ok(place.ralph(['checkpoint', 'show', '1', '--json']))).stdout);
      const text = JSON.stringify(record, null, 1).replaceAll('"', '');
      return { before, told: { code: 0, stdout: text, stderr: '' } };
    },
  },
];

/** Says it of the user's next loop, not of what it did itself. */
const mentions = ['cli/commands/demo.ts'];

it('every line of the code that offers a way back has a case here', () => {
  const known: Record<string, number> = {};
  for (const name of [...cases.flatMap(one => one.from), ...mentions]) known[name] = (known[name] ?? 0) + 1;
  expect(offersInCode()).toEqual(known);
});

it.each(cases)('$what: what is printed takes it back, byte for byte', ({ act }) =>
  inScratch(async place => {
    const { before, told } = await act(place);
    const line = undoLineOf(told);
    expect(line).not.toBe('');
    expect('tasks' in (before as object) ? await worldOf(place) : await filesNow(place)).not.toEqual(before);
    await carryOut(place, line);
    expect('tasks' in (before as object) ? await worldOf(place) : await filesNow(place)).toEqual(before);
  }),
);

it('given a task with a refused attempt, then undo and redo leave its attempts as they were counted then', () =>
  inScratch(async place => {
    makeRepository(place, ['US-1']);
    const agent = `read -r _; if test -f tried; then echo x > ok.txt; else echo x > tried; fi; echo "Task $RALPH_TASK complete"`;
    const words = ['run', 'PRD.json', '--agent-command', agent, '--verify', 'test -f ok.txt', '--allow-red-start'];
    await ok(place.ralph([...words, '--quiet']));
    const shown = async () => {
      const { task } = JSON.parse((await place.ralph(['task', 'show', 'US-1', '--json'])).stdout);
      return [task.status, task.attempts, task.level];
    };
    expect(await shown()).toEqual(['done', 2, 'proven']);
    await ok(place.ralph(['undo', '--yes']));
    expect(await shown()).toEqual(['pending', 1, undefined]);
    await ok(place.ralph(['undo', '--yes']));
    expect(await shown()).toEqual(['done', 2, 'proven']);
    expect(git(place, 'log', '--format=%s', '-1')).toBe('US-1: Story US-1\n');
  }));

it('given an undo in a loop that a limit stopped, then the whole line that goes on is printed', () =>
  inScratch(async place => {
    makeRepository(place, ['US-1', 'US-2']);
    expect((await place.ralph([...runWith(worker), '--max-iterations', '1'])).code).toBe(3);
    const { stderr } = await ok(place.ralph(['undo', '--yes']));
    expect(stderr).toContain('  Go on: ralph resume shop --max-iterations 2\n');
  }));
