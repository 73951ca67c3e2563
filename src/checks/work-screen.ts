// The screen of the work behind a claim: which changed files decide about its proof, and what the tamper rules say of them.

import { createHash } from 'node:crypto';
import { relative } from 'node:path';
import type { State } from '../core/state.ts';
import type { Doubt, Finding } from '../core/task.ts';
import type { Change, Span } from '../git/checkpoints.ts';
import { decidesProof, fingerprintOf, mayOutwit, nothingChanged, screenWork } from './tamper/screen.ts';
import { isTestFile } from './tamper/source-files.ts';
import type { ChangedFile } from './tamper/weakening.ts';

/** What checkpoints hold of the work. */
interface WorkHistory {
  changes(spans: readonly Span[]): Promise<readonly Change[]>;
  content(
    tree: string,
    paths: readonly string[],
  ): Promise<readonly { readonly path: string; readonly bytes: Buffer }[]>;
}

const fileBytesMax = 2_000_000;
const filesMax = 2_000;

const isText = (bytes: Buffer): boolean => bytes.length <= fileBytesMax && !bytes.includes(0);
const textOf = (bytes: Buffer | undefined): string | undefined =>
  bytes && (isText(bytes) ? bytes.toString('utf8') : '');

/** A file that cannot be read any more may hide what became of its tests. */
async function filesOf(history: WorkHistory, { from, to }: Span, paths: readonly string[]): Promise<ChangedFile[]> {
  const contents = async (tree: string): Promise<ReadonlyMap<string, Buffer>> =>
    new Map((await history.content(tree, paths)).map(({ path, bytes }) => [path, bytes]));
  const [before, after] = [await contents(from), await contents(to)];
  return paths.flatMap(path => {
    const [old, now] = [before.get(path), after.get(path)];
    if (old !== undefined && now?.equals(old)) return []; // changed, and put back since
    const isOpaque = now !== undefined && !isText(now) ? (true as const) : undefined;
    return { path, before: textOf(old), after: textOf(now), isOpaque };
  });
}

/** Exactly this content is what a person may accept, not the next change of its kind. */
function doubtOf(finding: Finding, files: readonly ChangedFile[] = []): Doubt {
  const after = files.find(({ path }) => path === finding.path)?.after ?? '';
  const content = createHash('sha256').update(after).digest('hex').slice(0, 16);
  return { ...finding, fingerprint: `${fingerprintOf(finding)} ${content}` };
}

/** Ralph's own writing is nobody's work: the document, its instructions, the closing note. */
function isOurs(path: string, document: string): boolean {
  const name = path.split('/').at(-1) ?? '';
  return path === document || name === 'done.md' || path.startsWith('.ralph/');
}

/** `inside`: the folder of the work, relative to the top of the tree. */
export function workScreen(
  history: WorkHistory,
  top: string,
  inside: string,
): (spans: readonly Span[], now: string, task: string, state: State) => Promise<readonly Doubt[]> {
  return async (spans, now, task, state: State) => {
    const { checks, policy } = state.settings;
    const document = policy.restoreKeepsDocument ? relative(top, state.loop.document) : '';
    const changes = (await history.changes(spans)).filter(one => !isOurs(one.path, document));
    // An issue may have been mended together with another one, and the next round looks again.
    if (changes.length === 0 && policy.achievedBy === 'rounds') return [];
    if (changes.length === 0) return [doubtOf({ ...nothingChanged, detail: `no file was changed for ${task}` })];
    const last = spans.at(-1)?.to ?? '';
    const whole = { from: spans[0]?.from ?? '', to: now || last };
    const later = now === '' ? [] : await history.changes([{ from: last, to: now }]);
    const all = [...new Set([...changes, ...later].map(one => one.path))];
    const decides = decidesProof(checks, inside);
    const theirs = all.filter(path => !isOurs(path, document));
    const paths = theirs.filter(decides);
    if (paths.length > filesMax) return [doubtOf(tooMany(paths.length))];
    const sources = theirs.filter(path => mayOutwit(path) && !decides(path)).slice(0, filesMax - paths.length);
    const files = await filesOf(history, whole, [...paths, ...sources]);
    return screenWork({ files, checks, folder: inside || undefined }).map(one => doubtOf(one, files));
  };
}

/** By the same rule that says which files the tamper screen counts tests in; one that only lost tests brings none. */
export const testsBrought =
  (history: Pick<WorkHistory, 'changes'>): ((spans: readonly Span[]) => Promise<boolean>) =>
  async spans =>
    (await history.changes(spans)).some(one => one.how !== 'deleted' && isTestFile(one.path));

const tooMany = (count: number): Finding => ({
  kind: 'fewer-tests',
  path: '',
  detail: `${count} files of tests and their settings were changed, too many to compare`,
  severity: 'refuse',
});
