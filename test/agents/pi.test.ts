import { describe, expect, it } from 'vitest';
import { pi } from '../../src/agents/pi.ts';
import { cliAgentContract } from '../contracts/cli-agent.ts';
import { readStream } from '../contracts/read-stream.ts';

cliAgentContract('pi');

const order = { prompt: 'Do it.', args: [], folder: '/private', isRoot: false, interactive: false };
const read = (stream: string) => readStream(pi.reader(order), 'pi', stream);
const done = 'All done. <promise>COMPLETE</promise>';

describe('a stream of pi', () => {
  it.each([
    ['success', done, undefined],
    ['success-0.74.2', done, undefined],
    ['retried', 'All done after a retry.', undefined],
    ['newer', 'hello', undefined],
    ['unauthorized', '', 'auth'],
    ['rate-limited', '', 'rate-limit'],
    ['no-credit', '', 'billing'],
    ['overloaded', '', 'overloaded'],
    ['too-long', '', 'context-too-long'],
    ['no-such-model', '', 'model'],
    ['refused', '', 'connection'],
  ])('%s has the message %j and the failure %s', (stream, message, kind) => {
    const { message: said, failure } = read(stream);
    expect(said).toBe(message);
    expect(failure?.kind).toBe(kind);
  });

  it('adds up what its messages used and cost, by what each says at its end', () => {
    expect(read('success-0.74.2').usage).toEqual({
      inputTokens: 2_500,
      outputTokens: 140,
      cacheReadTokens: 1_200,
      cacheWriteTokens: 0,
      costUsdMicros: 9_960,
      estimated: false,
    });
  });

  it('has its cost estimated when it knows no price', () => {
    expect(read('success').usage).toMatchObject({ inputTokens: 2_000, cacheReadTokens: 400, estimated: true });
  });
});

it.each([
  ['unauthorized', '401: Incorrect API key provided'],
  ['too-long', '400: prompt is too long: 210000 tokens > 200000 maximum'],
  ['refused', 'Connection error.'],
])('says why %s failed in words: %s', (stream, detail) => {
  expect(read(stream).failure?.detail).toBe(detail);
});

it('has said only what its own messages say', () => {
  const reader = pi.reader(order);
  for (const [role, text] of [
    ['assistant', 'hello'],
    ['toolResult', 'no'],
    ['user', 'neither'],
  ]) {
    reader.read({ type: 'message_end', message: { role, content: [{ type: 'text', text }] } });
  }
  expect(reader.verdict().message).toBe('hello');
});

describe('a pi that tries again by itself', () => {
  const failed = {
    type: 'message_end',
    message: { role: 'assistant', content: [], stopReason: 'error', errorMessage: '529' },
  };
  const after = (...events: Record<string, unknown>[]) => {
    const reader = pi.reader(order);
    for (const event of events) reader.read(event);
    return reader.verdict();
  };

  it('is not over while it will', () => {
    expect(after(failed, { type: 'agent_end', willRetry: true }).finished).toBe(false);
    expect(after(failed, { type: 'agent_end' }, { type: 'auto_retry_start' }).finished).toBe(false);
  });

  it('is over when it will not, or has settled', () => {
    expect(after(failed, { type: 'agent_end', willRetry: false }).finished).toBe(true);
    expect(after(failed, { type: 'agent_settled' })).toMatchObject({ finished: true, problem: { status: 529 } });
  });
});

it('reads its prompt from stdin and keeps no session', () => {
  const { args, input } = pi.launch({ ...order, model: 'mock/m1', args: ['--thinking', 'high'] });
  expect(args).toEqual(['-p', '--mode', 'json', '--no-session', '--model', 'mock/m1', '--thinking', 'high']);
  expect(input).toBe('Do it.');
});
