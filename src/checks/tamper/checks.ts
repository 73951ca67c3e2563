// Finds a check that was made to pass whatever the work is worth: in the script it runs, in a manifest, in a test runner's settings.

import type { Finding } from '../../core/event.ts';
import { stripControls, takeCharacters } from '../../text/text.ts';
import { checkScripts, pythonModules, simpleCommands } from './command-line.ts';
import { countsOf } from './count.ts';
import { codeOnly } from './scan.ts';
import type { ChangedFile } from './screen.ts';
import { makeFindings, manifestFindings } from './scripts.ts';
import { isTestConfiguration, languageOf, runnerModules } from './test-files.ts';

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

// When a line of shell proves nothing or hides a failure, and how a finding about a check is said.

const soothing = [
  /\|\|[ \t]*(?:true|:|\/bin\/true|echo|exit 0|return 0)(?=$|[\s;&|)"'])/gm,
  /(?:^|[\s;&|])(?:exit|return) 0(?=$|[\s;&|)"'])/gm,
  /(?:^|[\s;&|])set \+e(?=$|[\s;])/gm,
  /;[ \t]*(?:true|:)[ \t]*(?=$|["'])/gm,
  /--?pass-?with-?no-?tests|--exit-zero|--no-error-on-unmatched-pattern|--maxfail=0/gi,
];

/** How often a line of shell makes a failure look like a success. */
export const soothed = (text: string): number =>
  soothing.reduce((sum, pattern) => sum + (text.match(pattern)?.length ?? 0), 0);

/** It does nothing that could fail: `true`, `echo ok`, `exit 0`, nothing. */
export function provesNothing(script: string): boolean {
  return simpleCommands(script.replaceAll('\n', ';')).every(
    ([program = '', argument]) =>
      /^(true|:|echo|printf|set|#!.*)$/.test(program) || (/^(exit|return)$/.test(program) && argument === '0'),
  );
}

export const finding = (path: string, detail: string, severity: Finding['severity'] = 'refuse'): Finding => ({
  kind: severity === 'refuse' ? 'check-neutered' : 'configuration-changed',
  path,
  detail,
  severity,
});

const shownCharsMax = 120;

function shortened(text: string): string {
  const line = stripControls(text).replace(/\s+/g, ' ').trim();
  const shown = takeCharacters(line, shownCharsMax);
  return JSON.stringify(shown === line ? line : `${shown}… (${line.length} characters)`);
}

/** What it was and what it is, for a person to compare. */
export const beforeAndAfter = (before: string, after: string): string =>
  `it was ${shortened(before)}, it is ${shortened(after)}`;
