// Proves whose money binds: a preset never what a subscription covers (F84), an upper bound never without asking (F85).
import { describe, expect, it } from 'vitest';
import type { Usage } from '../../src/core/event.ts';
import { evaluateTermination, hardStop } from '../../src/core/termination.ts';
import { endingOf } from '../../src/views/ending.ts';
import { only, type SettingsPart, Story, says, types, usd } from './given.ts';

const preset: SettingsPart = { costMaxIsPreset: true, limits: { costUsdMicrosMax: 50_000_000 } };
const typed: SettingsPart = { limits: { costUsdMicrosMax: 50_000_000 } };

const covered = (dollars: number): Usage => usd(dollars, { unbilledUsdMicros: dollars * 1_000_000 });
const atMost = (dollars: number): Usage => usd(dollars, { estimated: true, boundUsdMicros: dollars * 1_000_000 });

/** One iteration that used this, and is over. */
function spent(part: SettingsPart, usage: Usage): Story {
  const story = new Story(part);
  story.begin('A');
  story.when({ type: 'performed', iteration: 1, performed: says('not yet', { usage }), chance: 0 });
  return story;
}

describe('F84: money that a subscription covers', () => {
  it('passes the preset: it alerts once, hands nothing off, and the loop goes on', () => {
    const story = spent(preset, covered(60));
    const [alert, ...others] = story.events.filter(event => event.type === 'budget.alerted');
    expect([alert?.because, others]).toEqual([
      'task budget: $60.00 of $50.00 used API-equivalent, which ends nothing',
      [],
    ]);
    expect(only(story.events, 'iteration.ended').handoff).toBeUndefined();
    expect(evaluateTermination(story.state, story.now)).toBeUndefined();
    expect(story.effects()).toMatchObject([{ type: 'begin' }]);
  });

  it.each<[string, SettingsPart, Usage]>([
    ['a limit that was typed', typed, covered(60)],
    ['the preset, when it is not known who pays', preset, usd(60)],
    ['the preset, for the part that is billed', preset, usd(111, { unbilledUsdMicros: 60_000_000 })],
  ])('is ended by %s', (_what, part, usage) => {
    const { state, now } = spent(part, usage);
    expect(evaluateTermination(state, now)).toMatchObject({ reason: 'budget_exhausted', limit: 'cost' });
  });

  it('is ended by the same number once a person sets it', () => {
    const story = spent(preset, covered(60));
    story.command({ type: 'limits', limits: { costUsdMicrosMax: 50_000_000 } });
    expect(evaluateTermination(story.state, story.now)?.because).toBe('$60.00 spent of $50.00 (--max-cost)');
  });

  it('is learned late: what was spent before is covered with the rest', () => {
    const story = new Story(preset);
    story.begin('A');
    story.when({ type: 'usage', iteration: 1, usage: usd(30) });
    story.when({ type: 'usage', iteration: 1, usage: covered(45) });
    expect(story.state.spend.usage).toMatchObject({ costUsdMicros: 45_000_000, unbilledUsdMicros: 45_000_000 });
    story.when({ type: 'usage', iteration: 1, usage: covered(55) });
    expect(hardStop(story.state, story.now)).toBeUndefined();
  });

  it('is called API-equivalent', () => {
    expect(endingOf(spent(preset, covered(60)).state).sentence).toContain('$60.00 API-equivalent');
    const mixed = spent(typed, usd(20, { unbilledUsdMicros: 5_000_000 }));
    expect(endingOf(mixed.state).sentence).toContain('$20.00, $5.00 of it API-equivalent');
  });
});

