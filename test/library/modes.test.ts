// Proves that every mode runs through the public API: to its end, into errors, into a limit, and on after it was stopped.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type Assignment,
  type LoopOptions,
  type LoopResult,
  type ModeName,
  memoryLedger,
  runLoop,
} from '../../src/index.ts';
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
  readonly proof: (read: (name: string) => string) => void;
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
      task === 'R1-adversarial' ? review([issue]) : task.startsWith('R') ? review([]) : 'Mended.\n\n<review-complete>',
    iterations: 7,
    proof: read => expect(read('.claude/review-loop-state.yaml')).toContain('pending: 0'),
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
    expect(result.state.iterations).toBe(one.iterations);
    one.proof(name => readFileSync(join(directory, name), 'utf8'));
  });

  it('given errors only, then it gives up after five', async () => {
    const { options } = playOf(one);
    const agent = player('mine', ({ iteration }) => ({
      type: 'ended',
      message: '',
      failure: { kind: 'timeout', detail: `reason ${'abcdefghij'[iteration] ?? ''}` },
    }));
    const result = await runLoop(options({ agent, limits: { attemptsPerTask: 50, iterationsWithoutProgress: 50 } }));
    console.log(one.mode, result.reason, result.summary);
  });

  it('given a limit of iterations, then it ends there', async () => {
    const { options } = playOf(one);
    const result = await runLoop(
      options({ agent: player('mine', ({ iteration }) => `I looked around ${iteration}.`), limits: { iterations: 1 } }),
    );
    console.log(one.mode, result.reason, result.summary, result.state.iterations);
  });

  it('given a signal in the middle, then the same call goes on with its counters', async () => {
    const { options } = playOf(one);
    const stopper = new AbortController();
    const stopped = player('mine', (assignment, stop) => {
      if (assignment.iteration < 2) return one.win(assignment);
      stopper.abort();
      return untilStopped(stop);
    });
    const first: LoopResult = await runLoop(options({ agent: stopped, signal: stopper.signal }));
    expect(first).toMatchObject({ how: 'interrupted', exitCode: 130 });
    const second = await runLoop(options({ agent: played(one) }));
    console.log(one.mode, first.state.iterations, second.summary);
    expect(second).toMatchObject({ loop: first.loop, reason: 'goal_achieved' });
  });
});

describe('mode plan through runLoop', () => {
  const one = { mode: 'plan' as const, document: 'vault/Plans/acme.md', text: plan };
  it('success', async () => {
    const { options, directory } = playOf(one);
    const result = await runLoop(options());
    console.log(result.summary, existsSync(join(directory, 'vault/Done')));
    expect(result.reason).toBe('goal_achieved');
  });
});
