// Documents of loops: read and opened by the formats of their mode.
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { TaskMark } from '../core/task.ts';
import { type Format, type FormatOptions, lenient, type Parsed, type TaskSource } from '../documents/document.ts';
import { documentBytesMax, type InstructionsFile, readText } from '../documents/text-file.ts';
import type { Mode, ModeSession } from '../modes/mode.ts';
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
  readonly mode: Mode;
  readonly path: string;
  /** Where the work happens. */
  readonly directory: string;
  readonly options?: FormatOptions;
}

function instructionsOf({ mode: { instructions }, path, directory }: DocumentPlace): InstructionsFile | undefined {
  if (instructions === undefined) return undefined;
  const { name, within, text, isWritten } = instructions;
  return { path: join(within === 'document' ? dirname(path) : directory, name), text, isWritten };
}

/** Said before it happens: a file of ours appears in the user's folder. */
export function instructionNotices(place: DocumentPlace): readonly string[] {
  const file = instructionsOf(place);
  if (file === undefined || !file.isWritten || existsSync(file.path)) return [];
  const what = `${basename(file.path)} is made beside ${basename(place.path)}`;
  return [`${what}: every agent gets it as its instructions. Edit it as you like.`];
}

/** The document of a loop; `folder`: the loop's own. */
export async function documentSource(
  env: Readonly<Record<string, string | undefined>>,
  place: DocumentPlace & { readonly folder: string; readonly modeSession: ModeSession },
): Promise<TaskSource> {
  const { mode, path } = place;
  const { fileSource } = await import('../documents/file.ts');
  return fileSource({
    path,
    format: await formatFor(mode, path),
    options: place.options ?? lenient,
    copyPath: join(place.folder, 'document'),
    redact: makeRedactor(secretValues(env)),
    signals: place.modeSession.signals?.(path) ?? [],
    instructions: instructionsOf(place),
    damage: mode.damage,
  });
}

/** The text with these marks, by the format of the document. */
export const markedText = async ({ mode, path }: DocumentPlace, text: string, marks: readonly TaskMark[]) =>
  (await formatFor(mode, path)).mark(text, marks);

/** `text`: of a document that is not written yet. */
export async function readDocument(place: DocumentPlace, text?: string): Promise<Parsed> {
  const format = await formatFor(place.mode, place.path);
  if (text !== undefined) return format.parse(text, place.options);
  const { readParsed } = await import('../documents/file.ts');
  return readParsed(place.path, format, place.options ?? {}, instructionsOf(place)?.path);
}
