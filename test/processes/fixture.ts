// What the tests of processes share: where the fake agents are, an order to start one, and a sign of life.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { minimalEnvironment } from '../../src/processes/limits.ts';
import { type ProcessEvent, type ProcessExit, type ProcessOrder, runProcess } from '../../src/processes/spawn.ts';

export const agentPath = (name: string): string => join(import.meta.dirname, '../fixtures/agents', name);
export const plainEnvironment = minimalEnvironment(process.env, []);

export function scratchDirectory(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-process-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Of this worker: by its launcher everything is started, but for what asks for less than a namespace. */
const channels = join(realpathSync(mkdtempSync(join(tmpdir(), 'ralph-channels-'))), 'run');
process.once('exit', () => rmSync(join(channels, '..'), { recursive: true, force: true }));

export function orderFor(agent: string, more: Partial<ProcessOrder> = {}): ProcessOrder {
  return {
    command: agentPath(agent),
    args: [],
    directory: import.meta.dirname,
    environment: plainEnvironment,
    input: '',
    timeMsMax: 60_000,
    channels,
    stop: new AbortController().signal,
    ...more,
  };
}

export interface Told {
  readonly events: readonly ProcessEvent[];
  readonly output: string;
  readonly errors: string;
  readonly exit: ProcessExit;
}

/** Runs it to its end; `heard` may act on an event as soon as it comes. */
export async function tell(order: ProcessOrder, heard: (event: ProcessEvent) => void = () => {}): Promise<Told> {
  const events: ProcessEvent[] = [];
  for await (const event of runProcess(order)) {
    events.push(event);
    heard(event);
  }
  const said = (channel: string): string =>
    events.map(event => (event.type === 'output' && event.channel === channel ? event.text : '')).join('');
  return { events, output: said('output'), errors: said('errors'), exit: events.at(-1) as ProcessExit };
}

/** Like `tell`, but asks it to stop at its first word. */
export function tellUntilFirstWord(order: ProcessOrder): Promise<Told> {
  const stopping = new AbortController();
  return tell({ ...order, stop: stopping.signal }, event => {
    if (event.type === 'output') stopping.abort();
  });
}

/** A fifo that `spawns-orphan` keeps open: `anyAlive` is false once every orphan is dead. */
export function signOfLife(directory: string): { readonly path: string; anyAlive(): boolean } {
  const path = join(directory, 'alive');
  spawnSync('mkfifo', [path]);
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(file));
  return {
    path,
    anyAlive() {
      try {
        readSync(file, Buffer.alloc(1));
        return false;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return true;
        throw error;
      }
    },
  };
}

/** Starts the driver and resolves when its agent has said something. */
export async function drive(...args: readonly string[]): Promise<ChildProcess> {
  const driver = spawn(process.execPath, [join(import.meta.dirname, 'driver.ts'), ...args], {
    env: { ...plainEnvironment, NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void driver.kill('SIGKILL'));
  await new Promise<void>(resolve => {
    let said = '';
    driver.stdout!.on('data', (bytes: Buffer) => {
      said += bytes;
      if (said.includes('"output"')) resolve();
    });
  });
  return driver;
}
