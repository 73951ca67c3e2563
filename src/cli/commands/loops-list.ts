// `ralph loops list`: every loop this home knows, newest first.
import { stateOf } from '../../app/app.ts';
import { isRunning } from '../../app/loops.ts';
import { progress } from '../../core/task.ts';
import type { Ledger, LoopRow } from '../../ledger/ledger.ts';
import { type Context, type Flags, ledgerIfAny, printJson, type Words } from '../context.ts';
import { makeStyle } from '../terminal.ts';
import { loopWords } from './status.ts';

const shownMax = 50;

/** How the loop stands, and what it is about. */
async function partsOf(ledger: Ledger, row: LoopRow): Promise<readonly [string, string]> {
  const { state } = await stateOf(ledger, row.loop);
  const { done, total } = progress(state.tasks);
  const asks = state.ended === undefined && state.escalations.length > 0 ? '  needs you' : '';
  const label = loopWords(state, await isRunning(ledger, row.loop));
  const what = state.settings.mode === 'goal' ? state.goal : row.document;
  return [
    `${row.name.padEnd(28)} ${label.padEnd(12)} ${`${done}/${total}`.padEnd(9)} ${(row.reason ?? '').padEnd(20)}`,
    `${new Date(row.startedAt).toISOString().slice(0, 16)}  ${what}${asks}`,
  ];
}

export async function execute(context: Context, _words: Words, flags: Flags): Promise<number> {
  const ledger = await ledgerIfAny(context);
  const rows = (await ledger?.store.loops()) ?? [];
  if (flags['json'] === true) return printJson(context, { version: 1, loops: rows });
  if (ledger === undefined || rows.length === 0) {
    context.say('There is no loop yet. Start one: ralph run FILE, or ralph run "GOAL"');
    return 0;
  }
  const style = makeStyle(flags, process.stdout);
  for (const row of rows.slice(0, shownMax)) {
    const [standing, about] = await partsOf(ledger, row);
    const isWide = !process.stdout.isTTY || standing.length + 1 + about.length < style.columns();
    if (isWide) context.out(`${standing} ${about}`);
    else context.print(`${standing.trimEnd()}\n    ${about}`);
  }
  if (rows.length > shownMax) context.say(`... and ${rows.length - shownMax} older ones (--json shows all)`);
  return 0;
}
