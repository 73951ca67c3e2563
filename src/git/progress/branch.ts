// HEAD of a working tree: where it stands, and whether a branch still holds what it held. A person may move it at any time.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { git } from '../call.ts';
import type { Branch } from '../commits.ts';
import { readObject, revision } from '../objects.ts';
import type { Repository } from '../repository.ts';
import { headName } from './git-commits.ts';

export const gitBranch = (repository: Repository): Branch => ({
  async head() {
    const { directory, gitDirectory } = repository;
    if (![join(directory, '.git'), join(gitDirectory, 'HEAD')].every(path => existsSync(path))) return undefined;
    return { ref: await headName(repository), commit: await revision(repository, 'HEAD^{commit}') };
  },
  async holds(later, earlier) {
    if (later === earlier) return true;
    if (later === '' || earlier === '') return earlier === '';
    if (await isNearby(repository, later, earlier)) return true;
    return (await git(repository, ['merge-base', '--is-ancestor', earlier, later])).code === 0;
  },
});

const stepsMax = 20;

/** Found among the last few commits, without another git. */
async function isNearby(repository: Repository, later: string, earlier: string): Promise<boolean> {
  let at = later;
  for (let step = 0; step < stepsMax && at !== '' && at !== earlier; step += 1) {
    const read = await readObject(repository, at);
    const text = read.ok ? (read.content?.toString('latin1') ?? '') : '';
    at = /^tree [0-9a-f]+\nparent ([0-9a-f]+)\n/.exec(text)?.[1] ?? '';
  }
  return at === earlier;
}
