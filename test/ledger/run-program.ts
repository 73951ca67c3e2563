// Runs one of the programs beside these tests as a real process, under strace when a system call is to fail.
import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface Ran {
  readonly lines: readonly string[];
  readonly code: number | null;
  readonly signal: string | null;
  readonly errors: string;
}

function programPath(name: string): string {
  return fileURLToPath(new URL(`./programs/${name}.ts`, import.meta.url));
}

/** `before` is the command line that starts the program: a tracer, a shell that sets limits. */
export function runProgram(name: string, values: readonly string[], before: readonly string[] = []): Promise<Ran> {
  const [command, ...rest] = [...before, process.execPath, programPath(name), ...values] as [string, ...string[]];
  return new Promise((resolve, reject) => {
    const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let errors = '';
    child.stdout.on('data', data => {
      output += data;
    });
    child.stderr.on('data', data => {
      errors += data;
    });
    child.on('error', reject);
    child.on('close', (code, signal) =>
      resolve({ lines: output.split('\n').filter(line => line !== ''), code, signal, errors }),
    );
  });
}

/** Why system calls cannot be made to fail here, if so. */
export function whyNoTracing(): string | undefined {
  const tried = spawnSync('strace', ['-qq', '-e', 'inject=getpid:error=EIO', 'true'], { encoding: 'utf8' });
  if (tried.error !== undefined) return 'strace is not installed';
  return tried.status === 0 ? undefined : `strace may not trace here: ${tried.stderr.trim()}`;
}

/** The start of a command line under which calls on `paths` (all, when none) are tampered with. */
export function tampering(inject: string, paths: readonly string[] = []): readonly string[] {
  const calls = inject.slice(0, inject.indexOf(':'));
  const only = paths.flatMap(path => ['-P', path]);
  return ['strace', '-f', '-qq', '-o', '/dev/null', ...only, '-e', `trace=${calls}`, '-e', `inject=${inject}`];
}
