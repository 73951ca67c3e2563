// Everything `ralph run` looks at before it writes a byte: the folder, the settings, the document, the agent.
import { realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { buildChecks, judgeName, judgeSpec } from '../../app/checks.ts';
import { type DetectedCheck, detectCheck } from '../../app/detect.ts';
import { buildPerformers, type Staff } from '../../app/performers.ts';
import { type Ground, lookAround, settingsHere } from '../../app/place.ts';
import { type Environment, type RunConfig, readDocument, resolveRunConfig } from '../../app.ts';
import { UsageError } from '../../core/errors.ts';
import type { Settings } from '../../core/limits.ts';
import type { Check } from '../../ports/check.ts';
import type { ParsedDocument, Problem } from '../../ports/source.ts';
import { refuseMissingProgram } from './missing-program.ts';
import { strangeTasks, withAgents } from './who.ts';

export interface Prepared extends Place {
  readonly path: string;
  readonly document: ParsedDocument;
  readonly run: RunConfig;
  readonly staff: Staff;
  /** Nobody named the agent: it is the first that was found on PATH. */
  readonly isFound: boolean;
  readonly checks: readonly Check[];
  /** The project's own test command, taken because nobody named a check. */
  readonly detected?: DetectedCheck;
  readonly judge?: string;
  readonly ground: Ground;
  readonly notices: readonly string[];
}

export interface Place {
  readonly env: Environment;
  readonly directory: string;
  readonly home: string;
}

/** What an unfinished loop of the same document remembers. */
export interface Remembered {
  /** Where the last good version of a broken document lies, if a loop kept one. */
  readonly lastGood: (path: string) => Promise<string | undefined>;
  readonly settings: (path: string) => Promise<Settings | undefined>;
}

const nothing: Remembered = { lastGood: async () => undefined, settings: async () => undefined };

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
  place: Place,
  file: string | undefined,
  flags: Readonly<Record<string, unknown>>,
  remembered: Remembered = nothing,
): Promise<Prepared> {
  const { env, directory } = place;
  checkDirectory(directory, env, flags['force'] === true);
  const resolved = await resolveRunConfig(env, directory, flags);
  if (!resolved.ok) refuseProblems(resolved.problems);
  const path = documentPath(directory, file);
  const read = await readDocument(path, flags['criteria'] === false);
  if (!read.ok) {
    const copy = await remembered.lastGood(path);
    const hint = copy === undefined ? [] : [{ message: `Its last good version, as this loop read it: ${copy}` }];
    refuseProblems([...read.problems, ...hint], basename(path));
  }
  const ground = await lookAround(directory, env);
  const before = await remembered.settings(path);
  const { run: chosen, isFound } = await withAgents(resolved.run, place, async () => before);
  const detected = before === undefined ? detectedFor(chosen, place) : undefined;
  const run = await withProof(chosen, place, ground, detected);
  const strange = strangeTasks(run, read.document, basename(path));
  if (run.settings.performers.includes('command')) refuseMissingProgram(run.config.agentCommand ?? '', directory, env);
  const needs = { config: run.config, settings: run.settings, ...place };
  const staff = await buildPerformers(needs);
  const checks = await buildChecks(needs);
  const promise = await promiseNotice(path, run.settings.promise);
  const notices = [...run.notices, ...ground.notices, ...read.document.notices, ...promise, ...strange];
  const more = detected === undefined ? {} : { detected };
  return { ...place, path, document: read.document, run, staff, isFound, checks, ground, notices, ...more };
}

/** Only where nobody named a check, and only once: a loop that goes on keeps its own. */
function detectedFor({ config }: RunConfig, { directory, env }: Place): DetectedCheck | undefined {
  return config.verify.length > 0 || config.detectChecks === 'none' ? undefined : detectCheck(directory, env);
}

/** What the folder allows, the check that was found, and the judge: all that "done" will rest on. */
async function withProof(
  run: RunConfig,
  place: Place,
  ground: Ground,
  detected: DetectedCheck | undefined,
): Promise<RunConfig> {
  const config = detected === undefined ? run.config : { ...run.config, verify: [detected.command] };
  const judge = await judgeSpec({ config, settings: run.settings, ...place });
  const checks = [...config.verify, ...(judge === undefined ? [] : [judgeName(judge)])];
  return { ...run, config, settings: settingsHere({ ...run.settings, checks }, config, ground) };
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
