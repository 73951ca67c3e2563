// Text that a person gives: as an argument, or from standard input with `-`; checked before it is used (B06, B10).
import { isUtf8 } from 'node:buffer';
import { UsageError } from '../text/errors.ts';

const bytesMax = 1024 * 1024;
const waitMs = 10_000;

async function standardInput(): Promise<string> {
  if (process.stdin.isTTY)
    throw new UsageError('There is nothing on standard input.', 'Pipe the text in, or give it as an argument.');
  const chunks: Buffer[] = [];
  let size = 0;
  const timer = setTimeout(
    () =>
      process.stdin.destroy(
        new UsageError('Standard input gave no end within 10 s.', 'Close it, or give the text as an argument.'),
      ),
    waitMs,
  );
  try {
    for await (const chunk of process.stdin) {
      size += (chunk as Buffer).length;
      if (size > bytesMax)
        throw new UsageError(
          'The text on standard input is larger than 1 MB.',
          'Put it into a file of the project and name that file.',
        );
      chunks.push(chunk as Buffer);
    }
  } finally {
    clearTimeout(timer);
  }
  const bytes = Buffer.concat(chunks);
  if (!isUtf8(bytes) || bytes.includes(0))
    throw new UsageError('Standard input is not text (UTF-8).', 'Pipe plain text in.');
  return bytes.toString('utf8');
}

export async function givenText(text: string, what: string, say: (sentence: string) => void): Promise<string> {
  const full = (text === '-' ? await standardInput() : text).trim();
  if (full === '') throw new UsageError(`The ${what} is empty.`, 'Say something: ralph help tell');
  if (text !== '-' && /(^|\s)--max-/.test(full))
    say('note: the text holds something like a flag (--max-...); it is passed on as text and sets nothing.');
  return full;
}
