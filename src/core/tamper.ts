// The tamper screen: does this work pass its checks because it is good, or because the tests were made to say so (F35)?
import { checkFindings } from './tamper-checks.ts';
import { addCounts, type Counts, countsOf, noCounts } from './tamper-count.ts';
import { isTestFile, languageOf, mayHoldTests } from './tamper-files.ts';
import type { ChangedFile, Finding, FindingKind } from './tamper-finding.ts';
import { stripControls, takeCharacters } from './text.ts';

export { isTestConfiguration } from './tamper-files.ts';
export type { ChangedFile, Finding } from './tamper-finding.ts';

export interface ScreenedWork {
  /** Every file that the work changed, as it was when the task began and as it is. */
  readonly files: readonly ChangedFile[];
  /** The command lines of the checks. */
  readonly checks: readonly string[];
  /** Where the checks run, as paths of `files` begin: `packages/shop`; the top unless given. */
  readonly folder?: string;
}

interface Entry {
  readonly path: string;
  readonly before: Counts;
  readonly after: Counts;
  /** It was there before, under this name or another. */
  readonly isOld: boolean;
}

const count = (path: string, text: string | undefined): Counts => {
  const language = languageOf(path);
  return text === undefined || language === undefined ? noCounts : countsOf(text, language, isTestFile(path));
};

