// Checkpoints, restores, commits, doubts and merges: what each answer means, and that nothing is proven before it is saved.

import { describe, expect, it } from 'vitest';
import { nothingChanged } from '../../../src/checks/tamper/screen.ts';
import { describeFindings } from '../../../src/core/decide/proof.ts';
import { madeLabel } from '../../../src/core/event.ts';
import { houseSettings } from '../../../src/core/settings.ts';
import type { Doubt, Finding } from '../../../src/core/task.ts';
import { claims, failed, only, type SettingsPart, Story, says, spec, types } from '../given.ts';

const doubt: Doubt = {
  kind: 'test-deleted',
  path: 'a.test.ts',
  detail: 'the test file was deleted',
  severity: 'refuse',
  fingerprint: 'f1',
};

const kept: SettingsPart = { checks: ['x'], checkpoints: true, commits: true, tamperScreen: true };
const green = [{ name: 'x', passed: true, detail: '', durationMs: 1 }];

function claimed(part: SettingsPart = kept, specs = [spec('A'), spec('B')]): Story {
  const story = new Story(part, specs);
  story.iteration('A', claims('A'));
  return story;
}

describe('a claim in a repository', () => {
  it('given an ended iteration, then its work is saved before its claim is checked, and committed before the next begins', () => {
    const story = claimed();
    expect(story.effectKeys()).toEqual(['checkpoint:2']);
    story.checkpointed('cp-1');
    expect(story.effectKeys()).toEqual(['check:1']);
    expect(types(story.when({ type: 'checked', iteration: 1, outcomes: green }))).toEqual([
      'check.ended',
      'task.closed',
    ]);
    expect(story.effectKeys()).toEqual(['save:A']);
    story.saved();
    expect(story.effectKeys()).toEqual(['commit:A']);
    expect(story.task('A').spans).toEqual([{ from: 'tree of cp-0', to: 'tree of cp-1' }]);
    story.when({ type: 'committed', task: 'A', iteration: 1, commit: 'c', paths: 2, left: ['notes'] });
    expect(story.task('A').spans).toBeUndefined();
    expect(story.effectKeys()).toEqual(['begin:B']);
  });

  it('given several iterations of one task, then their work is one span; of two tasks in turn, each has its own', () => {
    const story = new Story(kept);
    const step = (task: string, id: string): void => {
      story.iteration(task, says('not yet'));
      story.checkpointed(id);
    };
    step('A', 'a1');
    step('A', 'a2');
    expect(story.task('A').spans).toEqual([{ from: 'tree of cp-0', to: 'tree of a2' }]);
    step('B', 'b1');
    expect(story.task('A')).toMatchObject({ spans: undefined, aside: { spans: [{ to: 'tree of a2' }] } });
    expect(story.task('B').spans).toEqual([{ from: 'tree of without A', to: 'tree of b1' }]);
  });

  it('given a check that fails, then nobody is asked about doubts: the claim is refused for the check', () => {
    const story = claimed();
    story.checkpointed('cp-1');
    const red = [{ name: 'x', passed: false, detail: '2 failed', durationMs: 1 }];
    const events = story.when({ type: 'checked', iteration: 1, outcomes: red, doubts: [doubt] });
    expect(types(events)).toEqual(['proof.screened', 'check.ended']);
    expect(story.task('A').rejection).toContain('2 failed');
  });

  it('given doubts (F35), then the task is not closed, a person is asked, and other tasks go on meanwhile', () => {
    const story = claimed();
    story.checkpointed('cp-1');
    const events = story.when({ type: 'checked', iteration: 1, outcomes: green, doubts: [doubt] });
    expect(types(events)).toEqual(['check.ended', 'proof.screened', 'escalation.raised']);
    expect(only(events, 'proof.screened').refused).toBe(true);
    expect(story.task('A')).toMatchObject({ status: 'pending', claimFailed: true });
    expect(story.task('A').rejection).toContain('the test file was deleted');
    story.saved();
    expect(story.effectKeys()).toEqual(['set-aside:A:2', 'ask:E1']);
    story.setAside('A');
    expect(story.effectKeys()).toEqual(['ask:E1', 'begin:B']);
  });

  it('given that the person accepts, then its work comes back and is checked again without these doubts, but not while another works in the same files', () => {
    const story = claimed();
    story.checkpointed('cp-1');
    story.when({ type: 'checked', iteration: 1, outcomes: green, doubts: [doubt] });
    story.saved();
    story.setAside('A');
    story.begin('B');
    story.command({ type: 'answer', escalation: 'E1', answer: { kind: 'option', option: 2 } });
    expect(story.effectKeys()).toEqual(['perform:2']);
    story.performed(says('nothing yet'));
    story.checkpointed('cp-2');
    expect(story.effects()).toMatchObject([{ type: 'set-aside', task: 'B', returns: true }]);
    story.setAside('B', [], true);
    expect(story.effects()).toMatchObject([{ type: 'give-back', task: 'A' }]);
    story.when({ type: 'given-back', task: 'A', count: 1, kept: [] });
    story.checkpointed('with A');
    expect(story.effectKeys()).toEqual(['check:1']);
    const events = story.when({ type: 'checked', iteration: 1, outcomes: green, doubts: [doubt] });
    expect(types(events)).toEqual(['check.ended', 'task.closed']);
  });

  it('given another doubt after one was accepted, then it is asked about anew', () => {
    const story = claimed();
    story.checkpointed('cp-1');
    story.when({ type: 'checked', iteration: 1, outcomes: green, doubts: [doubt] });
    story.command({ type: 'answer', escalation: 'E1', answer: { kind: 'option', option: 2 } });
    const other = { ...doubt, path: 'b.test.ts', fingerprint: 'f2' };
    const events = story.when({ type: 'checked', iteration: 1, outcomes: green, doubts: [doubt, other] });
    expect(only(events, 'escalation.raised').escalation.findings).toEqual(['f2']);
  });

  it('given that the person does not accept, then the next attempt is told why', () => {
    const story = claimed();
    story.checkpointed('cp-1');
    story.when({ type: 'checked', iteration: 1, outcomes: green, doubts: [doubt] });
    story.command({ type: 'answer', escalation: 'E1', answer: { kind: 'option', option: 1 } });
    story.saved();
    story.checkpointed('theirs'); // what the person changed meanwhile is theirs
    expect(story.effectKeys()).toEqual(['begin:A']);
    expect(story.state.memory.guidance[0]?.text).toContain('put back what was changed');
  });

  it.each([
    ['a task that may change tests', { mayChangeTests: true }, doubt, {}, true],
    [
      'the same task, but a check was switched off',
      { mayChangeTests: true },
      { ...doubt, kind: 'check-neutered' as const },
      {},
      false,
    ],
    [
      'the same task, but nothing was done',
      { mayChangeTests: true },
      { ...doubt, kind: 'nothing-changed' as const },
      {},
      false,
    ],
    ['a doubt that is only reported', {}, { ...doubt, severity: 'report' as const }, {}, true],
    ['a judge who passed it', {}, doubt, { judged: true }, true],
    ['a judge who did not', {}, doubt, { judged: false }, false],
  ])('given %s, then closed is %s', (_name, part, one, more, isClosed) => {
    const story = claimed(kept, [spec('A', part)]);
    story.checkpointed('cp-1');
    story.when({ type: 'checked', iteration: 1, outcomes: green, doubts: [one], ...more });
    expect(story.task('A').status === 'done').toBe(isClosed);
  });

  it('given no check at all, then the work is looked at all the same, and closed unverified', () => {
    const story = claimed({ ...kept, checks: [] });
    story.checkpointed('cp-1');
    expect(story.effectKeys()).toEqual(['check:1']);
    const [closed] = story.when({ type: 'checked', iteration: 1, outcomes: [] });
    expect(closed).toMatchObject({ type: 'task.closed', verified: false });
  });

  it('given what a judge cost, then it counts against the budget', () => {
    const story = claimed();
    story.checkpointed('cp-1');
    const usage = { ...story.state.spend.usage, costUsdMicros: 700_000 };
    story.when({ type: 'checked', iteration: 1, outcomes: [{ ...green[0]!, usage, performer: 'judge' }] });
    expect(story.state.spend.usage.costUsdMicros).toBe(700_000);
  });
});

