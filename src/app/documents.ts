// The document of a loop, opened for its mode: where its format, its instructions and its signal files are known.
import { dirname, join } from 'node:path';
import type { ModeName } from '../core/settings.ts';
import { makeRedactor } from '../secrets/redactor.ts';
import { secretValues } from '../secrets/redact-environment.ts';
import type { Mode } from '../modes/mode.ts';
import type { FormatOptions, Parsed, TaskSource } from '../documents/document.ts';
import { fileSource } from '../documents/file.ts';
import type { InstructionsFile } from '../documents/instructions.ts';
import { readParsed } from '../documents/read-document.ts';
import { formatFor, openMode } from './modes.ts';
import { isProjectFolder } from '../modes/project/session.ts';

export interface DocumentPlace {
  readonly mode: ModeName;
  readonly path: string;
  /** Where the work happens. */
  readonly directory: string;
  readonly options?: FormatOptions;
}

function instructionsOf(mode: Mode, { path, directory }: DocumentPlace): InstructionsFile | undefined {
  if (mode.instructions === undefined) return undefined;
  const { name, within, text, isWritten } = mode.instructions;
  const isBeside = within === 'document';
  return { path: join(isBeside ? dirname(path) : directory, name), text, isWritten };
}

/** What a project's agents write to say that they have finished: a hint, and gone once it was seen. */
const signalsOf = ({ mode, path }: DocumentPlace): readonly string[] =>
  mode === 'project' && isProjectFolder(dirname(path)) ? [join(dirname(path), 'done.md')] : [];

const lenient: FormatOptions = { allowEmptyCriteria: true, acceptTicked: true };

export async function documentSource(
  env: Readonly<Record<string, string | undefined>>,
  place: DocumentPlace & { readonly folder: string },
): Promise<{ readonly source: TaskSource; readonly mode: Mode }> {
  const mode = await openMode(place.mode, place.path);
  const instructions = instructionsOf(mode, place);
  const source = fileSource({
    path: place.path,
    format: await formatFor(mode, place.path),
    options: place.options ?? lenient,
    copyPath: join(place.folder, 'document'),
    redact: makeRedactor(secretValues(env)),
    signals: signalsOf(place),
    instructions,
    damage: mode.damage,
  });
  return { source, mode };
}

/** `text`: of a document that is not written yet. */
export async function readDocument(place: DocumentPlace, text?: string): Promise<Parsed> {
  const mode = await openMode(place.mode, place.path);
  const format = await formatFor(mode, place.path);
  if (text !== undefined) return format.parse(text, place.options);
  return readParsed(place.path, format, place.options ?? {}, instructionsOf(mode, place)?.path);
}
