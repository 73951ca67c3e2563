// Proves how an ended iteration counts, as a truth table: for its task, for progress, for the next prompt, for what people said.
import { expect, it } from 'vitest';
import type { EventOf } from '../../../src/core/event.ts';
import type { State } from '../../../src/core/state.ts';
import type { TaskSpec } from '../../../src/core/task.ts';
import { evolve } from '../../../src/modes/evolve.ts';
import { defaultSettings, type ModeWord } from '../../../src/modes/registry.ts';
import { Story, spec, t0 } from '../given.ts';

type Ended = EventOf<'iteration.ended'>;

interface Given {
  readonly mode?: ModeWord;
  readonly task?: Partial<TaskSpec>;
  /** It was asked to hand off, and heard it. */
  readonly isToHandOff?: true;
}

/** The first iteration of A, which was told one word of a person, in a loop that stood still for four. */
function atWork({ mode = 'prd', task, isToHandOff }: Given): State {
  const story = new Story({ ...defaultSettings(mode), performers: ['agent'] }, [spec('A', task)]);
  story.command({ type: 'tell', text: 'use tabs' });
  story.begin('A');
  const handoff = { trigger: 'context_threshold', at: t0, delivered: true } as const;
  const live = isToHandOff ? story.state.live.map(one => ({ ...one, handoff })) : story.state.live;
  return {
    ...story.state,
    live,
    streaks: { ...story.state.streaks, sinceProgress: 4 },
    memory: { ...story.state.memory, lastRejection: 'an older claim' },
  };
}

const end = (part: Partial<Ended>): Ended => ({
  type: 'iteration.ended',
  at: t0,
  iteration: 1,
  task: 'A',
  performer: 'agent',
  outcome: 'succeeded',
  durationMs: 0,
  because: '',
  excerpt: 'what it said',
  echo: '',
  ...part,
});

const failed = (kind: 'process' | 'spawn' | 'no-start' | 'connection'): Partial<Ended> => ({
  outcome: 'failed',
  failure: { kind, detail: `${kind} trouble` },
});
const stopped: Partial<Ended> = { outcome: 'interrupted', failure: { kind: 'stopped', detail: 'stop' } };
const crashed: Partial<Ended> = { outcome: 'interrupted', failure: { kind: 'stopped', detail: 'gone', crashed: true } };
const report = { completed: ['parser'], pending: [], blocked: [] } as unknown as Ended['report'];
const handedOff: Partial<Ended> = { outcome: 'handed-off', report };

/** attempts of the task · iterations without progress · told to the next one · a person's word is done with · memory */
type Row = readonly [string, Given, Partial<Ended>, string];

it.each<Row>([
  ['it ended well', {}, {}, '1 attempt · 5 · told · heard · recent'],
  ['it asked a person', {}, { outcome: 'escalated' }, '1 attempt · 4 · told · heard · recent'],
  ['it failed', {}, failed('process'), '1 attempt · 5 · told · heard · errors'],
  ['it did not start', {}, failed('spawn'), '1 attempt · 5 · told · not heard · errors'],
  ['it gave no sign of life', {}, failed('no-start'), '0 attempts · 4 · not told · not heard · errors'],
  ['its provider was in trouble', {}, failed('connection'), '0 attempts · 4 · not told · not heard · errors'],
  [
    'an action met such trouble',
    { task: { performer: 'agent' } },
    failed('connection'),
    '1 attempt · 5 · told · heard · errors',
  ],
  ['we stopped it', {}, stopped, '0 attempts · 4 · not told · not heard · nothing'],
  ['Ralph was gone', {}, crashed, '0 attempts · 4 · not told · not heard · nothing'],
  ['Ralph was gone in a project', { mode: 'project' }, crashed, '1 attempt · 4 · not told · not heard · nothing'],
  ['we stopped it in a project', { mode: 'project' }, stopped, '0 attempts · 4 · not told · not heard · nothing'],
  ['it handed off', {}, handedOff, '1 attempt · 5 · told · not heard · recent'],
  [
    'it handed off as asked, with something new',
    { isToHandOff: true },
    handedOff,
    '0 attempts · 4 · told · not heard · recent',
  ],
  [
    'it handed off as asked, with nothing new',
    { isToHandOff: true },
    { outcome: 'handed-off' },
    '1 attempt · 5 · told · not heard · recent',
  ],
  ['a prompt failed', { mode: 'prompt' }, failed('process'), '1 attempt · 4 · told · heard · errors'],
  ['a prompt said something new', { mode: 'prompt' }, {}, '1 attempt · 0 · told · heard · recent'],
  [
    'a prompt repeated itself',
    { mode: 'prompt' },
    { repetition: { kind: 'similar', detail: '' } },
    '1 attempt · 5 · told · heard · recent',
  ],
  ['a goal left no report', { mode: 'goal' }, {}, '1 attempt · 5 · told · heard · recent'],
  ['a goal reported something new', { mode: 'goal' }, { report }, '1 attempt · 0 · told · heard · recent'],
])('%s', (_name, given, part, wanted) => {
  const before = atWork(given);
  const after = evolve(before, end(part));
  const { attempts, status } = after.tasks.chunks[0]![0]!;
  const remembered = (['recent', 'errors'] as const).filter(layer => after.memory[layer].length > 0);
  const isTold = after.iterations.last !== undefined;
  expect(status).toBe('pending');
  expect(after.memory.lastRejection).toBe(isTold ? undefined : 'an older claim');
  expect(
    [
      attempts === 1 ? '1 attempt' : `${attempts} attempts`,
      after.streaks.sinceProgress,
      isTold ? 'told' : 'not told',
      after.memory.guidance.length === 0 ? 'heard' : 'not heard',
      remembered.join() || 'nothing',
    ].join(' · '),
  ).toBe(wanted);
});
