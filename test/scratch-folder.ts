// One folder around all that a run of the tests writes: whatever a test or a killed process leaves behind goes with it.
import { chmodSync, mkdtempSync, realpathSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const inMemory = '/dev/shm';
const freeBytesMin = 8_000_000_000;

/** In memory where there is plenty: a new file costs a tenth there, and the tests make some hundred thousand. */
function place(): string {
  try {
    const { bavail, bsize } = statfsSync(inMemory);
    return bavail * bsize >= freeBytesMin ? inMemory : tmpdir();
  } catch {
    return tmpdir();
  }
}

export default function setup(): () => void {
  const folder = realpathSync(mkdtempSync(join(place(), 'ralph-')));
  chmodSync(folder, 0o755); // some tests become another user
  process.env['TMPDIR'] = folder; // before the first fork, so it is theirs
  return () => rmSync(folder, { recursive: true, force: true });
}
