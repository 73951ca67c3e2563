// `ralph loops list`: every loop this home knows, newest first.

import type { Look } from '../../app/loops/loops.ts';
import { progress } from '../../core/task.ts';
import { columnsOf } from '../../text/columns.ts';
import { livenessOf } from '../../views/loop.ts';
import { type Context, type Flags, printJson, type Words } from '../context.ts';
import { aboutWords } from '../output/about.ts';
import { dayAndTime } from '../output/time.ts';
import { folded, makeStyle } from '../terminal.ts';
import { endedByWords, loopWords } from './status.ts';

const shownMax = 50;

/** What each column says: the loop, how it stands, how much is done, why it ended; when it began, and what it is about. */
function partsOf({ row, state, held }: Look): readonly string[] {
  const { done, total } = progress(state.tasks);
  const asks = state.control.ended === undefined && state.questions.open.length > 0;
  const liveness = livenessOf(state.control.ended !== undefined, held);
  const label = loopWords(state, liveness);
  const standing = !asks ? label : liveness.is === 'held' ? `${label}, needs you` : 'needs you';
  return [
    row.name,
    standing,
    `${done}/${total}`,
    endedByWords(state),
    dayAndTime(row.startedAt),
    aboutWords(state, row.document),
  ];
}

const headings = ['loop', 'status', 'done', 'ended by', 'begun', 'document or goal'];
const columnsFirst = 4;

/** In one line each where all of them fit, else in two; at a terminal with headings. */
function printLines({ out }: Context, rows: readonly (readonly string[])[], flags: Flags): void {
  const style = makeStyle(flags, process.stdout);
  const { isTTY } = process.stdout;
  const all = isTTY ? [headings, ...rows] : rows;
  const widths = headings.map((_heading, at) => Math.max(...all.map(row => columnsOf(row[at] ?? ''))));
  const padded = (row: readonly string[]): readonly string[] =>
    row.map((text, at) => text + ' '.repeat(at === row.length - 1 ? 0 : (widths[at] ?? 0) - columnsOf(text)));
  const isWide = !isTTY || all.every(row => columnsOf(padded(row).join('  ')) < style.columns());
  const lineOf = (row: readonly string[]): string => {
    if (isWide) return padded(row).join('  ');
    const [first, second] = [padded(row).slice(0, columnsFirst), padded(row).slice(columnsFirst)];
    return folded(`${first.join('  ').trimEnd()}\n    ${second.join('  ')}`, process.stdout);
  };
  if (isTTY) out(style.paint('strong', lineOf(headings)));
  for (const row of rows) out(lineOf(row));
}

export async function execute(context: Context, _words: Words, flags: Flags): Promise<number> {
  const loops = context.hasLedger() ? await context.loops() : undefined;
  if (flags['json'] === true) return printJson(context, { loops: (await loops?.list()) ?? [] });
  const rows = (await loops?.rows()) ?? [];
  if (loops === undefined || rows.length === 0) {
    context.say('There is no loop yet. Start one: ralph run FILE, or ralph run "GOAL"');
    return 0;
  }
  const parts: (readonly string[])[] = [];
  for (const row of rows.slice(0, shownMax)) parts.push(partsOf(await loops.look(row)));
  printLines(context, parts, flags);
  if (rows.length > shownMax) context.say(`... and ${rows.length - shownMax} older ones (--json shows all)`);
  return 0;
}
