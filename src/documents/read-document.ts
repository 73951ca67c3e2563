// Reads and checks a document before there is a loop: nothing is written, every problem is said.
import type { Format, FormatOptions, Parsed } from './document.ts';
import { checkInstructions } from './instructions.ts';
import { readText } from './text-file.ts';

const documentBytesMax = 64 * 1024 * 1024;

export async function readParsed(
  path: string,
  format: Format,
  options: FormatOptions,
  instructionsPath: string | undefined,
): Promise<Parsed> {
  const read = await readText(path, documentBytesMax);
  if (read.type !== 'text') return { ok: false, problems: [read.problem] };
  const parsed = format.parse(read.text, options);
  if (!parsed.ok) return parsed;
  const problems = instructionsPath === undefined ? [] : await checkInstructions(instructionsPath);
  return problems.length > 0 ? { ok: false, problems } : parsed;
}
