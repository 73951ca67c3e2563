// `ralph loops list`: every loop this home knows, newest first.

import type { Look } from '../../app/loops/loops.ts';
import { hasUserDocument } from '../../core/state.ts';
import { progress } from '../../core/task.ts';
import { livenessOf } from '../../views/loop.ts';
import { type Context, type Flags, printJson, type Words } from '../context.ts';
import { dayAndTime } from '../output/time.ts';
import { makeStyle } from '../terminal.ts';
import { loopWords } from './status.ts';

const shownMax = 50;

/** How the loop stands, and what it is about. */
function partsOf({ row, state, held }: Look): readonly [string, string] {
  const { done, total } = progress(state.tasks);
  const asks = state.control.ended === undefined && state.questions.open.length > 0 ? '  needs you' : '';
  const label = loopWords(state, livenessOf(state.control.ended !== undefined, held));
  const what = hasUserDocument(state) ? row.document : state.loop.goal;
  return [
    `${row.name.padEnd(28)} ${label.padEnd(12)} ${`${done}/${total}`.padEnd(9)} ${(row.reason ?? '').replaceAll('_', ' ').padEnd(20)}`,
    `${dayAndTime(row.startedAt)}  ${what}${asks}`,
  ];
}

export async function execute(context: Context, _words: Words, flags: Flags): Promise<number> {
  const loops = context.hasLedger() ? await context.loops() : undefined;
  if (flags['json'] === true) return printJson(context, { loops: (await loops?.list()) ?? [] });
  const rows = (await loops?.rows()) ?? [];
  if (loops === undefined || rows.length === 0) {
    context.say('There is no loop yet. Start one: ralph run FILE, or ralph run "GOAL"');
    return 0;
  }
  const style = makeStyle(flags, process.stdout);
  for (const row of rows.slice(0, shownMax)) {
    const [standing, about] = partsOf(await loops.look(row));
    const isWide = !process.stdout.isTTY || standing.length + 1 + about.length < style.columns();
    if (isWide) context.out(`${standing} ${about}`);
    else context.print(`${standing.trimEnd()}\n    ${about}`);
  }
  if (rows.length > shownMax) context.say(`... and ${rows.length - shownMax} older ones (--json shows all)`);
  return 0;
}
