// Lets a test that runs as root meet the permissions that a user meets.
import { spawnSync } from 'node:child_process';
import { chown } from 'node:fs/promises';

const nobody = 65534;

/** Gives the folder to an ordinary user and works as that user; without root one is an ordinary user already. */
export async function asOrdinaryUser<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  if (process.getuid?.() !== 0) return work();
  await chown(folder, nobody, nobody);
  process.seteuid?.(nobody);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}

/** True when another account may read this file: a clone below a private folder (mktemp -d) may not be. */
export function strangersCanRead(path: string): boolean {
  const user = ['--reuid', '65534', '--regid', '65534', '--clear-groups'];
  return spawnSync('setpriv', [...user, 'test', '-r', path], { stdio: 'ignore' }).status === 0;
}
