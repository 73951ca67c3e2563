// What stands behind "done": protected files, the look at the work, the judge; made for one loop.
import { createHash } from 'node:crypto';
import { relative } from 'node:path';
import type { State } from '../../core/state.ts';
import {
  type ChangedFile,
  describeFindings,
  type Finding,
  fingerprintOf,
  isTestConfiguration,
  nothingChanged,
  screenWork,
} from '../../checks/tamper/screen.ts';
import { mayHoldTests } from '../../checks/tamper/test-files.ts';
import { type Doubt, keptDocuments } from '../../core/work.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Judge } from '../../checks/check.ts';
import type { Guard } from '../../checks/guard.ts';
import type { Span } from '../../git/workspace.ts';
import type { GitWorkspace } from '../../git/git.ts';

/** The ledger knows by which hash the copies prove themselves. */
export function guardOf(guard: Guard, hash: string | undefined): Engine['guard'] {
  if (hash === undefined) return undefined;
  return {
    async restore(directory) {
      const done = await guard.restore(directory, hash);
      if (!done.ok) return { restored: [], damaged: done.problem };
      return { restored: done.restored.map(({ path, how }) => `${path} (${how})`) };
    },
  };
}

const fileBytesMax = 2_000_000;
const filesMax = 2_000;

async function textsOf(
  git: GitWorkspace,
  tree: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, Buffer>> {
  const found = await git.content(tree, paths);
  return new Map(found.map(({ path, bytes }) => [path, bytes]));
}

const isText = (bytes: Buffer): boolean => bytes.length <= fileBytesMax && !bytes.includes(0);

/** A file that cannot be read any more may hide what became of its tests. */
async function filesOf(git: GitWorkspace, { from, to }: Span, paths: readonly string[]): Promise<ChangedFile[]> {
  const [before, after] = [await textsOf(git, from, paths), await textsOf(git, to, paths)];
  return paths.flatMap(path => {
    const [old, now] = [before.get(path), after.get(path)];
    if (old !== undefined && now?.equals(old)) return []; // changed, and put back since
    return {
      path,
      before: old === undefined ? undefined : isText(old) ? old.toString('utf8') : '',
      after: now === undefined ? undefined : isText(now) ? now.toString('utf8') : '',
      isOpaque: now !== undefined && !isText(now) ? (true as const) : undefined,
    };
  });
}

/** Only what decides about the proof is read: junk beside it must not hide it. */
const matters = (path: string, checks: readonly string[]): boolean =>
  mayHoldTests(path) ||
  isTestConfiguration(path) ||
  checks.some(check => check.includes(path.split('/').at(-1) ?? path));

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
export function screenOf(git: GitWorkspace, top: string, inside: string): NonNullable<Engine['screen']> {
  return async (spans, now, task, state: State) => {
    const [kept] = keptDocuments(state.settings.mode, state.document);
    const document = kept === undefined ? '' : relative(top, kept);
    const { checks } = state.settings;
    const changes = (await git.changes(spans)).filter(one => !isOurs(one.path, document));
    // An issue may have been mended together with another one, and the next round looks again.
    if (changes.length === 0 && state.settings.review !== null) return [];
    if (changes.length === 0) return [doubtOf({ ...nothingChanged, detail: `no file was changed for ${task}` })];
    const last = spans.at(-1)?.to ?? '';
    const whole = { from: spans[0]?.from ?? '', to: now === '' ? last : now };
    const later = now === '' ? [] : await git.changes([{ from: last, to: now }]);
    const all = [...new Set([...changes, ...later].map(one => one.path))];
    const paths = all.filter(path => !isOurs(path, document) && matters(path, checks));
    if (paths.length > filesMax) return [doubtOf(tooMany(paths.length))];
    const files = await filesOf(git, whole, paths);
    return screenWork({ files, checks, folder: inside || undefined }).map(one => doubtOf(one, files));
  };
}

const tooMany = (count: number): Finding => ({
  kind: 'fewer-tests',
  path: '',
  detail: `${count} files of tests and their settings were changed, too many to compare`,
  severity: 'refuse',
});

const patchBytesMax = 400_000;

async function patchText(git: GitWorkspace, span: Span): Promise<string> {
  const { text, isCut } = await git.patch(span, { bytesMax: patchBytesMax });
  return isCut ? `${text}\n[The rest of the diff is left out: it is longer than ${patchBytesMax} bytes.]\n` : text;
}

export function judgeOf(judge: Judge, git: GitWorkspace | undefined, loop: string): NonNullable<Engine['judge']> {
  return async (task, iteration, spans, outcomes, doubts, stop) => {
    const [from, to] = [spans[0]?.from, spans.at(-1)?.to];
    const isKnown = git !== undefined && from !== undefined && to !== undefined;
    const diff = isKnown ? await patchText(git, { from, to }) : 'Not known: this folder keeps no history.';
    const verdict = await judge.judge(
      {
        loop,
        iteration,
        task: task.id,
        title: task.title,
        criteria: task.criteria,
        diff,
        outcomes: outcomes.map(({ flaky: _flaky, ...outcome }) => outcome),
        findings: doubts.length === 0 ? undefined : describeFindings(doubts as readonly Finding[]),
      },
      stop,
    );
    return { ...verdict, undecided: !verdict.passed && verdict.detail.startsWith(noVerdict) };
  };
}

const noVerdict = 'The judge gave no verdict';
