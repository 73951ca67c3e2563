// The tools of an agent, called by the official client while the engine runs its iteration: what it says is in the ledger at once.
import { describe, expect, it } from 'vitest';
import type { Activity, Assignment } from '../../src/agents/performer.ts';
import { agentCalls } from '../../src/mcp-server/agent.ts';
import { agentTools } from '../../src/modes/agent-tools.ts';
import { eventsIn, makeEngine, makeWorld, type Play, runWorld, type World } from '../engine/world.ts';
import { answerOf, clientOf, type Era, eras } from './client.ts';

const evidence = [{ criterion: 1, evidence: 'seen with hunter2' }];

/** One iteration of an agent that does this with its tools, then ends well without a word. */
const playing = (
  work: (call: (name: string, given?: Record<string, unknown>) => Promise<unknown>, world: World) => Promise<void>,
  era: Era = 'modern',
): Play =>
  async function* (assignment: Assignment, _stop, world): AsyncGenerator<Activity> {
    const client = await clientOf('agent', agentCalls(assignment.agentTools!), era);
    await work((name, given) => answerOf(client, name, given), world);
    await client.close();
    yield { type: 'ended', message: 'I stop here.' };
  };

const redact = (text: string): string => text.replaceAll('hunter2', '[REDACTED]');
const run = (world: World, play: Play) => runWorld(world, makeEngine(world, play, { agentTools, redact }));

describe.each(eras)('the tools of an agent, in the %s era', era => {
  it('answer for its iteration, record what it reports, and let its claim close the task', async () => {
    const world = makeWorld(1);
    const seen: Record<string, unknown> = {};
    const play = playing(async (call, { ledger }) => {
      seen['task'] = await call('get_task');
      seen['handoff'] = await call('get_handoff');
      seen['budget'] = await call('budget_left');
      const said = [
        await call('report_progress', {
          completed: ['the start'],
          pending: ['the end'],
          next: 'end it',
          phase: 'testing',
        }),
        await call('report_obstacle', { message: 'no network', resolved: true }),
        await call('note_decision', { decision: 'none, because it is small' }),
        await call('report_done', { task: 'T1', evidence, summary: 'did it' }),
      ];
      seen['said'] = said.map(one => (one as { recorded: boolean }).recorded);
      seen['durable'] = (await eventsIn(ledger)).filter(event => event.type === 'iteration.reported').length;
    }, era);
    expect(await run(world, play)).toMatchObject({ type: 'ended' });
    expect(seen).toMatchObject({
      task: { task: 'T1', criteria: [{ criterion: 1, text: 'done' }], iteration: 1, attempt: 1 },
      handoff: { text: expect.stringContaining('first iteration') },
      budget: { iterations: { used: 1, most: 50, left: 49 }, thisIteration: { contextUsed: 0 } },
      said: [true, true, true, true],
      durable: 4,
    });
    const events = await eventsIn(world.ledger);
    const ended = events.find(event => event.type === 'iteration.ended');
    expect(ended?.report).toMatchObject({
      completed: ['the start'],
      decisions: ['none, because it is small'],
      pending: [],
    });
    expect(events.find(event => event.type === 'task.closed')).toMatchObject({ task: 'T1', level: 'unverified' });
    expect(JSON.stringify(events)).not.toContain('hunter2');
    expect(JSON.stringify(events)).toContain('seen with [REDACTED]');
  });

  it('refuse by kind: wrong arguments, another task, no evidence, what is a person’s, what is not there (B85)', async () => {
    const world = makeWorld(1);
    const refused: unknown[] = [];
    const play = playing(async call => {
      for (const [name, given] of [
        ['report_done', { task: 'T1' }],
        ['report_done', { task: 'T1', evidence, more: 1 }],
        ['get_task', { loop: 'another' }],
        ['report_progress', { phase: 'dancing' }],
        ['report_done', { task: 'T2', evidence }],
        ['report_done', { task: 'T1', evidence: [] }],
        ['pause', { loop: 'loop-1' }],
        ['get_diff', { loop: 'another' }],
        ['approve', {}],
      ] as const)
        refused.push(await call(name, given));
      await call('request_human', { type: 'stuck', summary: 'Which?', question: 'Which colour?', options: ['red'] });
      await call('report_done', { task: 'T1', evidence });
    }, era);
    expect(await run(world, play)).toMatchObject({ type: 'waiting' });
    expect(refused).toEqual([
      ...['wrong-arguments', 'wrong-arguments', 'wrong-arguments', 'wrong-arguments'],
      ...['other-task', 'criteria-without-evidence'],
      ...['-32602 not-your-role', '-32602 not-your-role', '-32602 unknown-tool'],
    ]);
    const events = await eventsIn(world.ledger);
    expect(events.find(event => event.type === 'escalation.raised')?.escalation).toMatchObject({
      kind: 'stuck',
      task: 'T1',
      options: [{ text: 'red' }],
    });
    expect(events.some(event => event.type === 'task.closed')).toBe(false);
  });
});

it('a agentTools that is kept beyond its iteration answers nothing and records nothing', async () => {
  const world = makeWorld(1);
  let kept: Assignment['agentTools'];
  const play: Play = async function* (assignment) {
    kept = assignment.agentTools;
    yield { type: 'ended', message: `Task ${assignment.task} complete` };
  };
  await run(world, play);
  const before = (await eventsIn(world.ledger)).length;
  const client = await clientOf('agent', agentCalls(kept!), 'modern');
  expect(await answerOf(client, 'get_task')).toBe('iteration-over');
  expect(await answerOf(client, 'report_done', { task: 'T1', evidence })).toBe('iteration-over');
  expect(await eventsIn(world.ledger)).toHaveLength(before);
});
