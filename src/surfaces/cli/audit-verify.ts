// `ralph audit verify`: recomputes the hash chain from the stored bytes and names the first event that does not fit.
import type { LoopRow } from '../../ports/store.ts';
import { type Context, loopOf } from './context.ts';

export async function execute(
  context: Context,
  [name]: readonly (string | undefined)[],
  flags: Readonly<Record<string, unknown>>,
): Promise<number> {
  const ledger = await context.ledger();
  const rows: readonly LoopRow[] =
    name === undefined ? await ledger.store.loops() : [(await loopOf(context, name)).row];
  const results = [];
  for (const row of rows) results.push({ loop: row.loop, name: row.name, ...(await ledger.store.verify(row.loop)) });
  const bad = results.filter(result => !result.ok);
  if (flags['json'] === true)
    context.out(JSON.stringify({ version: 1, ok: bad.length === 0, loops: results }, null, 2));
  else {
    for (const result of results) {
      if (result.ok) context.out(`${result.name}: ${result.events} events, chain holds, head ${result.head}`);
      else context.out(`${result.name}: BROKEN at event ${result.seq}: ${result.detail}`);
    }
    if (results.length === 0) context.say('There is no loop yet: nothing to verify.');
    context.say(
      'The chain shows changes against a head that you noted elsewhere; it cannot show a ledger rewritten as a whole.',
    );
  }
  return bad.length === 0 ? 0 : 1;
}
