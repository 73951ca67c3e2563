// Work in a folder that is no git repository: the loop runs, but nothing can be undone, committed or done in parallel.
import type { Refusal, Workspace } from './workspace.ts';

const refusal: Refusal = {
  ok: false,
  problem: 'This folder is not a git repository, so Ralph cannot undo, commit or work in parallel here.',
  fix: 'Run git init and commit once.',
};

export function plainWorkspace(directory: string): Workspace {
  return {
    kind: 'plain',
    directory: () => directory,
    save: async () => refusal,
    treeNow: async () => '',
    restore: async () => ({ ...refusal, conflicts: [] }),
    changes: async () => [],
    commit: async () => refusal,
    fork: async () => refusal,
    base: async () => '',
    bring: async () => ({ ...refusal, conflicts: [] }),
    land: async () => refusal,
    repair: async () => ({ did: [], missing: [] }),
  };
}
