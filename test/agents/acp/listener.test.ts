// Proves what is heard in the updates of an ACP session.
import { describe, expect, it } from 'vitest';
import { openSessionListener } from '../../../src/agents/acp/listener.ts';
import type { PriceBook } from '../../../src/agents/agent.ts';
import type { Activity } from '../../../src/agents/performer.ts';

const prices: PriceBook = { costUsdMicros: () => 1, windowTokens: () => undefined, knows: () => false };

/** What was told and whether it was busy, in order. */
function listenerWithLog() {
  const log: (Activity | boolean)[] = [];
  const listener = openSessionListener(
    prices,
    activity => log.push(activity),
    isBusy => log.push(isBusy),
  );
  const update = (fields: object): void => listener.update({ sessionId: 's', update: fields });
  const tool = (fields: object): void => update({ sessionUpdate: 'tool_call', toolCallId: 'a', ...fields });
  return { listener, log, update, tool };
}

const aTest = { type: 'tool', name: 'execute', detail: 'npm test' };

describe('a tool of an ACP session', () => {
  it('makes it busy from its first word to its end', () => {
    const { log, tool } = listenerWithLog();
    tool({ kind: 'execute', title: 'npm test', status: 'pending' });
    expect(log).toEqual([true]);
    tool({ status: 'in_progress' });
    expect(log).toEqual([true, aTest]);
    tool({ status: 'completed' });
    expect(log).toEqual([true, aTest, false]);
  });

  it('is told at once when a permission is asked for it', () => {
    const { listener, log } = listenerWithLog();
    listener.permission({ toolCall: { toolCallId: 'a', kind: 'execute', title: 'npm test', status: 'pending' } });
    expect(log).toEqual([aTest, true]);
  });

  it('is told at the latest when something else happens', () => {
    const { log, tool, update } = listenerWithLog();
    tool({ kind: 'execute', title: 'npm test' });
    update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Meanwhile.' } });
    expect(log).toEqual([true, aTest, { type: 'text', text: 'Meanwhile.', channel: 'output' }]);
  });

  it('ends with its turn at the latest', () => {
    const { listener, log, tool } = listenerWithLog();
    tool({ kind: 'execute', title: 'npm test' });
    listener.turnEnded(undefined);
    expect(log).toEqual([true, aTest, false, expect.objectContaining({ type: 'usage' })]);
  });

  it('keeps it busy until the last one of several has ended', () => {
    const { log, tool } = listenerWithLog();
    tool({ title: 'one', status: 'in_progress' });
    tool({ toolCallId: 'b', title: 'two', status: 'in_progress' });
    tool({ status: 'failed' });
    expect(log.filter(each => typeof each === 'boolean')).toEqual([true]);
    tool({ toolCallId: 'b', status: 'completed' });
    expect(log.filter(each => typeof each === 'boolean')).toEqual([true, false]);
  });
});
