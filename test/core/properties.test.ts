// Proves what holds for every loop whatever happens to it: random worlds drive decide, next and evolve without an engine.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Answer, Event } from '../../src/core/event.ts';
import { type FailureKind, failureRules } from '../../src/core/failure.ts';
import type { Input, Performed } from '../../src/core/input.ts';
import type { Effect } from '../../src/core/next.ts';
import { defaultBreaker } from '../../src/core/settings.ts';
import { initialState, packState, type State, totalTokens, unpackState } from '../../src/core/state.ts';
import { allTasks, progress } from '../../src/core/task.ts';
import { criteria } from '../../src/core/termination.ts';
import type { ToolReport } from '../../src/messages/tool-reports.ts';
import { decide } from '../../src/modes/decide.ts';
import { evolve } from '../../src/modes/evolve.ts';
import { everyEvent } from './every-event.ts';
import { claims, failed, minute, type SettingsPart, Story, says, self, spec, usd } from './given.ts';

/** How agents fail; actions have their own ways, and their own simulator (prove -- plans). */
const kinds = (Object.keys(failureRules) as FailureKind[]).filter(kind => !['invalid', 'lost-reply'].includes(kind));
const question = '<escalate type="stuck">\n<summary>s</summary>\n<options>\n1. a\n2. b\n</options>\n</escalate>';

/** Three numbers decide everything that happens in one step of the world. */
interface Roll {
  readonly what: number;
  readonly which: number;
  readonly ms: number;
}

const roll: fc.Arbitrary<Roll> = fc.record({ what: fc.nat(99), which: fc.nat(9_999), ms: fc.nat(40 * 60_000) });
const pick = <Item>(items: readonly Item[], which: number): Item => items[which % items.length]!;

function outcomeOf(task: string, { what, which }: Roll): Performed {
  const usage = usd((which % 50) / 100, { inputTokens: which, outputTokens: what });
  const messages = [
    claims(task),
    claims(task),
    failed(pick(kinds, which), `error ${'abc'[which % 3]}`),
    says(`note ${which}`),
    says(question),
    says('<handoff>full</handoff>'),
    says('<promise>DONE</promise>'),
    says('edited', { statusEdits: [task] }),
    says(`<report>{"phase": "complete", "completed": ["${which}"]}</report>`),
  ];
  return { ...pick(messages, what), usage };
}

function inputFor(story: Story, effect: Effect, dice: Roll): Input | undefined {
  const { what, which } = dice;
  const chance = which / 10_000;
  switch (effect.type) {
    case 'load':
      return { type: 'document', tasks: [spec('A')], hash: 'h' };
    case 'begin':
      return {
        type: 'begin',
        task: effect.task,
        performer: effect.performer,
        holder: pick([self, self, 'dead'], which),
      };
    case 'perform': {
      const live = story.state.live.find(one => one.iteration === effect.iteration)!;
      if (what % 4 === 0) return { type: 'usage', iteration: live.iteration, usage: usd(which / 5_000) };
      if (what % 4 === 1) return { type: 'heard', iteration: live.iteration, quietMs: which, contextUsed: what / 100 };
      if (what % 16 === 3) return { type: 'reported', iteration: live.iteration, report: reportOf(live.task, dice) };
      if (what % 8 === 2) return { type: 'spawned', iteration: live.iteration, pid: 7, startTime: '1', host: 'h' };
      return { type: 'performed', iteration: live.iteration, performed: outcomeOf(live.task, dice), chance };
    }
    case 'cancel':
      return { type: 'performed', iteration: effect.iteration, performed: failed('stopped', 'not wanted'), chance };
    case 'recover': {
      const found = what % 3 === 0 ? { found: outcomeOf('A', dice) } : {};
      return { type: 'recovered', iteration: effect.iteration, holder: self, chance, ...found };
    }
    case 'nudge':
      return { ...effect, type: 'nudged', delivered: what % 2 === 0 };
    case 'steer':
      return {
        type: 'reached',
        guidance: effect.guidance,
        iteration: effect.iteration,
        delivered: which % 2 === 0,
      };
    case 'check': {
      const outcomes = [{ name: 'x', passed: what % 3 > 0, detail: '', durationMs: 1 }];
      const doubt = {
        kind: 'test-deleted',
        path: 'a',
        detail: 'gone',
        severity: 'refuse',
        fingerprint: `f${which}`,
      } as const;
      return { type: 'checked', iteration: effect.iteration, outcomes, doubts: what % 4 === 0 ? [doubt] : [] };
    }
    case 'merge':
      return { type: 'merged', iteration: effect.iteration, merged: what % 2 === 0, detail: '' };
    case 'save':
      story.saved();
      return undefined;
    case 'checkpoint':
      return {
        type: 'checkpointed',
        mark: { checkpoint: `cp-${which}`, number: effect.number, commit: `c${which}`, tree: `t${which}` },
        ref: 'r',
        sha256: 's',
        skipped: [],
      };
    case 'restore':
      return {
        type: 'restored',
        written: 1,
        deleted: 0,
        merged: [],
        kept: [],
        ...(what % 5 === 0 ? { refused: 'no' } : {}),
      };
    case 'commit':
      return { type: 'committed', task: effect.task, iteration: effect.iteration, commit: 'c', paths: 1, left: [] };
    case 'set-aside': {
      const facts = {
        checkpoint: 1,
        commit: 'c',
        paths: ['a'],
        count: 1,
        kept: what % 3 === 0 ? ['b'] : [],
        reverted: '',
      };
      return { type: 'set-aside', task: effect.task, returns: effect.returns, ...facts };
    }
    case 'give-back':
      return { type: 'given-back', task: effect.task, count: 1, kept: what % 3 === 0 ? ['b'] : [] };
    case 'ask': {
      const answers: Answer[] = [
        { kind: 'retry' },
        { kind: 'skip' },
        { kind: 'text', text: `word ${which}` },
        { kind: 'option', option: Math.floor(which / 5) % 4 },
        ...(what === 0 ? [{ kind: 'abort' } as const] : []),
      ];
      const command = { type: 'answer', escalation: effect.escalation.id, answer: pick(answers, which) } as const;
      return { type: 'command', by: 'ada', command };
    }
    case 'ask-how-to-continue':
      return { type: 'stalled' };
    case 'end':
      return { type: 'end' };
  }
}

