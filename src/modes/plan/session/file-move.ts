// A plan's move among the approved ones: whether an agent could have made it, because one was at work around the vault then.
import { lstat } from 'node:fs/promises';
import { eventsIn, isRunning } from '../../../app/loops/find.ts';
import type { Ledger, LoopRow } from '../../../ledger/ledger.ts';
import { isWithin } from '../../../text/step-path.ts';

const slackMs = 1_000; // the system stamps files by a coarser clock, and something may end just after its iteration
const unheardMsMax = 60_000; // an agent at work is heard of at least this often

export interface AgentAtWork {
  readonly loop: string;
  readonly iteration: number;
}

/** It works around the vault or in it, or for it. */
const isNear = ({ directory, document }: LoopRow, root: string): boolean =>
  isWithin(directory, root) || isWithin(root, directory) || isWithin(root, document);

/** Actions do what their plan says, and that was approved. */
const isAgent = (performer: string): boolean => !/^(mcp:|create_file$|notify_human$)/.test(performer);

/** Where agents are confined, those of such loops cannot write among the approved plans of this vault. */
const isConfinedOutside = ({ directory, document }: LoopRow, root: string): boolean =>
  isWithin(root, document) || directory === root || `${directory}/vault` === root;

/** The iteration of an agent who could write there, in which this file came to its place or was last changed. */
export async function agentAtMove(
  ledger: Ledger,
  root: string,
  path: string,
  areConfined: () => Promise<boolean>,
): Promise<AgentAtWork | undefined> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined) return undefined;
  const at = stats.ctimeMs; // also of a rename, and nobody can set it
  for (const row of await ledger.store.loops()) {
    const isOver = row.endedAt !== null && row.endedAt + slackMs < at;
    if (isOver || row.startedAt > at + slackMs || !isNear(row, root)) continue;
    const iteration = await agentIteration(ledger, row, at);
    if (iteration !== undefined && !(isConfinedOutside(row, root) && (await areConfined())))
      return { loop: row.name, iteration };
  }
  return undefined;
}

async function agentIteration(ledger: Ledger, { loop }: LoopRow, at: number): Promise<number | undefined> {
  const running = new Set<number>();
  let lastAt = 0;
  for await (const { event } of eventsIn(ledger, loop)) {
    lastAt = event.at;
    if (event.type === 'iteration.started' && isAgent(event.performer) && event.at <= at + slackMs)
      running.add(event.iteration);
    if (event.type !== 'iteration.ended' || !running.delete(event.iteration)) continue;
    if (at <= event.at + slackMs) return event.iteration;
  }
  const [open] = running;
  const isHeld = await isRunning(ledger, loop);
  return open !== undefined && (isHeld || at <= lastAt + unheardMsMax) ? open : undefined;
}
