// pi through the contracts, and each of its recorded-style streams understood.
import { describe, expect, it } from 'vitest';
import { pi } from '../../../src/agents/cli/pi.ts';
import { addedUp, cliAgentContract, playing } from '../../contracts/cli-agent.ts';
import { activitiesOf, assignmentIn, endOf } from '../../contracts/performer.ts';
import { readStream, streamsCome } from '../../contracts/read-stream.ts';
import { scratchDirectory } from '../../processes/fixture.ts';

cliAgentContract(pi, { notHere: addedUp });

const order = { prompt: 'Do it.', args: [], folder: '/private', isRoot: false };
const read = (stream: string) => readStream(pi.reader(order), 'pi', stream);
const done = 'All done. <promise>COMPLETE</promise>';

describe('a stream of pi', () => {
  streamsCome(read, [
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
  ]);

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
  expect(reader.result().message()).toBe('hello');
});

describe('a pi that tries again by itself', () => {
  const failed = {
    type: 'message_end',
    message: { role: 'assistant', content: [], stopReason: 'error', errorMessage: '529' },
  };
  const after = (...events: Record<string, unknown>[]) => {
    const reader = pi.reader(order);
    for (const event of events) reader.read(event);
    return reader.result();
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

describe('a pi whose end is too long to be read, as it holds the whole session', () => {
  const answer = (stopReason: string) => ({
    type: 'message_end',
    message: { role: 'assistant', content: [], stopReason },
  });
  const cutAfter = (stopReason: string, head = '{"type":"agent_end","messages":[{"role":') => {
    const reader = pi.reader(order);
    reader.read(answer(stopReason));
    reader.readCut?.(head);
    return reader.result();
  };

  it('has ended well when its last message was a good answer', () => {
    const { finished, problem, message } = cutAfter('stop');
    expect([finished, problem, message()]).toEqual([true, undefined, '']);
  });

  it.each([
    ['its last message wants a tool', cutAfter('toolUse')],
    ['its last message is an error, after which it may try again', cutAfter('error')],
    ['it was another line that was cut', cutAfter('stop', '{"type":"message_end","message":')],
  ])('is not over when %s', (_why, { finished }) => {
    expect(finished).toBe(false);
  });

  it('is read as that by the driver', async () => {
    const say = (event: object): string => `echo '${JSON.stringify(event)}'`;
    const end = `printf '{"type":"agent_end","messages":["'; head -c 1200000 /dev/zero | tr '\\0' x; echo '"]}'`;
    const script = [say({ type: 'agent_start' }), say(answer('stop')), end].join('\n');
    const agent = playing({ ...pi, launch: () => ({ args: ['-c', script], input: '' }) }, 'none', { program: 'sh' });
    expect(endOf(await activitiesOf(agent, assignmentIn(scratchDirectory()))).failure).toBeUndefined();
  });
});

describe('a pi that makes its context smaller', () => {
  const end = { type: 'agent_end' };
  const start = { type: 'compaction_start' };
  it.each([
    ['is not over while it does', [end, start], false],
    ['is over after that', [end, start, { type: 'compaction_end', willRetry: false }], true],
    ['is not over when it then tries again', [end, start, { type: 'compaction_end', willRetry: true }], false],
    ['in the middle of its work goes on', [start, { type: 'compaction_end' }], false],
    ['is not over when it began again', [end, start, { type: 'compaction_end' }, { type: 'agent_start' }], false],
  ])('%s', (_what, events, finished) => {
    const reader = pi.reader(order);
    for (const event of events) reader.read(event);
    expect(reader.result().finished).toBe(finished);
  });
});

it('reads its prompt from stdin and keeps no session', () => {
  const { args, input } = pi.launch({ ...order, model: 'mock/m1', args: ['--thinking', 'high'] });
  expect(args).toEqual(['-p', '--mode', 'json', '--no-session', '--model', 'mock/m1', '--thinking', 'high']);
  expect(input).toBe('Do it.');
});
