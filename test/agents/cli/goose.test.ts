// Goose through the contracts, and each of its recorded-style streams understood.
import { describe, expect, it } from 'vitest';
import { goose } from '../../../src/agents/cli/goose.ts';
import { cliAgentContract, oneTurn } from '../../contracts/cli-agent.ts';
import { readStream, streamsCome } from '../../contracts/read-stream.ts';

cliAgentContract(goose, { notHere: oneTurn });

const order = { prompt: 'Do it.', args: [], folder: '/private', isRoot: false };
const read = (stream: string) => readStream(goose.reader(order), 'goose', stream);
const say = (id: string | null, text: string) => ({
  type: 'message',
  message: { id, role: 'assistant', content: [{ type: 'text', text }] },
});

describe('a stream of goose', () => {
  streamsCome(read, [
    ['success', 'All done. <promise>COMPLETE</promise>', undefined],
    ['newer', 'hello', undefined],
    ['unauthorized', '', 'auth'],
    ['rate-limited', '', 'rate-limit'],
    ['overloaded', '', 'overloaded'],
    ['no-such-model', '', 'model'],
    ['too-long', '', 'context-too-long'],
  ]);

  it('has used what its last word says', () => {
    expect(read('success').usage).toMatchObject({ inputTokens: 2_400, outputTokens: 120, estimated: true });
  });
});

it('counts tokens that it does not name as the dearest ones', () => {
  const heard = goose.reader(order).read({ type: 'complete', total_tokens: 500 });
  expect(heard).toEqual([{ type: 'usage', tokens: { input: 0, output: 500, cacheRead: 0, cacheWrite: 0 } }]);
});

it('is not believed to have an error because its model speaks of one', () => {
  const reader = goose.reader(order);
  reader.read(say('chatcmpl-1', 'Ran into this error: Rate limit exceeded. I wrote a test for it.'));
  reader.read({ type: 'complete', total_tokens: null });
  expect(reader.result().problem).toBeUndefined();
});

it('has said only what its own messages say', () => {
  const reader = goose.reader(order);
  reader.read(say('chatcmpl-1', 'hello'));
  reader.read({ type: 'message', message: { id: 'msg_2', role: 'user', content: [{ type: 'text', text: 'no' }] } });
  expect(reader.result().message()).toBe('hello');
});

it('draws a banner that nobody counts as noise', () => {
  const { skips } = goose.reader(order);
  expect(skips?.('    __( O)>  \u25cf new session \u00b7 openai m1')).toBe(true);
  expect(skips?.('an error that is no banner')).toBe(false);
});

it('reads its prompt from stdin and asks nobody', () => {
  const { args, input } = goose.launch({ ...order, model: 'm1', args: ['--max-turns', '50'] });
  expect(args.slice(-6)).toEqual(['--instructions', '-', '--model', 'm1', '--max-turns', '50']);
  expect(input).toBe('Do it.');
  expect(goose.fixedEnvironment['GOOSE_MODE']).toBe('auto');
});
