// The port to the place where work happens: checkpoints, restore, forks and merges.

/** Contract: never changes what the user had uncommitted; a restore goes forward and can itself be undone. */
export interface Workspace {
  /** Where this iteration works and is checked: the repository, or its own fork. */
  directory(iteration: number): string;
  save(label: string): Promise<string>;
  restore(ref: string): Promise<void>;
  merge(iteration: number): Promise<{ readonly merged: boolean; readonly detail: string }>;
}
