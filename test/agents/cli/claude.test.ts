// Claude Code through the contracts, and each of its recorded-style streams understood.
import { describe, expect, it } from 'vitest';
import { claude, claudeReader } from '../../../src/agents/cli/claude.ts';
import { openPriceBook } from '../../../src/agents/prices.ts';
import { openMeter } from '../../../src/agents/usage.ts';
import type { Usage } from '../../../src/core/event.ts';
import { cliAgentContract } from '../../contracts/cli-agent.ts';
import { readStream, streamsCome } from '../../contracts/read-stream.ts';

cliAgentContract(claude, {
  notHere: {},
  reset: 1_794_790_800_000,
  twoResults: { inputTokens: 5_000, outputTokens: 250, costUsdMicros: 25_000, estimated: false },
});

const prices = await openPriceBook();
const read = (stream: string) => readStream(claudeReader(), 'claude', stream);
const work = 'I will do the work.';

describe('a stream of claude', () => {
  streamsCome(read, [
    ['success', 'The story is told.\n<promise>DONE</promise>', undefined],
    ['partial', 'All done. <promise>DONE</promise>', undefined],
    ['two-results', 'the last one', undefined],
    ['result-before-init', 'hello', undefined],
    ['near-limit', 'hello', undefined],
    ['denied', 'I may not, so I stop.', undefined],
    ['newer', 'hello', undefined],
    ['unauthorized', '', 'auth'],
    ['retrying', '', 'auth'],
    ['retried-well', work, 'process'],
    ['rate-limited', '', 'rate-limit'],
    ['rate-limited-key', '', 'rate-limit'],
    ['server-error', '', 'overloaded'],
    ['overloaded', '', 'overloaded'],
    ['refused', '', 'connection'],
    ['timed-out', '', 'connection'],
    ['too-long', '', 'context-too-long'],
    ['no-credit', '', 'billing'],
    ['no-such-model', '', 'model'],
    ['max-turns', work, 'process'],
    ['max-budget', work, 'process'],
    ['interrupted', work, 'process'],
    ['terminated', work, 'process'],
  ]);

  it('that is an error by is_error is one although its subtype says success', () => {
    expect(read('unauthorized').failure?.detail).toBe('Invalid API key · Fix external API key');
  });

  it('says when the limit is reset, in seconds since 1970', () => {
    expect(read('rate-limited').failure?.resetAtMs).toBe(1_794_790_800_000);
    expect(read('rate-limited-key').failure?.resetAtMs).toBeUndefined();
    expect(read('near-limit').heard.filter(each => each.type === 'limit')).toEqual([]);
  });

  it('has its tokens from the last modelUsage, with its cost', () => {
    expect(read('success').usage).toEqual({
      inputTokens: 1_230,
      outputTokens: 130,
      cacheReadTokens: 3_100,
      cacheWriteTokens: 300,
      costUsdMicros: 7_695,
      estimated: false,
    });
    expect(read('max-budget').usage).toMatchObject({ inputTokens: 200_000, costUsdMicros: 750_000 });
  });

  it('is counted live, message by message, and comes to what the result says', () => {
    const { heard, usage } = read('partial');
    const live = heard.flatMap(each => (each.type === 'usage' && each.costUsd === undefined ? [each.tokens] : []));
    expect(live).toEqual([
      { input: 900, output: 40, cacheRead: 0, cacheWrite: 100 },
      { input: 950, output: 100, cacheRead: 1_000, cacheWrite: 100 },
    ]);
    expect(usage).toMatchObject({ inputTokens: 950, outputTokens: 100, cacheReadTokens: 1_000, cacheWriteTokens: 100 });
  });

  it('counts subagents once, although their model has a longer name in the end', () => {
    const { heard, usage } = read('subagent-usage');
    const live = heard.flatMap(each => (each.type === 'usage' && each.costUsd === undefined ? [each] : []));
    expect(live.find(each => each.model === 'claude-haiku-4-5' && each.tokens.output === 16)).toBeDefined();
    expect(usage).toMatchObject({ inputTokens: 2_100, outputTokens: 46, cacheReadTokens: 900 });
  });

  it.each([
    ['the same name', 'claude-sonnet-4-6', 1],
    ['another name for the model', 'claude-sonnet-4-6[1m]', 1],
    ['a name that no price is known for', 'a-new-one', 30],
  ])('is counted once over two results under %s, and costs what it says', (_what, stated, sideCalls) => {
    const reader = claudeReader();
    const meter = openMeter(prices, undefined, true);
    let last: Usage | undefined;
    const feed = (event: Record<string, unknown>): void => {
      for (const heard of reader.read(event)) if (heard.type === 'usage') last = meter.usage(heard) ?? last;
    };
    const live = stated === 'a-new-one' ? 'a-new-one-20260101' : 'claude-sonnet-4-6';
    const call = (): void => {
      const usage = { input_tokens: 500, output_tokens: 800, cache_read_input_tokens: 40_000 };
      feed({ type: 'stream_event', event: { type: 'message_start', message: { id: 'm', model: live } } });
      feed({ type: 'stream_event', event: { type: 'message_delta', usage } });
    };
    const result = (calls: number, costUSD: number): void => {
      const more = { inputTokens: 500 * calls + sideCalls, outputTokens: 800 * calls };
      const usage = { ...more, cacheReadInputTokens: 40_000 * calls, cacheCreationInputTokens: 0, costUSD };
      feed({ type: 'result', subtype: 'success', modelUsage: { [stated]: usage } });
    };
    for (let count = 0; count < 10; count += 1) call();
    result(10, 0.26);
    call();
    expect(last).toMatchObject({ inputTokens: 5_500 + sideCalls, outputTokens: 8_800, cacheReadTokens: 440_000 });
    for (let count = 0; count < 9; count += 1) call();
    result(20, 0.52);
    expect(meter.end() ?? last).toMatchObject({
      inputTokens: 10_000 + sideCalls,
      outputTokens: 16_000,
      cacheReadTokens: 800_000,
    });
    expect(last?.costUsdMicros).toBeGreaterThanOrEqual(520_000);
    expect(last?.costUsdMicros).toBeLessThan(540_000);
  });

  it('fills the context by the main thread alone', () => {
    const used = read('subagent-usage').heard.flatMap(each => (each.type === 'context' ? [each.usedTokens] : []));
    expect(used).toEqual([1_010, 1_020]);
  });

  it('is told once, although its text comes in pieces and whole', () => {
    expect(read('partial').text).toBe('I begin with the tests.\nAll done. <promise>DONE</promise>\n');
    expect(read('success').text).toBe('I look at the story first.\nThe story is told.\n<promise>DONE</promise>\n');
  });

  it('does not give a subagent’s words as claude’s', () => {
    expect(read('two-results').text).toBe('the first one\nthe last one\n');
  });

  it('has no last word while a subagent works in the background; a server that goes on does not count', () => {
    const reader = claudeReader();
    const tasks = (...types: readonly string[]) =>
      reader.read({
        type: 'system',
        subtype: 'background_tasks_changed',
        tasks: types.map(task_type => ({ task_type })),
      });
    tasks('local_agent');
    reader.read({ type: 'result', subtype: 'success', is_error: false, result: 'I have delegated it.' });
    expect(reader.result().finished).toBe(false);
    expect(reader.result().waits).toBe(true);
    tasks('local_bash');
    expect(reader.result()).toMatchObject({ finished: true, waits: false, leaves: true });
    tasks();
    expect(reader.result()).toMatchObject({ finished: true, leaves: false });
  });

  it('has no last word while a monitor watches, which is a shell as well', () => {
    const reader = claudeReader();
    const system = (subtype: string, more: object) => reader.read({ type: 'system', subtype, ...more });
    const call = { type: 'tool_use', id: 'toolu_1', name: 'Monitor', input: {} };
    reader.read({ type: 'assistant', message: { id: 'm1', model: 'claude-sonnet-4-5', content: [call] } });
    system('background_tasks_changed', { tasks: [{ task_id: 'b1', task_type: 'local_bash' }] });
    system('task_started', { task_id: 'b1', tool_use_id: 'toolu_1', task_type: 'local_bash' });
    reader.read({ type: 'result', subtype: 'success', is_error: false, result: 'I watch it.' });
    expect(reader.result()).toMatchObject({ finished: false, waits: true });
    system('background_tasks_changed', { tasks: [] });
    expect(reader.result()).toMatchObject({ finished: true, waits: false });
  });

  describe('that goes on after a result', () => {
    const first = { type: 'result', subtype: 'success', is_error: false, result: 'the first one' };
    const init = { type: 'system', subtype: 'init', session_id: 's' };
    const starts = (parent_tool_use_id: string | null) => ({
      type: 'stream_event',
      event: { type: 'message_start', message: { id: 'm2' } },
      parent_tool_use_id,
    });
    const says = (model: string) => ({ type: 'assistant', message: { id: 'm2', model, content: [] } });
    const after = (...events: Record<string, unknown>[]) => {
      const reader = claudeReader();
      for (const event of events) reader.read(event);
      return { ...reader.result(), message: reader.result().message() };
    };

    it.each([
      ['a new turn', init],
      ['a message that begins', starts(null)],
      ['a message', says('claude-sonnet-4-5')],
    ])('has not said its last word: %s', (_what, event) => {
      expect(after(init, first, event).finished).toBe(false);
      expect(after(init, first, event, { ...first, result: 'the last one' })).toMatchObject({
        finished: true,
        message: 'the last one',
      });
    });

    it.each([
      ['a subagent that still speaks', starts('toolu_1')],
      ['what claude says itself', says('<synthetic>')],
      ['the result of a tool', { type: 'user', message: { content: [{ type: 'tool_result' }] } }],
    ])('is not told by %s', (_what, event) => {
      expect(after(init, first, event).finished).toBe(true);
    });

    it('is no longer judged by an error of the turn before', () => {
      const failed = { ...first, is_error: true, api_error_status: 529 };
      expect(after(init, failed).problem?.status).toBe(529);
      expect(after(init, failed, init)).toMatchObject({ finished: false, message: '', problem: undefined });
    });
  });

  it('names its tools by what they do', () => {
    expect(read('success').tools).toEqual(['Bash: npm test', 'Write: /project/story.txt']);
  });

  it('leaves unknown events and fields alone, and counts the events (B55)', () => {
    expect(read('newer').oddities).toEqual({ notUnderstood: 0, tooLong: 0, unknownEvents: 2 });
    expect(read('partial').oddities.unknownEvents).toBe(0);
  });

  it('is not parsed where it cannot matter', () => {
    const { skips } = claudeReader();
    const piece = (delta: string): string =>
      `{"type":"stream_event","event":{"type":"content_block_delta","index":12,"delta":{"type":"${delta}","text":"x"}}}`;
    expect(['text_delta', 'thinking_delta', 'input_json_delta'].map(delta => skips?.(piece(delta)))).toEqual([
      false,
      true,
      true,
    ]);
    expect(skips?.('{"type":"result"}')).toBe(false);
  });
});

describe('claude is started', () => {
  const order = { prompt: 'Do it.\nNow.', args: ['--more'], folder: '/private', isRoot: false };

  it('headless, with the user’s arguments last', () => {
    const { args, input, environment } = claude.launch({ ...order, model: 'opus' });
    expect(args.join(' ')).toBe(
      '-p --output-format stream-json --verbose --input-format stream-json --include-partial-messages ' +
        '--dangerously-skip-permissions --model opus --more',
    );
    expect(JSON.parse(input)).toMatchObject({ type: 'user', message: { content: [{ text: 'Do it.\nNow.' }] } });
    expect(input.indexOf('\n')).toBe(input.length - 1);
    expect(environment).toEqual({});
  });

  it('as root only with the word that it is in a sandbox', () => {
    expect(claude.launch({ ...order, isRoot: true }).environment).toEqual({ IS_SANDBOX: '1' });
  });
});
