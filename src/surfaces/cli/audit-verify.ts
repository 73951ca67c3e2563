// `ralph audit verify`: recomputes the hash chain from the stored bytes and names the first event that does not fit.
import type { LoopRow } from '../../ports/store.ts';
import { type Context, loopOf } from './context.ts';

async function verifyAll(context: Context, name: string | undefined) {
  const { store } = await context.ledger();
  const rows: readonly LoopRow[] = name === undefined ? await store.loops() : [(await loopOf(context, name)).row];
  const results = [];
  for (const row of rows) results.push({ loop: row.loop, name: row.name, ...(await store.verify(row.loop)) });
  return results;
}

export async function execute(
  context: Context,
  [name]: readonly (string | undefined)[],
  flags: Readonly<Record<string, unknown>>,
): Promise<number> {
  const results = name === undefined && !context.hasLedger() ? [] : await verifyAll(context, name);
  const bad = results.filter(result => !result.ok);
  if (flags['json'] === true)
    context.out(JSON.stringify({ version: 1, ok: bad.length === 0, loops: results }, null, 2));
  else {
    for (const result of results) {
      if (result.ok) context.out(`${result.name}: ${result.events} events, chain holds, head ${result.head}`);
      else context.out(`${result.name}: BROKEN at event ${result.seq}: ${result.detail}`);
    }
    context.say(
      results.length === 0
        ? 'There is no loop yet: nothing to verify.'
        : 'The chain shows changes against a head that you noted elsewhere; it cannot show a ledger rewritten as a whole.',
    );
  }
  return bad.length === 0 ? 0 : 1;
}
