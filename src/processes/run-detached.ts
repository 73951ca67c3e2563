// Runs a small program of ours in a process of its own that ends its work even when we are killed meanwhile.
import { spawn } from 'node:child_process';
import type { Collected } from './collect.ts';

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
