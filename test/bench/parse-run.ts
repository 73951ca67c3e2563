// One process that takes a stream from a real child, through the whole driver or into a bare loop, and says what that took.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cliAgent } from '../../src/agents/driver.ts';
import { openPriceBook } from '../../src/agents/prices.ts';
import { containment } from '../../src/processes/contain.ts';
import { bareLoop, clis, type Pass } from './parse-pass.ts';

export type RunRole = 'floor' | 'driver' | 'memory';

const [role, program, directory] = process.argv.slice(2) as [RunRole, string, string];
const environment = { PATH: process.env['PATH'] ?? '' };
let growthBytes = 0;
let before = 0;

function sample(): void {
  if (role === 'memory') growthBytes = Math.max(growthBytes, process.memoryUsage.rss() - before);
}

type Heard = Omit<Pass, 'ms' | 'cpuMs' | 'growthBytes'>;

async function throughLoop(): Promise<Heard> {
  const loop = bareLoop();
  const child = spawn(program, [], { cwd: directory, env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.on('data', (bytes: Buffer) => loop.push(bytes));
  await once(child, 'close');
  return loop.end();
}

/** The consumer drops what it hears. */
async function throughDriver(): Promise<Heard> {
  const prices = await openPriceBook();
  const agent = cliAgent(clis.claude, { name: 'claude', program, environment, args: [], prices, folderIn: directory });
  const assignment = {
    ...{ loop: 'bench', iteration: 1, task: 'US-001', attempt: 1, prompt: 'a prompt', directory },
    ...{ timeMsMax: 600_000, environment: {} },
  };
  let [chars, tools, odd] = [0, 0, 0];
  for await (const activity of agent.perform(assignment, new AbortController().signal)) {
    if (activity.type === 'text') {
      if (activity.channel === 'errors') odd += 1;
      chars += activity.text.length;
    } else if (activity.type === 'tool') tools += 1;
    else if (activity.type === 'ended' && activity.failure !== undefined) throw new Error(activity.failure.detail);
    sample();
  }
  return { lines: 0, chars, tools, odd };
}

await openPriceBook();
containment(); // found out once in a process
globalThis.gc?.();
before = process.memoryUsage.rss();
const begin = performance.now();
const cpu = process.cpuUsage();
const heard = await (role === 'floor' ? throughLoop() : throughDriver());
const { user, system } = process.cpuUsage(cpu);
const pass: Pass = { ms: performance.now() - begin, cpuMs: (user + system) / 1_000, growthBytes, ...heard };
process.stdout.write(JSON.stringify([pass]));
