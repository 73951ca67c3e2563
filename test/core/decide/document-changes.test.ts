// Proves that documents are inputs: new tasks, new texts, and statuses that the ledger does not believe.
import { describe, expect, it } from 'vitest';
import { defaultSettings, type ModeWord } from '../../../src/modes/registry.ts';
import { claims, only, Story, says, spec, types } from '../given.ts';

const read = (story: Story, tasks: readonly ReturnType<typeof spec>[], hash: string, during?: number) =>
  story.when({ type: 'document', tasks, hash, ...(during === undefined ? {} : { during }) });

describe('a document that changed', () => {
  it('given a new task, then it is added at the end; given new text, then it replaces the old', () => {
    const story = new Story({}, [spec('A'), spec('B')]);
    story.iteration('A', claims('A'));
    story.saved();
    const events = read(
      story,
      [spec('A', { done: true }), spec('B', { title: 'B, better', dependsOn: ['N'] }), spec('N')],
      'h2',
    );
    expect(types(events)).toEqual(['tasks.added', 'tasks.loaded']);
    expect(only(events, 'tasks.added')).toMatchObject({
      tasks: [{ id: 'N' }],
      because: 'the document changed: 1 new task',
    });
    expect(only(events, 'tasks.loaded').tasks.map(task => task.id)).toEqual(['B']);
    expect(story.task('B')).toMatchObject({ spec: { title: 'B, better' }, status: 'pending' });
    expect(story.task('A').status).toBe('done');
    expect(story.effectKeys()).toEqual(['begin:N']);
  });

  it('given a task with no attempt left, then it is blocked when it is first read; one that is over or blocked is not', () => {
    const spent = { attemptsBefore: 3, attemptsMax: 3 };
    const story = new Story({}, [spec('A', spent), spec('B'), spec('C', { ...spent, attemptsBefore: 2 })]);
    expect(story.task('A')).toMatchObject({
      status: 'blocked',
      blockedBecause: '3 attempts made before this loop, 3 allowed',
    });
    expect([story.task('B').status, story.task('C').status]).toEqual(['pending', 'pending']);
    const more = [spec('N', spent), spec('O', { ...spent, done: true }), spec('P', { ...spent, blocked: true })];
    const events = read(story, [spec('A'), spec('B'), spec('C'), ...more], 'h2');
    expect(events.filter(event => event.type === 'task.blocked').map(event => event.task)).toEqual(['N']);
  });

  it('given the same bytes again, then nothing happens', () => {
    const story = new Story();
    expect(read(story, [spec('A'), spec('B')], 'h1')).toEqual([]);
  });

  it('given only other bytes, then the hash is noted and no text differs', () => {
    const story = new Story();
    const events = read(story, [spec('A'), spec('B')], 'h2');
    expect(only(events, 'tasks.loaded')).toMatchObject({
      tasks: [],
      because: 'the document changed: no task text differs',
    });
    expect(story.state.document.hash).toBe('h2');
    expect(read(story, [spec('A'), spec('B')], 'h2')).toEqual([]);
  });
});

describe('drift', () => {
  it.each([
    ['done', { done: true }],
    ['skipped', { skipped: true }],
  ] as const)(
    'given an open task that the document calls %s while an agent works, then that is put back',
    (said, part) => {
      const story = new Story();
      story.begin('B');
      const events = story.when({ type: 'document', tasks: [spec('A', part), spec('B')], hash: 'h2', during: 1 });
      expect(only(events, 'signal.read')).toMatchObject({ signal: 'status-edit', task: 'A', accepted: false });
      expect(only(events, 'signal.read').because).toContain(`call A ${said}; the ledger says pending`);
      expect(story.task('A').status).toBe('pending');
      expect(story.effectKeys()).toContain('save:A');
      expect(story.state.memory.lastRejection).toBeUndefined();
    },
  );

  it.each([
    ['done', { done: true }, { type: 'task.closed', task: 'A', verified: false, by: 'a person' }],
    ['skipped', { skipped: true }, { type: 'task.skipped', task: 'A', by: 'a person' }],
  ] as const)(
    'given an open task that the document calls %s between iterations, then a person said so',
    (said, part, event) => {
      const story = new Story();
      expect(read(story, [spec('A', part), spec('B')], 'h2')).toContainEqual(expect.objectContaining(event));
      expect(story.task('A').status).toBe(said);
    },
  );

  it('given a done task that the document calls open, then the ledger wins', () => {
    const story = new Story();
    story.iteration('A', claims('A'));
    story.saved();
    read(story, [spec('A'), spec('B')], 'h2');
    expect(story.state.document.unsaved).toEqual(['A']);
    expect(story.task('A').status).toBe('done');
  });

  it('given the task of the live iteration, then its status is left to the claim; another’s is drift', () => {
    const story = new Story({ checks: ['x'] });
    story.begin('A');
    const events = read(story, [spec('A', { done: true }), spec('B', { done: true })], 'h2', 1);
    expect(events.flatMap(one => (one.type === 'signal.read' ? [one.task] : []))).toEqual(['B']);
    story.performed(says('edited', { statusEdits: ['A'] }));
    expect(story.effectKeys()).toEqual(['check:1', 'save:B']);
  });

  it('given a status that we have not written yet, then it is no drift', () => {
    const story = new Story();
    story.iteration('A', claims('A'));
    expect(types(read(story, [spec('A'), spec('B')], 'h2'))).toEqual(['tasks.loaded']);
  });
});

