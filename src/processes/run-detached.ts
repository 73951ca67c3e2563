// Runs a small program of ours in a process of its own that ends its work even when we are killed meanwhile.
import { spawn } from 'node:child_process';

const outputBytesMax = 50_000_000;

/**
 * `program` is JavaScript that needs nothing but what `process.getBuiltinModule` gives; `argument` is its `process.argv[1]`.
 * It has a session of its own, so that no signal to ours reaches it, and no time limit: half of its work would be worse.
 * What it says into a pipe that we no longer read is its own matter. Never throws.
 */
export function outlive(program: string, argument: string): Promise<Collected> {
  return new Promise(resolve => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let errors = '';
    const child = spawn(process.execPath, ['-e', program, '--', argument], {
      cwd: '/',
      env: { LC_ALL: 'C' },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
    });
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= outputBytesMax) chunks.push(chunk);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (errors.length < 10_000) errors += text;
    });
    child.on('error', error => resolve({ code: null, output: Buffer.alloc(0), errors: error.message }));
    child.on('close', code => resolve({ code, output: Buffer.concat(chunks), errors }));
  });
}

// Runs a short program of ours (git) and collects what it says: for calls that we make, not for work that we supervise.

export interface CollectOrder {
  readonly command: string;
  readonly args: readonly string[];
  readonly directory: string;
  /** All of it: nothing of our own environment is added. */
  readonly environment: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
  readonly timeMsMax: number;
  /** More output than this ends it. */
  readonly bytesMax?: number;
}

export interface Collected {
  /** null: it did not start, took too long, said too much, or a signal ended it; `errors` says which. */
  readonly code: number | null;
  readonly output: Buffer;
  readonly errors: string;
}

const errorsCharsMax = 10_000;

/** Never throws. */
export function collect(order: CollectOrder): Promise<Collected> {
  const { command, args, directory, environment, input, timeMsMax, bytesMax = 1_000_000_000 } = order;
  return new Promise(resolve => {
    const child = spawn(command, args, { cwd: directory, env: environment, stdio: 'pipe', windowsHide: true });
    const chunks: Buffer[] = [];
    let bytes = 0;
    let errors = '';
    let why: string | undefined;
    const end = (because: string): void => {
      why ??= because;
      child.kill('SIGKILL');
    };
    const timer = setTimeout(() => end(`not done after ${timeMsMax / 1_000} s`), timeMsMax);
    const finish = (code: number | null): void => {
      clearTimeout(timer);
      resolve({ code: why === undefined ? code : null, output: Buffer.concat(chunks), errors: why ?? errors });
    };
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bytesMax) end(`said more than ${bytesMax} bytes`);
      else chunks.push(chunk);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (errors.length < errorsCharsMax) errors += text;
    });
    child.stdin.on('error', () => {}); // it ended without reading
    child.on('error', error => {
      why ??= error.message;
      finish(null);
    });
    child.on('close', code => finish(code));
    child.stdin.end(input ?? '');
  });
}
