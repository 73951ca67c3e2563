// Floods every agent CLI's adapter through the driver, at full size: the run is still good, and our memory stays flat (F28).
import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PriceBook } from '../../src/agents/agent.ts';
import { cliAgent } from '../../src/agents/driver.ts';
import { type CliName, isCliName, loadCli } from '../../src/agents/registry.ts';
import { agentNames } from '../../src/config/agents.ts';
import { minimalEnvironment } from '../../src/processes/limits.ts';
import { agentPath } from './stage.ts';

const megabyte = 1_000_000;
const growthMax = 64 * megabyte;
const prices: PriceBook = { costUsdMicros: () => 1, windowTokens: () => undefined, knows: () => true };

/** Millions of their lines are millions of words to us: V8 takes 31 or 80 MB for them, by chance. Printed, not bound. */
const plainTalkers: ReadonlySet<CliName> = new Set(['kiro', 'q']);

interface Flood {
  readonly growthBytes: number;
  readonly message: string;
  readonly failure: string | undefined;
}

async function flood(name: CliName, fault: string, bytes: number): Promise<Flood> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-adapters-')));
  const performer = cliAgent(await loadCli(name), {
    name,
    program: agentPath('plays-stream'),
    environment: {
      ...minimalEnvironment(process.env, []),
      PLAYS_FOLDER: join(import.meta.dirname, '../fixtures/streams', name),
      PLAYS_FAULT: fault,
      PLAYS_BYTES: String(bytes),
    },
    args: [],
    prices,
  });
  const facts = { loop: 'flood', iteration: 1, task: 'US-001', attempt: 1, prompt: 'Do it.', timeMsMax: 300_000 };
  const assignment = { ...facts, directory, environment: {} };
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  let most = before;
  try {
    for await (const activity of performer.perform(assignment, new AbortController().signal)) {
      most = Math.max(most, process.memoryUsage.rss());
      if (activity.type !== 'ended') continue;
      const { message, failure } = activity;
      return { growthBytes: most - before, message: message.trim().slice(-20), failure: failure?.kind };
    }
    throw new Error('it ended without saying how');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** In a process of its own, so that one flood's leavings are not another's. */
function floodApart(name: CliName, fault: string, bytes: number): Flood {
  const words = ['--expose-gc', import.meta.filename, name, fault, String(bytes)];
  return JSON.parse(execFileSync(process.execPath, words, { encoding: 'utf8', maxBuffer: megabyte })) as Flood;
}

/** Resolves to the number of failures. */
export async function proveAdapters(megabytes: number): Promise<number> {
  let failed = 0;
  for (const name of agentNames.filter(isCliName)) {
    for (const [fault, size] of [
      ['floods', megabytes],
      ['one-long-line', 10 * megabytes],
    ] as const) {
      const { growthBytes, message, failure } = floodApart(name, fault, size * megabyte);
      const isBound = fault === 'one-long-line' || !plainTalkers.has(name);
      const isSmall = !isBound || growthBytes < growthMax;
      const isGood = failure === undefined && message.endsWith('hello') && isSmall;
      failed += isGood ? 0 : 1;
      const how = failure ?? `says ${JSON.stringify(message)}`;
      const grown = `memory +${(growthBytes / megabyte).toFixed(0)} MB`;
      console.log(`${isGood ? 'ok    ' : 'FAILED'} ${name.padEnd(9)} ${fault} of ${size} MB: ${how}, ${grown}`);
    }
  }
  return failed;
}

if (process.argv[1] === import.meta.filename) {
  const [name = '', fault = '', bytes = '0'] = process.argv.slice(2);
  if (!isCliName(name)) throw new Error(`no agent is called ${name}`);
  console.log(JSON.stringify(await flood(name, fault, Number(bytes))));
}
