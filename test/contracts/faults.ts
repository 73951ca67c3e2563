// What every agent must survive, written once: a factory makes a performer with a fault, and the outcome is always the same.
import { describe, expect, it } from 'vitest';
import type { Activity, Assignment, Performer } from '../../src/agents/performer.ts';
import type { Usage } from '../../src/core/event.ts';
import { readSignals } from '../../src/messages/claims.ts';
import { signOfLife } from '../processes/fixture.ts';
import { activitiesOf, assignmentIn, endOf } from './performer.ts';

/** A good agent says `hello` and ends well; one that is not let finish has said `working`. */
export type Fault =
  /** Says `working`, then nothing; its silence may last a moment only. */
  | 'hangs'
  /** Never says anything; its first byte is due after a moment. */
  | 'never-first-byte'
  /** Good, but does not exit; it has a moment for that. */
  | 'result-then-hangs'
  /** Says `working` and exits as if by TERM. */
  | 'exits-143'
  /** Good, with the exit code 1. */
  | 'exits-1-after-result'
  /** Says `working` thousands of times before it is good. */
  | 'floods'
  /** Prints a line of 3 MB before it is good. */
  | 'one-long-line'
  /** Prints blank lines, text, half objects and a byte order mark before it is good. */
  | 'garbage-lines'
  /** Good, all events on one line. */
  | 'one-line'
  /** Good, without the last newline. */
  | 'half-line-at-eof'
  /** Good but for the last characters of its last line. */
  | 'cut-at-eof'
  /** Says `hé€😀llo`, byte by byte. */
  | 'split-utf8'
  /** Says `I could not finish.`; the claims are in what it read, thought or was told. */
  | 'lies-done'
  | 'rate-limited'
  /** Overloaded at first, good when it is asked again in the same directory. */
  | 'overloaded-then-good'
  /** Says `error: cannot begin` on stderr and exits with 1. */
  | 'fails-at-once'
  /** Exits with 0 without a word. */
  | 'says-nothing'
  /** States less usage at the end than before. */
  | 'cost-goes-down'
  /** Says `the first one`, then `the last one`, with a result each. */
  | 'two-results'
  /** Good, and leaves the three processes of `spawns-orphan`. */
  | 'spawns-orphan'
  /** Good, and leaves a process that holds its output open. */
  | 'holds-pipe';

export interface FaultSubject {
  readonly name: string;
  make(fault: Fault): Performer;
  directory(): string;
  /** Faults that this agent cannot have, with the reason. */
  readonly notHere: Readonly<Partial<Record<Fault, string>>>;
  /** Faults of the driver alone, which another of its agents plays. */
  readonly elsewhere?: ReadonlySet<Fault>;
  /** When `rate-limited` says that it will serve again: a time, a few seconds from now, or not at all. */
  readonly reset?: number | 'soon';
  /** The whole use of `two-results`. */
  readonly twoResults?: Partial<Usage>;
}

const usages = (activities: readonly Activity[]): readonly Usage[] =>
  activities.flatMap(each => (each.type === 'usage' ? [each.usage] : []));
const errorsOf = (activities: readonly Activity[]): string =>
  activities.map(each => (each.type === 'text' && each.channel === 'errors' ? each.text : '')).join('');

function expectGrowth(all: readonly Usage[]): void {
  const names = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'costUsdMicros'] as const;
  for (const [index, usage] of all.entries()) {
    for (const name of names) expect(usage[name]).toBeGreaterThanOrEqual(all[index - 1]?.[name] ?? 0);
  }
}

type Run = (fault: Fault, more?: Partial<Assignment>) => Promise<readonly Activity[]>;

function endings(run: Run, test: (fault: Fault, title: string, story: () => Promise<void>) => void): void {
  test('hangs', 'that falls silent is stuck (F26)', async () => {
    const end = endOf(await run('hangs'));
    expect(end.failure).toMatchObject({ kind: 'timeout', detail: expect.stringContaining('stuck: no output for') });
    expect(end.message.trim()).toBe('working');
  });

  test('never-first-byte', 'that never says a word has not started (F25)', async () => {
    expect(endOf(await run('never-first-byte')).failure?.kind).toBe('no-start');
  });

  test('result-then-hangs', 'that does not exit after its last word has succeeded', async () => {
    const end = endOf(await run('result-then-hangs'));
    expect(end.failure).toBeUndefined();
    expect(end.message.trim()).toBe('hello');
  });

  test('exits-143', 'that somebody else ends in the middle was interrupted, and that is no error (F31)', async () => {
    const end = endOf(await run('exits-143'));
    expect(end.failure).toMatchObject({ kind: 'stopped', byOthers: true, exitCode: 143 });
    expect(end.message.trim()).toBe('working');
  });

  test('exits-1-after-result', 'has succeeded by its last word, whatever its exit code', async () => {
    const end = endOf(await run('exits-1-after-result'));
    expect(end.message).toContain('hello');
    expect(end.failure).toBeUndefined();
  });

  test('fails-at-once', 'that cannot begin says why (F77)', async () => {
    const { failure } = endOf(await run('fails-at-once'));
    expect(failure).toMatchObject({ kind: 'process', detail: expect.stringContaining('cannot begin') });
  });

  test('says-nothing', 'that exits with 0 and without a word has failed (F77)', async () => {
    const { failure } = endOf(await run('says-nothing'));
    expect(failure?.detail).toContain('ended without a result');
  });
}