describe('writing back', () => {
  it('given a task that changed while it was written, then it stays unsaved', () => {
    const story = new Story();
    story.iteration('A', claims('A'));
    const marks = [
      { id: 'A', done: false, skipped: false },
      { id: 'B', done: false, skipped: false },
    ];
    expect(only(story.when({ type: 'saved', marks, hash: 'h3' }), 'tasks.saved').tasks).toEqual(['B']);
    expect(story.state.document.unsaved).toEqual(['A']);
  });

  it('given a damaged document that was put back, then the agent is told', () => {
    const story = new Story();
    const events = story.when({ type: 'saved', marks: [], hash: 'h3', restored: 'line 3: unexpected }' });
    expect(types(events)).toEqual(['tasks.saved', 'guidance.given']);
    expect(only(events, 'guidance.given')).toMatchObject({
      by: 'ralph',
      text: expect.stringContaining('line 3: unexpected }'),
    });
  });

  it('given a write that failed, then the hash is not believed and the reason is kept', () => {
    const story = new Story();
    story.iteration('A', claims('A'));
    const marks = [{ id: 'A', done: true, skipped: false }];
    const events = story.when({ type: 'saved', marks, hash: '', failed: 'read-only' });
    expect(only(events, 'tasks.saved')).toMatchObject({ failed: 'read-only', because: 'read-only' });
    expect(story.state.document.hash).toBe('h1');
  });
});

describe('criteria that are edited while an iteration runs', () => {
  const edited = [spec('A', { criteria: ['it exists'], mayChangeTests: true }), spec('N', { mayChangeTests: true })];

  it('are not taken, nor is a right that the agent gave itself; the agent is told', () => {
    const story = new Story({}, [spec('A')]);
    story.begin('A');
    const events = story.when({ type: 'document', tasks: edited, hash: 'h2', during: 1 });
    expect(only(events, 'task.edit-rejected')).toMatchObject({ task: 'A', iteration: 1, criteria: ['it exists'] });
    expect(story.task('A').spec.criteria).toEqual(['A works']);
    expect(story.task('A').spec.mayChangeTests ?? false).toBe(false);
    expect(story.task('N').spec.mayChangeTests ?? false).toBe(false);
    expect(story.state.memory.lastRejection).toContain('what A must meet');
  });

  it('stay without effect when the same document is read again, until a person writes something else', () => {
    const story = new Story({}, [spec('A')]);
    story.begin('A');
    story.when({ type: 'document', tasks: edited, hash: 'h2', during: 1 });
    story.performed(says('not yet'));
    story.when({ type: 'document', tasks: edited, hash: 'h2' });
    expect(story.task('A').spec.criteria).toEqual(['A works']);
    story.when({
      type: 'document',
      tasks: [spec('A', { criteria: ['it works well'], mayChangeTests: true })],
      hash: 'h3',
    });
    expect(story.task('A').spec.criteria).toEqual(['it works well']);
    expect(story.task('A').spec.mayChangeTests ?? false).toBe(false);
  });
});

it('a story that an agent adds as done while it works begins open, and the document is put right', () => {
  const story = new Story({}, [spec('A')]);
  story.begin('A');
  story.when({ type: 'document', tasks: [spec('A'), spec('N', { done: true })], hash: 'h2', during: 1 });
  expect(story.task('N').status).toBe('pending');
  expect(story.state.document.unsaved).toContain('N');
});

it('dependencies that are edited while an iteration runs are not taken', () => {
  const story = new Story({}, [spec('A'), spec('B', { dependsOn: ['A'] })]);
  story.begin('A');
  const edited = [spec('A'), spec('B', { dependsOn: [] })];
  const events = story.when({ type: 'document', tasks: edited, hash: 'h2', during: 1 });
  expect(only(events, 'task.edit-rejected').task).toBe('B');
  expect(story.task('B').spec.dependsOn).toEqual(['A']);
});