const reportOf = (task: string, { which }: Roll): ToolReport => {
  const question = {
    type: 'stuck',
    summary: 'How?',
    context: '',
    options: [],
    question: 'How?',
    attached: '',
  } as const;
  if (which % 4 === 0) return { type: 'question', question };
  return { type: 'done', task: which % 5 === 0 ? 'A' : task, evidence: [{ criterion: 1, evidence: `shown ${which}` }] };
};

/** People and accidents: things that no effect asked for. */
function surprise(story: Story, { what, which }: Roll): Input {
  const known = [...allTasks(story.state.tasks)];
  const tasks = known.map(task => spec(task.id, { done: which % 5 === 0, title: `T${which % 3}` }));
  const inputs: Input[] = [
    { type: 'command', by: 'ada', command: { type: 'tell', text: 'x'.repeat(which) } },
    { type: 'command', by: 'ada', command: { type: 'pause', now: which % 2 === 0 } },
    { type: 'command', by: 'ada', command: { type: 'resume' } },
    { type: 'command', by: 'ada', command: { type: 'resume' } },
    { type: 'taken-over', by: 'ada' },
    { type: 'document', tasks: [...tasks, spec(`N${which % 3}`)], hash: `h${which}` },
    {
      type: 'document',
      tasks: tasks.map(one => ({ ...one, criteria: ['less'] })),
      hash: `d${which}`,
      during: which % 9,
    },
    { type: 'command', by: 'ada', command: { type: 'answer', escalation: `E${which % 4}`, answer: { kind: 'skip' } } },
    { type: 'command', by: 'ada', command: { type: 'limits', limits: { iterationsMax: 5 + (which % 20) } } },
    { type: 'performed', iteration: which % 30, performed: says('who?'), chance: 0 },
    { type: 'checked', iteration: which % 30, outcomes: [] },
    { type: 'command', by: 'ada', command: { type: 'checkpoint', label: 'by hand' } },
    { type: 'command', by: 'ada', command: { type: 'refused', command: 'stop' } },
    { type: 'command', by: 'ada', command: { type: 'task', act: 'retry', task: 'A', withWork: true } },
    { type: 'checkpoint-failed', problem: 'no space' },
    {
      type: 'displaced',
      found: { type: 'moved', from: { ref: 'refs/heads/main', commit: 'c1' }, to: { ref: '', commit: 'c2' } },
    },
    ...(story.state.checkpoints.latest === undefined
      ? []
      : [
          {
            type: 'command',
            by: 'ada',
            command: { type: 'restore', to: story.state.checkpoints.latest, because: 'undo' },
          } as const,
        ]),
    { type: 'end' },
    ...(which % 7 === 0 ? [{ type: 'command', by: 'ada', command: { type: 'stop' } } as const] : []),
  ];
  return pick(inputs, Math.floor(which / 7) + what);
}

function live(part: SettingsPart, rolls: readonly Roll[]): Story {
  const specs = [spec('A'), spec('B', { dependsOn: ['A'] }), spec('C'), spec('D', { dependsOn: ['B', 'C'] })];
  const story = new Story(part, specs);
  for (const dice of rolls) {
    story.after(dice.ms);
    const effects = story.effects();
    const effect = effects.length === 0 || dice.what % 6 === 0 ? undefined : pick(effects, dice.which);
    const input = effect === undefined ? surprise(story, dice) : inputFor(story, effect, dice);
    if (input !== undefined) story.when(input);
  }
  return story;
}

