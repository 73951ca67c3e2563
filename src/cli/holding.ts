// Says who is at work already, where only one at a time can be.
import type { Lease, Ledger } from '../ledger/ledger.ts';
import type { Context } from './context.ts';

export function sayHeld(context: Context, { holder, since }: Lease): number {
  context.say(
    `ralph: this loop is held by process ${holder.pid} on ${holder.host} since ${new Date(since).toISOString()}.`,
  );
  context.say('  Watch it: ralph status · steer it: ralph tell, pause, stop');
  return 9;
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
