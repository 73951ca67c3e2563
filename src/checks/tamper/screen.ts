// The tamper screen: does this work pass its checks because it is good, or because the tests were made to say so (F35)?

import type { Finding, FindingKind } from '../../core/event.ts';
import { checkFindings } from './checks.ts';
import type { Counts } from './count.ts';
import { type Entry, entriesOf, isNamedAsTest, isTestFile, mayHoldTests, said } from './test-files.ts';

export { isTestConfiguration } from './test-files.ts';

export interface ScreenedWork {
  /** Every file that the work changed, as it was when the task began and as it is. */
  readonly files: readonly ChangedFile[];
  /** The command lines of the checks. */
  readonly checks: readonly string[];
  /** Where the checks run, as paths of `files` begin: `packages/shop`; the top unless given. */
  readonly folder?: string;
}

const plain = (files: readonly ChangedFile[]): readonly ChangedFile[] =>
  files.filter(file => mayHoldTests(file.path) && !file.isOpaque);

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
    if (after.exits > before.exits) {
      const isTest = isNamedAsTest(path) || before.tests + after.tests > 0; // a helper may end a program of its own
      findings.push({
        kind: 'check-neutered',
        path,
        detail: isTest ? 'it ends the test run with exit code 0' : 'it can end a program with exit code 0',
        severity: isTest ? 'refuse' : 'report',
      });
    }
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

/** Equal for equal findings: what a person accepted is exactly this, not the next one of its kind. */
export function fingerprintOf({ kind, path, detail }: Finding): string {
  return JSON.stringify([kind, path, detail]);
}

export interface ChangedFile {
  readonly path: string;
  /** Absent: the file was not there. */
  readonly before?: string;
  readonly after?: string;
  /** Too large or no text: nothing can be said about what it holds. */
  readonly isOpaque?: true;
}