const parts: fc.Arbitrary<SettingsPart> = fc.record({
  parallel: fc.constantFrom(1, 1, 2, 3),
  checks: fc.constantFrom<readonly string[]>(['x'], ['x'], []),
  worktreePerTask: fc.constantFrom(false, false, true),
  checkpoints: fc.boolean(),
  commits: fc.boolean(),
  tamperScreen: fc.boolean(),
  rollbackAfter: fc.constantFrom(null, 2),
  performers: fc.constantFrom<readonly string[]>(['agent'], ['agent', 'other']),
  breaker: fc.constantFrom(defaultBreaker, { ...defaultBreaker, failuresToOpen: 1 }),
  limits: fc.record({
    iterationsMax: fc.integer({ min: 1, max: 30 }),
    costUsdMicrosMax: fc.constantFrom(3_000_000, 50_000_000, null),
    attemptsPerTaskMax: fc.integer({ min: 1, max: 5 }),
  }),
});

const worlds = fc
  .tuple(parts, fc.array(roll, { minLength: 20, maxLength: 250, size: 'max' }))
  .map(world => live(...world));
const plain = (state: State): unknown => JSON.parse(JSON.stringify(packState(state)));
const runs = { numRuns: 40 };

const fold = (events: readonly Event[], each: (before: State, event: Event, after: State) => void): State => {
  let state = initialState;
  for (const event of events) {
    const after = evolve(state, event);
    each(state, event, after);
    state = after;
  }
  return state;
};

describe('for any loop', () => {
  it('the worlds are lively: together they reach every kind of event but those of plans and reviews', () => {
    const seen = new Set<string>();
    for (const story of fc.sample(worlds, { numRuns: 200, seed: 7 }))
      for (const event of story.events) seen.add(event.type);
    const missing = everyEvent.map(event => event.type).filter(type => !seen.has(type));
    expect(missing).toEqual([
      'action.intended',
      'review.answered',
      'approval.given',
      'permissions.stated',
      'windows.reported',
    ]);
  });

  it('replay equals the live state, twice over, and deciding is a function', () => {
    fc.assert(
      fc.property(worlds, story => {
        const replayed = fold(story.events, () => {});
        expect(plain(replayed)).toEqual(plain(story.state));
        const input: Input = { type: 'end' };
        expect(decide(replayed, input, story.now)).toEqual(decide(story.state, input, story.now));
        expect(story.effects()).toEqual(story.effects());
      }),
      runs,
    );
  });

  it('what is counted never goes down, and live work stays within the room given', () => {
    fc.assert(
      fc.property(worlds, story => {
        fold(story.events, (before, event, after) => {
          expect(after.iterations.begun).toBeGreaterThanOrEqual(before.iterations.begun);
          expect(after.iterations.ended).toBeGreaterThanOrEqual(before.iterations.ended);
          expect(after.spend.usage.costUsdMicros).toBeGreaterThanOrEqual(before.spend.usage.costUsdMicros);
          expect(totalTokens(after.spend.usage)).toBeGreaterThanOrEqual(totalTokens(before.spend.usage));
          expect(after.spend.activeMs).toBeGreaterThanOrEqual(before.spend.activeMs);
          expect(after.questions.raised).toBeGreaterThanOrEqual(before.questions.raised);
          expect(after.live.length).toBeLessThanOrEqual(after.settings.parallel);
          if (event.type !== 'iteration.started' || event.again) return;
          expect(event.iteration).toBe(before.iterations.begun + 1);
          expect(event.iteration).toBeLessThanOrEqual(before.settings.limits.iterationsMax!);
        });
      }),
      runs,
    );
  });

  it('a task closes at most once without being opened again, after a claim, and the table’s counts are its tasks', () => {
    fc.assert(
      fc.property(worlds, story => {
        const closed = new Set<string>();
        fold(story.events, (before, event, after) => {
          if (event.type === 'task.reopened') closed.delete(event.task);
          if (event.type !== 'task.closed') return;
          if (event.by !== undefined) return void closed.add(event.task); // a person needs no claim
          expect(closed.has(event.task)).toBe(false);
          expect(before.claims.open.some(claim => claim.task === event.task)).toBe(true);
          expect(after.claims.open.some(claim => claim.task === event.task)).toBe(false);
          closed.add(event.task);
        });
        const tasks = [...allTasks(story.state.tasks)];
        const count = (status: string): number => tasks.filter(task => task.status === status).length;
        expect(progress(story.state.tasks)).toEqual({
          total: tasks.length,
          done: count('done'),
          skipped: count('skipped'),
          blocked: count('blocked'),
          open: tasks.length - count('done') - count('skipped'),
          unverified: tasks.filter(task => task.status === 'done' && task.verified === false).length,
        });
      }),
      runs,
    );
  });

  it('an end is settled, its reason is the first criterion that held, and no iteration begins after it', () => {
    fc.assert(
      fc.property(worlds, story => {
        fold(story.events, (before, event) => {
          if (event.type === 'iteration.started') expect(before.control.ended).toBeUndefined();
          if (event.type !== 'loop.ended') return;
          expect(before.live).toEqual([]);
          expect(before.claims.open).toEqual([]);
          const at = criteria.findIndex(row => row.reason === event.reason);
          expect(criteria[at]?.holds(before, event.at)).toEqual({ limit: event.limit, because: event.because });
          for (const earlier of criteria.slice(0, at)) expect(earlier.holds(before, event.at)).toBeUndefined();
          if ([...allTasks(before.tasks)].every(task => task.status === 'done' || task.status === 'skipped')) {
            expect(event.reason).toBe('goal_achieved');
          }
        });
      }),
      runs,
    );
  });

  it('a snapshot at any moment behaves as the state it was made from', () => {
    fc.assert(
      fc.property(worlds, fc.nat(), (story, moment) => {
        const at = moment % (story.events.length + 1);
        const before = story.events.slice(0, at).reduce(evolve, initialState);
        const woken = story.events.slice(at).reduce(evolve, unpackState(plain(before)));
        expect(plain(woken)).toEqual(plain(story.state));
      }),
      runs,
    );
  });

  it('what next proposes, decide accepts: no effect can be asked for over and over', () => {
    const dice: Roll = { what: 3, which: 1, ms: 0 };
    fc.assert(
      fc.property(worlds, story => {
        const told = new Story({}, []);
        fold(story.events, (_before, event, after) => {
          told.state = after;
          told.now = event.at;
          for (const effect of told.effects()) {
            if (effect.type === 'ask' || effect.type === 'save') continue;
            const input = inputFor(told, effect, dice)!;
            expect(decide(after, input, told.now), effect.key).not.toEqual([]);
          }
        });
      }),
      runs,
    );
  });

  it('any event folds into any state: the fold is total', () => {
    fc.assert(
      fc.property(worlds, worlds, (one, other) => {
        const state = other.events.reduce(evolve, one.state);
        expect(state.iterations.begun).toBeGreaterThanOrEqual(one.state.iterations.begun);
      }),
      { numRuns: 30 },
    );
  });
});

