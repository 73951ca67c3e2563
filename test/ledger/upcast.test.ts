// Proves what the upcaster makes of events that 0.1 to 0.4 stored: one row per rule, and no copy of what has today's shape.
import { describe, expect, it } from 'vitest';
import { upcast } from '../../src/ledger/upcast.ts';
import { defaultSettings } from '../../src/modes/registry.ts';
import { everyEvent } from '../core/every-event.ts';

/** Nothing was set aside before 0.5. */
const prd = defaultSettings('prd');
const then = { ...prd, policy: { ...prd.policy, setsAside: false } };

const at = 7;
const because = 'b';
const about = { id: 'E1', task: 'A', iteration: 1, summary: 's', context: '', question: '?', raisedAt: at };
const raised = (kind: string, options: readonly unknown[], more: object = {}) => ({
  type: 'escalation.raised',
  at,
  escalation: { ...about, kind, options, ...more },
  because,
});
const ids = (event: object): readonly unknown[] =>
  (event as { escalation: { options: readonly { id: string }[] } }).escalation.options.map(one => one.id);
const made = (label: string) => ({ type: 'checkpoint.made', at, label, because: label });
const iteration = { type: 'iteration.ended', at, iteration: 1, outcome: 'succeeded' };

it.each<[string, object, object]>([
  ['task.kept', { type: 'task.kept', at, task: 'A' }, { type: 'task.edit-rejected', at, task: 'A' }],
  ['iteration.heard', { type: 'iteration.heard', at, quietMs: 1 }, { type: 'iteration.heartbeat', at, quietMs: 1 }],
  ['guidance.reached', { type: 'guidance.reached', at, id: 'G1' }, { type: 'guidance.delivered', at, id: 'G1' }],
  ['work.screened', { type: 'work.screened', at, task: 'A' }, { type: 'proof.screened', at, task: 'A' }],
  [
    'settings of 0.4',
    { type: 'loop.started', at, document: 'PRD.json', settings: { mode: 'prd', forked: true, screen: false } },
    { type: 'loop.started', at, document: 'PRD.json', settings: { ...then, worktreePerTask: true } },
  ],
  [
    'settings of 0.1, which knew no screen: the default must stand',
    { type: 'loop.started', at, document: 'PRD.json', settings: { mode: 'prd', forked: false } },
    { type: 'loop.started', at, document: 'PRD.json', settings: then },
  ],
  [
    'fields of tasks',
    {
      type: 'tasks.loaded',
      at,
      tasks: [{ id: 'A' }, { id: 'B', reads: true, closing: 'findings', under: 'H', called: 'b' }],
    },
    {
      type: 'tasks.loaded',
      at,
      tasks: [{ id: 'A' }, { id: 'B', readOnly: true, completion: 'findings', section: 'H', documentId: 'b' }],
    },
  ],
  [
    'an agent that ended without a claim',
    { ...iteration, because: 'the agent ended after 1s without claiming the task' },
    { ...iteration, because: 'the agent ended after 1s without claiming the task', unclaimed: true },
  ],
  [
    'a checkpoint that a person asked for',
    { type: 'checkpoint.asked', at, label: 'by hand: now', by: 'ada', because },
    { type: 'checkpoint.asked', at, label: 'by hand: now', by: 'ada', because, kind: 'by-hand' },
  ],
  [
    'a checkpoint that the checks made necessary',
    { type: 'checkpoint.asked', at, label: 'after the checks of iteration 3', by: 'ralph', because },
    { type: 'checkpoint.asked', at, label: 'after the checks of iteration 3', by: 'ralph', because, kind: 'checks' },
  ],
])('gives %s its shape of today', (_what, stored, today) => {
  const before = JSON.stringify(stored);
  expect(upcast(stored)).toStrictEqual(today);
  expect(JSON.stringify(stored), 'what is stored stays as it is').toBe(before);
});

