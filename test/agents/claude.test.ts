import { describe, expect, it } from 'vitest';
import { claudeReader } from '../../src/agents/claude/reader.ts';
import { claude } from '../../src/agents/claude.ts';
import { cliAgentContract } from '../contracts/cli-agent.ts';
import { readStream } from '../contracts/read-stream.ts';

cliAgentContract('claude');

const read = (stream: string) => readStream(claudeReader(), 'claude', stream);
const work = 'I will do the work.';

describe('a stream of claude', () => {
  it.each([
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
    ['server-error', '', 'connection'],
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
  ])('%s has the message %j and the failure %s', (stream, message, kind) => {
    const { message: said, failure } = read(stream);
    expect(said).toBe(message);
    expect(failure?.kind).toBe(kind);
  });

  it('that is an error by is_error is one although its subtype says success', () => {
    expect(read('unauthorized').failure?.detail).toBe('Invalid API key · Fix external API key');
  });

  it('says when the limit is reset, in seconds since 1970', () => {
    expect(read('rate-limited').failure?.resetAtMs).toBe(1_794_790_800_000);
    expect(read('rate-limited-key').failure?.resetAtMs).toBeUndefined();
    expect(read('near-limit').heard).toContainEqual({
      type: 'limit',
      resetAtMs: 1_794_790_800_000,
      detail: 'five_hour: 92 % used',
    });
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
    expect(reader.verdict().finished).toBe(false);
    tasks('local_bash');
    expect(reader.verdict().finished).toBe(true);
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
  const order = { prompt: 'Do it.\nNow.', args: ['--more'], folder: '/private', isRoot: false, interactive: false };

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
