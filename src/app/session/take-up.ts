// Takes up the worktree of a loop that goes on: laid out again when its folder is gone, refused when its branch is.
import { existsSync, mkdirSync } from 'node:fs';
import { UsageError } from '../../text/errors.ts';
import type { State } from '../../core/state.ts';
import { type Ground, makeOwnTree, worktreeOf } from './place.ts';

interface Order {
  readonly home: string;
  /** Where the command was given: the user's own folder. */
  readonly directory: string;
  readonly needed: readonly string[];
  readonly state: State;
}

/** What a person should know; `isNew` when it has to be made ready again. */
export async function takeUpTree(
  ground: Ground,
  { home, directory, needed, state }: Order,
): Promise<{ readonly notices: readonly string[]; readonly isNew: boolean }> {
  const { loop, name, branch } = state;
  if (branch === undefined) return { notices: [], isNew: false };
  const { repository } = ground;
  const over = 'or start over: the same command with --new';
  if (repository === undefined)
    throw new UsageError(`Loop ${name} works on the branch ${branch} of a repository, and this folder is in none.`);
  const { revision } = await import('../../git/ask.ts');
  if ((await revision(repository, `refs/heads/${branch}^{commit}`)) === '')
    throw new UsageError(
      `The branch ${branch} on which loop ${name} works is gone.`,
      `Make it again where its work is (git branch ${branch} COMMIT), ${over}`,
    );
  const path = worktreeOf(home, loop);
  if (existsSync(path)) return { notices: [], isNew: false };
  const gone = `The worktree of loop ${name} was gone`;
  if (!existsSync(`${path}.json`))
    throw new UsageError(`${gone}.`, `Make it again: git worktree add ${path} ${branch}, ${over}`);
  const made = await makeOwnTree(ground, { home, loop, name, directory, needed });
  mkdirSync(state.directory, { recursive: true });
  const kept = state.newest === undefined ? '' : ` What was not committed is in ralph checkpoint list ${name}.`;
  return { notices: [`${gone}: laid out again from its branch ${branch}.${kept}`, ...made.notices], isNew: true };
}
