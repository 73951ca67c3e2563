// Proves the files of project mode: the seed's own examples field for field, entries only ever appended, two endings.
import { describe, expect, it } from 'vitest';
import type { Event } from '../../../src/core/event.ts';
import type { Performed } from '../../../src/core/input.ts';
import { initialState } from '../../../src/core/state.ts';
import { evolve } from '../../../src/modes/evolve.ts';
import { ProjectView } from '../../../src/modes/project/views.ts';
import { claims, failed, Story, says, spec } from '../../core/given.ts';

const place = { directory: '/w', document: '/w/.artefacts/example-project/tasks.json', folder: '/home/loop' };
const tasks = [
  spec('T1', { title: 'Create CLI skeleton' }),
  spec('T2', { title: 'Add the auth module' }),
  spec('T3', { title: 'Say <script>*hello*\nthere' }),
];

interface Shown {
  readonly state: readonly unknown[];
  readonly obstacles: unknown;
  /** Undefined: left as it is. Null: removed. */
  readonly results: string | null | undefined;
}

/** As the publisher does it: the ledger folded from its first event. */
function shown(events: readonly Event[]): Shown {
  const view = new ProjectView(place);
  let state = initialState;
  for (const event of events) {
    state = evolve(state, event);
    view.add(event, state);
  }
  const files = new Map(view.files(state).map(({ path, text }) => [path, text]));
  const text = (name: string): string | null | undefined => files.get(`/w/.artefacts/example-project/${name}`);
  expect([...files.keys()].every(path => path.startsWith('/w/.artefacts/example-project/'))).toBe(true);
  return {
    state: JSON.parse(text('state.json')!) as readonly unknown[],
    obstacles: JSON.parse(text('obstacles.json')!) as unknown,
    results: text('results.md'),
  };
}

const report = (part: object): string => `<report>${JSON.stringify(part)}</report>\n`;
const begun = (checks: readonly string[] = ['npm test']): Story =>
  new Story({ mode: 'project', checks, checkpoints: true, tamperScreen: false }, tasks);

/** One iteration with its checkpoint, which knows the files. */
function iteration(story: Story, task: string, performed: Performed, files: readonly string[] = []): void {
  story.iteration(task, performed);
  const number = story.state.checkpoints.made + 1;
  const [due] = story.state.checkpoints.due;
  story.given({
    type: 'checkpoint.made',
    at: story.now,
    checkpoint: `cp-${number}`,
    number,
    commit: `c${number}`,
    tree: `t${number}`,
    iteration: due!.iteration,
    task,
    ref: 'r',
    kind: 'iteration',
    label: 'l',
    sha256: 's',
    skipped: [],
    because: 'b',
    files,
  });
}

const close = (story: Story, passed = true): void => {
  story.checked(passed);
  story.saved();
};

describe('the examples of the seed', () => {
  it('state.json: one entry per iteration, completed or attempted, with its files and obstacles', () => {
    const story = begun();
    const built = report({ completed: ['Implemented CLI skeleton in cli.py'] });
    iteration(story, 'T1', says(`${built}Task T1 complete`), ['ralph/cli.py']);
    close(story);
    const stuck = report({
      completed: ['Attempted auth module, hit missing dependency'],
      obstacles: [{ message: "Missing dependency: 'httpx' not installed" }],
    });
    iteration(story, 'T2', says(stuck));
    const { state } = shown(story.events);
    expect(JSON.stringify(state)).toBe(
      JSON.stringify([
        {
          iteration: 1,
          task_id: 'T1',
          status: 'completed',
          summary: 'Implemented CLI skeleton in cli.py',
          files_modified: ['ralph/cli.py'],
          obstacles: [],
        },
        {
          iteration: 2,
          task_id: 'T2',
          status: 'attempted',
          summary: 'Attempted auth module, hit missing dependency',
          files_modified: [],
          obstacles: ['O1'],
        },
      ]),
    );
  });

  it('obstacles.json: id, task, message, resolved and the iteration that met it', () => {
    const story = begun();
    iteration(story, 'T1', claims('T1'));
    close(story);
    iteration(story, 'T2', says('not yet'));
    iteration(story, 'T2', says(report({ obstacles: [{ message: "Missing dependency: 'httpx' not installed" }] })));
    const example = {
      obstacles: [
        {
          id: 'O1',
          task_id: 'T2',
          message: "Missing dependency: 'httpx' not installed",
          resolved: false,
          iteration: 3,
        },
      ],
    };
    expect(JSON.stringify(shown(story.events).obstacles)).toBe(JSON.stringify(example));
    iteration(story, 'T2', claims('T2'));
    close(story);
    expect(shown(story.events).obstacles).toMatchObject({ obstacles: [{ id: 'O1', resolved: true, iteration: 3 }] });
  });

  it('given nothing has happened yet, then both are there and empty', () => {
    expect(shown(begun().events)).toEqual({ state: [], obstacles: { obstacles: [] }, results: undefined });
  });
});

