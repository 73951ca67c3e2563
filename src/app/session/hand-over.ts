// Hand-over of a loop on a branch of its own: at its good end the marks of the user's document become a commit of the
// branch, and the user's file is as HEAD has it again, so that a plain `git merge` brings both and leaves nothing behind.
import { realpathSync } from 'node:fs';
import { basename, isAbsolute, join, relative } from 'node:path';
import { hasUserDocument, type State, showsBlocked } from '../../core/state.ts';
import { allTasks, progress, type TaskMark } from '../../core/task.ts';
import { replaceFile } from '../../documents/replace-file.ts';
import { documentBytesMax, readText } from '../../documents/text-file.ts';
import type { Repository } from '../../git/repository.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { markedText } from '../documents.ts';
import { newestLoop } from '../loops/find.ts';
import { closedIn } from './earlier-loop.ts';
import type { Prepared } from './prepare.ts';
import { worktreeOf } from './repository.ts';
import type { Workspace } from './workspace.ts';

/** All that the loop has written into the document. */
const marksOf = (state: State): readonly TaskMark[] =>
  [...allTasks(state.tasks)].flatMap(({ id, status, attempts, missing, spec }) => {
    if (missing === true) return [];
    const more = showsBlocked(state) ? { status, attempts } : {};
    return [{ id: spec.documentId ?? id, done: status === 'done', skipped: status === 'skipped', ...more }];
  });

async function textIn(repository: Repository, revision: string): Promise<string | undefined> {
  const { readObject } = await import('../../git/objects.ts');
  const found = await readObject(repository, revision, documentBytesMax);
  return found.ok ? found.content?.toString('utf8') : undefined;
}

/** The document in the user's tree: undefined where git does not have it, or where it holds more than the loop's marks. */
async function markedDocument(prepared: Prepared, state: State, repository: Repository) {
  const real = realpathSync(prepared.path);
  const path = relative(realpathSync(repository.directory), real);
  if (isAbsolute(path) || path.startsWith('..')) return undefined;
  const [before, now] = [await textIn(repository, `HEAD:${path}`), await readText(real, documentBytesMax)];
  if (before === undefined || now.type !== 'text' || before === now.text) return undefined;
  if ((await markedText(prepared, before, marksOf(state))) !== now.text) return undefined;
  return { real, path, before, now };
}

/** Only what stands on the branch leaves the user's file; what a person wrote into it meanwhile stays there. */
export async function handOver(prepared: Prepared, { engine }: Workspace, state: State): Promise<void> {
  const { branch, id: loop } = state.loop;
  const { repository } = prepared.repositoryInfo;
  const isCommitted = state.settings.commits || state.settings.worktreePerTask;
  if (branch === undefined || repository === undefined || engine.commits === undefined) return;
  if (!isCommitted || !hasUserDocument(state) || state.control.ended?.reason !== 'goal_achieved') return;
  const found = await markedDocument(prepared, state, repository);
  if (found === undefined) return;
  const { real, path, before, now } = found;
  const document = join(worktreeOf(prepared.home, loop), path);
  await replaceFile(document, now.bytes);
  const { done, total } = progress(state.tasks);
  const title = `${done} of ${total} tasks done`;
  const about = { loop, task: basename(path), title, iteration: state.iterations.begun, branch };
  await engine.commits.commit({ ...about, body: 'What the loop did, as marks in the document.', spans: [], document });
  if ((await textIn(repository, `refs/heads/${branch}:${path}`)) === now.text)
    await replaceFile(real, Buffer.from(before), { mode: now.mode, expected: now.identity });
}

/** The newest loop has done all that the document asks for, on a branch that HEAD does not hold yet. */
export async function unmergedLoop({ path, document, repositoryInfo }: Prepared, ledger: Ledger) {
  const state = (await newestLoop(ledger, path))?.state;
  const { repository } = repositoryInfo;
  const branch = state?.loop.branch;
  if (repository === undefined || branch === undefined || state?.control.ended?.reason !== 'goal_achieved')
    return undefined;
  const closed = closedIn(state);
  if (!document.tasks.every(task => task.done || task.skipped || closed.has(task.id))) return undefined;
  const { git } = await import('../../git/call.ts');
  const asked = await git(repository, ['merge-base', '--is-ancestor', `refs/heads/${branch}`, 'HEAD']);
  return asked.code === 1 ? { type: 'over' as const, state } : undefined;
}
