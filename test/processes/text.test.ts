import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundedText, cutMarker } from '../../src/processes/streams.ts';

const read = (lineBytesMax: number, ...chunks: readonly (string | Buffer)[]): string => {
  const text = boundedText(lineBytesMax);
  return chunks.map(chunk => text.push(Buffer.from(chunk))).join('') + text.end();
};

describe('bytes read as text', () => {
  it('give the same text wherever the chunks are split', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.array(fc.nat(40)), (whole, cuts) => {
        const bytes = Buffer.from(whole);
        const ends = [...cuts.filter(cut => cut < bytes.length).sort((a, b) => a - b), bytes.length];
        const chunks = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
        expect(read(1_000_000, ...chunks)).toBe(whole);
      }),
    );
  });

  it('end with a replacement sign when half a character is missing', () => {
    expect(read(100, Buffer.from([0x61, 0xc3]))).toBe('a\ufffd');
  });
});

describe('a line that is too long', () => {
  const cut = '[… line cut at 5 bytes]';

  it('is named by its limit', () => {
    expect(cutMarker(1_000_000)).toBe('[… line cut at 1 MB]');
    expect(cutMarker(5)).toBe(cut);
  });

  it.each([
    ['in one chunk', ['123456789\nok\n'], `12345${cut}\nok\n`],
    ['over many chunks', ['123', '45', '67', '89\nok', '\n'], `12345${cut}\nok\n`],
    ['which never ends', ['1234567', '89', 'x'.repeat(1_000)], `12345${cut}`],
    ['twice', ['1234567\nabcdefg\n'], `12345${cut}\nabcde${cut}\n`],
  ])('is cut: %s', (_how, chunks, text) => {
    expect(read(5, ...chunks)).toBe(text);
  });

  it.each([
    ['of exactly the limit', ['12345\n12345']],
    ['of exactly the limit, in pieces', ['123', '45', '\n', '1', '2345']],
  ])('is not one %s', (_how, chunks) => {
    expect(read(5, ...chunks)).toBe('12345\n12345');
  });

  it('keeps the character whole in which the limit falls', () => {
    expect(read(5, '1234ééé\n')).toBe(`1234é${cut}\n`);
    expect(read(5, '1234', Buffer.from([0xc3]), Buffer.from([0xa9]), 'é\n')).toBe(`1234é${cut}\n`);
  });

  it('is not made endless by bytes that claim to belong to a character', () => {
    expect(read(5, '12345', Buffer.alloc(1_000, 0x80)).length).toBeLessThan(5 + 3 + cut.length + 1);
  });
});