describe('what an entry says', () => {
  const summary = (performed: Performed): unknown => {
    const story = begun();
    iteration(story, 'T1', performed);
    if (story.state.claims.open.length > 0) close(story, false);
    return (shown(story.events).state[0] as { summary: unknown }).summary;
  };

  it.each([
    [
      'its last words without claim and promise',
      says('A.\n\nI wrote  it\nall.\n\n**Task T1 complete**\n<promise>DONE</promise>'),
      'I wrote it all.',
    ],
    [
      'its words before a report that says nothing is done',
      says(`Read the code.\n\n${report({ pending: ['x'] })}`),
      'Read the code.',
    ],
    [
      'its report, also where only the end of that is known',
      says(`${report({ completed: ['y'.repeat(280)], decisions: ['z'.repeat(280)] })}`),
      'y'.repeat(280),
    ],
    ['why it failed', failed('process', 'exit code 3'), expect.stringContaining('exit code 3')],
    ['why it ended, when it said nothing', says(''), expect.stringContaining('the agent ended')],
    ['no escape codes', says('a\u001b[31mb'), 'ab'],
  ])('is %s', (_what, performed, words) => {
    expect(summary(performed)).toEqual(words);
  });

  it('holds every file once and in order, and only of its own checkpoint', () => {
    const story = begun();
    iteration(story, 'T1', says('x'), ['b', 'a', 'b']);
    const made = story.events.findLast(event => event.type === 'checkpoint.made')!;
    const { task: _task, ...byHand } = made as Extract<Event, { type: 'checkpoint.made' }>;
    story.given({ ...byHand, number: 9, files: ['theirs'] });
    expect(shown(story.events).state).toMatchObject([{ files_modified: ['a', 'b'] }]);
  });

  it('is still a text for people: what could not be seen is written as an escape, and means the same', () => {
    const story = begun();
    iteration(story, 'T1', says('abc\u202edef'));
    const view = new ProjectView(place);
    for (const event of story.events) view.add(event, story.state);
    const [file] = view.files(story.state);
    expect(file?.text).toContain('abc\\u202edef');
    expect(shown(story.events).state).toMatchObject([{ summary: 'abc\u202edef' }]);
  });
});

it('after every append, entries have only been appended: one waits until its claim is decided', () => {
  const story = begun();
  const looks: number[] = [];
  const given = story.given.bind(story);
  story.given = (...events) => {
    given(...events);
    looks.push(story.events.length);
    return story;
  };
  iteration(story, 'T1', claims('T1'), ['a']);
  close(story, false);
  iteration(story, 'T1', says('more'), ['b']);
  iteration(story, 'T1', claims('T1'), ['c']);
  expect(shown(story.events).state).toHaveLength(2);
  close(story);
  const final = shown(story.events).state;
  expect(final).toMatchObject([
    { status: 'attempted', files_modified: ['a'] },
    { status: 'attempted', files_modified: ['b'] },
    { status: 'completed', files_modified: ['c'] },
  ]);
  const states = looks.map(at => shown(story.events.slice(0, at)).state);
  for (const state of states) expect(state).toEqual(final.slice(0, state.length));
  expect(new Set(states.map(state => state.length))).toEqual(new Set([0, 1, 2, 3]));
});

it('given two at once, then the one that ended later waits for the proof of the one before', () => {
  const story = new Story({ mode: 'project', checks: ['npm test'], parallel: 2, worktreePerTask: true }, tasks);
  story.begin('T1');
  story.begin('T2');
  story.performed(claims('T1'), 1);
  story.performed(says('not yet'), 2);
  expect(shown(story.events).state).toEqual([]);
  story.checked(false, 1);
  expect(shown(story.events).state).toMatchObject([{ iteration: 1 }, { iteration: 2 }]);
});

