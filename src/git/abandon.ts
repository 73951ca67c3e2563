// Takes a worktree back that was just made, with its branch, when the loop does not begin after all.
import type { Refusal } from './workspace.ts';
import { ask, revision } from './ask.ts';
import type { Repository } from './repository.ts';
import { removeWorktree } from './worktree.ts';

/** The branch goes only while it holds nothing but what HEAD holds. */
export async function abandonWorktree(
  repository: Repository,
  path: string,
  branch: string,
): Promise<{ readonly ok: true } | Refusal> {
  const removed = await removeWorktree(repository, path);
  if (!removed.ok) return removed;
  const tip = await revision(repository, `refs/heads/${branch}`);
  if (tip === '' || tip !== (await revision(repository, 'HEAD'))) return { ok: true };
  const gone = await ask(repository, ['update-ref', '-d', `refs/heads/${branch}`, tip]);
  return gone.ok ? { ok: true } : gone;
}
