// One folder around all that a run of the tests writes: whatever a test or a killed process leaves behind goes with it.
import { accessSync, chmodSync, constants, mkdtempSync, readdirSync, realpathSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { probeOnce } from './processes/probes.ts';

const memory = '/dev/shm';
const roomMin = 4 * 2 ** 30;
const compiledMax = 8_000;

/**
 * Memory where there is enough of it: syncs that no test needs cost nothing there, and ext4 without a journal looks for
 * long where much was just deleted. TMPDIR, where somebody has set it, is obeyed.
 */
function scratchPlace(): string {
  if (process.env['TMPDIR'] !== undefined) return tmpdir();
  try {
    accessSync(memory, constants.W_OK);
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize >= roomMin ? memory : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** Node compiles each file of tests under a name of its own in each run, and forgets none of them. */
function boundCompiled(folder: string): void {
  try {
    if (readdirSync(folder, { recursive: true }).length > compiledMax) rmSync(folder, { recursive: true });
  } catch {
    // It is not there yet, or another run is at the same.
  }
}

export default function setup(): () => void {
  const folder = realpathSync(mkdtempSync(join(scratchPlace(), 'ralph-test-')));
  chmodSync(folder, 0o755); // some tests become another user
  process.env['TMPDIR'] = folder; // before the first fork, so it is theirs
  probeOnce(folder);
  // Programs that are started from source: to strip and compile it all again is three quarters of a start. Not in the
  // folder of the run: one that ends after it would make that again.
  const compiled = join(import.meta.dirname, '..', 'node_modules', '.cache', 'ralph-test');
  boundCompiled(compiled);
  process.env['NODE_COMPILE_CACHE'] = compiled;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }); // a program that ends may still write
}
