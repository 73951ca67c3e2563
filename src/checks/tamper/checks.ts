// Finds a check that was made to pass whatever the work is worth: in the script it runs, in a manifest, in a test runner's settings.
import { countsOf } from './count.ts';
import { isTestConfiguration, languageOf, runnerModules } from './test-files.ts';
import type { ChangedFile, Finding } from './tamper-finding.ts';
import { makeFindings } from './tamper-make.ts';
import { manifestFindings } from './scripts.ts';
import { beforeAndAfter, finding, provesNothing, soothed } from './tamper-neuter.ts';
import { codeOnly } from './scan.ts';
import { checkScripts, pythonModules } from './command-line.ts';

const withoutComments = (path: string, text: string): string => {
  const language = languageOf(path);
  if (language === 'python') return codeOnly(text, language);
  if (language !== undefined && language !== 'shell') return text;
  return text.replace(/^[ \t]*#.*$/gm, '');
};

/** Its output is looked at by something else, so its own end decides nothing. */
const isLookedAt = (line: string): boolean => /[|`]|\$\(/.test(line.replaceAll('||', ''));

/** `isProof`: its end alone decides about a check. */
function scriptFindings({ path, before, after }: ChangedFile, isProof = true): readonly Finding[] {
  const isEmpty = (text: string): boolean => provesNothing(withoutComments(path, text));
  if (after === undefined) return [finding(path, 'a check runs it, and it was deleted')];
  const language = languageOf(path);
  const count = (text: string): number => {
    const isShell = language === undefined || language === 'shell';
    const shell = isShell ? soothed(codeOnly(text, 'shell')) : soothed(text);
    return shell + (isShell ? 0 : countsOf(text, language).exits);
  };
  const isShell = language === undefined || language === 'shell';
  // A new one whose output is looked at is the work itself, not its proof.
  const isProduct = before === undefined && !isProof;
  if (isShell && !isProduct && isEmpty(after) && !(before !== undefined && isEmpty(before)))
    return [finding(path, 'a check runs it, and it proves nothing now')];
  if (count(after) > count(before ?? ''))
    return [
      finding(
        path,
        'a check runs it, and a failure in it now looks like a success (exit 0, || true, set +e or the like)',
      ),
    ];
  return [
    finding(
      path,
      before === undefined ? 'a check runs it, and the work wrote it' : 'a check runs it, and it was changed',
      'report',
    ),
  ];
}

const silencing: readonly RegExp[] = [
  /passWithNoTests["']?[ \t]*[:=][ \t]*true/g,
  /\b(?:collect_ignore|collect_ignore_glob|pytest_collection_modifyitems|pytest_sessionfinish|pytest_ignore_collect|pytest_pyfunc_call|pytest_runtest_\w+|pytest_report_teststatus)\b/g,
  /--(?:ignore|deselect|ignore-glob)[= ]/g,
  /\b(?:testPathIgnorePatterns|skipTests|maven\.test\.skip|ignoreFailures|testFailureIgnore)\b(?!["']?[ \t]*[:=>][ \t]*false)/g,
];

function silences(text: string): number {
  return silencing.reduce((sum, pattern) => sum + (text.match(pattern)?.length ?? 0), 0);
}

function configurationFindings({ path, before, after }: ChangedFile): readonly Finding[] {
  if (after === undefined) return [finding(path, 'it was deleted', 'report')];
  const language = languageOf(path);
  const count = (text: string): number => {
    const plain = withoutComments(path, text);
    return soothed(plain) + silences(plain) + (language === undefined ? 0 : countsOf(text, language).exits);
  };
  if (count(after) > count(before ?? ''))
    return [finding(path, 'it now leaves tests out or lets a failing check pass')];
  return [finding(path, before === undefined ? 'it was added' : 'it was changed', 'report')];
}

/** Settings of npm and pnpm that put another program in the place of every script's shell, or into every Node. */
const takeOver = /^[ \t]*(?:script-?shell|node-?options)[ \t]*[:=].*$/gim;

function takeOvers({ path, before = '', after = '' }: ChangedFile): readonly Finding[] {
  const lines = (text: string): string => (text.match(takeOver) ?? []).map(line => line.trim()).join('; ');
  const [was, is] = [lines(before), lines(after)];
  return is === '' || is === was
    ? []
    : [finding(path, `it decides what every script runs in: ${beforeAndAfter(was, is)}`)];
}

/** `python -m pytest` takes pytest.py of its own folder before the one that is installed. */
function moduleFindings(file: ChangedFile, modules: ReadonlySet<string>): readonly Finding[] | undefined {
  const module = /^(.*?)(?:\/__(?:init|main)__)?\.py$/.exec(file.path)?.[1];
  if (module === undefined || !modules.has(module)) return undefined;
  const name = module.slice(module.lastIndexOf('/') + 1);
  const isRunner = runnerModules.test(module.slice(module.lastIndexOf('/') + 1));
  if (file.before !== undefined || !isRunner) return scriptFindings(file);
  return [finding(file.path, `a check runs python -m ${name}, and this file takes the place of that module`)];
}

/** `checks`: command lines, as they are run in `folder`. */
export function checkFindings(
  files: readonly ChangedFile[],
  checks: readonly string[],
  folder: string,
): readonly Finding[] {
  const lines = folder === '' ? checks : checks.map(line => `cd '${folder.replaceAll("'", "'\\''")}' && ${line}`);
  const scripts = new Set(lines.flatMap(checkScripts));
  const modules = new Set(lines.flatMap(pythonModules));
  return files.flatMap(file => {
    if (file.isOpaque)
      return isTestConfiguration(file.path) || scripts.has(file.path)
        ? [finding(file.path, 'it is too large or no text any more')]
        : [];
    if (scripts.has(file.path)) {
      const own = lines.filter(line => checkScripts(line).includes(file.path));
      return scriptFindings(file, !own.every(isLookedAt));
    }
    const ofModule = moduleFindings(file, modules);
    if (ofModule !== undefined) return ofModule;
    if (!isTestConfiguration(file.path)) return [];
    const name = file.path.slice(file.path.lastIndexOf('/') + 1);
    if (name === 'package.json') return manifestFindings(file, lines, silences);
    if (/^((GNUm|[Mm])akefile|.*\.mk)$/.test(name)) return makeFindings(file, lines);
    const own = /^(\.npmrc|pnpm-workspace\.ya?ml)$/.test(name) ? takeOvers(file) : [];
    return own.length > 0 ? own : configurationFindings(file);
  });
}
