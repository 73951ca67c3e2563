// Proves that every mode runs through the public API: to its end, into errors, into a limit, and on after it was stopped.
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeRepository } from '../../../src/app/session/repository.ts';
import type { Event } from '../../../src/core/event.ts';
import {
  type Assignment,
  createCheckpoint,
  type LoopOptions,
  type LoopResult,
  latestCheckpoint,
  type ModeName,
  memoryLedger,
  runLoop,
} from '../../../src/index.ts';
import { player, type Stage, stage, untilStopped } from './stage.ts';

const story = (id: string) => ({ id, title: `Title of ${id}`, description: '', criteria: ['it works'], passes: false });
const prd = { project: 'shop', description: 'a shop', userStories: [story('US-001'), story('US-002')] };
const tasks = { project_name: 'shop', version: 1, tasks: ['T1', 'T2'].map(id => ({ id, title: `Title of ${id}` })) };
const plan = `---
plan_id: acme
objective: "Onboard Acme"
total_steps: 2
completed_steps: 0
status: approved
approval_required: false
iterations_used: 0
max_iterations: 10
---

# Plan

- [ ] **Step 1:** Write the note (action_type: create_file)
  - Dependencies: none
  - File: vault/notes/one.md
  - Content: first

- [ ] **Step 2:** Write the invite (action_type: create_file)
  - Dependencies: step_1
  - File: vault/notes/two.md
  - Content: second
`;

const review = (issues: readonly object[]): string =>
  `<review>\n${JSON.stringify({ confidence: issues.length === 0 ? 98 : 60, issues })}\n</review>`;
const issue = { issue: 'It names no unit.', severity: 'high', place: 'Limits', confidence: 90 };

interface Case {
  readonly mode: ModeName;
  readonly document: string;
  readonly text: string;
  readonly win: (assignment: Assignment) => string;
  /** Iterations to the goal. */
  readonly iterations: number;
  readonly proof: (read: (name: string) => string, result: LoopResult) => void;
}

const cases: readonly Case[] = [
  {
    mode: 'prompt',
    document: 'PROMPT.md',
    text: '# Write a page\n\nWith a title.\n\n- [ ] TASK_COMPLETE\n',
    win: ({ iteration }) => (iteration === 1 ? 'I wrote half of it.' : 'The page is there.\n\nLOOP_COMPLETE'),
    iterations: 2,
    proof: read => expect(read('PROMPT.md')).toContain('- [x] TASK_COMPLETE'),
  },
  {
    mode: 'prd',
    document: 'PRD.json',
    text: JSON.stringify(prd, null, 2),
    win: ({ task }) => `Task ${task} complete`,
    iterations: 2,
    proof: read => expect(JSON.parse(read('PRD.json')).userStories).toMatchObject([{ passes: true }, { passes: true }]),
  },
  {
    mode: 'project',
    document: '.artefacts/shop/tasks.json',
    text: JSON.stringify(tasks, null, 2),
    win: ({ task }) => `Task ${task} complete`,
    iterations: 2,
    proof: read => {
      expect(JSON.parse(read('.artefacts/shop/tasks.json')).tasks).toMatchObject([
        { status: 'completed' },
        { status: 'completed' },
      ]);
      expect(JSON.parse(read('.artefacts/shop/state.json'))).toHaveLength(2);
    },
  },
  {
    mode: 'review',
    document: 'design.md',
    text: '# Limits\n\nAt most 5.\n',
    win: ({ task }) =>
      task === 'R1-adversarial'
        ? review([issue])
        : task.startsWith('R')
          ? review([])
          : 'Mended.\n\n<review-complete>ALL_ISSUES_RESOLVED</review-complete>',
    iterations: 7,
    proof: (_read, { report, state }) => {
      expect(report.items.find(item => item.id === 'I1')).toMatchObject({
        status: 'done',
        title: 'high (Limits): It names no unit.',
      });
      expect(state.mode.own).toMatchObject({ round: 2 });
    },
  },
];

const played = (one: Case) => player('mine', one.win);

interface Play extends Stage {
  readonly options: (part?: Partial<LoopOptions>) => LoopOptions;
}

function playOf(one: Pick<Case, 'mode' | 'document' | 'text'>): Play {
  const place = stage();
  place.write(one.document, one.text);
  const { directory, home } = place;
  const base: LoopOptions = {
    document: one.document,
    mode: one.mode,
    directory,
    home,
    ledger: memoryLedger(),
    settings: { backoffBase: '1ms' },
  };
  return { ...place, options: part => ({ ...base, ...part }) };
}

