// One folder around all that a run of the tests writes: whatever a test or a killed process leaves behind goes with it.
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export default function setup(): () => void {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-test-')));
  chmodSync(folder, 0o755); // some tests become another user
  process.env['TMPDIR'] = folder; // before the first fork, so it is theirs
  // Programs that are started from source: to strip and compile it all again is three quarters of a start. Not in the
  // folder of the run: one that ends after it would make that again.
  process.env['NODE_COMPILE_CACHE'] = join(import.meta.dirname, '..', 'node_modules', '.cache', 'ralph-test');
  return () => rmSync(folder, { recursive: true, force: true });
}
