// Documents of loops: read and opened by the formats of their mode.
import { basename, dirname, join } from 'node:path';
import { type Format, type FormatOptions, lenient, type Parsed, type TaskSource } from '../documents/document.ts';
import { documentBytesMax, type InstructionsFile, readText } from '../documents/text-file.ts';
import type { Mode } from '../modes/mode.ts';
import { openMode, openModeSession } from '../modes/registry.ts';
import { makeRedactor, secretValues } from '../secrets/redactor.ts';
import { UsageError } from '../text/errors.ts';

/** The format of the mode that knows this text; the mode's last, the loosest, when none does: it says what is wrong. */
async function formatFor({ formats, name }: Mode, path: string): Promise<Format> {
  const read = formats.length < 2 ? undefined : await readText(path, documentBytesMax);
  const text = read?.type === 'text' ? read.text : '';
  const format = formats.find(one => read?.type === 'text' && one.recognises(basename(path), text)) ?? formats.at(-1);
  if (format === undefined) throw new UsageError(`The mode ${name} reads no document.`);
  return format;
}

export interface DocumentPlace {
  readonly mode: string;
  readonly path: string;
  /** Where the work happens. */
  readonly directory: string;
  readonly options?: FormatOptions;
}

function instructionsOf({ instructions }: Mode, { path, directory }: DocumentPlace): InstructionsFile | undefined {
  if (instructions === undefined) return undefined;
  const { name, within, text, isWritten } = instructions;
  return { path: join(within === 'document' ? dirname(path) : directory, name), text, isWritten };
}

export async function documentSource(
  env: Readonly<Record<string, string | undefined>>,
  place: DocumentPlace & { readonly folder: string },
): Promise<{ readonly source: TaskSource; readonly mode: Mode }> {
  const mode = await openMode(place.mode, place.path);
  const { fileSource } = await import('../documents/file.ts');
  const source = fileSource({
    path: place.path,
    format: await formatFor(mode, place.path),
    options: place.options ?? lenient,
    copyPath: join(place.folder, 'document'),
    redact: makeRedactor(secretValues(env)),
    signals: (await openModeSession(place.mode, place.path)).signals?.(place.path) ?? [],
    instructions: instructionsOf(mode, place),
    damage: mode.damage,
  });
  return { source, mode };
}

/** `text`: of a document that is not written yet. */
export async function readDocument(place: DocumentPlace, text?: string): Promise<Parsed> {
  const mode = await openMode(place.mode, place.path);
  const format = await formatFor(mode, place.path);
  if (text !== undefined) return format.parse(text, place.options);
  const { readParsed } = await import('../documents/file.ts');
  return readParsed(place.path, format, place.options ?? {}, instructionsOf(mode, place)?.path);
}
