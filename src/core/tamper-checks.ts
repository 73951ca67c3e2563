// Finds a check that was made to pass whatever the work is worth: in the script it runs, in a manifest, in a test runner's settings.
import { countsOf } from './tamper-count.ts';
import { isTestConfiguration, languageOf } from './tamper-files.ts';
import type { ChangedFile, Finding, Severity } from './tamper-finding.ts';
import { codeOnly } from './tamper-scan.ts';
import { checkScripts, manifestScripts, simpleCommands } from './tamper-words.ts';

const soothing = [
  /\|\|[ \t]*(?:true|:|\/bin\/true|echo|exit 0|return 0)(?=$|[\s;&|)"'])/gm,
  /(?:^|[\s;&|])(?:exit|return) 0(?=$|[\s;&|)"'])/gm,
  /(?:^|[\s;&|])set \+e(?=$|[\s;])/gm,
  /;[ \t]*(?:true|:)[ \t]*(?=$|["'])/gm,
  /--?pass-?with-?no-?tests|--exit-zero|--no-error-on-unmatched-pattern|--maxfail=0/gi,
];

/** How often a line of shell makes a failure look like a success. */
const soothed = (text: string): number =>
  soothing.reduce((sum, pattern) => sum + (text.match(pattern)?.length ?? 0), 0);

/** It does nothing that could fail: `true`, `echo ok`, `exit 0`, nothing. */
export function provesNothing(script: string): boolean {
  return simpleCommands(script.replaceAll('\n', ';')).every(
    ([program = '', argument]) =>
      /^(true|:|echo|printf|set|#!.*)$/.test(program) || (/^(exit|return)$/.test(program) && argument === '0'),
  );
}

const withoutComments = (path: string, text: string): string => {
  const language = languageOf(path);
  if (language !== undefined && language !== 'shell') return text;
  return text.replace(/^[ \t]*#.*$/gm, '');
};

const finding = (path: string, detail: string, severity: Severity = 'refuse'): Finding => ({
  kind: severity === 'refuse' ? 'check-neutered' : 'configuration-changed',
  path,
  detail,
  severity,
});

function scriptFindings({ path, before, after }: ChangedFile): readonly Finding[] {
  const isEmpty = (text: string): boolean => provesNothing(withoutComments(path, text));
  if (after === undefined) return [finding(path, 'a check runs it, and it was deleted')];
  const language = languageOf(path);
  const count = (text: string): number => {
    const isShell = language === undefined || language === 'shell';
    const shell = isShell ? soothed(codeOnly(text, 'shell')) : soothed(text);
    return shell + (isShell ? 0 : countsOf(text, language).exits);
  };
  const isShell = language === undefined || language === 'shell';
  if (isShell && isEmpty(after) && !(before !== undefined && isEmpty(before)))
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

function scriptsIn(text: string | undefined): Readonly<Record<string, string>> | undefined {
  if (text === undefined) return {};
  try {
    const { scripts } = JSON.parse(text) as { readonly scripts?: unknown };
    const entries = Object.entries((scripts ?? {}) as Record<string, unknown>);
    return Object.fromEntries(entries.flatMap(([name, line]) => (typeof line === 'string' ? [[name, line]] : [])));
  } catch {
    return undefined;
  }
}

/** What `npm init` puts there; replacing it takes nothing away. */
export const isPlaceholder = (script: string): boolean => script.includes('no test specified');

function manifestFindings({ path, before, after }: ChangedFile, used: ReadonlySet<string>): readonly Finding[] {
  const [old, now] = [scriptsIn(before), scriptsIn(after)];
  if (now === undefined) return [finding(path, 'it is no JSON any more', 'report')];
  const findings: Finding[] = [];
  for (const [name, line] of Object.entries(old ?? {})) {
    const next = Object.hasOwn(now, name) ? now[name] : undefined;
    if (next === line || isPlaceholder(line) || provesNothing(line)) continue;
    const isUsed = used.has(name) || /(^|[:_-])(test|check|verify|lint)/.test(name);
    const what =
      next === undefined
        ? 'was removed'
        : provesNothing(next)
          ? 'proves nothing now'
          : soothed(next) > soothed(line)
            ? 'now passes when its command fails or finds no tests'
            : undefined;
    const isGone = next === undefined && !used.has(name);
    if (what !== undefined && isUsed)
      findings.push(finding(path, `its script ${JSON.stringify(name)} ${what}`, isGone ? 'report' : 'refuse'));
  }
  const added = Object.entries(now).filter(([name]) => used.has(name) && !Object.hasOwn(old ?? {}, name));
  for (const [name, line] of added) {
    if (/^(pre|post)/.test(name) || provesNothing(line) || soothed(line) > 0)
      findings.push(
        finding(
          path,
          `its new script ${JSON.stringify(name)} decides what a check proves`,
          provesNothing(line) || soothed(line) > 0 ? 'refuse' : 'report',
        ),
      );
  }
  return findings;
}

const silencing: readonly RegExp[] = [
  /passWithNoTests["']?[ \t]*[:=][ \t]*true/g,
  /\b(?:collect_ignore|collect_ignore_glob|pytest_collection_modifyitems|pytest_runtest_makereport|pytest_sessionfinish|pytest_ignore_collect)\b/g,
  /--(?:ignore|deselect|ignore-glob)[= ]/g,
  /\b(?:testPathIgnorePatterns|skipTests|maven\.test\.skip|ignoreFailures|testFailureIgnore)\b(?!["']?[ \t]*[:=>][ \t]*false)/g,
  /(?:^|\n)[ \t]*\.IGNORE\b/g,
  /(?:^|\n)\t@?-[ \t]*\w/g, // a recipe of make whose failure does not count
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

/** `checks`: command lines, as they are run in `folder`. */
export function checkFindings(
  files: readonly ChangedFile[],
  checks: readonly string[],
  folder: string,
): readonly Finding[] {
  const lines = folder === '' ? checks : checks.map(line => `cd '${folder.replaceAll("'", "'\\''")}' && ${line}`);
  const scripts = new Set(lines.flatMap(checkScripts));
  const used = new Set(checks.flatMap(manifestScripts));
  return files.flatMap(file => {
    if (file.isOpaque)
      return isTestConfiguration(file.path) || scripts.has(file.path)
        ? [finding(file.path, 'it is too large or no text any more')]
        : [];
    if (scripts.has(file.path)) return scriptFindings(file);
    if (!isTestConfiguration(file.path)) return [];
    const own = /(^|\/)package\.json$/.test(file.path) ? manifestFindings(file, used) : [];
    return own.length > 0 ? own : configurationFindings(file);
  });
}
