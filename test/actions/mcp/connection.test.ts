import { expect, it } from 'vitest';
import { readMessages } from '../../../src/actions/mcp/connection.ts';
import { cutMarker } from '../../../src/processes/streams.ts';

const answer = '{"result":{},"jsonrpc":"2.0","id":1}';

function heard(...chunks: readonly string[]): readonly string[] {
  const told: string[] = [];
  const messages = readMessages({
    onMessage: message => told.push(`message ${JSON.stringify(message)}`),
    onNoise: line => told.push(`noise ${line}`),
    onUnreadable: detail => told.push(`unreadable ${detail}`),
  });
  for (const chunk of chunks) messages.push(chunk);
  return told;
}

const rows: readonly (readonly [what: string, chunks: readonly string[], told: readonly string[]])[] = [
  ['a message in pieces', [answer.slice(0, 9), answer.slice(9), '\r\n'], [`message ${answer}`]],
  ['two messages at once', [`${answer}\n\n${answer}\n`], [`message ${answer}`, `message ${answer}`]],
  ['a log line', ['listening on 3000\n'], ['noise listening on 3000']],
  ['a log line in JSON', ['{"level":"info"}\n'], ['noise {"level":"info"}']],
  ['half an object that is no message', ['{"level":"inf\n'], ['noise {"level":"inf']],
  ['a damaged answer', [`${answer.slice(0, 30)}\n`], ['unreadable its answer is damaged']],
  [
    'an answer without result',
    ['{"jsonrpc":"2.0","id":1}\n'],
    ['unreadable its answer holds neither a result nor an error'],
  ],
  [
    'an answer that was cut',
    [`${'x'.repeat(1_000)}${cutMarker(16_000_000)}\n`],
    ['unreadable its answer is larger than 16 MB'],
  ],
  ['a line without its end', [answer], []],
];
it.each(rows)('understands %s', (_, chunks, told) => {
  expect(heard(...chunks)).toEqual(told);
});
