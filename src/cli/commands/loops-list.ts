// `ralph loops list`: every loop this home knows, newest first.

import type { Look } from '../../app/loops/loops.ts';
import { hasUserDocument } from '../../core/state.ts';
import { progress } from '../../core/task.ts';
import { columnsOf } from '../../text/columns.ts';
import { visible } from '../../text/text.ts';
import { livenessOf } from '../../views/loop.ts';
import { type Context, type Flags, printJson, type Words } from '../context.ts';
import { dayAndTime } from '../output/time.ts';
import { folded, makeStyle } from '../terminal.ts';
import { loopWords } from './status.ts';

const shownMax = 50;

/** How the loop stands, and what it is about. */
function partsOf({ row, state, held }: Look): readonly [string, string] {
  const { done, total } = progress(state.tasks);
  const asks = state.control.ended === undefined && state.questions.open.length > 0 ? '  needs you' : '';
  const label = loopWords(state, livenessOf(state.control.ended !== undefined, held));
  const what = hasUserDocument(state) ? row.document : visible(state.loop.goal);
  return [
    standingColumns(row.name, label, `${done}/${total}`, (row.reason ?? '').replaceAll('_', ' ')),
    `${dayAndTime(row.startedAt)}  ${what}${asks}`,
  ];
}

const standingColumns = (name: string, standing: string, done: string, reason: string): string =>
  `${name.padEnd(28)} ${standing.padEnd(12)} ${done.padEnd(9)} ${reason.padEnd(20)}`;

/** In one line each where all of them fit, with headings; a program that reads a pipe knows the columns. */
function printLines({ out }: Context, rows: readonly (readonly [string, string])[], flags: Flags): void {
  if (!process.stdout.isTTY) {
    out(rows.map(parts => parts.join(' ')).join('\n'));
    return;
  }
  const style = makeStyle(flags, process.stdout);
  const headings = [
    standingColumns('loop', 'stands', 'done', 'ended by'),
    `${'begun'.padEnd(dayAndTime(0).length)}  document or goal`,
  ] as const;
  const isWide = [headings, ...rows].every(
    ([standing, about]) => columnsOf(standing) + 1 + columnsOf(about) < style.columns(),
  );
  const lineOf = ([standing, about]: readonly [string, string]): string =>
    isWide ? `${standing} ${about}` : folded(`${standing.trimEnd()}\n    ${about}`, process.stdout);
  out(style.paint('strong', lineOf(headings)));
  for (const parts of rows) out(lineOf(parts));
}

export async function execute(context: Context, _words: Words, flags: Flags): Promise<number> {
  const loops = context.hasLedger() ? await context.loops() : undefined;
  if (flags['json'] === true) return printJson(context, { loops: (await loops?.list()) ?? [] });
  const rows = (await loops?.rows()) ?? [];
  if (loops === undefined || rows.length === 0) {
    context.say('There is no loop yet. Start one: ralph run FILE, or ralph run "GOAL"');
    return 0;
  }
  const parts: (readonly [string, string])[] = [];
  for (const row of rows.slice(0, shownMax)) parts.push(partsOf(await loops.look(row)));
  printLines(context, parts, flags);
  if (rows.length > shownMax) context.say(`... and ${rows.length - shownMax} older ones (--json shows all)`);
  return 0;
}
