// The end of a launcher: with it goes all that it started, also what its own starter has lost.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'vitest';
import { isAlive, startTimeOf } from '../../src/processes/identity.ts';
import { until } from '../prove/stage.ts';
import { scratchDirectory } from './fixture.ts';

const source = join(import.meta.dirname, '../../src/processes/launcher.ts');

/** As bubblewrap that is killed while it makes a namespace: its child waits for ever, and nobody knows of it. */
const leavesChild = 'sleep 1000 & echo $! >child; kill -KILL $$';

const host = `
  const { launch } = await import(${JSON.stringify(source)});
  const { existsSync, readFileSync } = await import('node:fs');
  const args = ['-c', ${JSON.stringify(leavesChild)}];
  await launch({ command: '/bin/sh', args, wraps: 2, directory: process.cwd(), environment: {}, channels: process.cwd() + '/run/channels' });
  const left = () => existsSync('child') && readFileSync('child', 'utf8').endsWith('\\n');
  while (!left()) await new Promise(done => setImmediate(done));
  process.exit(0);
`;

it.skipIf(process.platform !== 'linux')('ends a process that was left by one that was killed', async () => {
  const directory = scratchDirectory();
  mkdirSync(join(directory, 'run'));
  const words = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', host];
  execFileSync(process.execPath, words, { cwd: directory, timeout: 20_000, stdio: 'ignore' });
  const child = Number(readFileSync(join(directory, 'child'), 'utf8'));
  const startTime = startTimeOf(child);
  await until('it is gone', () => startTime === undefined || !isAlive(child, startTime), 5_000);
});
