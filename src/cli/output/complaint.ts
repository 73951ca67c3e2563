// Complaints: what went wrong and what to type, for people on standard error, with `--json` as one object on standard output.
import { UsageError } from '../../text/errors.ts';
import { folded } from '../terminal.ts';
import { jsonText } from './json.ts';

/** What an exit code means, where an error says nothing more exact. */
const codes: Readonly<Record<number, string>> = {
  1: 'failed',
  2: 'usage',
  3: 'limit',
  4: 'budget',
  5: 'needs-human',
  6: 'stopped',
  7: 'agent',
  8: 'unproven',
  9: 'held',
  10: 'sandbox',
};

export const codeOf = (exitCode: number): string => codes[exitCode] ?? 'interrupted';

interface Complaint {
  readonly exitCode: number;
  readonly error: { readonly code: string; readonly message: string; readonly hint: string };
}

const internalHint = 'Nothing recorded is lost; running the same command again resumes. --debug shows more.';

const tooManyFiles = /\b(?:EMFILE|ENFILE)\b|too many open files/i;
const filesHint =
  'Type ulimit -n 1024 (or close other programs), then the same command again; nothing recorded is lost.';

function complaintOf(error: unknown): Complaint {
  if (error instanceof UsageError) {
    const { message, hint, exitCode, code = codeOf(exitCode) } = error;
    return { exitCode, error: { code, message, hint } };
  }
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  if (tooManyFiles.test(text))
    return { exitCode: 2, error: { code: 'files', message: 'Too many files are open at once.', hint: filesHint } };
  return { exitCode: 1, error: { code: 'internal', message: `internal error, sorry. ${text}`, hint: internalHint } };
}

/** Words after `--` are no flags. */
const has = (words: readonly string[], flag: string): boolean => {
  const end = words.indexOf('--');
  return words.slice(0, end === -1 ? undefined : end).includes(flag);
};

/** Says it and gives the exit code. */
export function complain(error: unknown, words: readonly string[]): number {
  const { exitCode, error: said } = complaintOf(error);
  const isJson = has(words, '--json');
  if (isJson) process.stdout.write(`${jsonText({ exitCode, error: said })}\n`);
  const text = `ralph: ${said.message}${said.hint === '' ? '' : `\n  ${said.hint}`}`;
  if (!isJson || !has(words, '--quiet')) process.stderr.write(`${folded(text, process.stderr)}\n`);
  if (has(words, '--debug')) process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  return exitCode;
}
