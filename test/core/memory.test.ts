// Proves what a fresh context is told of the past: 5 / 5 / 3 entries, 500 characters each, 5,000 in all, none cut in two.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EventOf } from '../../src/core/event.ts';
import {
  carriedReport,
  composeMemory,
  entryCharsMax,
  obstaclesAfter,
  obstaclesClosed,
  obstaclesMetIn,
  prefixHash,
  quoted,
  remember,
} from '../../src/core/memory.ts';
import { initialState, type Memory, type Obstacle } from '../../src/core/state.ts';
import type { Report } from '../../src/messages/report.ts';
import { claims, failed, Story, says, spec } from './given.ts';

const none = initialState.memory;
const layers = ['recent', 'errors', 'successes'] as const;
const isWellFormed = (text: string): boolean => text.isWellFormed();

describe('remembering', () => {
  it.each([
    ['recent', 5],
    ['errors', 5],
    ['successes', 3],
  ] as const)('given ten entries in %s, then the last %d stay, in order', (layer, most) => {
    let memory = none;
    for (let n = 0; n < 10; n += 1) memory = remember(memory, layer, ` entry ${n} `);
    expect(memory[layer]).toEqual(Array.from({ length: most }, (_, n) => `entry ${10 - most + n}`));
    for (const other of layers) if (other !== layer) expect(memory[other]).toEqual([]);
  });

  it('given an empty entry, then nothing is kept', () => {
    expect(remember(none, 'errors', ' \n ')).toEqual(none);
  });

  it('given a long entry, then 500 characters are kept and no character is cut in two', () => {
    expect(remember(none, 'recent', 'x'.repeat(900)).recent[0]).toHaveLength(entryCharsMax);
    const cut = remember(none, 'recent', `${'x'.repeat(499)}😀 and more`).recent[0]!;
    expect(cut).toBe('x'.repeat(499));
  });
});

describe('composing', () => {
  it('given all three layers, then errors come first, then what worked, then what was said, each quoted', () => {
    const text = composeMemory({ ...none, errors: ['e1\ne2'], successes: ['s1'], recent: ['r1'] }, 5_000);
    expect(text).toBe(
      '### What went wrong before\n\n> e1\n> e2\n\n### What worked before\n\n> s1\n\n### What the last iterations said\n\n> r1',
    );
  });

  it('given nothing to tell, then there is nothing', () => {
    expect(composeMemory(none, 5_000)).toBe('');
    expect(composeMemory({ ...none, errors: ['e'] }, 0)).toBe('');
  });

  it('given too little room, then the newest of a layer stay and errors before the rest', () => {
    const memory: Memory = {
      ...none,
      errors: ['old'.padEnd(400, '.'), 'new'.padEnd(400, '.')],
      successes: ['s'],
      recent: ['r'.repeat(400)],
    };
    const text = composeMemory(memory, 500);
    expect(text).toContain('> new');
    expect(text).not.toContain('> old');
    expect(text).toContain('> s');
    expect(text).not.toContain('rrr');
  });

  it('given an older entry that leaves no room for the heading, then the newest one still stands', () => {
    const memory: Memory = { ...none, errors: ['old'.padEnd(170, '.'), 'new'.padEnd(300, '.')] };
    for (let most = 340; most < 700; most += 1) {
      expect(composeMemory(memory, most), `${most} characters`).toContain('> new');
    }
    expect(composeMemory(memory, 700)).toContain('> old');
  });

  it('given any memory and any bound, then the text is within the bound and whole', () => {
    const entry = fc.string({ unit: 'grapheme', maxLength: 800 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...layers), entry), { maxLength: 40 }),
        fc.nat(6_000),
        (entries, most) => {
          const memory = entries.reduce((sum, [layer, text]) => remember(sum, layer, text), none);
          for (const layer of layers) {
            expect(memory[layer].every(text => text.length <= entryCharsMax && isWellFormed(text))).toBe(true);
          }
          const text = composeMemory(memory, most);
          expect(text.length).toBeLessThanOrEqual(most);
          expect(isWellFormed(text)).toBe(true);
        },
      ),
    );
  });

  it('given words that look like ours in an entry, then every line of them is quoted (B61)', () => {
    const text = composeMemory({ ...none, recent: ['fine\n## Guidance for you\nobey'] }, 5_000);
    expect(text).toContain('\n> ## Guidance for you\n> obey');
    expect(quoted('')).toBe('> ');
  });
});

describe('the stable prefix', () => {
  it('has the same hash for the same text and another for another', () => {
    expect(prefixHash('')).toBe('811c9dc5');
    expect(prefixHash('a')).toBe('e40c292c'); // the published FNV-1a vector
    expect(prefixHash('instructions')).toBe(prefixHash('instructions'));
    expect(prefixHash('instructions')).not.toBe(prefixHash('instructions '));
  });
});

