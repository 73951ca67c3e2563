// Proves what is understood of a stream of JSON lines, however it is cut, doubled or spoiled (B52-B55).
import { describe, expect, it } from 'vitest';
import type { Reader } from '../../src/agents/agent.ts';
import { unknownEvent } from '../../src/agents/reader.ts';
import { readJsonLines } from '../../src/agents/stream.ts';
import { cutMarker } from '../../src/processes/streams.ts';

const lineBytesMax = 1_000;

/** Says what it read; knows events that have a `say`. */
function sayer(more: Partial<Reader> = {}): Reader {
  return {
    read: event => (typeof event['say'] === 'string' ? [{ type: 'text', text: event['say'] }] : unknownEvent),
    result: () => ({ message: () => '', finished: false }),
    ...more,
  };
}

function read(chunks: readonly string[], reader: Reader = sayer()) {
  const said: string[] = [];
  const lines = readJsonLines(reader, lineBytesMax, heard =>
    said.push(heard.type === 'text' ? heard.text : heard.type),
  );
  for (const chunk of chunks) lines.push(chunk);
  lines.end();
  return { said, ...lines.problems };
}

const clean = { notUnderstood: 0, tooLong: 0, unknownEvents: 0 };

describe('the lines of a stream', () => {
  const text = '{"say":"one"}\n{"say":"zwei, drei"}\n\n{"say":"vier"}\n';

  it('are the same however the stream is cut into chunks', () => {
    for (let size = 1; size <= text.length; size += 1) {
      const chunks = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      expect(read(chunks)).toEqual({ said: ['one', 'zwei, drei', 'vier'], ...clean });
    }
  });

  it.each([
    ['a half line at the end that is whole (B52)', '{"say":"a"}\n{"say":"b"}', ['a', 'b'], clean],
    ['a half line at the end that is not (B52)', '{"say":"a"}\n{"say":"b', ['a'], { ...clean, notUnderstood: 1 }],
    ['two objects on a line (B52)', '{"say":"a"}{"say":"b"}\n', ['a', 'b'], clean],
    ['two objects with braces in their texts', '{"say":"}{"} {"say":"\\"}{"}\n', ['}{', '"}{'], clean],
    ['an object and a half on a line', '{"say":"a"}{"say":\n{"say":"b"}\n', ['a', 'b'], { ...clean, notUnderstood: 1 }],
    ['blank lines (B52)', '\n  \n\r\n{"say":"a"}\n', ['a'], clean],
    ['a byte order mark (B52)', '\ufeff{"say":"a"}\n', ['a'], clean],
    ['carriage returns', '{"say":"a"}\r\n{"say":"b"}\r\n', ['a', 'b'], clean],
    ['lines that are no objects (B52)', 'hi\n[1]\n7\nnull\n{"say":"a"}\n', ['a'], { ...clean, notUnderstood: 4 }],
    ['text after an object', '{"say":"a"} trailing\n', ['a'], { ...clean, notUnderstood: 1 }],
    ['an event of an unknown kind (B55)', '{"sing":"a"}\n{"say":"b"}\n', ['b'], { ...clean, unknownEvents: 1 }],
    [
      'closing braces without opening ones',
      '{}}}\n{"say":"a"}\n',
      ['a'],
      { notUnderstood: 1, tooLong: 0, unknownEvents: 1 },
    ],
    ['nothing', '', [], clean],
  ])('may have %s', (_what, stream, said, odd) => {
    expect(read([stream])).toEqual({ said, ...odd });
  });

  it('that were cut because they were too long are counted as that (B54)', () => {
    const cut = `{"say":"${'x'.repeat(lineBytesMax)}${cutMarker(lineBytesMax)}\n`;
    expect(read([cut, '{"say":"a"}\n'])).toEqual({ said: ['a'], ...clean, tooLong: 1 });
  });

  it('that were cut may still be told by how they begin (B54)', () => {
    const heads: string[] = [];
    const reader = sayer({
      readCut: head => {
        heads.push(head);
        return [{ type: 'text', text: 'cut' }];
      },
    });
    const cut = `{"say":"${'x'.repeat(lineBytesMax)}${cutMarker(lineBytesMax)}\n`;
    expect(read(['{"say":"a"}\n', cut], reader)).toEqual({ said: ['a', 'cut'], ...clean, tooLong: 1 });
    expect(heads).toEqual([cut.slice(0, 200)]);
  });

  it('are not parsed when the reader need not see them', () => {
    const reader = sayer({ skips: line => line.startsWith('{"say":"secret') });
    expect(read(['{"say":"secret\n{"say":"a"}\n'], reader)).toEqual({ said: ['a'], ...clean });
  });

  it('of a plain-text agent are its words, blank ones too', () => {
    const reader = sayer({ readPlain: line => [{ type: 'text', text: `${line}|` }] });
    expect(read(['one\n\n  two\n{"half\nend'], reader)).toEqual({
      said: ['one|', '|', '  two|', '{"half|', 'end|'],
      ...clean,
    });
  });

  it('of a plain-text agent are words even when they look like events (B67)', () => {
    const reader = sayer({ readPlain: line => [{ type: 'text', text: `${line}|` }] });
    expect(read(['{"say":"a"}\n {"say":"b"} {"say":"c"}\n'], reader)).toEqual({
      said: ['{"say":"a"}|', ' {"say":"b"} {"say":"c"}|'],
      ...clean,
    });
  });

  it('that mean nothing are given to whoever wants to know them', () => {
    const odd: string[] = [];
    const lines = readJsonLines(
      sayer(),
      lineBytesMax,
      () => {},
      line => odd.push(line),
    );
    lines.push('  error: No login.\n\n{"say":"a"}\n{"half\n');
    expect(odd).toEqual(['  error: No login.', '{"half']);
  });
});
