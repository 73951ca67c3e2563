// Copilot's CLI through the contracts, and each of its recorded-style streams understood.
import { describe, expect, it } from 'vitest';
import { copilot } from '../../../src/agents/cli/copilot.ts';
import { cliAgentContract, oneTurn } from '../../contracts/cli-agent.ts';
import { readStream, streamsCome } from '../../contracts/read-stream.ts';

cliAgentContract(copilot, { notHere: { ...oneTurn, 'cost-goes-down': 'it counts nothing' } });

const order = { prompt: 'Do it.', args: [], folder: '/private', isRoot: false };
const read = (stream: string) => readStream(copilot.reader(order), 'copilot', stream);

describe('a stream of copilot', () => {
  streamsCome(read, [
    ['success', 'All done. <promise>COMPLETE</promise>', undefined],
    ['newer', 'hello', undefined],
    ['unauthorized', '', 'auth'],
    ['rate-limited', '', 'rate-limit'],
    ['overloaded', '', 'overloaded'],
    ['no-such-model', '', 'model'],
    ['too-long', '', 'context-too-long'],
  ]);

  it('says nothing of its use, and so neither do we', () => {
    expect(copilot.can.usage).toBe(false);
    expect(read('success').usage).toBeUndefined();
  });
});

it('says how full its context is when a tool has ended', () => {
  const metrics = { context_token_limit: 922_000, context_current_tokens: 11_171 };
  const heard = copilot.reader(order).read({ type: 'tool.execution_complete', data: { toolTelemetry: { metrics } } });
  expect(heard).toContainEqual({ type: 'context', usedTokens: 11_171, windowTokens: 922_000 });
});

it('has failed when its last word has an exit code and no error came before it', () => {
  const reader = copilot.reader(order);
  reader.read({ type: 'result', exitCode: 130 });
  expect(reader.result()).toMatchObject({ finished: true, problem: { kind: 'process' } });
});

it('has no error when the model answered after it', () => {
  const reader = copilot.reader(order);
  reader.read({ type: 'session.error', data: { errorType: 'query', message: 'a hiccup', statusCode: 500 } });
  reader.read({ type: 'assistant.message', data: { content: 'There it is.' } });
  reader.read({ type: 'result', exitCode: 0 });
  expect(reader.result()).toMatchObject({ finished: true, problem: undefined });
  expect(reader.result().message()).toBe('There it is.');
});

it('asks nobody, updates nothing and reads its prompt from stdin', () => {
  const { args, input } = copilot.launch({ ...order, model: 'gpt-5.4', args: ['--context', 'default'] });
  expect(args).toEqual(expect.arrayContaining(['--allow-all-tools', '--no-ask-user', '--no-auto-update']));
  expect(args.slice(-4)).toEqual(['--model', 'gpt-5.4', '--context', 'default']);
  expect(input).toBe('Do it.');
});
