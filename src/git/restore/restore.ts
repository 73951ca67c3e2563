// Restores the tree to what a checkpoint holds, by going forward: planned, merged, staged, then applied in one go.
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runDetached } from '../../processes/run-detached.ts';
import { git } from '../call.ts';
import { byPath, shown, toText } from '../paths.ts';
import type { PrivateGit } from '../private.ts';
import { type Refusal, type Restored, type RestoreOrder, refuse } from '../workspace.ts';
import { type Applied, restoreProgram } from './apply-restore.ts';
import { type Merge, type Plan, planRestore } from './plan.ts';
import { journalIn, type NewFile, stage, stagingOf, writeJournal } from './stage.ts';

interface MergedPlan {
  readonly plan: Plan;
  readonly merged: readonly NewFile[];
  readonly conflicts: readonly string[];
}

/** What a restore would do; writes nothing into the tree. */
export async function plannedRestore(own: PrivateGit, order: RestoreOrder): Promise<Restored | Refusal> {
  return (await lostOf(own, order)) ?? answer(await mergePlan(own, order), []);
}

export async function restore(own: PrivateGit, loop: string, order: RestoreOrder): Promise<Restored | Refusal> {
  const unfinished = await finishRestore(own, loop);
  if (!unfinished.ok) return unfinished;
  const lost = await lostOf(own, order);
  if (lost !== undefined) return lost;
  const merged = await mergePlan(own, order);
  if (merged.conflicts.length > 0) return answer(merged, []);
  const files = [
    ...merged.plan.write.flatMap(({ to, ...rest }) => (to === undefined ? [] : [{ ...rest, to }])),
    ...merged.merged,
  ];
  files.sort((one, other) => byPath(one.path, other.path));
  const staged = await stage(own, loop, files, merged.plan.remove);
  if (!staged.ok) return staged;
  await writeJournal(own.folder, staged.journal);
  const applied = await finishRestore(own, loop);
  return applied.ok ? answer(merged, [...staged.changed, ...applied.changed]) : applied;
}

/** Somebody may have removed a checkpoint with git itself. */
async function lostOf(own: PrivateGit, { to, base, now }: RestoreOrder): Promise<Refusal | undefined> {
  const input = [to, base, now].map(commit => `${commit}^{tree}\n`).join('');
  const found = await git(own.repository, ['cat-file', '--batch-check=%(objecttype)'], { input });
  const kinds = found.output.toString('latin1').trim().split('\n');
  if (kinds.length === 3 && kinds.every(kind => kind === 'tree')) return undefined;
  return refuse('The checkpoint is no longer in this repository. Nothing was changed.');
}

/** `changed`: somebody put something else there meanwhile. */
type Finished = { readonly ok: true; readonly found: boolean; readonly changed: readonly string[] } | Refusal;

/** Does the steps of the journal, if there is one; those that are done already do no harm. */
export async function finishRestore(own: PrivateGit, loop: string): Promise<Finished> {
  const journal = journalIn(own.folder);
  if (!existsSync(journal)) {
    await rm(stagingOf(own, loop), { recursive: true, force: true });
    return { ok: true, found: false, changed: [] };
  }
  const ended = await runDetached(restoreProgram(), journal);
  if (ended.code !== 0 && !existsSync(journal)) return { ok: true, found: false, changed: [] }; // another one was faster
  if (ended.code !== 0)
    return refuse(`The restore was cut: ${ended.errors.trim().slice(-500)}`, 'Run again to finish it.');
  const { changed, failed } = JSON.parse(ended.output.toString('utf8')) as Applied;
  const first = failed[0];
  if (first !== undefined) {
    const more = failed.length > 1 ? ` and ${failed.length - 1} more` : '';
    const problem = `The restore could not finish ${shown(first.path)}${more}: ${first.why}.`;
    return refuse(problem, 'Mend that, then run again.');
  }
  await rm(journal, { force: true });
  const litter = (await readdir(own.folder)).filter(name => name.startsWith('restore.json.'));
  await Promise.all(litter.map(name => rm(join(own.folder, name), { force: true })));
  await rm(stagingOf(own, loop), { recursive: true, force: true });
  return { ok: true, found: true, changed };
}

async function mergePlan(own: PrivateGit, order: RestoreOrder): Promise<MergedPlan> {
  const plan = await planRestore(own, order);
  const merged: NewFile[] = [];
  const conflicts = [...plan.conflicts];
  for (const one of plan.merge) {
    const object = await mergeLines(own, one);
    const mode = one.now.mode === one.base.mode ? one.to.mode : one.now.mode;
    if (object !== undefined) merged.push({ path: one.path, from: one.now, to: { mode, object } });
    else if (order.overwrite === true) merged.push({ path: one.path, from: one.now, to: one.to });
    else conflicts.push(one.path);
  }
  return { plan, merged, conflicts };
}

/** The object of the merged text; undefined when the same lines were changed on both sides, or it is no text. */
async function mergeLines(own: PrivateGit, { now, base, to }: Merge): Promise<string | undefined> {
  const folder = join(own.folder, 'merge');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  try {
    for (const [name, { object }] of Object.entries({ now, base, to })) {
      const read = await git(own.place, ['cat-file', 'blob', object], { bytesMax: mergeBytesMax });
      if (read.code !== 0) return undefined;
      await writeFile(join(folder, name), read.output);
    }
    const names = ['now', 'base', 'to'].map(name => join(folder, name));
    const merged = await git(own.repository, ['merge-file', '-p', '-q', ...names]);
    if (merged.code !== 0) return undefined;
    const stored = await git(own.place, ['hash-object', '-w', '--stdin'], { input: merged.output });
    return stored.code === 0 ? stored.output.toString('latin1').trim() : undefined;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const mergeBytesMax = 20_000_000;

function answer({ plan, merged, conflicts }: MergedPlan, changed: readonly string[]): Restored {
  if (conflicts.length > 0) {
    const named = [...new Set(conflicts)].sort(byPath);
    const several = named.length === 1 ? 'was changed' : `and ${named.length - 1} more were changed`;
    const problem = `${shown(named[0]!)} ${several} by somebody else than the loop. Nothing was restored.`;
    return { ...refuse(problem, 'Keep a copy, then say --overwrite.'), conflicts: named.map(toText) };
  }
  const left = new Set(changed);
  const list = (all: readonly { readonly path: string }[]): readonly string[] => {
    const paths = all.flatMap(({ path }) => (left.has(path) ? [] : [path]));
    return paths.sort(byPath).map(toText);
  };
  return {
    ok: true,
    written: list(plan.write),
    deleted: list(plan.remove),
    merged: list(merged),
    kept: [...plan.kept, ...changed].sort(byPath).map(toText),
  };
}