describe('results.md', () => {
  const finish = (story: Story): void => {
    story.when({ type: 'end' });
    expect(story.state.control.ended).toBeDefined();
  };

  it('when all tasks are completed: the changes, the files, nothing left', () => {
    const story = begun();
    for (const [id, file] of [
      ['T1', 'z.py'],
      ['T2', 'a.py'],
      ['T3', 'z.py'],
    ] as const) {
      iteration(story, id, says(`${report({ completed: [`wrote ${file}`] })}Task ${id} complete`), [file]);
      close(story);
      expect(shown(story.events).results).toBeUndefined();
    }
    finish(story);
    const { results } = shown(story.events);
    expect(results).toMatch(/^# Results of example-project\n\nAll tasks are completed\.\n\nReason: Done: /);
    expect(results).toContain('- **T1** Create CLI skeleton (completed in iteration 1, checks passed): wrote z.py\n');
    expect(results).toContain(
      '- **T3** Say \\<script>\\*hello\\* there (completed in iteration 3, checks still green): wrote z.py\n',
    );
    expect(results).toContain('## Files modified\n\n- `a.py`\n- `z.py`\n\n## Remaining\n\nNothing.\n');
    expect(results).toContain('## What to do next\n\n    ralph report shop\n');
    expect(results).not.toContain('Obstacles');
    expect(shown(story.events).results).toBe(results);
  });

  it('when it was halted: what is completed, what remains and why, the obstacles, the way on', () => {
    const story = new Story(
      { mode: 'project', checks: ['npm test'], limits: { iterationsMax: 2 } },
      tasks.map((one, at) => (at === 2 ? { ...one, dependsOn: ['T2'] } : one)),
    );
    story.iteration('T1', claims('T1'));
    close(story);
    story.iteration('T2', says(`${report({ obstacles: [{ message: 'no `key`' }] })}Task T2 complete`));
    close(story, false);
    finish(story);
    const { results } = shown(story.events);
    expect(results).toContain(
      'Execution has halted: 1 of 3 tasks are completed.\n\nReason: Stopped: all iterations are used up',
    );
    expect(results).toContain(
      '- **T1** Create CLI skeleton (completed in iteration 1, checks passed): All criteria hold.',
    );
    expect(results).toMatch(/- \*\*T2\*\* Add the auth module \(pending, 1 attempt\): .*npm test/);
    expect(results).toContain('- **T3** Say \\<script>\\*hello\\* there (pending)\n');
    expect(results).toContain('None that Ralph knows of.');
    expect(results).toContain('- **O1** (T2) no \\`key\\`\n');
    expect(results).toContain('    ralph resume shop --max-iterations 4 ');
  });

  it('while it waits for a person it is there, and gone again when the work goes on', () => {
    const story = new Story({ mode: 'project' }, [tasks[0]!]);
    const question = '<escalate type="stuck">\n<summary>Which one?</summary>\n<question>?</question>\n</escalate>';
    story.iteration('T1', says(question));
    expect(shown(story.events).results).toMatch(/Execution waits: 0 of 1[\s\S]*Which one\?[\s\S]*ralph inbox/);
    story.command({ type: 'answer', escalation: 'E1', answer: { kind: 'retry' } });
    expect(shown(story.events).results).toBeNull();
  });

  it('of a loop that was skipped through names what was left out', () => {
    const story = new Story({ mode: 'project' }, [
      { ...tasks[0]!, done: true },
      { ...tasks[1]!, skipped: true },
    ]);
    finish(story);
    const { results } = shown(story.events);
    expect(results).toContain('- **T1** Create CLI skeleton (completed, done before the loop)\n');
    expect(results).toContain('- **T2** Add the auth module (blocked, left out by a person)\n');
  });
});

it('given a tasks.json outside of .artefacts, then nothing is written beside it: a state.json there may be somebody’s', () => {
  const story = new Story({ mode: 'project' }, [{ ...tasks[0]!, done: true }]);
  story.when({ type: 'end' });
  const view = new ProjectView({ ...place, document: '/w/tasks.json' });
  for (const event of story.events) view.add(event, story.state);
  const files = view.files(story.state);
  expect(files.map(({ path }) => path)).toEqual([
    '/home/loop/state.json',
    '/home/loop/obstacles.json',
    '/home/loop/results.md',
  ]);
  expect(files[2]?.text).toMatch(/^# Results of shop\n/);
});

it('obstacles.json forgets none, although prompts know only the newest hundred', () => {
  const story = new Story({ mode: 'project', limits: { iterationsMax: null, noProgressIterations: 99 } }, tasks);
  for (let round = 0; round < 4; round += 1) {
    const obstacles = Array.from({ length: 40 }, (_none, at) => ({ message: `${round}-${at}` }));
    story.iteration('T1', says(report({ obstacles })));
  }
  const { obstacles } = shown(story.events).obstacles as { obstacles: readonly { id: string; resolved: boolean }[] };
  expect(obstacles.map(({ id }) => id)).toEqual(Array.from({ length: 160 }, (_none, at) => `O${at + 1}`));
  story.iteration('T1', claims('T1'));
  const after = shown(story.events).obstacles as { obstacles: readonly { resolved: boolean }[] };
  expect(after.obstacles.every(one => one.resolved)).toBe(true);
});