describe.each(cases)('mode $mode through runLoop', one => {
  it('given work that is claimed, then the goal is reached and the document says so', async () => {
    const { options, directory } = playOf(one);
    const result = await runLoop(options({ agent: played(one) }));
    expect(result.summary).toMatch(/^Done/);
    expect(result).toMatchObject({ reason: 'goal_achieved', exitCode: 0, verified: false });
    expect(result.state.iterations.begun).toBe(one.iterations);
    one.proof(name => readFileSync(join(directory, name), 'utf8'), result);
  });

  it('given five errors in a row as the limit, then it gives up after them; a review asks a person instead', async () => {
    const { options } = playOf(one);
    const agent = player('mine', ({ iteration }) => ({
      type: 'ended',
      message: '',
      failure: { kind: 'timeout', detail: `reason ${'abcdefghij'[iteration] ?? ''}` },
    }));
    const attempts = one.mode === 'prompt' ? {} : { attemptsPerTask: 50 }; // one task over many iterations
    const result = await runLoop(
      options({ agent, limits: { ...attempts, errorsInRow: 5, iterationsWithoutProgress: 50 } }),
    );
    if (one.mode === 'review') {
      expect(result).toMatchObject({ how: 'waiting', exitCode: 5 });
      expect(result.questions[0]?.summary).toMatch(/^5 failures in a row/);
      return;
    }
    expect(result).toMatchObject({ reason: 'consecutive_errors', exitCode: 6 });
    expect(result.state.iterations.begun).toBe(5);
    expect(result.report.errors).toHaveLength(5);
  });

  it('given a limit of iterations, then it ends there', async () => {
    const { options } = playOf(one);
    const agent = player('mine', () => 'I looked around.');
    const result = await runLoop(options({ agent, limits: { iterations: 1 } }));
    expect(result).toMatchObject({ reason: 'max_iterations', exitCode: 3 });
    expect(agent.seen).toHaveLength(1);
  });

  it('given a signal in the middle, then the same call goes on with its counters', async () => {
    const { options } = playOf(one);
    const stopper = new AbortController();
    const waitsFor = new Set(['the end of the first', 'the start of the second']); // reviewers work side by side
    const seen = (what: string): void => {
      waitsFor.delete(what);
      if (waitsFor.size === 0) stopper.abort();
    };
    const stopped = player('mine', (assignment, stop) => {
      if (assignment.iteration < 2) return one.win(assignment);
      seen('the start of the second');
      return untilStopped(stop);
    });
    const onEvent = (event: Event): void => {
      if (event.type === 'iteration.ended' && event.iteration === 1) seen('the end of the first');
    };
    const first = await runLoop(options({ agent: stopped, signal: stopper.signal, onEvent }));
    expect(first).toMatchObject({ how: 'interrupted', exitCode: 130 });
    const before = first.state.iterations.begun;
    expect(before).toBeGreaterThanOrEqual(2);
    const second = await runLoop(options({ agent: played(one) }));
    expect(second).toMatchObject({ loop: first.loop, reason: 'goal_achieved', exitCode: 0 });
    expect(second.state.iterations.begun).toBe(before + one.iterations - 1);
    expect(second.report.metrics).toMatchObject({ iterations: second.state.iterations.begun, interrupted: before - 1 });
  });
});

describe('an interview through runLoop', () => {
  const one = { mode: 'project' as const, document: '.artefacts/shop/spec.md', text: '# Shop\n\nSell tea.\n' };

  it('given a performer that cannot talk with a person, then it is refused; given one that can, then its rounds leave tasks', async () => {
    const { options, write } = playOf(one);
    const silent = player('mine', () => '');
    await expect(runLoop(options({ agent: silent }))).rejects.toThrow('The performer mine cannot talk with a person.');
    const talker = player('talker', ({ task }) => {
      write(one.document, `# Shop\n\nSell tea to people who asked for it: ${task}.\n`);
      if (task === 'round-2') write('.artefacts/shop/tasks.json', JSON.stringify(tasks));
      return 'We talked.';
    });
    const agent = { ...talker, can: { ...talker.can, interactive: true } };
    const result = await runLoop(options({ agent, settings: { rounds: 2 } }));
    expect(result).toMatchObject({ reason: 'goal_achieved', verified: true, state: { iterations: { begun: 2 } } });
    expect(talker.seen.every(assignment => assignment.interactive === true)).toBe(true);
  });
});