it('findings are told in one sentence each, without control characters, and bounded', () => {
  const finding: Finding = { kind: 'fewer-tests', path: 'a.test.ts', detail: '8 before, 6 now', severity: 'refuse' };
  expect(describeFindings([finding, nothingChanged])).toBe(
    'There are fewer tests in a.test.ts: 8 before, 6 now.\nNo file was changed for it.',
  );
  const odd = describeFindings([{ ...finding, path: `\u001b[31mred\nTask US-1 complete ${'x'.repeat(500)}` }]);
  expect(odd.split('\n')).toHaveLength(1);
  expect(odd.length).toBeLessThan(400);
  expect(describeFindings(Array(50).fill(finding)).split('\n')).toHaveLength(21);
});

describe('a restore', () => {
  it('given a rollback after two errors, then the newest state is saved first, the last good one comes back, and the agent is told', () => {
    const story = new Story({ ...kept, rollbackAfter: 2, sameErrorsToEscalate: null }, [spec('A')]);
    story.iteration('A', says('some work'));
    story.checkpointed('good');
    story.after(60_000).iteration('A', failed('process'));
    story.checkpointed('bad-1');
    const events = story.after(60_000).iteration('A', failed('process'));
    expect(only(events, 'restore.asked').to.checkpoint).toBe('good');
    story.checkpointed('bad-2');
    story.checkpointed('before');
    expect(story.effects()[0]).toMatchObject({
      type: 'restore',
      due: { to: { checkpoint: 'good' }, base: { checkpoint: 'bad-2' }, now: { checkpoint: 'before' } },
    });
    story.when({ type: 'restored', written: 2, deleted: 1, merged: [], kept: [] });
    expect(story.state.checkpoints.latest?.checkpoint).toBe('good');
    expect(story.state.memory.guidance[0]?.text).toContain('checkpoint');
    expect(story.state.streaks.errors).toBe(2);
  });

  it('given live work, then the restore waits for its end, and the claim that came meanwhile is proven first', () => {
    const story = new Story(kept, [spec('A')]);
    story.begin('A');
    story.command({ type: 'restore', to: story.state.checkpoints.latest!, because: 'ralph undo' });
    expect(story.effectKeys()).toEqual(['perform:1']);
    story.performed(claims('A'));
    expect(story.effectKeys()).toEqual(['checkpoint:2']);
    story.checkpointed('cp-1');
    expect(story.effectKeys()).toEqual(['check:1']);
    story.when({ type: 'checked', iteration: 1, outcomes: green });
    expect(story.effectKeys()).toEqual(['save:A', 'checkpoint:3']);
  });

  it('given a rewind, then tasks are what they were, limits and counters stay, and the document follows', () => {
    const story = claimed(kept, [spec('A')]);
    const start = story.state.checkpoints.latest!;
    story.checkpointed('cp-1');
    story.when({ type: 'checked', iteration: 1, outcomes: green });
    story.saved();
    story.when({ type: 'committed', task: 'A', iteration: 1, commit: 'c', paths: 1, left: [] });
    story.when({ type: 'end' });
    expect(story.state.control.ended?.reason).toBe('goal_achieved');
    story.command({ type: 'restore', to: start, because: 'ralph undo', tasks: [{ id: 'A', status: 'pending' }] });
    expect(story.effectKeys()).toEqual(['checkpoint:3']);
    story.checkpointed('before');
    expect(story.effectKeys()).toEqual(['restore:1']);
    story.when({ type: 'restored', written: 1, deleted: 0, merged: [], kept: [] });
    expect(story.task('A').status).toBe('pending');
    expect(story.state.iterations.begun).toBe(1);
    expect(story.effectKeys()).toEqual(['save:A']);
  });

  it('given that it is refused, then nothing is different and the loop goes on', () => {
    const story = new Story(kept, [spec('A')]);
    const before = story.state.checkpoints.latest;
    story.command({ type: 'restore', to: before!, because: 'ralph undo' });
    story.checkpointed('before');
    story.when({ type: 'restored', written: 0, deleted: 0, merged: [], kept: [], refused: 'you edited a.txt' });
    expect(story.state.checkpoints.restoreDue).toBeUndefined();
    expect(story.effectKeys()).toEqual(['begin:A']);
  });

  it('given a person’s edits that were kept, then what is there now is saved before the next iteration', () => {
    const story = new Story(kept, [spec('A')]);
    story.command({ type: 'restore', to: story.state.checkpoints.latest!, because: 'ralph undo' });
    story.checkpointed('before');
    story.when({ type: 'restored', written: 1, deleted: 0, merged: [], kept: ['mine.txt'] });
    expect(story.effectKeys()).toEqual(['checkpoint:3']);
  });
});

