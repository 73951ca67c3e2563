// The tamper screen: does this work pass its checks because it is good, or because the tests were made to say so (F35)?
import type { Finding } from '../../core/task.ts';
import { plural } from '../../text/format.ts';
import { checkFindings, runBy } from './checks.ts';
import { programsOf } from './command-line.ts';
import { addCounts, type Counts, countsOf, noCounts } from './count.ts';
import { type Assertions, assertionsIn } from './guards.ts';
import { isJoined, isLoosened, isRewritten, keepsWords, readsData } from './joined.ts';
import {
  baseName,
  isFoundByRunners,
  isNamedAsTest,
  isTestConfiguration,
  isTestFile,
  isUnreadableTest,
  languageOf,
  mayHoldTests,
  subjectOf,
} from './source-files.ts';
import { isSurrounding, surroundingFindings } from './surroundings.ts';
import { type ChangedFile, finding } from './weakening.ts';

export interface ScreenedWork {
  /** Every file that the work changed, as it was when the task began and as it is. */
  readonly files: readonly ChangedFile[];
  /** The command lines of the checks. */
  readonly checks: readonly string[];
  /** Where the checks run, as paths of `files` begin: `packages/shop`; the top unless given. */
  readonly folder?: string;
}

/** A test file with its counts; tests that came from a deleted file count as its own. */
interface CountedFile {
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

/** How often each part of a text stands in it. */
type Bag = Map<string, number>;
type PartsOf = (text: string | undefined) => Bag;

const bagOf = (parts: Iterable<string>): Bag => {
  const bag: Bag = new Map();
  for (const part of parts) bag.set(part, (bag.get(part) ?? 0) + 1);
  return bag;
};

/** Lines that say something, so that brackets and blanks do not make two files alike. */
const linesOf: PartsOf = (text = '') => {
  const lines = text.split('\n').map(line => line.trim());
  return bagOf(lines.filter(line => line.length > 5 && !/^(import|from|use|package|require|\/\/|#|\*)\b/.test(line)));
};

const name =
  /"([^"\\\n]{3,80})"|'([^'\\\n]{3,80})'|`([^`\\\n]{3,80})`|\b(?:def|func|fn|fun|void|function)\s+(\w{3,80})/g;

/** What tests are called, whichever runner they are written for: texts and functions. */
const namesOf: PartsOf = (text = '') => {
  const isImport = /^\s*(import|from|use|using|package|require|#include)\b|\brequire\(/;
  const lines = text.split('\n').filter(line => !isImport.test(line));
  const found = lines.flatMap(line => [...line.matchAll(name)]);
  return bagOf(found.map(([, ...forms]) => forms.find(form => form !== undefined) as string));
};

const movedShare = 0.5; // a file that kept half of its lines elsewhere was moved and edited; less is another file
const filesPerPartMax = 50; // a line that is everywhere says nothing about where a file went

/** For each part that some file gained: which file, how often. */
type Gained = ReadonlyMap<string, ReadonlyMap<string, number>>;

function gainedBy(files: readonly ChangedFile[], partsOf: PartsOf): Gained {
  const gained = new Map<string, Map<string, number>>();
  for (const { path, before, after } of files) {
    if (after === undefined) continue;
    const old = partsOf(before);
    for (const [part, times] of partsOf(after)) {
      const more = times - (old.get(part) ?? 0);
      if (more <= 0) continue;
      const by = gained.get(part) ?? new Map<string, number>();
      if (by.size < filesPerPartMax) gained.set(part, by.set(path, more));
    }
  }
  return gained;
}

/** The files into which a deleted one went, most of it first; none when less than half of it went anywhere. */
function targetsOf(parts: Bag, gained: Gained, isTarget: (path: string) => boolean): readonly string[] {
  const taken: Bag = new Map();
  let [total, found] = [0, 0];
  for (const [part, times] of parts) {
    const targets = [...(gained.get(part) ?? [])].filter(([path]) => isTarget(path));
    for (const [path, more] of targets) taken.set(path, (taken.get(path) ?? 0) + Math.min(times, more));
    total += times;
    found += Math.min(
      times,
      targets.reduce((sum, [, more]) => sum + more, 0),
    );
  }
  if (found === 0 || found < movedShare * total) return [];
  return [...taken].sort(([, a], [, b]) => b - a).map(([path]) => path);
}

/** More than comments and imports. */
const holdsSomething = (text = ''): boolean =>
  text.split('\n').some(line => !/^\s*($|#|\/\/|\/?\*|--|import\b|from\b|use\b|package\b|require\b)/.test(line));

interface DeletedTest extends ChangedFile {
  readonly lost: Counts;
  readonly isCounted: boolean;
}

function deletedTests(files: readonly ChangedFile[]): readonly DeletedTest[] {
  const deleted = files.filter(file => file.after === undefined);
  const counted = deleted.map(file => {
    const lost = count(file.path, file.before);
    return { ...file, lost, isCounted: lost.tests > 0 || lost.assertions > 0 };
  });
  return counted.filter(
    ({ isCounted, path, before }) =>
      isCounted || ((isNamedAsTest(path) || isUnreadableTest(path)) && holdsSomething(before)),
  );
}

interface Moves {
  readonly lines: Gained;
  readonly names: Gained;
  readonly checks: readonly string[];
}

function targetsOfTest({ path, before }: DeletedTest, { lines, names, checks }: Moves): readonly string[] {
  const isTarget = (other: string): boolean => !isFoundByRunners(path) || isFoundByRunners(other, checks);
  const moved = targetsOf(linesOf(before), lines, isTarget);
  return moved.length > 0 ? moved : targetsOf(namesOf(before), names, isTarget);
}

function deletedFinding({ path, before, lost, isCounted }: DeletedTest, { lines }: Moves): Finding {
  const isHidden = targetsOf(linesOf(before), lines, () => true).length > 0;
  if (isHidden) return finding('test-deleted', path, 'it was moved to a name that test runners do not look for');
  const counts = [
    lost.tests > 0 && plural(lost.tests, 'test'),
    lost.assertions > 0 && plural(lost.assertions, 'assertion'),
  ];
  const lostWords = `it held ${counts.filter(Boolean).join(' and ') || 'no test'}`;
  return finding('test-deleted', path, isCounted ? lostWords : 'its tests cannot be counted');
}

/** What it tested went with it. */
const isOfDeleted = (test: string, files: readonly ChangedFile[]): boolean =>
  files.some(({ path, after }) => {
    const isSource = after === undefined && path !== test && languageOf(path) !== undefined && !isTestFile(path);
    return isSource && baseName(path).replace(/\.\w+$/, '') === subjectOf(test);
  });

/** Deleted test files that live on elsewhere are counted there. */
function countTests(
  files: readonly ChangedFile[],
  checks: readonly string[],
  sources: readonly ChangedFile[],
): { counted: CountedFile[]; deleted: Finding[] } {
  const counted = new Map<string, CountedFile>();
  for (const { path, before, after } of files) {
    if (after === undefined) continue;
    counted.set(path, { path, before: count(path, before), after: count(path, after), isOld: before !== undefined });
  }
  const lost = deletedTests(files);
  if (lost.length === 0) return { counted: [...counted.values()], deleted: [] };
  const moves: Moves = { lines: gainedBy(files, linesOf), names: gainedBy(files, namesOf), checks };
  const deleted: Finding[] = [];
  for (const test of lost) {
    const targets = targetsOfTest(test, moves);
    for (const [at, target] of targets.entries()) {
      const file = counted.get(target) as CountedFile;
      counted.set(target, { ...file, before: at === 0 ? addCounts(file.before, test.lost) : file.before, isOld: true });
    }
    if (targets.length > 0) continue;
    const found = deletedFinding(test, moves);
    const isAnew =
      isRewritten(
        test,
        files.filter(({ path }) => isFoundByRunners(path, checks)),
      ) || isOfDeleted(test.path, sources);
    deleted.push(isAnew ? { ...found, severity: 'report' } : found);
  }
  return { counted: [...counted.values()], deleted };
}

/** Per file, but only when the total over all files fell too: moving a test is not losing it. */
function fewer(
  counted: readonly CountedFile[],
  what: 'tests' | 'assertions',
  files: readonly ChangedFile[],
): readonly Finding[] {
  const total = (side: 'before' | 'after'): number => counted.reduce((sum, file) => sum + file[side][what], 0);
  if (total('after') >= total('before')) return [];
  return counted
    .filter(({ before, after }) => after[what] < before[what])
    .map(({ path, before, after }) => {
      const file = files.find(one => one.path === path);
      // Cases in a table, or several in one: fewer words, as much proof.
      const isAsMuch =
        after.tables > before.tables || (file !== undefined && (isJoined(file, what) || isRewritten(file, files)));
      const severity = isAsMuch ? 'report' : 'refuse';
      return finding(`fewer-${what}`, path, `${before[what]} ${what} before, ${after[what]} now`, severity);
    });
}

/** Lines of tables that went, and what they held stands in no other line of the file. */
function casesFinding(file: ChangedFile, counted: readonly CountedFile[]): readonly Finding[] {
  const one = counted.find(({ path }) => path === file.path);
  if (one === undefined || file.before === undefined || one.after.cases >= one.before.cases) return [];
  const isLess = one.after.assertions <= one.before.assertions && one.after.tests <= one.before.tests;
  if (!isLess || keepsWords(file)) return [];
  const words = `${plural(one.before.cases, 'line')} of cases before, ${one.after.cases} now`;
  return [finding('fewer-tests', file.path, words, readsData(file) ? 'report' : 'refuse')];
}

/** Assertions that were there before and now stand behind a condition, a swallowed error and the like. */
function guardedFindings({ path, before, after }: ChangedFile): readonly Finding[] {
  const language = languageOf(path);
  if (before === undefined || after === undefined || language === undefined) return [];
  const [was, is] = [before, after].map(text => assertionsIn(text, language, isTestFile(path))) as [
    Assertions,
    Assertions,
  ];
  const more = is.guarded.length - was.guarded.length;
  if (isLoosened({ path, before, after }))
    return [finding('fewer-assertions', path, 'an assertion that compared a value asks for less now')];
  if (more <= 0) return [];
  const isBent = is.guarded.some(line => was.firm.includes(line) && !is.firm.includes(line));
  if (!isBent && is.firm.length >= was.firm.length) return [];
  const words = `${plural(more, 'assertion')} can hardly fail now: behind a condition, a swallowed error, an early end or a weaker matcher`;
  return [finding('fewer-assertions', path, words)];
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

/** Of several findings about a file the first refusal, else the first. */
function gravest(findings: readonly Finding[]): readonly Finding[] {
  const byPath = new Map<string, Finding>();
  for (const one of findings) {
    const known = byPath.get(one.path);
    if (known === undefined || (known.severity === 'report' && one.severity === 'refuse')) byPath.set(one.path, one);
  }
  return [...byPath.values()];
}

/** In the order of what it means: lost tests first, changed settings last. */
export function screenWork({ files, checks, folder = '' }: ScreenedWork): readonly Finding[] {
  const tests = files.filter(file => mayHoldTests(file.path) && !file.isOpaque);
  const { counted, deleted } = countTests(tests, checks, files);
  const opaque = files.filter(file => file.isOpaque && isTestFile(file.path) && file.before !== undefined);
  return [
    ...deleted,
    ...opaque.map(({ path }) =>
      finding('fewer-tests', path, 'it is too large or no text any more, so its tests cannot be counted'),
    ),
    ...fewer(counted, 'tests', tests),
    ...fewer(counted, 'assertions', tests),
    ...silenced(counted),
    ...tests.flatMap(guardedFindings),
    ...tests.flatMap(file => casesFinding(file, counted)),
    ...gravest([...checkFindings(files, checks, folder), ...surroundingFindings(files, checks, programsOf(checks))]),
  ];
}

/** Only what decides about the proof is read: junk beside it must not hide it. `folder`: where the checks run. */
export function decidesProof(checks: readonly string[], folder: string): (path: string) => boolean {
  const isRun = runBy(checks, folder);
  return path =>
    mayHoldTests(path) ||
    isTestConfiguration(path) ||
    isSurrounding(path) ||
    isRun(path) ||
    checks.some(check => check.includes(baseName(path)));
}

/** Sources that decide about no proof by their names: looked at for what outwits one. */
export const mayOutwit = (path: string): boolean => languageOf(path) !== undefined;

export const nothingChanged = finding('nothing-changed', '', 'no file was changed');

/** Equal for equal findings: what a person accepted is exactly this, not the next one of its kind. */
export function fingerprintOf({ kind, path, detail }: Finding): string {
  return JSON.stringify([kind, path, detail]);
}
