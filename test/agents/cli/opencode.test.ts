// opencode through the contracts, and each of its recorded-style streams understood.
import { describe, expect, it } from 'vitest';
import { opencode } from '../../../src/agents/cli/opencode.ts';
import { addedUp, cliAgentContract, playedAtMs } from '../../contracts/cli-agent.ts';
import { readStream, streamsCome } from '../../contracts/read-stream.ts';

cliAgentContract(opencode, { notHere: addedUp, reset: playedAtMs + 1_800_000 });

const order = { prompt: 'Do it.', args: [], folder: '/private', isRoot: false };
const read = (stream: string) => readStream(opencode.reader(order), 'opencode', stream);

describe('a stream of opencode', () => {
  streamsCome(read, [
    ['success', 'All done. <promise>COMPLETE</promise>', undefined],
    ['compacted', 'All done after compaction.', undefined],
    ['newer', 'hello', undefined],
    ['unauthorized', '', 'auth'],
    ['rate-limited', '', 'rate-limit'],
    ['overloaded', '', 'overloaded'],
    ['no-such-model', '', 'model'],
    ['too-long', '', 'context-too-long'],
  ]);

  it('adds up what its steps used and cost, what it thought included', () => {
    expect(read('success').usage).toEqual({
      inputTokens: 2_000,
      outputTokens: 120,
      cacheReadTokens: 400,
      cacheWriteTokens: 0,
      costUsdMicros: 7_920,
      estimated: false,
    });
  });
});

describe('an opencode that cannot make its context fit', () => {
  const overflow = {
    type: 'error',
    timestamp: 1,
    error: { name: 'ContextOverflowError', data: { message: 'too long' } },
  };
  const summary = { type: 'step_finish', part: { reason: 'stop', tokens: { input: 10, output: 5 } } };

  it('may try again three times; after the fourth it is over, as it would go on for ever', () => {
    const reader = opencode.reader(order);
    const seen: boolean[] = [];
    for (let time = 1; time <= 4; time += 1) {
      reader.read(overflow);
      seen.push(reader.result().finished);
      reader.read(summary);
      seen.push(reader.result().finished);
    }
    expect(seen).toEqual([false, false, false, false, false, false, true, true]);
    expect(reader.result().problem?.kind).toBe('context-too-long');
  });

  it('goes on as long as it works: a tool call between two overflows starts the count anew', () => {
    const reader = opencode.reader(order);
    const worked = { type: 'tool_use', part: { tool: 'bash', state: { input: { command: 'npm test' } } } };
    for (let time = 1; time <= 12; time += 1) {
      for (const event of [overflow, summary, ...(time % 3 === 0 ? [worked] : [])]) reader.read(event);
      expect(reader.result().finished, `after overflow ${time}`).toBe(false);
    }
    for (let time = 1; time <= 4; time += 1) reader.read(overflow);
    expect(reader.result()).toMatchObject({ finished: true, problem: { kind: 'context-too-long' } });
  });

  it('goes on after a summary that no error made necessary', () => {
    const reader = opencode.reader(order);
    reader.read(summary);
    reader.read({ type: 'text', part: { synthetic: true, text: 'Continue if you have next steps.' } });
    expect({ ...reader.result(), message: reader.result().message() }).toEqual({ message: '', finished: false });
  });

  it('has recovered when a step after its own summary stops', () => {
    const reader = opencode.reader(order);
    for (const event of [overflow, summary, { type: 'step_start', part: {} }, summary]) reader.read(event);
    expect({ ...reader.result(), message: reader.result().message() }).toEqual({ message: '', finished: true });
  });
});

describe('a step of opencode', () => {
  const finish = (reason?: string) => ({ type: 'step_finish', part: { reason, tokens: { input: 10, output: 5 } } });
  const after = (...events: Record<string, unknown>[]) => {
    const reader = opencode.reader(order);
    for (const event of [{ type: 'step_start', part: {} }, ...events]) reader.read(event);
    const { finished, problem } = reader.result();
    return { finished, kind: problem?.kind };
  };
  const refused = { type: 'error', error: { name: 'ProviderAuthError', data: { message: 'no' } } };
  const overflow = { type: 'error', error: { name: 'ContextOverflowError', data: { message: 'too long' } } };

  it.each([
    ['stop', { finished: true }],
    ['other', { finished: true }],
    ['of-the-future', { finished: true }],
    ['length', { finished: true, kind: 'context-too-long' }],
    ['content-filter', { finished: true, kind: 'unknown' }],
    ['error', { finished: true, kind: 'unknown' }],
    ['tool-calls', { finished: false }],
    ['unknown', { finished: false }],
    [undefined, { finished: false }],
  ])('that ends for the reason %s is %j', (reason, end) => {
    expect(after(finish(reason))).toEqual(end);
  });

  it('that just ends hides no error before it', () => {
    expect(after(refused, finish('other'))).toEqual({ finished: true, kind: 'auth' });
    expect(after(refused, finish('error'))).toEqual({ finished: true, kind: 'auth' });
    expect(after(refused, finish('stop'))).toEqual({ finished: true });
  });

  it('that comes after a summary has overcome the overflow, whatever its reason is called', () => {
    expect(after(overflow, finish('stop'), finish('other'))).toEqual({ finished: true });
  });

  it('that begins after the last one means that it goes on', () => {
    expect(after(finish('other'), { type: 'step_start', part: {} }).finished).toBe(false);
  });
});

it('is without a connection when the provider never answered', () => {
  const reader = opencode.reader(order);
  const data = { message: 'Cannot connect to API: Unable to connect.', isRetryable: true };
  reader.read({ type: 'error', timestamp: 1, error: { name: 'APIError', data } });
  expect(reader.result()).toMatchObject({ finished: true, problem: { kind: 'connection' } });
});

describe('the end of a limit that a provider names in its headers', () => {
  const limited = (responseHeaders: Record<string, string>) => {
    const reader = opencode.reader(order);
    const data = { message: 'slow down', statusCode: 429, responseHeaders };
    reader.read({ type: 'error', timestamp: playedAtMs, error: { name: 'APIError', data } });
    return reader.result().problem?.resetAtMs;
  };

  it.each([
    ['seconds', { 'retry-after': '30' }, playedAtMs + 30_000],
    ['milliseconds, which are more exact', { 'retry-after': '1', 'retry-after-ms': '250' }, playedAtMs + 250],
    ['a date', { 'retry-after': 'Sun, 15 Nov 2026 13:00:00 GMT' }, playedAtMs + 3_600_000],
    [
      'the end of a subscription\u2019s window',
      { 'anthropic-ratelimit-unified-reset': '1794790800' },
      1_794_790_800_000,
    ],
    ['nothing that can be read', { 'retry-after': 'soon' }, undefined],
    ['nothing', {}, undefined],
  ])('may be given as %s', (_how, headers, resetAtMs) => {
    expect(limited(headers as Record<string, string>)).toBe(resetAtMs);
  });
});

it('is told its model, and is allowed to work without questions', () => {
  const { args, input } = opencode.launch({
    ...order,
    model: 'anthropic/claude-sonnet-4-5',
    args: ['--variant', 'high'],
  });
  const always = ['run', '--format', 'json', '--print-logs', '--log-level', 'WARN'];
  expect(args).toEqual([...always, '--model', 'anthropic/claude-sonnet-4-5', '--variant', 'high']);
  expect(input).toBe('Do it.');
  expect(JSON.parse(opencode.fixedEnvironment['OPENCODE_PERMISSION'] ?? '')).toEqual({ '*': 'allow' });
});
