// Short programs of our own, run to their end: git calls whose output is collected, and work that goes on when we are killed.
import { type ChildProcess, spawn } from 'node:child_process';

export interface CollectOrder {
  readonly command: string;
  readonly args: readonly string[];
  readonly directory: string;
  /** All of it: nothing of our own environment is added. */
  readonly environment: Readonly<Record<string, string>>;
  readonly timeMsMax: number;
  readonly input?: string | Uint8Array;
  /** More output than this ends it. */
  readonly bytesMax?: number;
  /** Ends it. */
  readonly signal?: AbortSignal;
}

export interface Collected {
  /** null: it did not start, took too long, said too much, or a signal ended it; `errors` says which. */
  readonly code: number | null;
  readonly output: Buffer;
  readonly errors: string;
}

const detachedBytesMax = 50_000_000;
const errorsCharsMax = 10_000;

/** Output over `bytesMax` is dropped, and `onTooMuch` is called for it. */
function outputOf(child: ChildProcess, bytesMax: number, onTooMuch: () => void): Promise<Collected> {
  return new Promise(resolve => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let errors = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bytesMax) onTooMuch();
      else chunks.push(chunk);
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      if (errors.length < errorsCharsMax) errors += text;
    });
    child.on('error', ({ message }) => resolve({ code: null, output: Buffer.concat(chunks), errors: message }));
    child.on('close', code => resolve({ code, output: Buffer.concat(chunks), errors }));
  });
}

/**
 * `program` is the text of a module, whole, so that no file can change under it; `argument` is its last of `process.argv`.
 * It has a session of its own, so that no signal to ours reaches it, and no time limit: half of its work would be worse.
 * What it says into a pipe that we no longer read is its own matter. Never throws.
 */
export function runDetached(program: string, argument: string): Promise<Collected> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, '--', argument], {
    cwd: '/',
    env: { LC_ALL: 'C' },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
  });
  return outputOf(child, detachedBytesMax, () => {});
}

/** Starts this very program with other words, in a session of its own; nobody waits for it. */
export function startAgain(words: readonly string[], directory: string, environment: NodeJS.ProcessEnv): void {
  const own = [...process.execArgv, process.argv[1] ?? '', ...words];
  spawn(process.execPath, own, { cwd: directory, env: environment, detached: true, stdio: 'ignore', windowsHide: true })
    .on('error', () => {}) // said by whoever looks at the loop
    .unref();
}

/** For calls that we make, not for work that we supervise. Never throws. */
export async function collect(order: CollectOrder): Promise<Collected> {
  const { command, args, directory, environment, input, timeMsMax, bytesMax = 1_000_000_000, signal } = order;
  const child = spawn(command, args, { cwd: directory, env: environment, stdio: 'pipe', windowsHide: true });
  let why: string | undefined;
  const end = (because: string): void => {
    why ??= because;
    child.kill('SIGKILL');
  };
  const timer = setTimeout(() => end(`not done after ${timeMsMax / 1_000} s`), timeMsMax);
  const onAbort = (): void => end('no longer wanted');
  signal?.addEventListener('abort', onAbort);
  if (signal?.aborted === true) onAbort();
  child.stdin.on('error', () => {}); // it ended without reading
  child.stdin.end(input ?? '');
  const collected = await outputOf(child, bytesMax, () => end(`said more than ${bytesMax} bytes`));
  clearTimeout(timer);
  signal?.removeEventListener('abort', onAbort);
  return why === undefined ? collected : { ...collected, code: null, errors: why };
}