describe('the state is bounded', () => {
  const forever = { iterationsMax: null, costUsdMicrosMax: null, consecutiveErrorsMax: 1e9, noProgressIterations: 1e9 };
  const patience = { ...forever, attemptsPerTaskMax: 1e9, escalationsPerTaskMax: 1e9 };

  it('given 600 iterations of long-winded agents and talkative people, then the state has stopped growing and is small', () => {
    const story = new Story({
      checks: ['x'],
      limits: patience,
      breaker: { failuresToOpen: 1e9, cooldownMs: 1, cooldownMsMax: 1, openingsMax: 1e9 },
    });
    const long = 'many words about it '.repeat(100);
    const largest = [0, 0]; // of two parts behind its beginning, when all numbers have three digits
    for (let n = 0; n < 600; n += 1) {
      const turn = n % 8;
      const words = `${n} ${long}`;
      if (turn === 0) story.command({ type: 'tell', text: words.repeat(3), ...(n % 16 === 0 ? { task: 'A' } : {}) });
      story.after(minute);
      story.begin('A');
      const iteration = story.state.iterations.begun;
      story.when({ type: 'usage', iteration, usage: usd(0.01, { inputTokens: 5 }) });
      const report = JSON.stringify({ completed: Array.from({ length: 30 }, () => words), decisions: [words] });
      if (turn === 1) story.performed(failed(pick(kinds, n), words));
      else if (turn === 2) story.performed(says(`${words}\n<report>${report}</report>`));
      else if (turn === 3) story.performed(says(`${words}\n${question}`));
      else story.performed(says(turn === 4 ? `${words}\nTask A complete` : words));
      if (turn === 4) story.checked(false);
      const open = story.state.questions.open[0];
      if (open) story.command({ type: 'answer', escalation: open.id, answer: { kind: 'text', text: words } });
      story.saved();
      story.events.length = 0;
      const part = n < 400 ? 0 : 1;
      if (n >= 200 && n % 20 === 0)
        largest[part] = Math.max(largest[part]!, JSON.stringify(packState(story.state)).length);
    }
    expect(story.state.iterations.begun).toBe(600);
    expect(largest[1]).toBeLessThan(150_000);
    expect(largest[1]! - largest[0]!).toBeLessThan(550); // three bytes for each iteration would be more
    expect(story.state.questions.open.length).toBeLessThan(5);
  });
});
