// Refusals: what is wrong with a document or a setting, as the one error that a person or a program gets.
import { isAbsolute } from 'node:path';
import type { Problem } from '../documents/document.ts';
import { UsageError } from '../text/errors.ts';

/** `FILE:LINE:COLUMN: what. Fix.`; a message that names its file itself (another one, or its whole path) keeps that. */
function problemText({ message, line, column, fix }: Problem, file?: string): string {
  const place = line === undefined ? '' : `:${line}${column === undefined ? '' : `:${column}`}`;
  const remedy = fix === undefined ? '' : ` ${fix}`;
  if (file === undefined) return `${message.replace(/^([^:\n]+): /, `$1${place}: `)}${remedy}`;
  return `${isAbsolute(message) ? '' : `${file}${place}: `}${message}${remedy}`;
}

export function refuseProblems(problems: readonly Problem[], file?: string): never {
  const [first, ...rest] = problems.map(problem => problemText(problem, file));
  throw new UsageError(first ?? 'Unknown problem.', rest.join('\n  '));
}

export const nothingBounds = (): UsageError =>
  new UsageError(
    'Nothing would bound this loop any more.',
    'Leave one limit set: unlimited is allowed only beside another.',
  );