function streams(run: Run, test: (fault: Fault, title: string, story: () => Promise<void>) => void): void {
  const good = (fault: Fault, title: string, message = 'hello') =>
    test(fault, title, async () => {
      const end = endOf(await run(fault));
      expect(end.failure).toBeUndefined();
      expect(end.message.trim().slice(-100)).toBe(message);
    });
  good('floods', 'may say a great deal');
  good('one-line', 'may put all its events on one line (B52)');
  good('half-line-at-eof', 'may leave out the last newline (B52)');
  good('split-utf8', 'has its characters put together again', 'hé€😀llo');
  good('two-results', 'with two results is judged by the last one (B56)', 'the last one');

  test('one-long-line', 'may print a line that is too long to be read (B54)', async () => {
    const activities = await run('one-long-line');
    expect(endOf(activities).failure).toBeUndefined();
    expect(errorsOf(activities)).toBe('[ralph] 1 line was too long\n');
  });

  test('garbage-lines', 'may print what is no event; that is counted, in one line (B52)', async () => {
    const activities = await run('garbage-lines');
    expect(endOf(activities).failure).toBeUndefined();
    expect(endOf(activities).message.trim()).toBe('hello');
    expect(errorsOf(activities)).toBe('[ralph] 5 lines of the agent were not understood\n');
  });

  test('cut-at-eof', 'whose last word is cut off has not ended well (B52)', async () => {
    expect(endOf(await run('cut-at-eof')).failure?.detail).toContain('ended without a result');
  });

  test('lies-done', 'claims nothing by what it reads, thinks or is told (B57)', async () => {
    const { message } = endOf(await run('lies-done'));
    expect(message.trim()).toBe('I could not finish.');
    expect(readSignals(message, { task: 'US-001', promise: 'DONE' })).toMatchObject({ done: false, promise: false });
  });
}

export function faultContract(subject: FaultSubject): void {
  const plays = (fault: Fault, more: Partial<Assignment> = {}) =>
    activitiesOf(subject.make(fault), assignmentIn(subject.directory(), { environment: {}, ...more }));
  const played = new Map<Fault, ReturnType<Run>>();
  const run: Run = (fault, more) => {
    if (more !== undefined) return plays(fault, more);
    if (!played.has(fault)) played.set(fault, plays(fault));
    return played.get(fault)!;
  };
  const test = (fault: Fault, title: string, story: () => Promise<void>): void => {
    if (subject.elsewhere?.has(fault)) return;
    const reason = subject.notHere[fault];
    if (reason === undefined) it(title, story);
    else it.skip(`${title} (not here: ${reason})`, story); // the adapter's row gives the reason; a stale one fails below
  };

  describe(`the agent ${subject.name}`, () => {
    endings(run, test);
    streams(run, test);

    test('rate-limited', 'at its limit says when it will be served again (F54)', async () => {
      const before = Date.now();
      const { failure } = endOf(await run('rate-limited'));
      expect(failure?.kind).toBe('rate-limit');
      if (subject.reset !== 'soon') expect(failure?.resetAtMs).toBe(subject.reset);
      else expect([before < failure!.resetAtMs!, failure!.resetAtMs! < Date.now() + 60_000]).toEqual([true, true]);
    });

    test('overloaded-then-good', 'is overloaded, and good when asked again (F55)', async () => {
      const directory = subject.directory();
      expect(endOf(await run('overloaded-then-good', { directory })).failure?.kind).toBe('overloaded');
      const again = endOf(await run('overloaded-then-good', { directory }));
      expect(again.failure).toBeUndefined();
      expect(again.message.trim()).toBe('hello');
    });

    test('cost-goes-down', 'never takes back what it has used (F57, B56)', async () => {
      const all = usages(await run('cost-goes-down'));
      expect(all.length).toBeGreaterThan(0);
      expectGrowth(all);
    });

    test('two-results', 'with two results has used what the last one says, not their sum (B56)', async () => {
      const all = usages(await run('two-results'));
      expectGrowth(all);
      expect(all.at(-1)).toMatchObject(subject.twoResults ?? {});
    });

    test('spawns-orphan', 'leaves nothing behind (F23)', async () => {
      const directory = subject.directory();
      const life = signOfLife(directory);
      const end = endOf(await run('spawns-orphan', { directory }));
      expect(end.failure).toBeUndefined();
      expect(end.reaped).toBeGreaterThanOrEqual(3);
      expect(life.anyAlive()).toBe(false);
    });

    test('holds-pipe', 'is over when it exits, whoever holds its output open (F75)', async () => {
      const end = endOf(await run('holds-pipe'));
      expect(end.failure).toBeUndefined();
      expect(end.reaped).toBeGreaterThanOrEqual(1);
    });
  });
}
