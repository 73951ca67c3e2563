// The hosts of this worker: as many as commands at the same time, each of them warm for the next one.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Writable } from 'node:stream';
import type { Order } from './host.ts';

export interface Told {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Host {
  readonly child: ChildProcess;
  readonly order: (order: Order) => Promise<Told & { readonly isLast: boolean; readonly keeps: boolean }>;
  readonly end: () => void;
  /** Programs are open in it, for the test with this home; with them it is of no use to others. */
  home?: string | undefined;
}

export interface Hosted {
  readonly told: Promise<Told>;
  /** Without effect once it has told. */
  readonly kill: () => void;
}

const idle: Host[] = [];
const program = join(import.meta.dirname, 'host.ts');
/** Not in the folder of the run: a host that ends after it would make that again. */
const compiled = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'ralph-test');

function startHost(): Host {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program], {
    env: { TZ: 'UTC', NODE_COMPILE_CACHE: compiled },
    stdio: ['ignore', 'inherit', 'inherit', 'pipe', 'pipe'],
  });
  const orders = child.stdio[3] as Writable;
  orders.on('error', () => {}); // it is gone, which its end says
  const lines = createInterface({ input: child.stdio[4] as NodeJS.ReadableStream });
  const gone = once(child, 'exit').then(([code]) => ({
    code,
    isLast: true,
    keeps: false,
    stdout: '',
    stderr: 'the host is gone',
  }));
  for (const one of [child, child.stdio[3], child.stdio[4]] as { unref: () => void }[]) one.unref();
  return {
    child,
    end: () => void orders.end(),
    async order(order) {
      const line = once(lines, 'line').then(([text]) => JSON.parse(text as string));
      orders.write(`${JSON.stringify(order)}\n`);
      return Promise.race([line, gone]);
    },
  };
}

/** One that this test has used, or one in which nothing is open. */
function hostFor(home: string | undefined): Host {
  const at = idle.findIndex(one => one.home === undefined || one.home === home);
  if (at !== -1) return idle.splice(at, 1)[0]!;
  idle.shift()?.end();
  return startHost();
}

export function hosted(order: Order): Hosted {
  const home = order.env['RALPH_HOME'];
  const host = hostFor(home);
  let isOver = false;
  const work = async (): Promise<Told> => {
    const { isLast, keeps, ...told } = await host.order(order);
    isOver = true;
    host.home = keeps ? home : undefined;
    if (!isLast) idle.push(host);
    return told;
  };
  return { told: work(), kill: () => void (isOver || host.child.kill('SIGKILL')) };
}
