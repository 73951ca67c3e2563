// Output of iterations: what an agent printed, from the loop's folder, as it is there and as it grows.
import { createReadStream, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { iterationFolderOf } from '../app.ts';

export interface OutputOf {
  readonly loop: string;
  readonly iteration: number;
  /** The prompt instead of what was printed. */
  readonly prompt?: boolean;
}

/** Redacted when it was written; control sequences are in it still. An empty text, once at first: nothing was printed so far. */
export interface Output {
  readonly from: 'output' | 'errors' | 'prompt';
  readonly text: string;
}

const lookEveryMs = 200;
const files: Readonly<Record<Output['from'], string>> = {
  output: 'output.log',
  errors: 'errors.log',
  prompt: 'prompt.md',
};

interface Log {
  readonly from: Output['from'];
  readonly path: string;
  /** How many bytes of it were read. */
  at: number;
}

async function* newIn(log: Log): AsyncGenerator<Output> {
  if (!existsSync(log.path) || statSync(log.path).size <= log.at) return;
  for await (const text of createReadStream(log.path, { start: log.at, encoding: 'utf8' })) {
    log.at += Buffer.byteLength(text as string);
    yield { from: log.from, text: text as string };
  }
}

/** With `stop` it goes on until the iteration has ended. */
export async function* outputOf(
  home: string,
  { loop, iteration, prompt = false }: OutputOf,
  isLive: () => Promise<boolean>,
  stop?: AbortSignal,
): AsyncGenerator<Output> {
  const folder = await iterationFolderOf(home, loop, iteration);
  const first = prompt ? 'prompt' : 'output';
  const wanted: readonly Output['from'][] = prompt ? [first] : [first, 'errors'];
  const logs = wanted.map<Log>(from => ({ from, path: join(folder, files[from]), at: 0 }));
  for (let looks = 0; ; looks += 1) {
    const goesOn = stop !== undefined && !stop.aborted && (await isLive());
    for (const log of logs) yield* newIn(log);
    if (looks === 0 && logs.every(log => log.at === 0)) yield { from: first, text: '' };
    if (!goesOn) return;
    await setTimeout(lookEveryMs, undefined, { signal: stop }).catch(() => {});
  }
}
