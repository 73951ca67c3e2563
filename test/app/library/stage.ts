// The stage of the public API's tests: a scratch folder with a home of its own, and performers that play a part in process.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Activity, Assignment, Performer } from '../../../src/index.ts';

export interface Stage {
  readonly directory: string;
  readonly home: string;
  write(name: string, text: string): string;
}

/** Outside of every repository: no checkpoints, no commits. */
export function stage(): Stage {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-library-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));
  const directory = join(root, 'work');
  mkdirSync(directory);
  const write = (name: string, text: string): string => {
    const path = join(directory, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  };
  return { directory, home: join(root, 'home'), write };
}

type Line = (assignment: Assignment, stop: AbortSignal) => Activity | Promise<Activity> | string;

/** Ends each iteration with what its part says: a last message, or a whole ending. */
export function player(name: string, play: Line): Performer & { readonly seen: Assignment[] } {
  const seen: Assignment[] = [];
  return {
    name,
    seen,
    can: { steer: false, resume: false, interactive: false, usage: true },
    async *perform(assignment, stop) {
      seen.push(assignment);
      const usage = {
        inputTokens: 100,
        outputTokens: 10,
        cacheReadTokens: 300,
        cacheWriteTokens: 0,
        costUsdMicros: 20_000,
        estimated: false,
      };
      yield { type: 'tool', name: 'edit', detail: 'a file' };
      yield { type: 'usage', usage };
      const said = await play(assignment, stop);
      yield typeof said === 'string' ? { type: 'ended', message: said } : said;
    },
  };
}

export const fails: Activity = { type: 'ended', message: '', failure: { kind: 'unknown', detail: 'it broke' } };

export const untilStopped = (stop: AbortSignal): Promise<Activity> =>
  new Promise(done => {
    const end = (): void => done({ type: 'ended', message: '', failure: { kind: 'stopped', detail: 'stopped' } });
    if (stop.aborted) end();
    else stop.addEventListener('abort', end, { once: true });
  });

export const report = (fields: object): string => `<report>\n${JSON.stringify(fields)}\n</report>`;
