// Measures what a person waits for: the start of the bundle against the start of Node itself.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BenchRow, median } from './row.ts';

const bundle = join(import.meta.dirname, '..', '..', 'dist', 'ralph.cjs');
const versionLimit = 2; // issue 2
const statusLimit = 2.5; // issue 2

interface Case {
  readonly name: string;
  readonly args: readonly string[];
  readonly ms: number[];
}

/** A home with one loop that ended, so that `status` has something to say. */
function prepare(folder: string, environment: NodeJS.ProcessEnv): void {
  mkdirSync(join(folder, 'project'));
  const story = { id: 'US-001', title: 'One', description: 'The only one.', criteria: ['it is there'], passes: false };
  writeFileSync(
    join(folder, 'project', 'PRD.json'),
    JSON.stringify({ project: 'bench', description: 'A start.', userStories: [story] }),
  );
  const words = ['run', 'PRD.json', '--yes', '--no-input', '--quiet', '--agent-command', 'echo Task US-001 complete'];
  const ran = spawnSync(process.execPath, [bundle, ...words], {
    cwd: join(folder, 'project'),
    env: environment,
    encoding: 'utf8',
  });
  if (ran.status !== 0) throw new Error(`the loop to look at did not end well: ${ran.stdout}${ran.stderr}`);
}

/** The cases take turns, so that a busy machine slows all alike. */
export async function benchStart(quick: boolean): Promise<readonly BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-bench-start-'));
  const env = { PATH: process.env['PATH'], HOME: join(folder, 'nobody'), RALPH_HOME: join(folder, 'home') };
  try {
    prepare(folder, env);
    const floor: Case = { name: 'node -e 0', args: ['-e', '0'], ms: [] };
    const version: Case = { name: 'ralph --version', args: [bundle, '--version'], ms: [] };
    const status: Case = { name: 'ralph status', args: [bundle, 'status'], ms: [] };
    const rounds = quick ? 20 : 40;
    for (let round = -2; round < rounds; round += 1) {
      for (const { name, args, ms } of [floor, version, status]) {
        const begin = performance.now();
        const ran = spawnSync(process.execPath, args, { cwd: join(folder, 'project'), env, stdio: 'ignore' });
        const took = performance.now() - begin;
        if (ran.status !== 0) throw new Error(`${name} exited with ${ran.status}`);
        if (round >= 0) ms.push(took);
      }
    }
    const row = ({ name, ms }: Case, limit: number): BenchRow => ({
      name: `start: ${name} / ${floor.name}`,
      ratio: median(ms) / median(floor.ms),
      limit,
      detail:
        `${median(ms).toFixed(1)} ms, floor ${median(floor.ms).toFixed(1)} ms (medians of ${rounds} in turn); ` +
        `best ${Math.min(...ms).toFixed(1)} ms, floor ${Math.min(...floor.ms).toFixed(1)} ms`,
    });
    return [row(version, versionLimit), row(status, statusLimit)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
