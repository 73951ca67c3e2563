// The tamper screen: does this work pass its checks because it is good, or because the tests were made to say so (F35)?
import type { Finding } from '../../core/event.ts';
import { plural } from '../../text/format.ts';
import { checkFindings } from './checks.ts';
import type { Counts } from './count.ts';
import { type CountedFile, countTests } from './moved-tests.ts';
import { isNamedAsTest } from './source-code.ts';
import { isTestFile, mayHoldTests } from './test-files.ts';
import { type ChangedFile, finding } from './weakening.ts';

export interface ScreenedWork {
  /** Every file that the work changed, as it was when the task began and as it is. */
  readonly files: readonly ChangedFile[];
  /** The command lines of the checks. */
  readonly checks: readonly string[];
  /** Where the checks run, as paths of `files` begin: `packages/shop`; the top unless given. */
  readonly folder?: string;
}

/** Per file, but only when the total over all files fell too: moving a test is not losing it. */
function fewer(counted: readonly CountedFile[], what: 'tests' | 'assertions'): readonly Finding[] {
  const total = (side: 'before' | 'after'): number => counted.reduce((sum, file) => sum + file[side][what], 0);
  if (total('after') >= total('before')) return [];
  return counted
    .filter(({ before, after }) => after[what] < before[what])
    .map(({ path, before, after }) => {
      const severity = after.tables > before.tables ? 'report' : 'refuse'; // cases in a table: fewer words, as much proof
      return finding(`fewer-${what}`, path, `${before[what]} ${what} before, ${after[what]} now`, severity);
    });
}

/** New tests that run only where they can, beside all the old ones. */
const areNewAndConditional = (before: Counts, after: Counts): boolean =>
  after.conditions - before.conditions === after.skips - before.skips &&
  after.tests - before.tests >= after.skips - before.skips;

function skipFinding({ path, before, after, isOld }: CountedFile): Finding {
  const severity = isOld && !areNewAndConditional(before, after) ? 'refuse' : 'report';
  return finding('test-skipped', path, `${plural(before.skips, 'skip')} before, ${after.skips} now`, severity);
}

function exitFinding({ path, before, after }: CountedFile): Finding {
  const isTest = isNamedAsTest(path) || before.tests + after.tests > 0; // a helper may end a program of its own
  return isTest
    ? finding('check-neutered', path, 'it ends the test run with exit code 0')
    : finding('check-neutered', path, 'it can end a program with exit code 0', 'report');
}

function silenced(counted: readonly CountedFile[]): readonly Finding[] {
  const hasMoreSkips = counted.reduce((sum, { before, after }) => sum + after.skips - before.skips, 0) > 0;
  return counted.flatMap(file => {
    const { path, before, after } = file;
    const focused = 'a test runs alone (only, focus), which silences the others';
    return [
      ...(hasMoreSkips && after.skips > before.skips ? [skipFinding(file)] : []),
      ...(after.onlys > before.onlys ? [finding('test-skipped', path, focused)] : []),
      ...(after.exits > before.exits ? [exitFinding(file)] : []),
    ];
  });
}

/** In the order of what it means: lost tests first, changed settings last. */
export function screenWork({ files, checks, folder = '' }: ScreenedWork): readonly Finding[] {
  const { counted, deleted } = countTests(files.filter(file => mayHoldTests(file.path) && !file.isOpaque));
  const opaque = files.filter(file => file.isOpaque && isTestFile(file.path) && file.before !== undefined);
  return [
    ...deleted,
    ...opaque.map(({ path }) =>
      finding('fewer-tests', path, 'it is too large or no text any more, so its tests cannot be counted'),
    ),
    ...fewer(counted, 'tests'),
    ...fewer(counted, 'assertions'),
    ...silenced(counted),
    ...checkFindings(files, checks, folder),
  ];
}

export const nothingChanged = finding('nothing-changed', '', 'no file was changed');

/** Equal for equal findings: what a person accepted is exactly this, not the next one of its kind. */
export function fingerprintOf({ kind, path, detail }: Finding): string {
  return JSON.stringify([kind, path, detail]);
}