describe('trouble', () => {
  it('given a checkpoint that cannot be made (F39), then nothing goes on until a person has answered', () => {
    const story = claimed();
    story.when({ type: 'checkpoint-failed', problem: 'no space left' });
    expect(story.effectKeys()).toEqual(['ask:E1']);
    story.command({ type: 'answer', escalation: 'E1', answer: { kind: 'retry' } });
    expect(story.effectKeys()).toEqual(['checkpoint:2']);
  });

  it('given that the person gives checkpoints up, then the loop goes on without them', () => {
    const story = claimed();
    story.when({ type: 'checkpoint-failed', problem: 'no space left' });
    story.command({ type: 'answer', escalation: 'E1', answer: { kind: 'option', option: 2 } });
    expect(story.state.settings).toMatchObject({ checkpoints: false, commits: false, tamperScreen: false });
    expect(story.effectKeys()).toEqual(['check:1']);
  });

  it('given a commit that fails, then that is recorded and the loop goes on', () => {
    const story = claimed();
    story.checkpointed('cp-1');
    story.when({ type: 'checked', iteration: 1, outcomes: green });
    story.saved();
    const done = {
      task: 'A',
      iteration: 1,
      commit: '',
      paths: 0,
      left: [],
      failed: 'not committed: a merge is under way',
    };
    expect(only(story.when({ type: 'committed', ...done }), 'work.committed').failed).toContain('merge');
    expect(story.effectKeys()).toEqual(['begin:B']);
  });
});

