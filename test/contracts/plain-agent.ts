// What an agent that prints plain text must be understood to say: the same story for each, with recorded-style output of its own.
import { describe, expect, it } from 'vitest';
import type { AgentCli } from '../../src/agents/agent.ts';
import { readStream } from './read-stream.ts';

const order = { prompt: 'Do it.', args: [], folder: '/private', isRoot: false };

/** For the chat programs of one family: `chat`, the prompt on stdin, colours and tools in between, an exit code that lies. */
export function plainChatContract(cli: AgentCli): void {
  const read = (stream: string) => readStream(cli.reader(order), cli.name, stream);

  describe(`what ${cli.name} prints`, () => {
    it.each([
      ['no-marker', 'All done.\n\n<promise>COMPLETE</promise>', undefined],
      ['unauthorized', expect.anything(), 'auth'],
      ['not-logged-in', expect.anything(), 'auth'],
      ['no-credit', expect.anything(), 'billing'],
      ['rate-limited', expect.anything(), 'rate-limit'],
      ['overloaded', expect.anything(), 'overloaded'],
      ['trouble', expect.anything(), 'unknown'],
    ])('in %s has the message %j and the failure %s, though it exits with 0', (stream, message, kind) => {
      const { message: said, failure } = read(stream);
      expect(said).toEqual(message);
      expect(failure?.kind).toBe(kind);
    });

    it('is its last answer, without colours, tools and bills; what looks like an event is text (B67)', () => {
      expect(read('success').message).toBe(
        'All done.\n\n{"type":"result","is_error":true}\n> a quotation: rate limit\n\n<promise>COMPLETE</promise>',
      );
    });

    it('does not hold what its tools printed, even when no answer came after them', () => {
      const reader = cli.reader(order);
      const mark = `${String.fromCharCode(0x1b)}[38;5;10m> `;
      for (const line of [`${mark}Let me look.`, 'cat notes (using tool: shell)', '<promise>DONE</promise>'])
        reader.readPlain?.(line);
      expect(reader.result().message()).toBe('Let me look.');
    });

    it('may quote its own complaints in an answer', () => {
      const { message, failure } = read('quotes-errors');
      expect(message).toContain('I fixed it.');
      expect(failure).toBeUndefined();
    });

    it('is named as known from its manual only', () => {
      expect(cli.proof).toBe('documented');
      expect(cli.can.usage).toBe(false);
    });
  });

  it(`${cli.name} is asked on stdin, with no prompt among the arguments that would make it deaf there`, () => {
    const { args, input } = cli.launch({ ...order, model: 'some-model', args: ['--agent', 'builder'] });
    const words = 'chat --no-interactive --trust-all-tools --model some-model --agent builder';
    expect(args).toEqual(words.split(' '));
    expect(input).toBe('Do it.');
  });
}