/** Lines that say something, so that brackets and blanks do not make two files alike. */
function linesOf(text: string | undefined): Map<string, number> {
  const lines = new Map<string, number>();
  for (const line of (text ?? '').split('\n')) {
    const trimmed = line.trim();
    if (trimmed.length > 5 && !/^(import|from|use|package|require|\/\/|#|\*)\b/.test(trimmed))
      lines.set(trimmed, (lines.get(trimmed) ?? 0) + 1);
  }
  return lines;
}

function addedLines({ before, after }: ChangedFile): ReadonlyMap<string, number> {
  const lines = linesOf(after);
  for (const [line, times] of linesOf(before)) lines.set(line, Math.max(0, (lines.get(line) ?? 0) - times));
  return lines;
}

const movedShare = 0.5; // a file that kept half of its lines elsewhere was moved and edited; less is another file

/** For each line that some test file gained: which file, how often. */
type Gained = ReadonlyMap<string, ReadonlyMap<string, number>>;

function gainedBy(files: readonly ChangedFile[]): Gained {
  const gained = new Map<string, Map<string, number>>();
  for (const file of files) {
    if (file.after === undefined) continue;
    for (const [line, times] of addedLines(file)) {
      const by = gained.get(line) ?? new Map<string, number>();
      gained.set(line, by.set(file.path, times));
    }
  }
  return gained;
}

/** The file into which most of a deleted one went, if most of it went anywhere. */
function newHomeOf(deleted: ChangedFile, gained: Gained): string | undefined {
  const kept = new Map<string, number>();
  let total = 0;
  for (const [line, times] of linesOf(deleted.before)) {
    total += times;
    for (const [path, found] of gained.get(line) ?? []) kept.set(path, (kept.get(path) ?? 0) + Math.min(times, found));
  }
  const [best] = [...kept].sort(([, a], [, b]) => b - a);
  return best !== undefined && best[1] >= movedShare * total ? best[0] : undefined;
}

const plain = (files: readonly ChangedFile[]): readonly ChangedFile[] =>
  files.filter(file => mayHoldTests(file.path) && !file.isOpaque);

/** Deleted test files that live on elsewhere are counted there. */
function entriesOf(files: readonly ChangedFile[]): { readonly entries: Entry[]; readonly deleted: Finding[] } {
  const entries = new Map<string, Entry>();
  for (const { path, before, after } of files) {
    if (after === undefined) continue;
    entries.set(path, { path, before: count(path, before), after: count(path, after), isOld: before !== undefined });
  }
  const deleted: Finding[] = [];
  const gone = files.filter(file => file.after === undefined);
  const gained = gone.length === 0 ? new Map() : gainedBy(files);
  for (const file of gone) {
    const lost = count(file.path, file.before);
    if (lost.tests === 0 && lost.assertions === 0) continue;
    const home = entries.get(newHomeOf(file, gained) ?? '');
    if (home === undefined) {
      const detail = `it held ${said(lost.tests, 'test')} and ${said(lost.assertions, 'assertion')}`;
      deleted.push({ kind: 'test-deleted', path: file.path, detail, severity: 'refuse' });
    } else entries.set(home.path, { ...home, before: addCounts(home.before, lost), isOld: true });
  }
  return { entries: [...entries.values()], deleted };
}

const said = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** Per file, but only when the total over all files fell too: moving a test is not losing it. */
function fewer(entries: readonly Entry[], what: 'tests' | 'assertions', kind: FindingKind): readonly Finding[] {
  const total = (side: 'before' | 'after'): number => entries.reduce((sum, entry) => sum + entry[side][what], 0);
  if (total('after') >= total('before')) return [];
  return entries
    .filter(({ before, after }) => after[what] < before[what])
    .map(({ path, before, after }) => ({
      kind,
      path,
      detail: `${before[what]} ${what} before, ${after[what]} now`,
      severity: after.tables > before.tables ? 'report' : 'refuse', // cases in a table: fewer words, as much proof
    }));
}

/** New tests that run only where they can, beside all the old ones. */
const areNewAndConditional = (before: Counts, after: Counts): boolean =>
  after.conditions - before.conditions === after.skips - before.skips &&
  after.tests - before.tests >= after.skips - before.skips;

function silenced(entries: readonly Entry[]): readonly Finding[] {
  const findings: Finding[] = [];
  const total = entries.reduce((sum, { before, after }) => sum + after.skips - before.skips, 0);
  for (const { path, before, after, isOld } of entries) {
    const skips = after.skips - before.skips;
    if (total > 0 && skips > 0)
      findings.push({
        kind: 'test-skipped',
        path,
        detail: `${said(before.skips, 'skip')} before, ${after.skips} now`,
        severity: isOld && !areNewAndConditional(before, after) ? 'refuse' : 'report',
      });
    if (after.onlys > before.onlys)
      findings.push({
        kind: 'test-skipped',
        path,
        detail: 'a test runs alone (only, focus), which silences the others',
        severity: 'refuse',
      });
    if (after.exits > before.exits)
      findings.push({
        kind: 'check-neutered',
        path,
        detail: 'it ends the test run with exit code 0',
        severity: 'refuse',
      });
  }
  return findings;
}

/** In the order of what it means: lost tests first, changed settings last. */
export function screenWork({ files, checks, folder = '' }: ScreenedWork): readonly Finding[] {
  const { entries, deleted } = entriesOf(plain(files));
  const opaque = files.filter(file => file.isOpaque && isTestFile(file.path) && file.before !== undefined);
  return [
    ...deleted,
    ...opaque.map(
      ({ path }): Finding => ({
        kind: 'fewer-tests',
        path,
        detail: 'it is too large or no text any more, so its tests cannot be counted',
        severity: 'refuse',
      }),
    ),
    ...fewer(entries, 'tests', 'fewer-tests'),
    ...fewer(entries, 'assertions', 'fewer-assertions'),
    ...silenced(entries),
    ...checkFindings(files, checks, folder),
  ];
}

export const nothingChanged: Finding = {
  kind: 'nothing-changed',
  path: '',
  detail: 'no file was changed',
  severity: 'refuse',
};

const words: Readonly<Record<FindingKind, string>> = {
  'test-deleted': 'A test file was deleted',
  'test-skipped': 'Tests were skipped',
  'fewer-assertions': 'There are fewer assertions',
  'fewer-tests': 'There are fewer tests',
  'check-neutered': 'A check was weakened',
  'nothing-changed': 'The task is said to be done, and nothing was changed',
  'configuration-changed': 'What decides how tests run was changed',
};

const shownMax = 20;
const pathCharsMax = 200;

/** One sentence per finding, for the next prompt and for a person. */
export function describeFindings(findings: readonly Finding[]): string {
  const lines = findings.slice(0, shownMax).map(({ kind, path, detail }) => {
    const place = path === '' ? '' : ` in ${takeCharacters(stripControls(path).replaceAll('\n', ' '), pathCharsMax)}`;
    return `${words[kind]}${place}: ${detail}.`;
  });
  const more = findings.length - shownMax;
  return [...lines, ...(more > 0 ? [`And ${more} more of the kind.`] : [])].join('\n');
}

/** Equal for equal findings: what a person accepted is exactly this, not the next one of its kind. */
export function fingerprintOf({ kind, path, detail }: Finding): string {
  return JSON.stringify([kind, path, detail]);
}

const aboutTests: ReadonlySet<FindingKind> = new Set([
  'test-deleted',
  'test-skipped',
  'fewer-assertions',
  'fewer-tests',
]);

/** The findings for which the work is not done: not accepted before, and not what the task may do. */
export function refusing(
  findings: readonly Finding[],
  { accepted, mayChangeTests }: { readonly accepted: readonly string[]; readonly mayChangeTests: boolean },
): readonly Finding[] {
  return findings.filter(
    finding =>
      finding.severity === 'refuse' &&
      !accepted.includes(fingerprintOf(finding)) &&
      !(mayChangeTests && aboutTests.has(finding.kind)),
  );
}
