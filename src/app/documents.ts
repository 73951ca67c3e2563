// Documents of loops: read and opened by the formats of their mode.
import { basename, dirname, join } from 'node:path';
import type { ModeName } from '../core/settings.ts';
import { type Format, type FormatOptions, lenient, type Parsed, type TaskSource } from '../documents/document.ts';
import { documentBytesMax, type InstructionsFile, readText } from '../documents/text-file.ts';
import type { Mode } from '../modes/mode.ts';
import { openMode, openModeSession } from '../modes/registry.ts';
import { makeRedactor, secretValues } from '../secrets/redactor.ts';

/** The format of the mode that knows this text; the mode's last, the loosest, when none does: it says what is wrong. */
async function formatFor({ formats }: Mode, path: string): Promise<Format> {
  const name = basename(path);
  const only = formats.length < 2 ? formats[0] : formats.find(one => one.fileNames?.test(name));
  if (only !== undefined) return only;
  const read = await readText(path, documentBytesMax);
  return formats.find(one => read.type === 'text' && one.recognises(name, read.text)) ?? formats.at(-1)!;
}

export interface DocumentPlace {
  readonly mode: ModeName;
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
  const mode = await openMode(place.mode);
  const { fileSource } = await import('../documents/file.ts');
  const source = fileSource({
    path: place.path,
    format: await formatFor(mode, place.path),
    options: place.options ?? lenient,
    copyPath: join(place.folder, 'document'),
    redact: makeRedactor(secretValues(env)),
    signals: (await openModeSession(place.mode)).signals?.(place.path) ?? [],
    instructions: instructionsOf(mode, place),
    damage: mode.damage,
  });
  return { source, mode };
}

/** `text`: of a document that is not written yet. */
export async function readDocument(place: DocumentPlace, text?: string): Promise<Parsed> {
  const mode = await openMode(place.mode);
  const format = await formatFor(mode, place.path);
  if (text !== undefined) return format.parse(text, place.options);
  const { readParsed } = await import('../documents/file.ts');
  return readParsed(place.path, format, place.options ?? {}, instructionsOf(mode, place)?.path);
}