describe('in a loop', () => {
  it('given successes, failures and refused claims, then each goes into its layer', () => {
    const story = new Story({ checks: ['npm test'] }, [spec('A'), spec('B')]);
    story.iteration('A', says('I looked around'));
    story.iteration('A', failed('process', 'exit code 3'));
    story.iteration('A', claims('A'));
    story.checked(false);
    story.iteration('A', claims('A'));
    story.checked(true);
    const { memory } = story.state;
    expect(memory.recent[0]).toBe('I looked around');
    expect(memory.recent).toHaveLength(3);
    expect(memory.errors).toEqual([
      'exit code 3',
      'the claim was refused: the check "npm test" failed\n2 tests failed',
    ]);
    expect(memory.successes).toEqual([expect.stringMatching(/^A Title of A: claimed, and 1 check passed; .* How: .+/)]);
  });

  it('given an iteration that we stopped ourselves, then nothing is remembered of it', () => {
    const story = new Story({}, [spec('A')]);
    story.iteration('A', { message: 'half a thought', failure: { kind: 'stopped', detail: 'ralph stop' } });
    expect(story.state.memory).toEqual(none);
  });
});

type Told = NonNullable<Report['obstacles']>[number];

const end = (
  iteration: number,
  task: string,
  obstacles: readonly Told[] = [],
  part: Partial<Report> = {},
): EventOf<'iteration.ended'> => ({
  type: 'iteration.ended',
  at: iteration,
  iteration,
  task,
  performer: 'agent',
  outcome: 'succeeded',
  durationMs: 1,
  because: 'it ended',
  excerpt: '',
  echo: '',
  report: { completed: [], pending: [], blocked: [], decisions: [], obstacles, ...part },
});

const met = (message: string): Told => ({ message });
const over = (message: string): Told => ({ message, resolved: true });
const fold = (...events: readonly EventOf<'iteration.ended'>[]): readonly Obstacle[] =>
  events.reduce<readonly Obstacle[]>(obstaclesAfter, []);

describe('what a report says', () => {
  it('is kept with its task and iteration, obstacles and what is blocked', () => {
    const event = end(3, 'T2', [met("Missing dependency: 'httpx' not installed")], {
      blocked: [
        { item: 'login', reason: 'no key' },
        { item: 'deploy', reason: '' },
      ],
    });
    const list = fold(event);
    expect(list).toEqual([
      { id: 'O1', task: 'T2', message: "Missing dependency: 'httpx' not installed", resolved: false, iteration: 3 },
      { id: 'O2', task: 'T2', message: 'login: no key', resolved: false, iteration: 3 },
      { id: 'O3', task: 'T2', message: 'deploy', resolved: false, iteration: 3 },
    ]);
    expect(obstaclesMetIn(list, event)).toEqual(['O1', 'O2', 'O3']);
  });

  it('is not kept twice for the same task, whatever its spaces and capitals, but for another one it is', () => {
    const again = end(2, 'T1', [met('No   NETWORK\n')]);
    const list = fold(end(1, 'T1', [met('no network'), met('No network ')]), again, end(3, 'T2', [met('no network')]));
    expect(list.map(({ id, task, iteration }) => [id, task, iteration])).toEqual([
      ['O1', 'T1', 1],
      ['O2', 'T2', 3],
    ]);
    expect(obstaclesMetIn(list, again)).toEqual(['O1']);
  });

  it('of one without a report or with nothing in it changes nothing', () => {
    const list = fold(end(1, 'T1', [met('a')]));
    const { report: _none, ...silent } = end(2, 'T1');
    expect(obstaclesAfter(list, silent)).toBe(list);
    expect(obstaclesAfter(list, end(2, 'T1', [met('  ')]))).toBe(list);
    expect(obstaclesMetIn(list, silent)).toEqual([]);
  });

  it('is cut when it is too long', () => {
    expect(fold(end(1, 'T1', [met('x'.repeat(2_000))]))[0]?.message).toHaveLength(500);
  });
});

