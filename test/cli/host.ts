// A process that carries out one command line after the other as `src/cli/main.ts` would, so that a test need not start
// Node for each: orders come in on one pipe, what was said goes out on another, and it ends with whoever started it.
import { createReadStream, writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { createInterface } from 'node:readline';
import { complain } from '../../src/cli/output/complaint.ts';
import { runProgram } from '../../src/cli/program.ts';
import { flushOutput } from '../../src/cli/terminal.ts';
import { descendants } from '../../src/processes/tree.ts';

export interface Order {
  readonly words: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Both streams are a terminal of this width. */
  readonly columns?: number | undefined;
}

const [ordersIn, answersOut] = [3, 4];
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'exit'] as const;
let told = { stdout: '', stderr: '' };

for (const name of ['stdout', 'stderr'] as const)
  process[name].write = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
    told[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
    const done = rest.at(-1);
    if (typeof done === 'function') process.nextTick(done as () => void);
    return true;
  };

const complained = (error: unknown): number => complain(error, process.argv.slice(2));

const answer = (code: number, isLast = true): void => {
  const bytes = Buffer.from(`${JSON.stringify({ code, isLast, ...told })}\n`);
  for (let at = 0; at < bytes.length; ) at += writeSync(answersOut, bytes, at);
  told = { stdout: '', stderr: '' };
};

/** A command that ends its process itself. */
const exited = (code: number): void => answer(code);

let home: string | undefined;
let isFlushed = false;

/** Programs that Ralph keeps open until its process ends are of the test before: to another they are a look at /proc each. */
function endLeftovers(): void {
  for (const { pid } of descendants(process.pid)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It is gone.
    }
  }
}

async function carryOut({ words, cwd, env, columns }: Order): Promise<void> {
  if (home !== env['RALPH_HOME']) endLeftovers();
  home = env['RALPH_HOME'];
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  for (const stream of [process.stdout, process.stderr])
    Object.assign(stream, { isTTY: columns !== undefined, columns, rows: 24 });
  process.argv = [process.argv[0]!, 'ralph', ...words];
  const before = signals.map(name => process.listeners(name as 'exit'));
  process.on('exit', exited);
  const code = await runProgram(words).catch(complained);
  await flushOutput();
  for (const [at, name] of signals.entries())
    for (const one of process.listeners(name as 'exit'))
      if (!before[at]?.includes(one)) process.removeListener(name, one); // main.ts leaves them to the end of its process
  process.chdir('/'); // whoever looks for what works there must not find us
  answer(code, false);
  if (!isFlushed) flushCompileCache(); // not at the end alone: hosts that start now need not compile it all again
  isFlushed = true;
}

process.on('uncaughtException', error => process.exit(complained(error)));
process.on('unhandledRejection', error => process.exit(complained(error)));
for await (const line of createInterface({ input: createReadStream('', { fd: ordersIn }) }))
  await carryOut(JSON.parse(line) as Order);
process.exit(0);
