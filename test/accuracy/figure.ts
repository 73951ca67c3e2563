// Figures of a detector: how many rows of a set it reads as a person would, always with the denominator.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Earlier hold-outs, read by those who work on the rules since a new one took their place. */
export const openedSets = ['first', 'second', 'third'] as const;
export type OpenedSet = (typeof openedSets)[number];
/** `own`: written by those who wrote the rules. `holdout`: by fresh readers, never looked at. */
export type SetName = 'own' | OpenedSet | 'holdout';

export const folderOf = (set: SetName): string =>
  join(import.meta.dirname, ...(set === 'own' ? ['sets'] : set === 'holdout' ? [set] : ['opened', set]));

export interface Figure {
  readonly measure: string;
  readonly count: number;
  readonly of: number;
  /** At least this share, or at most. */
  readonly wanted: { readonly atLeast: number } | { readonly atMost: number };
  /** The rows that went wrong, by id and in words, for whoever works on the rules. */
  readonly misses: readonly string[];
}

export interface Detector {
  readonly name: string;
  /** Of one set; `rows` reads a file of it. */
  measure(rows: <Row>(file: string) => readonly Row[]): readonly Figure[] | Promise<readonly Figure[]>;
}

export const readRows =
  (set: SetName) =>
  <Row>(file: string): readonly Row[] => {
    const path = join(folderOf(set), file);
    if (!existsSync(path)) return [];
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter(line => line !== '')
      .map(line => JSON.parse(line) as Row);
  };

/** A share of rows for which `isHit` holds; misses are the others, or with `atMost` those that hit. */
export function share<Row extends { readonly id: string }>(
  measure: string,
  rows: readonly Row[],
  wanted: Figure['wanted'],
  isHit: (row: Row) => boolean,
): Figure {
  const hits = rows.filter(isHit);
  const isAtMost = 'atMost' in wanted;
  const misses = (isAtMost ? hits : rows.filter(row => !hits.includes(row))).map(row => row.id);
  return { measure, count: hits.length, of: rows.length, wanted, misses };
}

/** An empty set shows nothing, so it is not held against the rules. */
export const isReached = ({ count, of, wanted }: Figure): boolean =>
  of === 0 || ('atLeast' in wanted ? count / of >= wanted.atLeast : count / of <= wanted.atMost);
