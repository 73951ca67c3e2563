// Changed files that decide about a check: scripts that it runs, its manifest, its Makefile, the settings of its test runner.
import type { Finding } from '../../core/task.ts';
import { fits, isPattern } from '../../text/patterns.ts';
import { checkScripts, firstOfPatterns, pythonModules } from './command-line.ts';
import { countsOf } from './count.ts';
import { makeFindings, manifestFindings } from './scripts.ts';
import { baseName, codeOnly, isTestConfiguration, languageOf, runnerModules } from './source-files.ts';
import {
  beforeAndAfter,
  type ChangedFile,
  cannotFail,
  changed,
  hiddenFailures,
  keepsCommands,
  plainChange,
  silencedTests,
  weakened,
} from './weakening.ts';

const withoutHashLines = (text: string): string => text.replace(/^[ \t]*#.*$/gm, '');

/** Something else reads its output, so its own exit code decides nothing. */
const isOutputRead = (line: string): boolean => /[|`]|\$\(/.test(line.replaceAll('||', ''));

/** How often a script says that it ends at the first failure. */
const stops = (text: string): number => text.match(/^[ \t]*set[ \t]+(?:-\w*e|-o[ \t]+errexit)/gm)?.length ?? 0;

/** With the scripts that are new and that it names. */
const withNewScripts = (text: string, files: readonly ChangedFile[]): string =>
  [
    text,
    ...files.flatMap(one => (one.before === undefined && text.includes(baseName(one.path)) ? (one.after ?? '') : [])),
  ].join('\n');

/** `isProof`: its exit code alone decides about a check. */
function scriptFinding(
  { path, before, after }: ChangedFile,
  isProof = true,
  files: readonly ChangedFile[] = [],
): Finding {
  if (after === undefined) return weakened(path, 'a check runs it, and it was deleted');
  const language = languageOf(path) ?? 'shell';
  const isEmpty = (text: string): boolean => cannotFail(withoutHashLines(text));
  const count = (text: string): number =>
    language === 'shell'
      ? hiddenFailures(codeOnly(text, 'shell'))
      : hiddenFailures(text) + countsOf(text, language).exits;
  // A new one whose output is read is the work itself, not its proof.
  const isProduct = before === undefined && !isProof;
  const wasEmpty = before !== undefined && isEmpty(before);
  if (language === 'shell' && !isProduct && !wasEmpty && isEmpty(after))
    return weakened(
      path,
      before === undefined
        ? 'a check runs it, this task wrote it, and it can never fail'
        : 'a check runs it, and it proves nothing now',
    );
  if (count(after) > count(before ?? '') || stops(before ?? '') > stops(after))
    return weakened(
      path,
      'a check runs it, and a failure in it now looks like a success (exit 0, || true, set +e or the like)',
    );
  if (language === 'shell' && !wasEmpty && before !== undefined && !keepsCommands(before, withNewScripts(after, files)))
    return weakened(path, 'a check runs it, and not all of its commands are there any more');
  return changed(
    path,
    before === undefined ? 'a check runs it, and this task wrote it' : 'a check runs it, and it was changed',
  );
}

function configurationFinding(file: ChangedFile): Finding {
  const { path, before, after } = file;
  if (after === undefined) return plainChange(file);
  const language = languageOf(path);
  const count = (text: string): number => {
    const plain =
      language === undefined || language === 'shell'
        ? withoutHashLines(text)
        : language === 'python'
          ? codeOnly(text, language)
          : text;
    const exits = language === undefined ? 0 : countsOf(text, language).exits;
    return hiddenFailures(plain) + silencedTests(plain) + exits;
  };
  return count(after) > count(before ?? '')
    ? weakened(path, 'it now leaves tests out or lets a failing check pass')
    : plainChange(file);
}

/** Settings of npm and pnpm that put another program in the place of every script's shell, or into every Node. */
const scriptShell = /^[ \t]*(?:script-?shell|node-?options)[ \t]*[:=].*$/gim;

function scriptShellFinding({ path, before = '', after = '' }: ChangedFile): Finding | undefined {
  const lines = (text: string): string => (text.match(scriptShell) ?? []).map(line => line.trim()).join('; ');
  const [was, is] = [lines(before), lines(after)];
  if (is === '' || is === was) return undefined;
  return weakened(path, `it decides what every script runs in: ${beforeAndAfter(was, is)}`);
}

/** `python -m pytest` takes pytest.py of its own folder before the one that is installed. */
function moduleFinding(file: ChangedFile, modules: ReadonlySet<string>): Finding | undefined {
  const module = moduleOf(file.path);
  if (module === undefined || !modules.has(module)) return undefined;
  const name = baseName(module);
  if (file.before !== undefined || !runnerModules.test(name)) return scriptFinding(file);
  return weakened(file.path, `a check runs python -m ${name}, and this file takes the place of that module`);
}

function settingsFindings(file: ChangedFile, lines: readonly string[]): readonly Finding[] {
  const name = baseName(file.path);
  if (name === 'package.json') return manifestFindings(file, lines);
  if (/^((GNUm|[Mm])akefile|.*\.mk)$/.test(name)) return makeFindings(file, lines);
  const own = /^(\.npmrc|pnpm-workspace\.ya?ml)$/.test(name) ? scriptShellFinding(file) : undefined;
  return [own ?? configurationFinding(file)];
}

const isNamedBy = (path: string, script: string): boolean =>
  path === script || (isPattern(script) && fits(path, script));

/** A module, with what runs it: `a/b.py`, `a/b/__main__.py`. */
const moduleOf = (path: string): string | undefined => /^(.*?)(?:\/__(?:init|main)__)?\.py$/.exec(path)?.[1];

/** The checks as run from the top. */
const fromTop = (checks: readonly string[], folder: string): readonly string[] =>
  folder === '' ? checks : checks.map(line => `cd '${folder.replaceAll("'", "'\\''")}' && ${line}`);

/** Whether a check runs this file by its path, a pattern, or as a module. */
export function runBy(checks: readonly string[], folder: string): (path: string) => boolean {
  const lines = fromTop(checks, folder);
  const scripts = lines.flatMap(line => checkScripts(line));
  const modules = new Set(lines.flatMap(pythonModules));
  return path => scripts.some(script => isNamedBy(path, script)) || modules.has(moduleOf(path) ?? '');
}

/** `checks`: command lines, as they are run in `folder`. */
export function checkFindings(
  files: readonly ChangedFile[],
  checks: readonly string[],
  folder: string,
): readonly Finding[] {
  const lines = fromTop(checks, folder);
  const scripts = lines.flatMap(line => checkScripts(line));
  const firstOf = lines.flatMap(firstOfPatterns);
  const modules = new Set(lines.flatMap(pythonModules));
  return files.flatMap(file => {
    const isScript = scripts.some(one => isNamedBy(file.path, one));
    const isSettings = isTestConfiguration(file.path);
    if (file.isOpaque)
      return isSettings || isScript ? [weakened(file.path, 'it is too large or no text any more')] : [];
    if (isScript && file.before === undefined && firstOf.some(one => fits(file.path, one)))
      return [weakened(file.path, 'a check runs the first file that fits its pattern, and this one is new')];
    if (isScript) {
      const own = lines.filter(line => checkScripts(line).some(one => isNamedBy(file.path, one)));
      return [scriptFinding(file, !own.every(isOutputRead), files)];
    }
    const ofModule = moduleFinding(file, modules);
    if (ofModule !== undefined) return [ofModule];
    return isSettings ? settingsFindings(file, lines) : [];
  });
}
