// Proves what is heard in the updates of an ACP session.
import { describe, expect, it } from 'vitest';
import { openSessionListener } from '../../../src/agents/acp/listening.ts';
import type { PriceBook } from '../../../src/agents/agent.ts';
import type { Activity } from '../../../src/agents/performer.ts';

const prices: PriceBook = { costUsdMicros: () => 1, windowTokens: () => undefined, knows: () => false };

/** What was told and whether it was busy, in order. */
function earWithLog() {
  const log: (Activity | boolean)[] = [];
  const ear = openSessionListener(
    prices,
    activity => log.push(activity),
    isBusy => log.push(isBusy),
  );
  const update = (fields: object): void => ear.update({ sessionId: 's', update: fields });
  const tool = (fields: object): void => update({ sessionUpdate: 'tool_call', toolCallId: 'a', ...fields });
  return { ear, log, update, tool };
}

const aTest = { type: 'tool', name: 'execute', detail: 'npm test' };

describe('a tool of an ACP session', () => {
  it('makes it busy from its first word to its end', () => {
    const { log, tool } = earWithLog();
    tool({ kind: 'execute', title: 'npm test', status: 'pending' });
    expect(log).toEqual([true]);
    tool({ status: 'in_progress' });
    expect(log).toEqual([true, aTest]);
    tool({ status: 'completed' });
    expect(log).toEqual([true, aTest, false]);
  });

  it('is told at once when a permission is asked for it', () => {
    const { ear, log } = earWithLog();
    ear.permission({ toolCall: { toolCallId: 'a', kind: 'execute', title: 'npm test', status: 'pending' } });
    expect(log).toEqual([aTest, true]);
  });

  it('is told at the latest when something else happens', () => {
    const { log, tool, update } = earWithLog();
    tool({ kind: 'execute', title: 'npm test' });
    update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Meanwhile.' } });
    expect(log).toEqual([true, aTest, { type: 'text', text: 'Meanwhile.', channel: 'output' }]);
  });

  it('ends with its turn at the latest', () => {
    const { ear, log, tool } = earWithLog();
    tool({ kind: 'execute', title: 'npm test' });
    ear.turnEnded(undefined);
    expect(log).toEqual([true, aTest, false, expect.objectContaining({ type: 'usage' })]);
  });

  it('keeps it busy until the last one of several has ended', () => {
    const { log, tool } = earWithLog();
    tool({ title: 'one', status: 'in_progress' });
    tool({ toolCallId: 'b', title: 'two', status: 'in_progress' });
    tool({ status: 'failed' });
    expect(log.filter(each => typeof each === 'boolean')).toEqual([true]);
    tool({ toolCallId: 'b', status: 'completed' });
    expect(log.filter(each => typeof each === 'boolean')).toEqual([true, false]);
  });
});
