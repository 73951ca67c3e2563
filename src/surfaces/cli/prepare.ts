// Everything `ralph run` looks at before it writes a byte: the folder, the settings, the document, the agent.
import { realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import {
  buildChecks,
  buildPerformer,
  type Environment,
  type RunConfig,
  readDocument,
  resolveRunConfig,
} from '../../app.ts';
import { UsageError } from '../../core/errors.ts';
import type { Check } from '../../ports/check.ts';
import type { Performer } from '../../ports/performer.ts';
import type { ParsedDocument, Problem } from '../../ports/source.ts';
import { refuseMissingProgram } from './missing-program.ts';

export interface Prepared {
  readonly directory: string;
  readonly path: string;
  readonly document: ParsedDocument;
  readonly run: RunConfig;
  readonly performer: Performer;
  readonly checks: readonly Check[];
  readonly notices: readonly string[];
}

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

/** `/` and the home folder are refused without --force, and never the inside of .git (B14). */
function checkDirectory(directory: string, env: Environment, force: boolean): void {
  if (directory.split(sep).includes('.git')) {
    throw new UsageError(
      `${directory} lies inside .git, where no work belongs.`,
      "Run Ralph in the repository's own folder.",
    );
  }
  if (force) return;
  const home = env['HOME'];
  const isHome = home !== undefined && isAbsolute(home) && directory === resolve(home);
  if (directory === '/' || isHome) {
    throw new UsageError(
      `An agent would work in ${directory === '/' ? 'the root folder' : 'your whole home folder'}.`,
      "Change to the project's folder, or say --force.",
    );
  }
}

function documentPath(directory: string, given: string | undefined): string {
  const name = given ?? 'PRD.json';
  if (name === '-')
    throw new UsageError(
      'A PRD is written back, so it cannot come from standard input.',
      'Save it as a file: ralph run PRD.json',
    );
  if (name.includes('\0')) throw new UsageError('The file name holds a NUL character.');
  const path = resolve(directory, name);
  try {
    return realpathSync(path);
  } catch {
    const missing =
      given === undefined
        ? 'There is no PRD.json in this folder.'
        : `There is no file ${JSON.stringify(name.slice(0, 200))}.`;
    throw new UsageError(missing, 'Write one (docs/formats/prd.md), name another file, or see one at work: ralph demo');
  }
}

export async function prepare(
  env: Environment,
  directory: string,
  file: string | undefined,
  flags: Readonly<Record<string, unknown>>,
  /** Where the last good version of a broken document lies, if a loop kept one. */
  lastGood: (path: string) => Promise<string | undefined> = async () => undefined,
): Promise<Prepared> {
  checkDirectory(directory, env, flags['force'] === true);
  const resolved = await resolveRunConfig(env, directory, flags);
  if (!resolved.ok) refuseProblems(resolved.problems);
  const { run } = resolved;
  const path = documentPath(directory, file);
  const read = await readDocument(path, flags['criteria'] === false);
  if (!read.ok) {
    const copy = await lastGood(path);
    const hint = copy === undefined ? [] : [{ message: `Its last good version, as this loop read it: ${copy}` }];
    refuseProblems([...read.problems, ...hint], basename(path));
  }
  const performer = await buildPerformer({ config: run.config, directory, env });
  if (run.config.agent === 'command') refuseMissingProgram(run.config.agentCommand ?? '', directory, env);
  const checks = await buildChecks({ config: run.config, directory, env });
  const notices = [...run.notices, ...read.document.notices, ...(await promiseNotice(path, run.settings.promise))];
  return { directory, path, document: read.document, run, performer, checks, notices };
}

/** A promise that stands in the instructions may be echoed; only an exact last line counts, but say so (B09). */
async function promiseNotice(path: string, promise: string): Promise<readonly string[]> {
  const { readFile } = await import('node:fs/promises');
  const text = await readFile(join(dirname(path), 'PROMPT.md'), 'utf8').catch(() => '');
  const stands = text
    .split('\n')
    .some(line => line.trim() === promise || line.trim() === `<promise>${promise}</promise>`);
  return stands
    ? [`PROMPT.md holds the promise ${promise} on a line of its own; only the agent's own last line counts.`]
    : [];
}
