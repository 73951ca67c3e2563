// Compares trees: which paths differ, and what they are on both sides.
import { Bug, UsageError } from '../text/errors.ts';
import type { Change, Span } from './workspace.ts';
import type { Collected } from '../processes/collect.ts';
import { complaint, type GitPlace, git } from './call.ts';
import { byPath, pathsOf, toText } from './paths.ts';

export interface Entry {
  /** `100644`, `100755`, `120000` (a link) or `160000` (a repository of its own). */
  readonly mode: string;
  readonly object: string;
}

/** Undefined where the path is not there. Paths have one character per byte. */
export interface Difference {
  readonly path: string;
  readonly from: Entry | undefined;
  readonly to: Entry | undefined;
}

export const isSame = (one: Entry | undefined, other: Entry | undefined): boolean =>
  one?.mode === other?.mode && one?.object === other?.object;

const raw = [
  'diff-tree',
  '-r',
  '-z',
  '--raw',
  '--no-renames',
  '--no-abbrev',
  '--no-ext-diff',
  '--ignore-submodules=none',
];

/** Every path on which two trees or commits differ. */
export async function differences(place: GitPlace, { from, to }: Span): Promise<readonly Difference[]> {
  if (from === to) return [];
  const found = await git(place, [...raw, '--end-of-options', from, to, '--'], { timeMsMax: 300_000 });
  if (found.code !== 0) throw unreadable(`git cannot compare ${from} and ${to}`, found);
  const fields = pathsOf(found);
  const all: Difference[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [fromMode = '', toMode = '', fromObject = '', toObject = ''] = fields[at]!.slice(1).split(' ');
    all.push({ path: fields[at + 1]!, from: entry(fromMode, fromObject), to: entry(toMode, toObject) });
  }
  return all;
}

/** Somebody may have removed checkpoints with git itself; all else is our own mistake. */
export function unreadable(what: string, answer: Collected): Error {
  const said = complaint(answer);
  const isGone = /bad object|bad tree|not a valid object|not a tree|unable to read|could not read|missing/i.test(said);
  if (!isGone) return new Bug(`${what}: ${said}`);
  return new UsageError(
    'The checkpoints of this loop are gone from the repository, so it cannot be told what changed.',
    'Begin a new loop: ralph run --new',
  );
}

const entry = (mode: string, object: string): Entry | undefined => (/^0+$/.test(mode) ? undefined : { mode, object });

const spansAtOnce = 4;

/** The work of several spans as one list; what one span made and a later one took away is not in it. */
export async function changes(place: GitPlace, spans: readonly Span[]): Promise<readonly Change[]> {
  const merged = new Map<string, { readonly before: boolean; readonly after: boolean }>();
  for (let at = 0; at < spans.length; at += spansAtOnce) {
    const some = await Promise.all(spans.slice(at, at + spansAtOnce).map(span => differences(place, span)));
    for (const { path, from, to } of some.flat()) {
      const before = merged.get(path)?.before ?? from !== undefined;
      merged.set(path, { before, after: to !== undefined });
    }
  }
  return [...merged]
    .filter(([, { before, after }]) => before || after)
    .sort(([one], [other]) => byPath(one, other))
    .map(([path, { before, after }]) => ({
      path: toText(path),
      how: before ? (after ? 'changed' : 'deleted') : 'added',
    }));
}
