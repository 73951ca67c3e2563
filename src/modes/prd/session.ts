// Notice before a PRD is run: its instructions hold the promise that ends it.

import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ModeSession } from '../mode.ts';

/** A promise that stands in the instructions may be echoed; only an exact last line counts, but say so (B09). */
async function promiseNotice(document: string, promise: string): Promise<readonly string[]> {
  const text = await readFile(join(dirname(document), 'PROMPT.md'), 'utf8').catch(() => '');
  const echoed = [promise, `<promise>${promise}</promise>`];
  return text.split('\n').some(line => echoed.includes(line.trim()))
    ? [`PROMPT.md holds the promise ${promise} on a line of its own; only the agent's own last line counts.`]
    : [];
}

export const prdSession: ModeSession = { notices: (document, { promise }) => promiseNotice(document, promise) };
