// Gemini CLI through the contracts, and each of its recorded-style streams understood.
import { describe, expect, it } from 'vitest';
import { gemini, geminiReader } from '../../../src/agents/cli/gemini.ts';
import { cliAgentContract, oneTurn, playedAtMs } from '../../contracts/cli-agent.ts';
import { readStream, streamsCome } from '../../contracts/read-stream.ts';

cliAgentContract(gemini, { notHere: oneTurn, reset: 'soon' });

const read = (stream: string) => readStream(geminiReader(), 'gemini', stream);

describe('a stream of gemini', () => {
  streamsCome(read, [
    ['success', 'The story is told.\n<promise>DONE</promise>', undefined],
    ['newer', 'hello', undefined],
    ['unauthorized', '', 'auth'],
    ['rate-limited', '', 'rate-limit'],
    ['rate-limited-day', '', 'rate-limit'],
    ['server-error', '', 'overloaded'],
    ['overloaded', '', 'overloaded'],
    ['refused', '', 'connection'],
    ['too-long', '', 'context-too-long'],
    ['no-such-model', '', 'model'],
    ['terminated', 'I will do the work.', 'process'],
  ]);

  it('has its pieces joined, and each message anew after a tool', () => {
    expect(read('success').text).toBe('I look at the story first.The story is told.\n<promise>DONE</promise>');
    expect(read('lies-done').message).toBe('I could not finish.');
  });

  it('counts its thoughts as output and its cache apart', () => {
    expect(read('success').usage).toEqual({
      inputTokens: 2_500,
      outputTokens: 200,
      cacheReadTokens: 1_200,
      cacheWriteTokens: 0,
      costUsdMicros: 3_900,
      estimated: true,
    });
  });

  it('says when the limit is reset only when it knows', () => {
    expect(read('rate-limited').failure?.resetAtMs).toBe(playedAtMs + 2_000);
    expect(read('rate-limited-day').failure?.resetAtMs).toBeUndefined();
  });

  it('takes no notice of the times in it (B69)', () => {
    const times = read('greets').heard.filter(each => JSON.stringify(each).match(/1970|275760/));
    expect(times).toEqual([]);
    expect(read('greets').failure).toBeUndefined();
  });

  it('leaves unknown events and fields alone, and counts the events (B55)', () => {
    expect(read('newer').oddities).toEqual({ notUnderstood: 0, tooLong: 0, unknownEvents: 1 });
  });
});

describe('gemini is started', () => {
  const order = { prompt: 'Do it.', args: ['--more'], folder: '/private', isRoot: false };

  it('headless, with its prompt on stdin and the user’s arguments last', () => {
    const { args, input } = gemini.launch({ ...order, model: 'gemini-2.5-pro' });
    expect(args.join(' ')).toBe('--output-format stream-json --yolo --model gemini-2.5-pro --more');
    expect(input).toBe('Do it.');
  });
});