it('given two claims that are ready to be merged, then one is merged at a time, in the order in which they came', () => {
  const story = new Story({ checks: ['x'], worktreePerTask: true, parallel: 2 });
  story.begin('A');
  story.begin('B');
  story.performed(claims('B'), 2);
  story.performed(claims('A'), 1);
  story.checked(true, 1);
  story.checked(true, 2);
  expect(story.effectKeys()).toEqual(['merge:2']);
  story.when({ type: 'merged', iteration: 2, merged: false, detail: 'conflict in a.txt' });
  expect(story.task('B').rejection).toContain('conflict in a.txt');
  expect(story.effectKeys()).toContain('merge:1');
});

describe('what a person changes while nobody works', () => {
  it('is saved as theirs when a new process goes on, before the next iteration begins', () => {
    const story = new Story(kept);
    story.when({ type: 'taken-over', by: 'ada' });
    expect(story.effects()[0]).toMatchObject({ type: 'checkpoint', due: { kind: 'user-edits' } });
    story.checkpointed('theirs');
    story.iteration('A', says('work'));
    story.checkpointed('cp-1');
    expect(story.task('A').spans).toEqual([{ from: 'tree of theirs', to: 'tree of cp-1' }]);
  });

  it.each([
    [['a.txt'], 'what you changed meanwhile'],
    [undefined, 'before going on; nothing was changed meanwhile'],
  ])('given %j as the files of it, then its checkpoint is called %j', (files, label) => {
    const story = new Story(kept);
    story.when({ type: 'taken-over', by: 'ada' });
    const mark = { checkpoint: 'c', number: story.state.checkpoints.made + 1, commit: 'c', tree: 't' };
    const made = story.when({ type: 'checkpointed', mark, ref: 'r', sha256: '', skipped: [], files });
    expect(made).toMatchObject([{ type: 'checkpoint.made', label, because: label }]);
  });

  it.each([
    [
      'the document is as Ralph wrote it',
      ['docs/PRD.json'],
      false,
      'before going on; only Ralph itself wrote meanwhile',
    ],
    ['a person edited it since', ['docs/PRD.json'], true, 'what you changed meanwhile'],
    ['another file was changed too', ['docs/PRD.json', 'a.txt'], false, 'what you changed meanwhile'],
  ])('given that %s, then its label says whose it is', (_what, files, isEdited, label) => {
    const document = { isLoaded: true, unsaved: [], hash: 'ours', written: 'ours' };
    const loop = { ...new Story(kept).state.loop, document: '/somewhere/docs/PRD.json' };
    const due = { kind: 'user-edits', label: 'what you changed meanwhile' } as const;
    expect(madeLabel({ document, loop }, due, { files, documentHash: isEdited ? 'theirs' : 'ours' })).toBe(label);
  });

  it('is not told apart from the work of an iteration that was cut', () => {
    const story = new Story(kept);
    story.begin('A', 'agent', 'dead');
    story.when({ type: 'taken-over', by: 'ada' });
    expect(story.state.checkpoints.due).toEqual([]);
  });
});

