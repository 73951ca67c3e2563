// Refusals: what is wrong with a document or a setting, as the one error that a person or a program gets.
import { isAbsolute } from 'node:path';
import type { Problem } from '../documents/document.ts';
import { UsageError } from '../text/errors.ts';

const placeText = ({ line, column }: Problem): string =>
  line === undefined ? '' : `:${line}${column === undefined ? '' : `:${column}`}`;

const fixText = ({ fix }: Problem): string => (fix === undefined ? '' : ` ${fix}`);

/** `FILE:LINE:COLUMN: what. Fix.` */
export const problemLine = (file: string, problem: Problem): string =>
  `${file}${placeText(problem)}: ${problem.message}${fixText(problem)}`;

/** A message that names its file itself (another one, or its whole path) keeps that. */
function problemText(problem: Problem, file?: string): string {
  const { message } = problem;
  if (file === undefined) return `${message.replace(/^([^:\n]+): /, `$1${placeText(problem)}: `)}${fixText(problem)}`;
  return isAbsolute(message) ? `${message}${fixText(problem)}` : problemLine(file, problem);
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
