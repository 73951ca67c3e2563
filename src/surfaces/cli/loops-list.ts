// `ralph loops list`: every loop this home knows, newest first.
import { stateOf } from '../../app.ts';
import { progress } from '../../core/task.ts';
import { loopLabel } from '../../views/status.ts';
import type { Context } from './context.ts';

const shownMax = 50;

export async function execute(
  context: Context,
  _words: readonly (string | undefined)[],
  flags: Readonly<Record<string, unknown>>,
): Promise<number> {
  const ledger = context.hasLedger() ? await context.ledger() : undefined;
  const rows = (await ledger?.store.loops()) ?? [];
  if (flags['json'] === true) {
    context.out(JSON.stringify({ version: 1, loops: rows }, null, 2));
    return 0;
  }
  if (ledger === undefined || rows.length === 0) {
    context.say('There is no loop yet. Start one: ralph run FILE, or ralph run "GOAL"');
    return 0;
  }
  for (const row of rows.slice(0, shownMax)) {
    const { state } = await stateOf(ledger, row.loop);
    const { done, total } = progress(state.tasks);
    const alive = (await ledger.store.holder(row.loop))?.alive === true;
    const asks = state.ended === undefined && state.escalations.length > 0 ? '  needs you' : '';
    context.out(
      `${row.name.padEnd(28)} ${(state.ended || alive ? loopLabel(state) : 'not running').padEnd(12)} ${`${done}/${total}`.padEnd(9)} ${(row.reason ?? '').padEnd(20)} ${new Date(row.startedAt).toISOString().slice(0, 16)}  ${state.settings.mode === 'goal' ? state.goal : row.document}${asks}`,
    );
  }
  if (rows.length > shownMax) context.say(`... and ${rows.length - shownMax} older ones (--json shows all)`);
  return 0;
}
