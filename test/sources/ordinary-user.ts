// Lets a test that runs as root meet the permissions that a user meets.
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
