// Finds pipes, sockets and devices, which git never lists, so that a checkpoint can say that it does not hold them.
import { opendir } from 'node:fs/promises';
import type { Skipped } from '../workspace.ts';
import { specialKind } from './scan.ts';
import { onDisk, pathsOf, toText } from '../paths.ts';
import { type PrivateGit, privately } from '../private.ts';

const entriesMax = 200_000;
const foundMax = 100;

/** Ignored folders and other repositories are left out, as in the checkpoint. Never throws. */
export async function specialFiles(own: PrivateGit, entriesLimit = entriesMax): Promise<readonly Skipped[]> {
  const asked = ['ls-files', '-z', '-o', '-i', '--exclude-standard', '--directory'];
  const ignored = new Set(pathsOf(await privately(own, asked)));
  const found: Skipped[] = [];
  const folders = [''];
  let entries = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const top = onDisk(own.repository.directory, folder);
    const inside: string[] = [];
    try {
      for await (const entry of await opendir(top, { encoding: 'latin1' })) {
        entries += 1;
        if (entries > entriesLimit || found.length >= foundMax) return found;
        if (entry.name === '.git') {
          if (folder === '') continue;
          inside.length = 0;
          break;
        }
        const path = `${folder}${entry.name}`;
        const why = specialKind(entry);
        if (why !== undefined && !ignored.has(path)) found.push({ path: toText(path), why });
        if (entry.isDirectory() && !ignored.has(`${path}/`)) inside.push(`${path}/`);
      }
    } catch {
      continue; // gone, or closed to us
    }
    folders.push(...inside);
  }
  return found;
}
