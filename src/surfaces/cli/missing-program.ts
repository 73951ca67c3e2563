// An agent that is not there is said before anything is written or spent (exit 7), rather than after three failed turns.
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import type { Environment } from '../../app.ts';
import { UsageError } from '../../core/errors.ts';

/** A plain word at the start of a command line; what else a shell may begin with is left to the shell. */
const firstWord = /^[A-Za-z0-9_./+-]+(?=\s|$)/;
const shellWords = new Set(
  '. : [ alias break case cd command continue do done echo elif else esac eval exec exit export false fi for if local printf pwd read return set shift test then time trap true type ulimit umask unset until wait while'.split(
    ' ',
  ),
);

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

export function refuseMissingProgram(commandLine: string, directory: string, env: Environment): void {
  const word = firstWord.exec(commandLine)?.[0];
  if (word === undefined || shellWords.has(word)) return;
  const places = word.includes('/')
    ? [resolve(directory, word)]
    : (env['PATH'] ?? '').split(delimiter).map(folder => resolve(directory, folder, word));
  if (places.some(isProgram)) return;
  throw new UsageError(
    `The agent's program ${word} is not ${word.includes('/') ? 'an executable file' : 'found on PATH'}.`,
    'Install it, or correct --agent-command.',
    7,
  );
}
