// kill -9 in the middle of an iteration, in every mode: the same command again ends well, and nothing is done twice.
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { binary, eventsOf, eventually, inScratch, isInstalled, pinnedNode, prd, type Scratch } from './kit.ts';
import { openTerminal, quoted } from './terminal.ts';

/** Says that it works, hangs until it may go on, and leaves one line for each time that it came so far. */
const works = (claim: string): string =>
  `read -r _; echo "$RALPH_TASK" >>began; test -e go || sleep 3600; echo "$RALPH_TASK" >>done.log; echo "${claim}"`;
const byLine = works('Task $RALPH_TASK complete');

interface Case {
  readonly mode: string;
  readonly words: readonly string[];
  readonly agent: string;
  readonly put: (place: Scratch) => void;
  /** What is done, each once. */
  readonly done: readonly string[];
}

const promise = '<promise>LOOP_COMPLETE</promise>';
const reached = '<promise>DONE</promise>';
const tasks = {
  project_name: 'shop',
  version: 1,
  tasks: ['T1', 'T2'].map(id => ({
    id,
    title: id,
    description: id,
    status: 'pending',
    dependencies: [],
    attempts: 0,
    max_attempts: 3,
    blocked: false,
  })),
};
const plan = `---\nplan_id: a\nobjective: o\ntotal_steps: 2\napproval_required: false\n---\n\n- [ ] **Step 1:** One (action_type: agent)\n- [ ] **Step 2:** Two (action_type: notify_human)\n  - Dependencies: step_1\n`;

const cases: readonly Case[] = [
  {
    mode: 'prd',
    words: ['run', 'PRD.json'],
    agent: byLine,
    put: place => place.put('PRD.json', prd(['US-001', 'US-002'])),
    done: ['US-001', 'US-002'],
  },
  {
    mode: 'prompt',
    words: ['run', 'PROMPT.md'],
    agent: works(promise),
    put: place => place.put('PROMPT.md', '# Do it\n'),
    done: ['prompt'],
  },
  { mode: 'goal', words: ['run', 'reach it'], agent: works(reached), put: () => {}, done: ['goal'] },
  {
    mode: 'project',
    words: ['execute', 'shop'],
    agent: byLine,
    put: place => {
      mkdirSync(join(place.project, '.artefacts', 'shop'), { recursive: true });
      place.put('.artefacts/shop/spec.md', '# shop\n');
      place.put('.artefacts/shop/tasks.json', JSON.stringify(tasks));
    },
    done: ['T1', 'T2'],
  },
  {
    mode: 'plan',
    words: ['plan', 'run', 'a'],
    agent: byLine,
    put: place => {
      mkdirSync(join(place.project, 'vault', 'Plans'), { recursive: true });
      place.put('vault/Plans/a.md', plan);
    },
    done: ['step_1'],
  },
];

it.concurrent.each(cases)('$mode', ({ words, agent, put, done }) =>
  inScratch(async place => {
    put(place);
    const line = [...words, '--agent-command', agent];
    const live = place.start(line);
    await eventually('the agent is at work', () => readOr(place, 'began') !== '');
    live.child.kill('SIGKILL');
    await live.ended;
    place.put('go', '');
    const again = await place.ralph([...line, '--quiet']);
    expect([again.code, again.stderr]).toEqual([0, expect.anything()]);
    expect(readOr(place, 'done.log').trim().split('\n')).toEqual(done);
    const events = await eventsOf(place);
    expect(events.filter(one => one['type'] === 'loop.ended')).toMatchObject([{ reason: 'goal_achieved' }]);
    const closed = events.filter(one => one['type'] === 'task.closed').map(one => one['task']);
    expect(closed).toEqual(words[0] === 'plan' ? ['step_1', 'step_2'] : done);
    // A third time: there is nothing left to do, and no loop is begun for it.
    expect((await place.ralph([...line, '--quiet'])).code).toBe(0);
    const { loops } = (await place.json(['loops', 'list', '--json'])) as { loops: readonly unknown[] };
    expect(loops).toHaveLength(1);
  }),
);

function readOr(place: Scratch, name: string): string {
  try {
    return readFileSync(join(place.project, name), 'utf8');
  } catch {
    return '';
  }
}

it.runIf(isInstalled('tmux'))('interview (needs tmux)', () =>
  inScratch(async place => {
    await place.ralph(['init', 'shop']);
    place.put('.artefacts/shop/spec.md', '# shop\n\nIt sells.\n');
    const bin = join(place.root, 'bin');
    mkdirSync(bin);
    symlinkSync(join(import.meta.dirname, '..', 'fixtures', 'agents', 'interviews'), join(bin, 'claude'));
    const interview = quoted([pinnedNode, binary, 'interview', 'shop', '--rounds', '1']);
    const first = `(echo "pid $(exec sh -c 'echo $PPID')."; exec ${interview}); stty sane; echo "code $?"`;
    const terminal = openTerminal(place, bin, `${first}; ${interview}; echo "code $?"; exec cat`, 80);
    try {
      const pid = Number(/pid (\d+)\./.exec(await terminal.shows(/pid \d+\.[\s\S]*Press Enter to start/))?.[1]);
      terminal.keys('Enter');
      await terminal.shows('Which colour?');
      process.kill(pid, 'SIGKILL');
      await terminal.shows(/code \d+[\s\S]*Press Enter to start/);
      terminal.keys('Enter');
      await terminal.shows('Which colour?');
      terminal.keys('good', 'Enter');
      await terminal.shows('Done: 1 of 1 task');
    } finally {
      terminal.end();
    }
    expect(place.read('.artefacts/shop/spec.md')).toMatch(/sells\.\n- round-1: good\n$/);
    expect((await eventsOf(place)).filter(one => one['type'] === 'task.closed')).toHaveLength(1);
  }),
);
