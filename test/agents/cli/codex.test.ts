// Codex through the contracts, and each of its recorded-style streams understood.
import { describe, expect, it } from 'vitest';
import { codex, codexReader } from '../../../src/agents/cli/codex.ts';
import { resetIn } from '../../../src/agents/failures.ts';
import { cliAgentContract, oneTurn, playedAtMs } from '../../contracts/cli-agent.ts';
import { readStream, streamsCome } from '../../contracts/read-stream.ts';

cliAgentContract(codex, { notHere: oneTurn, reset: new Date(2026, 10, 16, 1, 0).getTime() });

const read = (stream: string) =>
  readStream(
    codexReader(() => playedAtMs),
    'codex',
    stream,
  );
const oneInTheMorning = new Date(2026, 10, 16, 1, 0).getTime();

describe('a stream of codex', () => {
  streamsCome(read, [
    ['success', 'The story is told.\n<promise>DONE</promise>', undefined],
    ['recovered', 'hello', undefined],
    ['newer', 'hello', undefined],
    ['unauthorized', '', 'auth'],
    ['rate-limited', '', 'rate-limit'],
    ['rate-limited-key', '', 'rate-limit'],
    ['rate-limited-while', '', 'rate-limit'],
    ['no-credit', '', 'billing'],
    ['overloaded', '', 'overloaded'],
    ['high-demand', '', 'overloaded'],
    ['too-long', 'part of it', 'context-too-long'],
    ['too-long-raw', '', 'context-too-long'],
    ['refused', '', 'connection'],
    ['terminated', 'I will do the work.', 'process'],
  ]);

  it('counts what came from a cache and went into one apart from the rest of the input', () => {
    expect(read('success').usage).toEqual({
      inputTokens: 1_400,
      outputTokens: 90,
      cacheReadTokens: 1_200,
      cacheWriteTokens: 100,
      costUsdMicros: 2_790,
      estimated: true,
      boundUsdMicros: 2_790, // the stream names no model
    });
  });

  it('says why it failed in words, not in the body of an answer', () => {
    expect(read('too-long-raw').failure?.detail).toBe('Your input exceeds the context window of this model.');
  });

  it('says when the limit is reset', () => {
    expect(read('rate-limited').failure?.resetAtMs).toBe(oneInTheMorning);
    expect(read('rate-limited-while').failure?.resetAtMs).toBe(playedAtMs + 12_000_000);
  });

  it('names its tools by what they do', () => {
    expect(read('success').tools).toEqual(["command_execution: /bin/bash -lc 'npm test'", 'list: /project']);
  });

  it('leaves unknown events and fields alone, and counts the events (B55)', () => {
    expect(read('newer').oddities).toEqual({ notUnderstood: 0, tooLong: 0, unknownEvents: 1 });
  });

  it('that waits for a network is over after two minutes, for it would wait for ever', () => {
    let now = playedAtMs;
    const reader = codexReader(() => now);
    const waits = { type: 'error', message: 'Reconnecting... waiting for network (Connection failed)' };
    reader.read(waits);
    now += 119_000;
    reader.read(waits);
    expect(reader.result().finished).toBe(false);
    now += 1_000;
    reader.read(waits);
    expect(reader.result()).toMatchObject({ finished: true, problem: { text: waits.message } });
  });

  it('that waited for a network and has it again goes on', () => {
    let now = playedAtMs;
    const reader = codexReader(() => now);
    const waits = { type: 'error', message: 'Reconnecting... waiting for network (Connection failed)' };
    reader.read(waits);
    reader.read({ type: 'item.completed', item: { type: 'agent_message', text: 'hello' } });
    now += 120_000;
    reader.read(waits);
    expect(reader.result().finished).toBe(false);
    reader.read({ type: 'turn.started' });
    expect(reader.result().problem).toBeUndefined();
  });
});

describe('when codex may be used again', () => {
  const noon = new Date(2026, 10, 15, 12, 0).getTime();
  it.each([
    ['try again at Nov 16th, 2026 1:00 AM.', oneInTheMorning],
    ['try again at November 16, 2026, 1:00 am', oneInTheMorning],
    ['Try again at Nov 16th, 2026 13:05', new Date(2026, 10, 16, 13, 5).getTime()],
    ['try again at 12:30 AM.', new Date(2026, 10, 16, 0, 30).getTime()],
    ['try again at 1:15 PM.', new Date(2026, 10, 15, 13, 15).getTime()],
    ['try again in 3 hours 20 minutes.', noon + 12_000_000],
    ['try again in 1 day, 2 hours and 5 minutes', noon + 93_900_000],
    ['Please try again in 0.5s.', noon + 500],
    ['Please try again in 250ms.', noon + 250],
    ['try again later', undefined],
    ['try again at Foo 16th, 2026 1:00 AM', undefined],
  ])('%s', (words, at) => {
    expect(resetIn(words, noon)).toBe(at);
  });
});

describe('codex is started', () => {
  const order = { prompt: 'Do it.', args: ['--more'], folder: '/private', isRoot: false };

  it('headless, with its prompt on stdin and the user’s arguments last', () => {
    const { args, input } = codex.launch({ ...order, model: 'gpt-5.6' });
    expect(args.join(' ')).toBe(
      'exec --json --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox -c analytics.enabled=false ' +
        '--model gpt-5.6 - --more',
    );
    expect(input).toBe('Do it.');
  });

  it('without a change to a built-in provider, for then it does not start', () => {
    expect(codex.launch(order).args.join(' ')).not.toContain('model_providers');
  });
});
