// Where the tests of deleted files went: moved, split, merged or rewritten tests are not lost ones.
import { addCounts, type Counts, countsOf, noCounts } from './count.ts';
import { isFoundByRunners, isNamedAsTest, isStrangeTest, isTestFile, languageOf } from './test-files.ts';
import type { ChangedFile, Finding } from './tamper-finding.ts';

export interface Entry {
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

type Bag = Map<string, number>;

/** Lines that say something, so that brackets and blanks do not make two files alike. */
function linesOf(text: string | undefined): Bag {
  const lines: Bag = new Map();
  for (const line of (text ?? '').split('\n')) {
    const trimmed = line.trim();
    if (trimmed.length > 5 && !/^(import|from|use|package|require|\/\/|#|\*)\b/.test(trimmed))
      lines.set(trimmed, (lines.get(trimmed) ?? 0) + 1);
  }
  return lines;
}

const name =
  /"([^"\\\n]{3,80})"|'([^'\\\n]{3,80})'|`([^`\\\n]{3,80})`|\b(?:def|func|fn|fun|void|function)\s+(\w{3,80})/g;

/** What tests are called, whichever runner they are written for: texts and functions. */
function namesOf(text: string | undefined): Bag {
  const names: Bag = new Map();
  for (const line of (text ?? '').split('\n')) {
    if (/^\s*(import|from|use|using|package|require|#include)\b|\brequire\(/.test(line)) continue;
    for (const [, ...forms] of line.matchAll(name)) {
      const found = forms.find(form => form !== undefined) as string;
      names.set(found, (names.get(found) ?? 0) + 1);
    }
  }
  return names;
}

const movedShare = 0.5; // a file that kept half of its lines elsewhere was moved and edited; less is another file

const homesMax = 50; // a line that is everywhere says nothing about where a file went

/** For each part that some file gained: which file, how often. */
type Gained = ReadonlyMap<string, ReadonlyMap<string, number>>;
type Parts = (text: string | undefined) => Bag;

function gainedBy(files: readonly ChangedFile[], partsOf: Parts): Gained {
  const gained = new Map<string, Map<string, number>>();
  for (const { path, before, after } of files) {
    if (after === undefined) continue;
    const old = partsOf(before);
    for (const [part, times] of partsOf(after)) {
      const more = times - (old.get(part) ?? 0);
      if (more <= 0) continue;
      const by = gained.get(part) ?? new Map<string, number>();
      if (by.size < homesMax) gained.set(part, by.set(path, more));
    }
  }
  return gained;
}

/** The files into which a deleted one went, most of it first; none when less than half of it went anywhere. */
function homesOf(parts: Bag, gained: Gained, isHome: (path: string) => boolean): readonly string[] {
  const kept: Bag = new Map();
  let [total, found] = [0, 0];
  for (const [part, times] of parts) {
    total += times;
    let here = 0;
    for (const [path, more] of gained.get(part) ?? []) {
      if (!isHome(path)) continue;
      kept.set(path, (kept.get(path) ?? 0) + Math.min(times, more));
      here += more;
    }
    found += Math.min(times, here);
  }
  if (found === 0 || found < movedShare * total) return [];
  return [...kept].sort(([, a], [, b]) => b - a).map(([path]) => path);
}

export const said = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

const gone = (path: string, detail: string): Finding => ({ kind: 'test-deleted', path, detail, severity: 'refuse' });

/** More than comments and imports. */
const holdsSomething = (text: string): boolean =>
  text.split('\n').some(line => !/^\s*($|#|\/\/|\/?\*|--|import\b|from\b|use\b|package\b|require\b)/.test(line));

/** Deleted test files that live on elsewhere are counted there. */
export function entriesOf(files: readonly ChangedFile[]): { readonly entries: Entry[]; readonly deleted: Finding[] } {
  const entries = new Map<string, Entry>();
  for (const { path, before, after } of files) {
    if (after === undefined) continue;
    entries.set(path, { path, before: count(path, before), after: count(path, after), isOld: before !== undefined });
  }
  const deleted: Finding[] = [];
  const away = files.filter(file => file.after === undefined);
  const [lines, names] = [linesOf, namesOf].map(partsOf => (away.length === 0 ? new Map() : gainedBy(files, partsOf)));
  for (const file of away) {
    const lost = count(file.path, file.before);
    const isCounted = lost.tests > 0 || lost.assertions > 0;
    const isTest = isCounted || isNamedAsTest(file.path) || isStrangeTest(file.path);
    if (!isTest || !(isCounted || holdsSomething(file.before ?? ''))) continue;
    const isHome = (path: string): boolean => !isFoundByRunners(file.path) || isFoundByRunners(path);
    const moved = homesOf(linesOf(file.before), lines as Gained, isHome);
    const homes = moved.length > 0 ? moved : homesOf(namesOf(file.before), names as Gained, isHome);
    for (const [at, path] of homes.entries()) {
      const home = entries.get(path) as Entry;
      entries.set(path, { ...home, before: at === 0 ? addCounts(home.before, lost) : home.before, isOld: true });
    }
    if (homes.length > 0) continue;
    const [hidden] = homesOf(linesOf(file.before), lines as Gained, () => true);
    const held = `it held ${said(lost.tests, 'test')} and ${said(lost.assertions, 'assertion')}`;
    if (hidden !== undefined) deleted.push(gone(file.path, 'it was moved to a name that test runners do not look for'));
    else deleted.push(gone(file.path, isCounted ? held : 'its tests cannot be counted'));
  }
  return { entries: [...entries.values()], deleted };
}