describe('what of an edit is taken', () => {
  const before = spec('A', { title: 'Old', criteria: ['old'] });
  const edited = spec('A', { title: 'New', criteria: ['new'], mayChangeTests: true });
  const taken = (story: Story): string => {
    const {
      spec: { title, criteria, mayChangeTests },
    } = story.task('A');
    return `${title} · ${criteria[0]} · ${mayChangeTests ? 'may' : 'may not'} change tests`;
  };
  const everything = 'New · new · may not change tests';
  const wordsOnly = 'New · old · may not change tests';
  const nothing = 'Old · old · may not change tests';

  it.each<[ModeWord, boolean, { between: string; during: string; again: string }]>([
    ['prd', false, { between: everything, during: wordsOnly, again: wordsOnly }],
    ['prompt', false, { between: everything, during: nothing, again: nothing }],
    ['goal', false, { between: nothing, during: nothing, again: nothing }],
    ['plan', true, { between: everything, during: everything, again: everything }],
  ])('in mode %s, with approval %s', (mode, approval, wanted) => {
    const open = (): Story => {
      const story = new Story({ ...defaultSettings(mode), performers: ['agent'], approval: false }, [before]);
      story.begin('A');
      story.state = { ...story.state, settings: { ...story.state.settings, approval } };
      return story;
    };
    const between = open();
    between.performed(says('not yet'));
    read(between, [edited], 'h2');
    expect(taken(between), 'between iterations').toBe(wanted.between);
    const during = open();
    const rejected = read(during, [edited], 'h2', 1).filter(event => event.type === 'task.edit-rejected');
    expect(taken(during), 'while one runs').toBe(wanted.during);
    expect(rejected).toHaveLength(wanted.during === everything ? 0 : 1);
    during.performed(says('not yet'));
    expect(types(read(during, [edited], 'h2'))).not.toContain('task.edit-rejected');
    expect(taken(during), 'the same edit read again').toBe(wanted.again);
  });
});

describe('a document that is the task', () => {
  const task = (description: string, part: object = {}) => spec('prompt', { description, criteria: [], ...part });
  const stepwise = (mode: 'prompt' | 'goal'): Story => {
    const story = new Story({ mode }, [task('Build the shop.')]);
    story.begin('prompt');
    return story;
  };

  it.each(['prompt', 'goal'] as const)(
    'in mode %s: an edit while an iteration runs is not taken, and recorded',
    mode => {
      const story = stepwise(mode);
      const events = read(story, [task('Say done.', { title: 'Easy' })], 'h2', 1);
      expect(only(events, 'task.edit-rejected')).toMatchObject({
        task: 'prompt',
        because: expect.stringContaining('the task itself was edited during iteration 1 and is not taken'),
      });
      expect(story.task('prompt')).toMatchObject({
        spec: { title: 'Title of prompt', description: 'Build the shop.' },
      });
      expect(types(read(story, [task('Say done.', { title: 'Easy' })], 'h2', 1))).not.toContain('task.edit-rejected');
    },
  );

  it('keeps its words when the same edit is read again later, and takes what a person writes between iterations', () => {
    const story = stepwise('prompt');
    read(story, [task('Say done.')], 'h2', 1);
    story.performed(says('not yet'));
    read(story, [task('Say done.')], 'h2');
    expect(story.task('prompt').spec.description).toBe('Build the shop.');
    read(story, [task('Build the shop, with a cart.')], 'h3');
    expect(story.task('prompt').spec.description).toBe('Build the shop, with a cart.');
  });

  it('is claimed by its box, whatever else was edited', () => {
    const story = stepwise('prompt');
    expect(types(read(story, [task('Say done.', { done: true })], 'h2', 1))).not.toContain('signal.read');
    story.performed(says('I ticked it.', { statusEdits: ['prompt'] }));
    expect(story.task('prompt')).toMatchObject({ status: 'done', spec: { description: 'Build the shop.' } });
  });

  it('when it is a goal: its words never change, and a text without a mark is no drift', () => {
    const story = new Story({ mode: 'goal' }, [spec('goal', { description: 'Build the shop.' })]);
    story.iteration('goal', claims('goal'));
    story.saved();
    expect(types(read(story, [spec('goal', { description: 'Another goal.' })], 'h2'))).toEqual(['tasks.loaded']);
    expect(story.task('goal')).toMatchObject({ status: 'done', spec: { description: 'Build the shop.' } });
  });
});

it('an edit that is not taken is told to whoever works next, not only to the one that made it', () => {
  const story = new Story({}, [spec('A')]);
  story.begin('A');
  story.when({ type: 'document', tasks: [spec('A', { criteria: ['it exists'] })], hash: 'h2', during: 1 });
  story.performed(says('not yet'));
  story.begin('A');
  const told = story.state.memory.guidance.filter(one => one.iteration === 2).map(one => one.text);
  expect(told).toEqual([expect.stringContaining('what A must meet')]);
});
