// How much memory Ralph needs while an agent prints one line without end: measured in a process of its own.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { minimalEnvironment } from '../../src/processes/limits.ts';
import { agentPath } from '../prove/stage.ts';

export interface Flood {
  /** Resident size beyond that before the agent was started, at its highest. */
  readonly growthBytes: number;
  readonly chars: number;
  readonly isMarked: boolean;
  readonly code: number | null;
}

const program = `
import { runProcess } from ${JSON.stringify(join(import.meta.dirname, '../../src/processes/spawn.ts'))};
const [agent, bytes] = process.argv.slice(1);
const order = size => ({ command: agent, args: [size], directory: '/', environment: process.env, input: '',
  timeMsMax: 600_000, stop: new AbortController().signal });
for await (const event of runProcess(order('10000000'))); // what is compiled and pooled once is not the flood's
const base = process.memoryUsage.rss();
let peak = 0, chars = 0, isMarked = false, code = null;
const look = () => { peak = Math.max(peak, process.memoryUsage.rss()); };
const looking = setInterval(look, 20);
for await (const event of runProcess(order(bytes))) {
  if (event.type === 'output') { chars += event.text.length; isMarked ||= event.text.includes('[… line cut at 1 MB]'); }
  if (event.type === 'exited') code = event.code;
}
look();
clearInterval(looking);
console.log(JSON.stringify({ growthBytes: peak - base, chars, isMarked, code }));`;

export function flood(bytes: number): Flood {
  const args = ['--input-type=module', '-e', program, agentPath('one-long-line'), String(bytes)];
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: minimalEnvironment(process.env, []),
  });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as Flood;
}
