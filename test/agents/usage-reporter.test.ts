// Proves when money is told: as it is spent, as it is stated, or as an estimate at the end.
import { describe, expect, it } from 'vitest';
import type { AgentCli } from '../../src/agents/agent.ts';
import { claude } from '../../src/agents/cli/claude.ts';
import { codex } from '../../src/agents/cli/codex.ts';
import { copilot } from '../../src/agents/cli/copilot.ts';
import type { Activity } from '../../src/agents/performer.ts';
import { openUsageReporter } from '../../src/agents/usage.ts';
import { plainPrices, playing } from '../contracts/cli-agent.ts';
import { activitiesOf, assignmentIn } from '../contracts/performer.ts';
import { scratchDirectory } from '../processes/fixture.ts';

const order = { prompt: 'x'.repeat(300), args: [], folder: '', isRoot: false };
const tool = { type: 'tool', name: 'shell', detail: 'npm test', phase: 'began' } as const;
const usagesOf = (activities: readonly Activity[]) =>
  activities.flatMap(each => (each.type === 'usage' ? [each.usage] : []));

function reporterOf(cli: AgentCli) {
  const told: Activity[] = [];
  const reporter = openUsageReporter({ cli, prices: plainPrices, launchOrder: order }, each => told.push(each));
  return { reporter, usages: () => usagesOf(told) };
}

describe('an iteration whose agent ended before it said what it used', () => {
  it.each(['terminated', 'too-long'])('is not free: codex, %s', async stream => {
    const [usage, ...more] = usagesOf(await activitiesOf(playing(codex, stream), assignmentIn(scratchDirectory())));
    expect(usage).toMatchObject({ inputTokens: Math.ceil('Do the work.'.length / 3), estimated: true });
    expect(usage?.cacheReadTokens).toBe(stream === 'terminated' ? 8 : 0); // one call of a tool, or none
    expect(usage?.costUsdMicros).toBeGreaterThan(0);
    expect(more).toEqual([]);
  });

  it('is estimated from its words and its calls of tools', () => {
    const { reporter, usages } = reporterOf(codex);
    reporter.onEvent({ type: 'text', text: 'I will test. '.repeat(2) });
    for (const phase of ['began', 'ended'] as const) reporter.onEvent({ ...tool, phase });
    reporter.end('');
    expect(usages()).toMatchObject([{ inputTokens: 100, outputTokens: 12, cacheReadTokens: 106, estimated: true }]);
  });

  it.each(['unauthorized', 'refused', 'rate-limited', 'overloaded'])(
    'is free when it was refused: %s',
    async stream => {
      for (const cli of [codex, claude]) {
        const activities = await activitiesOf(playing(cli, stream), assignmentIn(scratchDirectory()));
        expect(usagesOf(activities).filter(each => each.costUsdMicros > 0)).toEqual([]);
      }
    },
  );

  it('is not estimated when it did say, or never says at all', () => {
    const said = reporterOf(codex);
    said.reporter.onEvent(tool);
    said.reporter.onEvent({ type: 'usage', tokens: { input: 7, output: 1, cacheRead: 0, cacheWrite: 0 } });
    said.reporter.end('Done.');
    expect(said.usages()).toMatchObject([{ inputTokens: 7, outputTokens: 1 }]);
    const silent = reporterOf(copilot);
    silent.reporter.onEvent(tool);
    silent.reporter.end('Done.');
    expect(silent.usages()).toEqual([]);
  });

  it('is estimated when it said that it used nothing', () => {
    const { reporter, usages } = reporterOf(codex);
    reporter.onEvent({ type: 'usage', tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } });
    reporter.onEvent({ type: 'text', text: 'Some words.' });
    reporter.end('Some words.');
    expect(usages().at(-1)).toMatchObject({ inputTokens: 100, estimated: true });
  });
});

describe('an agent that says its cost itself', () => {
  it('is charged at the upper bound when it ended before it did', () => {
    const told: Activity[] = [];
    const prices = { ...plainPrices, knows: () => false };
    const reporter = openUsageReporter({ cli: claude, prices, launchOrder: order }, each => told.push(each));
    reporter.onEvent({ type: 'usage', tokens: { input: 7, output: 1, cacheRead: 0, cacheWrite: 0 }, model: 'new' });
    reporter.end('');
    expect(usagesOf(told)).toMatchObject([
      { inputTokens: 7, costUsdMicros: 0 },
      { inputTokens: 7, costUsdMicros: 8 },
    ]);
  });
});