describe('F85: an upper bound that meets the limit', () => {
  it('stops the work and asks, and ends nothing by itself', () => {
    const story = new Story(typed);
    story.begin('A');
    story.when({ type: 'spawned', iteration: 1, pid: 7, startTime: '1', host: 'h' });
    story.when({ type: 'usage', iteration: 1, usage: atMost(57.12) });
    expect(story.effects().map(one => one.type)).toEqual(['cancel']);
    story.when({ type: 'performed', iteration: 1, performed: says('', { usage: atMost(57.12) }), chance: 0 });
    expect(story.effects()).toMatchObject([{ type: 'ask-how-to-continue' }]);
    expect(types(story.when({ type: 'begin', task: 'A', performer: 'agent', holder: 'me' }))).toEqual([]);
  });

  const asked = (): Story => {
    const story = spent(typed, atMost(57.12));
    story.when({ type: 'stalled' });
    return story;
  };

  it('unanswered is exit 4, and says that it is one', () => {
    const { state } = asked();
    expect(state.questions.open).toMatchObject([
      { id: 'E1', kind: 'budget', options: [{ id: 'go-on' }, { id: 'end-loop' }] },
    ]);
    const { exitCode, sentence } = endingOf(state);
    expect(exitCode).toBe(4);
    expect(sentence).toContain('The money may be used up: at most $57.12, an upper bound, of $50.00 (--max-cost).');
  });

  it('goes on with as much again when a person says so', () => {
    const story = asked();
    story.command({ type: 'answer', escalation: 'E1', answer: { kind: 'option', option: 'go-on' } });
    expect(story.state.settings.limits.costUsdMicrosMax).toBe(107_120_000);
    expect(story.effects()).toMatchObject([{ type: 'begin' }]);
  });

  it('is answered by a limit that a person sets, and asked again where that is met, too', () => {
    const story = asked();
    story.command({ type: 'limits', limits: { costUsdMicrosMax: 55_000_000 } });
    expect(story.state.questions.open).toEqual([]);
    expect(story.effects()).toMatchObject([{ type: 'ask-how-to-continue' }]);
    story.command({ type: 'limits', limits: { costUsdMicrosMax: 90_000_000 } });
    expect(story.effects()).toMatchObject([{ type: 'begin' }]);
  });

  it('ends the loop when a person wants that', () => {
    const story = asked();
    story.command({ type: 'answer', escalation: 'E1', answer: { kind: 'option', option: 'end-loop' } });
    expect(evaluateTermination(story.state, story.now)?.reason).toBe('explicit_stop');
  });

  it('does not matter where what is known to be spent meets the limit by itself', () => {
    const { state, now } = spent(typed, usd(80, { boundUsdMicros: 20_000_000 }));
    expect(evaluateTermination(state, now)?.reason).toBe('budget_exhausted');
  });
});

it("a judge's estimate makes the sum an estimate, although its iteration is over", () => {
  const story = spent(typed, usd(1));
  const usage = usd(2, { estimated: true });
  story.given({ type: 'usage.recorded', at: story.now, iteration: 1, performer: 'judge', task: 'A', usage });
  expect(story.state.spend.usage).toMatchObject({ costUsdMicros: 3_000_000, estimated: true });
  story.begin('A');
  story.when({ type: 'usage', iteration: 2, usage: usd(1) });
  expect(story.state.spend.usage.estimated).toBe(true);
});

it('the permission mode of an agent is recorded when it is first told and when it is another one', () => {
  const story = new Story();
  story.begin('A');
  const states = (mode: string) => types(story.when({ type: 'permissions', iteration: 1, mode }));
  expect([states('plan'), states('plan'), states('auto')]).toEqual([
    ['permissions.stated'],
    [],
    ['permissions.stated'],
  ]);
  expect(story.state.performers.permissionModes).toEqual({ agent: 'auto' });
});

describe("the windows of a provider's limits", () => {
  const fiveHours = { name: 'five_hour', usedFraction: 0.2, resetAtMs: 9, isUsedUp: false };
  const week = { ...fiveHours, name: 'seven_day', usedFraction: 0.5 };

  it('are kept as they are reported, and recorded only when one of them changed by a part that matters', () => {
    const story = new Story();
    story.begin('A');
    const report = (...windows: readonly (typeof week)[]) =>
      types(story.when({ type: 'windows', iteration: 1, windows }));
    expect(report(fiveHours, week)).toEqual(['windows.reported']);
    expect(report({ ...fiveHours, usedFraction: 0.21 }, week)).toEqual([]);
    expect(report({ ...fiveHours, usedFraction: 0.3 }, week)).toEqual(['windows.reported']);
    expect(report()).toEqual(['windows.reported']);
    expect(report()).toEqual([]);
    expect(report(week)).toEqual(['windows.reported']);
    story.performed(says('not yet'));
    story.begin('A');
    expect(types(story.when({ type: 'windows', iteration: 2, windows: [week] }))).toEqual([]);
    expect(story.state.performers.windows).toEqual({ agent: [week] });
  });
});
