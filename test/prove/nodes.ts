// The oldest Node that we promise, and the pinned one: each plays the whole demo from the bundle.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const versions = ['22.18.0', '22.23.3', '24.21.0'];
const program = join(import.meta.dirname, '..', '..', 'bin', 'ralph');

/** Undefined when it went well. */
function trial(version: string, folder: string): string | undefined {
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'trial', version: '1.0.0', private: true, allowScripts: { node: true } }),
  );
  const install = spawnSync('npm', ['install', '--no-save', `node@${version}`], { cwd: folder, encoding: 'utf8' });
  if (install.status !== 0) return `could not be installed: ${install.stderr.trim().split('\n').at(-1)}`;
  const node = join(folder, 'node_modules', 'node', 'bin', 'node');
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, RALPH_HOME: join(folder, 'home'), TMPDIR: folder };
  const demo = spawnSync(node, [program, 'demo', '--fast'], { cwd: folder, env, encoding: 'utf8' });
  if (demo.status !== 0) return `the demo exited with ${demo.status}: ${demo.stderr.trim().split('\n').at(-1)}`;
  if (/warning/i.test(demo.stderr)) return `it warns: ${/.*warning.*/i.exec(demo.stderr)?.[0]}`;
  return /^Done: 4 of 4 tasks done/m.test(demo.stdout) ? undefined : `it said: ${demo.stdout}`;
}

export function nodes(): number {
  let failed = 0;
  for (const version of versions) {
    const folder = mkdtempSync(join(tmpdir(), 'ralph-node-'));
    const problem = trial(version, folder);
    rmSync(folder, { recursive: true, force: true });
    console.log(`Node ${version}: ${problem ?? 'the demo (scripted agent) is done and proven, without a warning'}`);
    if (problem !== undefined) failed += 1;
  }
  return failed;
}