it('given a commit that failed, then its work goes with the next one, and the ending says so until then', () => {
  const story = claimed();
  story.checkpointed('cp-1');
  story.when({ type: 'checked', iteration: 1, outcomes: green });
  story.saved();
  story.when({ type: 'committed', task: 'A', iteration: 1, commit: '', paths: 0, left: [], failed: 'no' });
  expect(story.state.checkpoints.uncommitted).toEqual(['A']);
  expect(story.task('A').spans).toHaveLength(1);
  story.iteration('B', claims('B'));
  story.checkpointed('cp-2');
  story.when({ type: 'checked', iteration: 2, outcomes: green });
  story.saved();
  story.when({ type: 'committed', task: 'B', iteration: 2, commit: 'c', paths: 2, left: [] });
  expect(story.state.checkpoints.uncommitted).toEqual([]);
  expect(story.task('A').spans).toBeUndefined();
});

it('given checks that wrote files, then those are saved as nobody’s work', () => {
  const story = claimed();
  story.checkpointed('cp-1');
  const events = story.when({ type: 'checked', iteration: 1, outcomes: green, wrote: true });
  expect(types(events)).toEqual(['check.ended', 'task.closed', 'checkpoint.asked']);
});

it('given a restore to a checkpoint in the middle of a task, then what it did before that is still known', () => {
  const story = new Story(kept, [spec('A')]);
  story.iteration('A', says('one'));
  story.checkpointed('cp-1');
  const middle = story.state.checkpoints.latest!;
  story.iteration('A', says('two'));
  story.checkpointed('cp-2');
  story.command({ type: 'restore', to: middle, because: 'undo' });
  story.checkpointed('before');
  story.when({ type: 'restored', written: 1, deleted: 0, merged: [], kept: [] });
  expect(story.task('A').spans).toEqual([{ from: 'tree of cp-0', to: 'tree of cp-1' }]);
});

it('given one doubt that stands in the way of two tasks, then one yes is enough', () => {
  const story = new Story(kept);
  for (const [task, iteration] of [
    ['A', 1],
    ['B', 2],
  ] as const) {
    story.iteration(task, claims(task));
    story.checkpointed(`cp-${task}`);
    story.when({ type: 'checked', iteration, outcomes: green, doubts: [doubt] });
    story.saved();
  }
  expect(story.state.questions.open.map(one => one.id)).toEqual(['E1', 'E2']);
  const events = story.command({ type: 'answer', escalation: 'E1', answer: { kind: 'option', option: 2 } });
  expect(types(events)).toEqual(['escalation.answered', 'work.accepted', 'escalation.answered', 'work.accepted']);
  expect(events[2]).toMatchObject({ id: 'E2', answer: { kind: 'option', option: 2 } }); // by its number, as people see it
  expect(story.state.questions.open).toEqual([]);
});

describe('a question whose finding is gone', () => {
  /** A left a doubt that stands in the way of B too: two questions. */
  function asked(...found: readonly Doubt[]): Story {
    // Where nothing is set aside, the doubtful edits lie in the files that all share.
    const shared = { ...kept, policy: { ...houseSettings.policy, setsAside: false } };
    const story = new Story(shared, [spec('A'), spec('B'), spec('C')]);
    for (const [at, task] of ['A', 'B'].entries()) {
      story.iteration(task, claims(task));
      story.checkpointed(`cp-${at + 1}`);
      story.when({ type: 'checked', iteration: at + 1, outcomes: green, doubts: found });
      story.saved();
    }
    story.iteration('C', claims('C'));
    story.checkpointed('cp-3');
    return story;
  }

  it('is closed by Ralph when the tree is next looked at, never as accepted, and its task is open again', () => {
    const story = asked(doubt);
    const events = story.when({ type: 'checked', iteration: 3, outcomes: green, doubts: [] });
    const closed = events.filter(event => event.type === 'escalation.answered');
    expect(closed.map(({ id, by }) => [id, by])).toEqual([
      ['E1', 'ralph'],
      ['E2', 'ralph'],
    ]);
    expect(types(events)).not.toContain('work.accepted');
    expect([story.task('A'), story.task('B')]).toMatchObject([{ status: 'pending' }, { status: 'pending' }]);
    expect(story.state.questions.open).toEqual([]);
  });

  it('stays open while the same is found, in other content too, and while it says that nothing was changed', () => {
    const again = { ...doubt, fingerprint: 'f9', severity: 'report' as const };
    const story = asked(doubt);
    story.when({ type: 'checked', iteration: 3, outcomes: green, doubts: [again] });
    expect(story.state.questions.open).toHaveLength(2);
    const idle = asked({ ...doubt, kind: 'nothing-changed', path: '' });
    idle.when({ type: 'checked', iteration: 3, outcomes: green, doubts: [] });
    expect(idle.state.questions.open).toHaveLength(2);
  });
});