describe('mode plan through runLoop', () => {
  const one = { mode: 'plan' as const, document: 'vault/Plans/acme.md', text: plan };

  it('given steps that need no agent, then they are done, and the plan lies in Done; no plan runs twice', async () => {
    const { options, directory, write } = playOf(one);
    const result = await runLoop(options());
    expect(result).toMatchObject({ reason: 'goal_achieved', exitCode: 0 });
    const read = (name: string): string => readFileSync(join(directory, 'vault', name), 'utf8');
    expect([read('notes/one.md'), read('notes/two.md')].map(text => text.trim())).toEqual(['first', 'second']);
    expect(read('Done/acme.md')).toMatch(/- \[x\] \*\*Step 1:\*\*[\s\S]*- \[x\] \*\*Step 2:\*\*/);
    expect(existsSync(join(directory, 'vault/Plans/acme.md'))).toBe(false);
    write('vault/Plans/acme.md', plan);
    expect(await runLoop(options())).toMatchObject({ ran: false, loop: result.loop, exitCode: 0 });
  });

  it('given new, or a copy of a plan that is under way, then nothing of it is begun', async () => {
    const { options, write } = playOf(one);
    await expect(runLoop(options({ new: true }))).rejects.toThrow('no plan runs twice');
    const first = await runLoop(options({ limits: { iterations: 1 } }));
    expect(first.exitCode).toBe(3);
    write('copy.md', plan);
    expect(await runLoop(options({ document: 'copy.md' }))).toMatchObject({ ran: false, loop: first.loop });
  });

  it('given a step that leads out of the vault by a link, then it is blocked and a person is asked', async () => {
    const { options, directory, home } = playOf(one);
    symlinkSync(dirname(home), join(directory, 'vault', 'notes'));
    const result = await runLoop(options());
    expect(result).toMatchObject({ how: 'waiting', exitCode: 5, state: { iterations: { begun: 1 } } });
    expect(result.report.items[0]).toMatchObject({ id: 'step_1', status: 'blocked' });
  });

  it('given a limit of iterations, then the second step is left', async () => {
    const { options } = playOf(one);
    const result = await runLoop(options({ limits: { iterations: 1 } }));
    expect(result).toMatchObject({ reason: 'max_iterations', exitCode: 3 });
    expect(result.report.items.map(item => item.status)).toEqual(['done', 'pending']);
  });

  it('given a signal after the first step, then the same call does the second one only', async () => {
    const { options } = playOf(one);
    const stopper = new AbortController();
    const stopAt = (type: string): void => void (type === 'task.closed' && stopper.abort());
    const first = await runLoop(options({ signal: stopper.signal, onEvent: event => stopAt(event.type) }));
    expect(first).toMatchObject({ how: 'interrupted', state: { iterations: { begun: 1 } } });
    const second = await runLoop(options());
    expect(second).toMatchObject({ loop: first.loop, reason: 'goal_achieved', state: { iterations: { begun: 2 } } });
  });

  it('given a plan that needs approval, then it is refused, or a callback says yes to exactly what it says', async () => {
    const { options } = playOf({ ...one, text: plan.replace('approval_required: false', 'approval_required: true') });
    await expect(runLoop(options())).rejects.toMatchObject({
      exitCode: 5,
      message: expect.stringContaining('may not run'),
    });
    const asked: string[] = [];
    const result = await runLoop(
      options({
        onEscalation: question => {
          asked.push(question.kind);
          return { kind: 'option', option: 1 };
        },
      }),
    );
    expect(asked).toEqual(['approval']);
    expect(result).toMatchObject({ reason: 'goal_achieved', state: { document: { approval: { by: 'a program' } } } });
  });
});

it('given stories that are gone from the document, then the next call does not say that there is nothing to do', async () => {
  const { directory, home, write } = stage();
  const list = (...titles: readonly string[]) => write('todo.md', titles.map(title => `${title}\n`).join(''));
  list('- [ ] Alpha', '- [ ] Beta');
  const agent = player('mine', () => {
    list('- [x] Cache it', '- [x] Log it');
    return 'I tidied up.';
  });
  const options = { directory, home, document: 'todo.md', agent, limits: { iterations: 1 } };
  expect(await runLoop(options)).toMatchObject({ exitCode: 3, ran: true });
  list('- [x] Cache it', '- [x] Log it');
  const again = await runLoop(options);
  expect(again).toMatchObject({ exitCode: 3, ran: false, reason: 'max_iterations' });
  expect(again.summary).toMatch(/Gone from todo\.md and still open: alpha, beta/);
});

describe('a repository through runLoop', () => {
  it('given git, then each task is a commit and the newest checkpoint can be read and made', async () => {
    const prdCase = cases.find(one => one.mode === 'prd')!;
    const { options, directory, home, write } = playOf(prdCase);
    write('.gitignore', '*.log\n');
    const environment = { PATH: process.env['PATH'], HOME: home };
    expect(await makeRepository(directory, environment)).toBeUndefined();
    const agent = player('mine', ({ task }) => {
      write(`${task}.txt`, 'work');
      return `Task ${task} complete`;
    });
    const { ledger } = options();
    const result = await runLoop(options({ agent, environment }));
    expect(result).toMatchObject({ reason: 'goal_achieved' });
    const place = { home, loop: result.loop, environment, ...(ledger === undefined ? {} : { ledger }) };
    const newest = await latestCheckpoint(place);
    expect(newest?.metadata).toMatchObject({ loop_id: result.loop, iteration: 2 });
    const made = await createCheckpoint(place, 'before the release');
    expect(made?.metadata).toMatchObject({ number: (newest?.metadata.number ?? 0) + 1, label: 'before the release' });
    await expect(latestCheckpoint({ ...place, loop: 'nobody' })).rejects.toThrow('No loop is called "nobody"');
  });
});
