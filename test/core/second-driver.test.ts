// Proves that the core has no engine in it: a stop hook, called once per turn and dead in between, drives the same loop.
import { describe, expect, it } from 'vitest';
import type { Input } from '../../src/core/input.ts';
import { type Effect, next } from '../../src/core/next.ts';
import { initialState, liveIteration, type State } from '../../src/core/state.ts';
import { findTask } from '../../src/core/task.ts';
import type { Holder, Lease, Ledger } from '../../src/ledger/ledger.ts';
import { memoryLedger } from '../../src/ledger/memory.ts';
import { decide } from '../../src/modes/decide.ts';
import { evolve } from '../../src/modes/evolve.ts';
import { prdMode } from '../../src/modes/prd/mode.ts';
import { hour, type SettingsPart, startInput, t0 } from './given.ts';

const loop = 'loop-0001';

type Verdict = { readonly decision: 'block'; readonly prompt: string } | { readonly decision: 'allow' };

/** What outlives a call: the ledger, the document, and the tree that the check looks at. */
interface World {
  readonly ledger: Ledger;
  document: string;
  readonly works: Set<string>;
  now: number;
}

const holderOf = (session: string): Holder => ({
  id: session,
  pid: 0,
  startTime: '',
  host: '',
  boot: '',
  version: '1',
});

/** One call of the hook. Everything it knows it reads from the ledger; nothing of it stays alive. */
class Turn {
  private state: State = initialState;
  private seq = 0;
  private readonly world: World;
  private readonly lease: Lease;
  private readonly self: string;

  constructor(world: World, lease: Lease) {
    this.world = world;
    this.lease = lease;
    this.self = lease.holder.id;
  }

  async replay(): Promise<void> {
    for (const { event, seq } of await this.world.ledger.store.read(loop)) {
      this.state = evolve(this.state, event);
      this.seq = seq;
    }
  }

  async record(input: Input): Promise<void> {
    const events = decide(this.state, input, this.world.now);
    const options = { token: this.lease.token };
    const appended = await this.world.ledger.store.append(loop, this.seq, events, options);
    if (!appended.ok) throw new Error(appended.failure.detail);
    this.seq = appended.seq;
    this.state = events.reduce(evolve, this.state);
  }

  /** The session's last message is the outcome of the iteration that it was told to do. */
  async heard(message: string): Promise<void> {
    const mine = this.state.live.find(live => live.holder === this.self);
    if (mine === undefined) return;
    await this.record({ type: 'performed', iteration: mine.iteration, performed: { message }, chance: 0 });
  }

  async verdict(): Promise<Verdict> {
    for (;;) {
      const plan = next(this.state, this.world.now, this.self).effects;
      const perform = plan.find(effect => effect.type === 'perform');
      const effect = plan.find(one => one.type !== 'ask' && one.type !== 'perform' && one.type !== 'nudge');
      if (effect !== undefined) await this.record(this.outcomeOf(effect));
      else if (perform === undefined) return { decision: 'allow' };
      else return { decision: 'block', prompt: this.promptOf(perform.iteration) };
    }
  }

  private promptOf(iteration: number): string {
    return prdMode.prompt(this.state, liveIteration(this.state, iteration)!, 'Standing instructions.').text;
  }

  private outcomeOf(effect: Effect): Input {
    const { world } = this;
    if (effect.type === 'load') {
      const parsed = prdMode.formats[0]!.parse(world.document);
      if (!parsed.ok) throw new Error('the document does not parse');
      return { type: 'document', tasks: parsed.document.tasks, hash: world.document };
    }
    if (effect.type === 'begin') {
      return { type: 'begin', task: effect.task, performer: effect.performer, holder: this.self };
    }
    if (effect.type === 'check') {
      const passed = world.works.has(effect.task);
      const detail = passed ? 'ok' : `${effect.task} does not work`;
      return {
        type: 'checked',
        iteration: effect.iteration,
        outcomes: [{ name: 'npm test', passed, detail, durationMs: 1 }],
      };
    }
    if (effect.type === 'save') {
      const marks = effect.tasks.map(id => {
        const status = findTask(this.state.tasks, id)?.status;
        return { id, done: status === 'done', skipped: status === 'skipped' };
      });
      world.document = prdMode.formats[0]!.mark(world.document, marks);
      return { type: 'saved', marks, hash: world.document };
    }
    if (effect.type === 'end') return { type: 'end' };
    if (effect.type === 'ask-how-to-continue') return { type: 'stalled' };
    throw new Error(`a hook does not ${effect.type}`);
  }
}

/** What the host calls when a session wants to stop. */
async function stopHook(world: World, session: string, lastMessage: string): Promise<Verdict> {
  const leased = await world.ledger.store.lease(loop, holderOf(session));
  if (!leased.ok) return { decision: 'allow' };
  const turn = new Turn(world, leased.lease);
  await turn.replay();
  await turn.heard(lastMessage);
  return turn.verdict();
}

