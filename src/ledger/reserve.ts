// Room that is given back when the disk is full, so that the last word can still be recorded (F38).
import { rmSync } from 'node:fs';
import { statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const reserveBytes = 1024 * 1024;
const reservePath = (home: string): string => join(home, 'reserve');

export async function keepReserve(home: string): Promise<void> {
  const room = await statfs(home);
  if (room.bavail * room.bsize > reserveBytes * 4) {
    await writeFile(reservePath(home), Buffer.alloc(reserveBytes), { mode: 0o600 });
  }
}

export function freeReserve(home: string): void {
  rmSync(reservePath(home), { force: true });
}
