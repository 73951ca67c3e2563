// `ralph loops list`: every loop this home knows, newest first.
import { stateOf } from '../../app/app.ts';
import { progress } from '../../core/task.ts';
import type { Context, Flags, Words } from '../context.ts';
import { makeStyle } from '../terminal.ts';
import { loopWords } from './status.ts';

const shownMax = 50;

export async function execute(context: Context, _words: Words, flags: Flags): Promise<number> {
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
  const style = makeStyle(flags, process.stdout);
  for (const row of rows.slice(0, shownMax)) {
    const { state } = await stateOf(ledger, row.loop);
    const { done, total } = progress(state.tasks);
    const alive = (await ledger.store.holder(row.loop))?.alive === true;
    const asks = state.ended === undefined && state.escalations.length > 0 ? '  needs you' : '';
    const label = loopWords(state, alive);
    const standing = `${row.name.padEnd(28)} ${label.padEnd(12)} ${`${done}/${total}`.padEnd(9)} ${(row.reason ?? '').padEnd(20)}`;
    const what = state.settings.mode === 'goal' ? state.goal : row.document;
    const about = `${new Date(row.startedAt).toISOString().slice(0, 16)}  ${what}${asks}`;
    const isWide = !process.stdout.isTTY || standing.length + 1 + about.length < style.columns();
    if (isWide) context.out(`${standing} ${about}`);
    else context.print(`${standing.trimEnd()}\n    ${about}`);
  }
  if (rows.length > shownMax) context.say(`... and ${rows.length - shownMax} older ones (--json shows all)`);
  return 0;
}
