// An agent that is not there is said before anything is written or spent (exit 7), rather than after three failed turns.

import type { Environment } from '../app.ts';
import { UsageError } from '../../text/errors.ts';
import { findProgram } from '../../processes/find-program.ts';

/** A plain word at the start of a command line; what else a shell may begin with is left to the shell. */
const firstWord = /^[A-Za-z0-9_./+-]+(?=\s|$)/;
const shellWords = new Set(
  '. : [ alias break case cd command continue do done echo elif else esac eval exec exit export false fi for if local printf pwd read return set shift test then time trap true type ulimit umask unset until wait while'.split(
    ' ',
  ),
);

export function refuseMissingProgram(commandLine: string, directory: string, env: Environment): void {
  const word = firstWord.exec(commandLine)?.[0];
  if (word === undefined || shellWords.has(word)) return;
  const found = findProgram(word, directory, env);
  if (found.type === 'found') return;
  const why =
    found.type === 'not-executable' || word.includes('/') ? 'is not an executable file' : 'is not found on PATH';
  throw new UsageError(`The agent's program ${word} ${why}.`, 'Install it, or correct --agent-command.', 7);
}