describe('the options of a question', () => {
  it.each<[string, object, readonly string[]]>([
    [
      'our own about a stuck task',
      raised('stuck', ['Try again with a fresh context', 'Leave this task out']),
      ['try-again', 'leave-out'],
    ],
    ['an agent’s about a stuck task', raised('stuck', ['This', 'That']), ['agent-1', 'agent-2']],
    [
      'about failures',
      raised('stuck', ['Go on and try again', 'Leave A out and go on'], { task: undefined }),
      ['go-on', 'leave-out'],
    ],
    [
      'an agent’s deviation',
      raised('deviation', ['This', 'Leave this task out', 'More']),
      ['agent-1', 'agent-2', 'agent-3'],
    ],
    ['an agent’s unknown', raised('unknown', ['This']), ['agent-1']],
    [
      'nothing is ready',
      raised('blocked', ['Try the blocked steps again', 'Leave out what is left']),
      ['try-again', 'leave-out'],
    ],
    ['a quiet iteration', raised('health', ['Give it more time', 'End it']), ['more-time', 'end-iteration']],
    ['an agent that cannot work', raised('agent', ['It is mended: go on']), ['go-on']],
    ['the disk', raised('storage', ['There is room again: go on']), ['go-on']],
    [
      'a checkpoint',
      raised('storage', ['It is mended: go on', 'Go on without checkpoints: no undo']),
      ['go-on', 'without-checkpoints'],
    ],
    [
      'doubtful proof',
      raised('tamper', ['Not accepted: try again', 'Accept: there was nothing to do']),
      ['reject', 'accept'],
    ],
    ['a judge without a verdict', raised('tamper', ['Do the task anew', 'Ask again']), ['redo', 'ask-again']],
    [
      'an effect',
      raised('effect', ['It happened', 'It did not', 'Leave it out']),
      ['happened', 'not-happened', 'leave-out'],
    ],
    ['an approval', raised('approval', ['Approve this version (abc)']), ['approve']],
    ['an approval without options', raised('approval', []), []],
  ])('%s', (_what, stored, wanted) => {
    const today = upcast(JSON.parse(JSON.stringify(stored)));
    expect(ids(today)).toEqual(wanted);
    const texts = (stored as ReturnType<typeof raised>).escalation.options;
    expect(today).toMatchObject({ escalation: { options: texts.map(text => ({ text })), question: '?' }, because });
  });
});

it.each([
  ['budget_exhausted', '$1.00 spent of $1.00 (--max-cost)', 'cost'],
  ['budget_exhausted', '10 tokens used of 10 (--max-tokens)', 'tokens'],
  ['max_iterations', 'iteration 3 of 3 (--max-iterations)', 'iterations'],
  ['max_iterations', 'review round 3 of 3 (--rounds): confidence 80 of 95 (--target-confidence)', 'rounds'],
  ['max_duration', '2h worked of 2h (--max-duration)', 'duration'],
  ['max_duration', 'the deadline has passed (--deadline)', 'deadline'],
  ['max_duration', 'iterations take 6m on average, more than 5m (--max-average-duration)', 'average-duration'],
  ['goal_achieved', '3 of 3 tasks done', undefined],
  ['no_progress', 'no task completed in the last 5 iterations, 5 allowed (--no-progress)', undefined],
])('an end by %s, "%s", met the limit %s', (reason, said, limit) => {
  const stored = { type: 'loop.ended', at, reason, because: said };
  expect(upcast(stored)).toStrictEqual(limit === undefined ? stored : { ...stored, limit });
});

it.each([
  ['before iteration 1', 'start'],
  ['after iteration 3', 'iteration'],
  ['after iteration 3 (failed)', 'iteration'],
  ['after the merge of US-1', 'merge'],
  ['after the checks of iteration 3', 'checks'],
  ['what you changed meanwhile', 'user-edits'],
  ['checkpoints were switched on', 'switched-on'],
  ['before a restore', 'before-restore'],
  ['after a restore', 'after-restore'],
  ['by hand', 'by-hand'],
  ['by hand: before I edit', 'by-hand'],
  ['by a program', 'by-hand'],
])('a checkpoint "%s" is of the kind %s', (label, kind) => {
  expect(upcast(made(label))).toStrictEqual({ ...made(label), kind });
});

it.each(everyEvent.map(event => [event.type, event] as const))(
  'hands %s of today back, the same object',
  (_type, event) => {
    expect(upcast(event)).toBe(event);
  },
);

it('reads no sentence where today’s field stands', () => {
  const ended = { type: 'loop.ended', at, reason: 'max_iterations', limit: 'iterations', because: '(--rounds)' };
  expect(upcast(ended)).toBe(ended);
  const checkpoint = { ...made('by hand'), kind: 'iteration' };
  expect(upcast(checkpoint)).toBe(checkpoint);
});
