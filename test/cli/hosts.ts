// The hosts of this worker: as many as commands at the same time, each of them warm for the next one.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
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
  readonly order: (order: Order) => Promise<Told & { readonly isLast: boolean }>;
  /** Where it finds what a process looks for once. */
  readonly tools: string;
  /** Of the test that it worked for: programs may be open in it, which end when it works for another. */
  home?: string | undefined;
}

export interface Hosted {
  readonly told: Promise<Told>;
  /** Without effect once it has told. */
  readonly kill: () => void;
}

const idle: Host[] = [];
const program = join(import.meta.dirname, 'host.ts');

const toolsOf = (path = ''): string =>
  ['bwrap', 'perl', 'setpriv', 'setsid', 'sh', 'unshare']
    .map(name => path.split(delimiter).find(folder => existsSync(join(folder, name))))
    .join(delimiter);

function startHost(tools: string): Host {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program], {
    env: { TZ: 'UTC', NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
    stdio: ['ignore', 'inherit', 'inherit', 'pipe', 'pipe'],
  });
  const orders = child.stdio[3] as Writable;
  orders.on('error', () => {}); // it is gone, which its end says
  const lines = createInterface({ input: child.stdio[4] as NodeJS.ReadableStream });
  const gone = once(child, 'exit').then(([code]) => ({
    code,
    isLast: true,
    stdout: '',
    stderr: 'the host is gone',
  }));
  const open = [child, child.stdio[3], child.stdio[4]] as { ref: () => void; unref: () => void }[];
  for (const one of open) one.unref();
  return {
    child,
    tools,
    async order(order) {
      const line = once(lines, 'line').then(([text]) => JSON.parse(text as string));
      for (const one of open) one.ref(); // nobody else may be there who keeps this process from ending
      orders.write(`${JSON.stringify(order)}\n`);
      return Promise.race([line, gone]).finally(() => {
        for (const one of open) one.unref();
      });
    },
  };
}

/** One that this test has used, or any that knows the same tools. */
function hostFor({ env }: Order): Host {
  const tools = toolsOf(env['PATH']);
  const fit = idle.filter(one => one.tools === tools);
  const host = fit.find(one => one.home === env['RALPH_HOME']) ?? fit[0];
  if (host === undefined) return startHost(tools);
  idle.splice(idle.indexOf(host), 1);
  return host;
}

export function hosted(order: Order): Hosted {
  const host = hostFor(order);
  let isOver = false;
  const work = async (): Promise<Told> => {
    const { isLast, ...told } = await host.order(order);
    isOver = true;
    host.home = order.env['RALPH_HOME'];
    if (!isLast) idle.push(host);
    return told;
  };
  return { told: work(), kill: () => void (isOver || host.child.kill('SIGKILL')) };
}
