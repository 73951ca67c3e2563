// Reads the user's instructions for the agent (PROMPT.md), and gives them a first version when there are none.
import { writeFile } from 'node:fs/promises';
import { visible } from '../text/shown-text.ts';
import type { Problem } from './document.ts';
import { type FileIdentity, identify, type ReadText, readText } from './text-file.ts';

const instructionsBytesMax = 1024 * 1024;

export interface InstructionsFile {
  readonly path: string;
  /** What holds where there is no file. */
  readonly text: string;
  /** A first version is written where there is none. */
  readonly isWritten: boolean;
}

/** What would keep a loop from using this file; a file that does not exist yet is none. */
export async function checkInstructions(path: string): Promise<readonly Problem[]> {
  const read = await readText(path, instructionsBytesMax);
  if (read.type === 'missing') return [];
  if (read.type !== 'text') return [read.problem];
  if (!isBlank(read.text)) return [];
  return [{ message: `${visible(path)} is empty.`, fix: 'Write the instructions, or delete the file to get ours.' }];
}

/** A function that gives the current text: the file's, or the last good one when the file became unusable. */
export function instructionsReader(
  { path, text: defaultText, isWritten }: InstructionsFile,
  read = readText,
): () => Promise<string> {
  let known: { readonly text: string; readonly identity: FileIdentity | undefined } | undefined;
  return async () => {
    const identity = await identify(path);
    if (known && (identity === known.identity || identity === undefined)) return known.text;
    if (identity === undefined && isWritten) {
      // `wx`: whatever appeared meanwhile is the user's. Where we may not write, the default text serves all the same.
      await writeFile(path, defaultText, { flag: 'wx' }).catch(() => undefined);
    }
    const found: ReadText = await read(path, instructionsBytesMax);
    const isUsable = found.type === 'text' && !isBlank(found.text);
    known = {
      text: isUsable ? found.text.replace(/^\uFEFF/, '') : (known?.text ?? defaultText),
      identity: isUsable ? found.identity : identity,
    };
    return known.text;
  };
}

function isBlank(text: string): boolean {
  return text.trim() === ''; // trim takes a BOM for space
}
