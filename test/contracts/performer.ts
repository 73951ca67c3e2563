// The contract of every performer, written once: an adapter's test is a few lines that say how to make it behave.
//
// An agent CLI whose output can be printed by `fixtures/agents/plays-stream` needs no code here: its
// streams lie in `fixtures/streams/NAME`, and its test calls `cliAgentContract`.
// Every other performer calls `performerContract` (what it does when all goes well and when it is stopped) and, when it
// is an agent, `faultContract` (what it does when the agent misbehaves) from `faults.ts` with a factory of its own.
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Activity, Assignment, Performer } from '../../src/agents/performer.ts';

/** What the performer that is asked for shall do. */
export type Behaviour =
  /** Says `hello`, or the subject's own `greeting`, and ends well. */
  | 'greets'
  /** Says `working` and then nothing, for ever. */
  | 'hangs'
  /** Ends with an error. */
  | 'fails'
  /** Says how many bytes its prompt has. */
  | 'measures-prompt';

export interface PerformerSubject {
  readonly name: string;
  make(behaviour: Behaviour): Performer;
  /** A directory that is there and may be written. */
  directory(): string;
  /** False, with the reason, for features that the performer does not have. */
  readonly spawns: true | string;
  readonly readsPrompt: true | string;
  /** What it says when it ends well, for one that cannot be told to say `hello`. */
  readonly greeting?: string;
  /** The reason, for one that is done before anybody could stop it. */
  readonly hangs?: string;
  /** What its driver does without asking it, others of its agents show for all. */
  readonly driverIsShown?: true;
}

export function assignmentIn(directory: string, more: Partial<Assignment> = {}): Assignment {
  return {
    loop: 'loop-1',
    iteration: 3,
    task: 'US-001',
    attempt: 1,
    prompt: 'Do the work.',
    directory,
    timeMsMax: 60_000,
    environment: {},
    ...more,
  };
}

export async function activitiesOf(
  performer: Performer,
  assignment: Assignment,
  stop: AbortSignal = new AbortController().signal,
  heard: (activity: Activity) => void = () => {},
): Promise<readonly Activity[]> {
  const activities: Activity[] = [];
  for await (const activity of performer.perform(assignment, stop)) {
    activities.push(activity);
    heard(activity);
  }
  return activities;
}

export function endOf(activities: readonly Activity[]): Extract<Activity, { type: 'ended' }> {
  const last = activities.at(-1);
  if (last?.type !== 'ended') throw new Error('the last activity is not `ended`');
  expect(activities.filter(activity => activity.type === 'ended')).toHaveLength(1);
  return last;
}

export function performerContract(subject: PerformerSubject): void {
  const perform = (behaviour: Behaviour, more: Partial<Assignment> = {}, stop?: AbortSignal) =>
    activitiesOf(subject.make(behaviour), assignmentIn(subject.directory(), more), stop);
  const needs = (feature: true | string) => (feature === true ? it : it.skip);
  const ofDriver = (feature: true | string, title: string, story: () => Promise<void>): void => {
    if (!subject.driverIsShown) needs(feature)(`${title}${but(feature)}`, story);
  };
  let greeted: ReturnType<typeof perform> | undefined;
  const greets = () => {
    greeted ??= perform('greets');
    return greeted;
  };
  const { greeting = 'hello', hangs = true } = subject;
  const but = (feature: true | string) => (feature === true ? '' : ` (not here: ${feature})`);

  describe(`the performer ${subject.name}`, () => {
    it('has a name and says what it can', () => {
      const { name, can } = subject.make('greets');
      expect(name).toBe(subject.name);
      expect(Object.keys(can).sort()).toEqual(['interactive', 'resume', 'steer', 'usage']);
    });

    it('ends exactly once, last, with its message, whose words it tells as they come', async () => {
      const activities = await greets();
      const end = endOf(activities);
      expect(end.message.trim()).toBe(greeting);
      expect(end.failure).toBeUndefined();
      const words = activities.map(each => (each.type === 'text' && each.channel === 'output' ? each.text : ''));
      expect(words.join('').trim()).toBe(endOf(activities).message.trim());
    });

    it('gives a failure back as a value', async () => {
      const { failure } = endOf(await perform('fails'));
      expect(failure?.kind).toBeTypeOf('string');
      expect(failure?.kind).not.toBe('stopped');
      expect(failure?.detail).not.toBe('');
    });

    needs(hangs)(`ends as \`stopped\` when it is stopped in the middle${but(hangs)}`, async () => {
      const stopping = new AbortController();
      const assignment = assignmentIn(subject.directory());
      const activities = await activitiesOf(subject.make('hangs'), assignment, stopping.signal, activity => {
        if (activity.type === 'text') stopping.abort();
      });
      expect(endOf(activities)).toMatchObject({ failure: { kind: 'stopped' } });
      expect(endOf(activities).message.trim()).toBe('working');
    });

    const spawnsAndHangs = subject.spawns === true ? hangs : subject.spawns;
    ofDriver(spawnsAndHangs, 'leaves no process behind when nobody listens any more', async () => {
      const never = new AbortController().signal;
      let pid = 0;
      for await (const activity of subject.make('hangs').perform(assignmentIn(subject.directory()), never)) {
        if (activity.type === 'spawned') pid = activity.pid;
        if (activity.type !== 'text') continue;
        await setImmediate(); // the adapter waits for its next word by then
        break;
      }
      expect(pid).toBeGreaterThan(0);
      expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    });

    it('does nothing but end as `stopped` when it was stopped before it began', async () => {
      const activities = await perform('greets', {}, AbortSignal.abort());
      expect(activities).toHaveLength(1);
      expect(endOf(activities)).toMatchObject({ message: '', failure: { kind: 'stopped' } });
    });

    ofDriver(hangs, 'ends as `timeout` when its time is up', async () => {
      expect(endOf(await perform('hangs', { timeMsMax: 100 })).failure?.kind).toBe('timeout');
    });

    ofDriver(true, 'can perform twice at once', async () => {
      const performer = subject.make('greets');
      const assignments = [1, 2].map(iteration => assignmentIn(subject.directory(), { iteration }));
      const both = await Promise.all(assignments.map(each => activitiesOf(performer, each)));
      expect(both.map(each => endOf(each).message.trim())).toEqual([greeting, greeting]);
    });

    it(`announces a process first, and only when there is one${but(subject.spawns)}`, async () => {
      const kinds = (await greets()).map(activity => activity.type);
      expect(kinds.indexOf('spawned')).toBe(subject.spawns === true ? 0 : -1);
      expect(kinds.lastIndexOf('spawned')).toBe(subject.spawns === true ? 0 : -1);
    });

    ofDriver(subject.spawns, 'fails as a value when its directory is gone', async () => {
      const activities = await perform('greets', { directory: '/no/such/directory' });
      expect(endOf(activities).failure).toMatchObject({ kind: 'spawn' });
    });

    needs(subject.readsPrompt)(`gets a prompt of 200 kB whole (F78)${but(subject.readsPrompt)}`, async () => {
      const { message } = endOf(await perform('measures-prompt', { prompt: 'é'.repeat(100_000) }));
      expect(message.trim()).toBe('200000');
    });
  });
}