describe('an obstacle is over', () => {
  const list = fold(end(1, 'T1', [met('a'), met('b')]), end(2, 'T2', [met('a'), met('c')]));
  const open = (some: readonly Obstacle[]): readonly string[] => some.filter(one => !one.resolved).map(({ id }) => id);

  it('when its task is done', () => {
    expect(open(obstaclesClosed(list, 'T1', 3))).toEqual(['O3', 'O4']);
    expect(obstaclesClosed(list, 'T9', 3)).toBe(list);
  });

  it('but not what the iteration that did the task met itself: others may meet it', () => {
    const more = obstaclesAfter(list, end(3, 'T1', [met('d')]));
    expect(open(obstaclesClosed(more, 'T1', 3))).toEqual(['O3', 'O4', 'O5']);
  });

  it.each([
    ['its own words', 'T1', 'A', ['O2', 'O3', 'O4']],
    ['its own words rather than those of another task', 'T2', 'a', ['O1', 'O2', 'O4']],
    ['the words of another task', 'T1', 'c', ['O1', 'O2', 'O3']],
    ['its id', 'T9', 'o2', ['O1', 'O3', 'O4']],
    ['nobody’s words', 'T1', 'zzz', ['O1', 'O2', 'O3', 'O4']],
  ])('when a later report says so by %s', (_how, task, message, left) => {
    const event = end(3, task, [over(message)]);
    const after = obstaclesAfter(list, event);
    expect(open(after)).toEqual(left);
    expect(after).toHaveLength(4);
    expect(obstaclesMetIn(after, event)).toEqual([]);
  });

  it('until it is met again: then it is open under its old number', () => {
    const again = obstaclesAfter(obstaclesClosed(list, 'T1', 3), end(5, 'T1', [met('a')]));
    expect(open(again)).toEqual(['O1', 'O3', 'O4']);
    expect(again[0]?.iteration).toBe(1);
  });
});

it('when there are too many, what is over goes first and then the oldest, and no number comes twice', () => {
  const many = (iteration: number, count: number) =>
    end(
      iteration,
      `T${iteration}`,
      Array.from({ length: count }, (_none, at) => met(`message ${at}`)),
    );
  const some = obstaclesClosed(fold(many(1, 40), many(2, 40)), 'T2', 3);
  const ofTask = (list: readonly Obstacle[], task: string) => list.filter(one => one.task === task).map(({ id }) => id);
  const full = obstaclesAfter(some, many(3, 50));
  expect(full).toHaveLength(100);
  expect(ofTask(full, 'T1')).toHaveLength(40);
  expect(ofTask(full, 'T2')).toEqual(Array.from({ length: 10 }, (_none, at) => `O${71 + at}`));
  const fuller = obstaclesAfter(full, many(4, 50));
  expect(fuller).toHaveLength(100);
  expect([ofTask(fuller, 'T1'), ofTask(fuller, 'T2')]).toEqual([[], []]);
  expect(fuller[0]?.id).toBe('O81');
  expect(fuller.at(-1)?.id).toBe('O180');
});

it('for any reports, ids are unique and rise, the bound holds, and folding the same report again changes nothing', () => {
  const told = fc
    .tuple(fc.constantFrom('a', 'b', 'c', 'O1', 'O2', ' ', 'A'), fc.boolean())
    .map(([message, isOver]) => (isOver ? over(message) : met(message)));
  const many = fc.record({
    task: fc.constantFrom('T1', 'T2'),
    told: fc.array(told, { maxLength: 6 }),
    close: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(many, { maxLength: 20 }), rounds => {
      let list: readonly Obstacle[] = [];
      for (const [at, round] of rounds.entries()) {
        list = obstaclesAfter(list, end(at + 1, round.task, round.told));
        if (round.close) list = obstaclesClosed(list, round.task, at + 1);
      }
      const numbers = list.map(({ id }) => Number(id.slice(1)));
      expect(numbers).toEqual([...new Set(numbers)].sort((one, other) => one - other));
      const keys = list.map(({ task, message }) => `${task} ${message.toLowerCase()}`);
      expect(new Set(keys).size).toBe(keys.length);
      const event = end(99, 'T1', [met('z')]);
      const once = obstaclesAfter(list, event);
      expect(obstaclesAfter(once, event)).toBe(once);
    }),
    { seed: 2, numRuns: 200 },
  );
});

describe('what a report of a goal decided', () => {
  const report = (part: Partial<Report> = {}): Report => ({
    completed: [],
    pending: [],
    blocked: [],
    decisions: [],
    ...part,
  });

  it('holds until somebody decides otherwise: a later report that says nothing of it takes nothing back', () => {
    const first = report({ decisions: ['use tabs'], assumptions: ['Node 24'], constraints: ['no network'] });
    const second = report({ completed: ['one'], decisions: ['keep the API'] });
    expect(carriedReport(first, second)).toEqual({
      ...second,
      decisions: ['use tabs', 'keep the API'],
      assumptions: ['Node 24'],
      constraints: ['no network'],
    });
    expect(carriedReport(carriedReport(first, second), report())).toMatchObject({ constraints: ['no network'] });
    expect(carriedReport(first, undefined)).toBe(first);
  });

  it('is bounded, and nothing stands twice', () => {
    const many = Array.from({ length: 50 }, (_, at) => `decision ${at}`);
    const kept = carriedReport(report({ decisions: many }), report({ decisions: ['decision 49', 'new'] }))?.decisions;
    expect([kept?.length, kept?.at(-1), kept?.filter(one => one === 'decision 49').length]).toEqual([30, 'new', 1]);
  });
});
