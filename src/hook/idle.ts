// Idle turns: the end of a turn in a session without a loop, told by little more than its own event. This happens in every session of a user.
import { readSync } from 'node:fs';
import { homeDirectory } from '../config/home.ts';
import { readInput, readTurn } from './payload.ts';
import { type HookPlace, lookFor } from './stop.ts';

let given: Promise<Buffer> | undefined;

/** Once: whoever asks again gets the same. */
export const standardInput = (): Promise<Buffer> => (given ??= readInput(atOnce()));

/** Without a stream, which loads half of Node's network; what cannot be read so (nobody has written it yet) comes by one. */
async function* atOnce(): AsyncGenerator<Buffer> {
  const chunk = Buffer.allocUnsafe(65_536);
  try {
    for (let length = 1; length > 0; ) {
      length = readSync(0, chunk);
      yield Buffer.from(chunk.subarray(0, length));
    }
  } catch {
    yield* process.stdin;
  }
}

/** Nothing is to be said, and nothing to be noted. Where that is not certain, the hook itself looks. */
export async function isIdleTurn(env: HookPlace['env']): Promise<boolean> {
  const read = readTurn(await standardInput());
  if (read.type !== 'turn') return read.type === 'other';
  if (env['RALPH_LOOP'] !== undefined) return true;
  try {
    const home = homeDirectory(env);
    return 'path' in home && lookFor(read.turn, { home: home.path, env }) === undefined;
  } catch {
    return false;
  }
}
