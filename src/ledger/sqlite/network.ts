// Knows the file systems on which a write-ahead log is not safe, because processes on two machines cannot share its memory.
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';

/** File system magic numbers of Linux (statfs(2), linux/magic.h). */
const networkTypes: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0x01021997, '9p'],
  [0x65735546, 'FUSE'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS'],
  [0x73757245, 'Coda'],
  [0x564c, 'NCP'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x7461636f, 'OCFS2'],
  [0x01161970, 'GFS2'],
  [0x786f4256, 'VirtualBox shared folder'],
  [0xbacbacbc, 'VMware shared folder'],
]);

export function networkTypeName(type: number): string | undefined {
  return networkTypes.get(type >>> 0);
}

/** The name of the network file system that holds `path` (or would), if it is one. */
export function networkFileSystem(
  path: string,
  typeOf: (folder: string) => number = folder => statfsSync(folder).type,
): string | undefined {
  if (process.platform !== 'linux') return undefined;
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    try {
      return networkTypeName(typeOf(folder));
    } catch {
      if (dirname(folder) === folder) return undefined;
    }
  }
}
