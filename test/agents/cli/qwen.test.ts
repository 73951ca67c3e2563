// Qwen Code through the contracts, and each of its recorded-style streams understood.
import { describe, expect, it } from 'vitest';
import { qwen } from '../../../src/agents/cli/qwen.ts';
import { cliAgentContract } from '../../contracts/cli-agent.ts';
import { readStream, streamsCome } from '../../contracts/read-stream.ts';

cliAgentContract(qwen, {
  notHere: {},
  twoResults: { inputTokens: 2_000, outputTokens: 120, cacheReadTokens: 400, estimated: true },
});

const order = { prompt: 'Do it.', args: [], folder: '/private', isRoot: false };
const read = (stream: string) => readStream(qwen.reader(order), 'qwen', stream);

describe('a stream of qwen', () => {
  streamsCome(read, [
    ['success', 'All done. <promise>COMPLETE</promise>', undefined],
    ['beside', 'fine', undefined],
    ['newer', 'hello', undefined],
    ['unauthorized', '', 'auth'],
    ['not-logged-in', '', 'auth'],
    ['rate-limited', '', 'rate-limit'],
    ['overloaded', '', 'overloaded'],
    ['no-such-model', '', 'model'],
    ['too-long', '', 'context-too-long'],
  ]);

  it('counts what came from a cache apart from the rest of the input', () => {
    expect(read('success').usage).toMatchObject({ inputTokens: 2_000, outputTokens: 120, cacheReadTokens: 400 });
  });

  it('counts what it asked beside its answer too', () => {
    expect(read('beside').usage).toMatchObject({ inputTokens: 2_000, outputTokens: 120, estimated: true });
  });
});

it('has said only what its main thread says', () => {
  const reader = qwen.reader(order);
  const said = (text: string, parent_tool_use_id: string | null) =>
    reader.read({ type: 'assistant', parent_tool_use_id, message: { content: [{ type: 'text', text }] } });
  expect([said('hello', null).length, said('no', 'call_1').length]).toEqual([1, 0]);
  expect(reader.result().message()).toBe('hello');
});

it('takes its own error for no word of its model', () => {
  const { message, failure } = read('unauthorized');
  expect(message).toBe('');
  expect(failure?.detail).toBe('401 mock error');
});

it('finds few retries below the user\u2019s own settings, and its prompt on stdin', () => {
  const { args, input, files = {}, environment } = qwen.launch({ ...order, model: 'm1', args: ['--bare'] });
  expect(args).toEqual(['--output-format', 'stream-json', '--yolo', '--model', 'm1', '--bare']);
  expect(input).toBe('Do it.');
  expect(environment).toEqual({ QWEN_CODE_SYSTEM_DEFAULTS_PATH: '/private/qwen-defaults.json' });
  expect(JSON.parse(files['qwen-defaults.json'] ?? '')).toMatchObject({
    model: { generationConfig: { maxRetries: 0 } },
  });
});