const story = (id: string, title: string) => ({ id, title, description: '', criteria: ['it works'], passes: false });

async function begun(part: SettingsPart = {}): Promise<World> {
  const stories = [story('US-001', 'Sign in'), { ...story('US-002', 'Sign out'), depends_on: ['US-001'] }];
  const document = JSON.stringify({ project: 'shop', description: '', userStories: stories }, null, 2);
  const world: World = { ledger: memoryLedger(), document, works: new Set(), now: t0 };
  const leased = await world.ledger.store.lease(loop, holderOf('session-a'));
  if (!leased.ok) throw new Error('held');
  await new Turn(world, leased.lease).record(startInput({ checks: ['npm test'], performers: ['session'], ...part }));
  return world;
}

const types = async (world: World): Promise<readonly string[]> =>
  (await world.ledger.store.read(loop)).map(one => one.event.type);

describe('a stop hook over the same core', () => {
  it('takes a two-story PRD to its goal: block, block, …, allow; a false claim is caught, another session touches nothing', async () => {
    const world = await begun();
    const turn = async (message: string, session = 'session-a'): Promise<Verdict> => {
      world.now += hour; // longer than the ladder's patience: nobody is there to be nudged
      return stopHook(world, session, message);
    };

    const first = await turn('I only read the code.');
    expect(first).toMatchObject({ decision: 'block', prompt: expect.stringContaining('**US-001**: Sign in') });

    const refused = await turn('Task US-001 complete\n\n<promise>DONE</promise>');
    expect(refused.decision).toBe('block');
    if (refused.decision !== 'block') return;
    expect(refused.prompt).toContain('**US-001**');
    expect(refused.prompt).toContain('US-001 does not work');
    expect(refused.prompt).toContain('the promise DONE was refused: 1 task still open (US-002)');

    const before = await types(world);
    expect(await turn('Task US-001 complete', 'session-b')).toEqual({ decision: 'allow' });
    expect(await types(world)).toEqual(before);

    world.works.add('US-001');
    const second = await turn('Task US-001 complete');
    expect(second).toMatchObject({ decision: 'block', prompt: expect.stringContaining('**US-002**: Sign out') });
    expect(JSON.parse(world.document).userStories.map((one: { passes: boolean }) => one.passes)).toEqual([true, false]);

    world.works.add('US-002');
    expect(await turn('Task US-002 complete\n\n<promise>DONE</promise>')).toEqual({ decision: 'allow' });
    expect(JSON.parse(world.document).userStories.every((one: { passes: boolean }) => one.passes)).toBe(true);

    const events = await world.ledger.store.read(loop);
    expect(events.at(-1)?.event).toMatchObject({
      type: 'loop.ended',
      reason: 'goal_achieved',
      because: '2 of 2 tasks done',
    });
    expect(events.filter(one => one.event.type === 'iteration.started')).toHaveLength(3);
    expect(await world.ledger.store.verify(loop)).toMatchObject({ ok: true });

    expect(await turn('and again')).toEqual({ decision: 'allow' });
    expect(await world.ledger.store.read(loop)).toHaveLength(events.length);
  });

  it('given an escalation, then the session may stop, the loop waits, and the answer lets the next turn go on', async () => {
    const world = await begun();
    await stopHook(world, 'session-a', '');
    const ask = '<escalate type="stuck">\n<summary>no key</summary>\n<question>which?</question>\n</escalate>';
    expect(await stopHook(world, 'session-a', ask)).toEqual({ decision: 'allow' });
    expect((await types(world)).at(-1)).toBe('escalation.raised');
    const leased = await world.ledger.store.lease(loop, holderOf('session-a'));
    if (!leased.ok) throw new Error('held');
    const turn = new Turn(world, leased.lease);
    await turn.replay();
    const answer = { kind: 'text' as const, text: 'the blue one' };
    await turn.record({ type: 'command', by: 'ada', command: { type: 'answer', escalation: 'E1', answer } });
    const verdict = await stopHook(world, 'session-a', 'ignored: no iteration is live');
    expect(verdict).toMatchObject({ decision: 'block', prompt: expect.stringContaining('> the blue one') });
  });

  it('given a session that never claims, then its own counter ends the loop and the session may stop', async () => {
    const world = await begun({ limits: { iterationsMax: 3 } });
    const verdicts: string[] = [];
    for (const message of ['', 'one', 'two, something else', 'three, and this is different again']) {
      verdicts.push((await stopHook(world, 'session-a', message)).decision);
    }
    expect(verdicts).toEqual(['block', 'block', 'block', 'allow']);
    expect((await world.ledger.store.read(loop)).at(-1)?.event).toMatchObject({ reason: 'max_iterations' });
  });
});
