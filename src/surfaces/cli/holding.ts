// What only one run at a time may do: begin or go on with the loop of a document, and work in a folder.
import { freshHolder } from '../../app.ts';
import type { Lease, Ledger } from '../../ports/store.ts';
import type { Context } from './context.ts';

const renewEveryMs = 15_000;

export function sayHeld(context: Context, { holder, since }: Lease): number {
  context.say(
    `ralph: this loop is held by process ${holder.pid} on ${holder.host} since ${new Date(since).toISOString()}.`,
  );
  context.say('  Watch it: ralph status · steer it: ralph tell, pause, stop');
  return 9;
}

/** Nobody else does it at the same time. */
export async function holding(
  ledger: Ledger,
  key: string,
  refused: (held: Lease) => number | Promise<number>,
  work: () => Promise<number>,
): Promise<number> {
  const claimed = await ledger.store.lease(key, await freshHolder());
  if (!claimed.ok) return refused(claimed.held);
  const renewing = setInterval(() => void ledger.store.renew(claimed.lease).catch(() => false), renewEveryMs).unref();
  try {
    return await work();
  } finally {
    clearInterval(renewing);
    await ledger.store.release(claimed.lease);
  }
}

/** In one folder each loop would take the other's work for a person's. */
export async function sayFolderHeld(context: Context, ledger: Ledger, { holder }: Lease): Promise<number> {
  let name: string | undefined;
  for (const row of await ledger.store.loops({ open: true }))
    if ((await ledger.store.holder(row.loop))?.lease.holder.pid === holder.pid) name ??= row.name;
  const who = name === undefined ? 'Another loop' : `Loop ${name}`;
  context.say(`ralph: ${who} is at work in this folder (process ${holder.pid}), and one at a time can be.`);
  context.say(
    `  Wait for it, end it${name === undefined ? '' : ` (ralph stop ${name})`}, or say --worktree for this one.`,
  );
  return 9;
}
