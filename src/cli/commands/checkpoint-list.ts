// `ralph checkpoint list`: every checkpoint of a loop, and which of them matter now.
import { type History, recordOf } from '../../app/rewind.ts';
import { columnsOf, padColumns } from '../../text/columns.ts';
import { plural } from '../../text/format.ts';
import type { CheckpointRow } from '../../views/checkpoints.ts';
import type { RecordRow } from '../../views/records.ts';
import { checkpointsOf, type LoopRecords, recordsOf, timeWords } from '../checkpoints.ts';
import { type Context, type Flags, printJson, type Words } from '../context.ts';
import { fitted, makeStyle, type Style } from '../terminal.ts';

const shownMax = 50;

type Mark = 'first' | 'newest' | 'last good' | 'current' | 'fork' | 'damaged' | 'missing' | 'pruned';

/** In the list, where room is short. */
const shortMarks: Partial<Record<Mark, string>> = { 'last good': 'good' };

interface Line {
  readonly row: CheckpointRow;
  /** Against the one before it; undefined when its record cannot be trusted. */
  readonly files: number | undefined;
  readonly marks: readonly Mark[];
}

async function lineOf(history: History, row: CheckpointRow): Promise<Line> {
  const { list, state, missing, pruned } = history;
  const { number, isFork } = row;
  const record = await recordOf(history, row);
  const marks: Readonly<Record<Mark, boolean>> = {
    first: number === list.rows[0]?.number,
    newest: number === list.rows.at(-1)?.number,
    'last good': number === state.checkpoints.lastGood?.number,
    current: number === list.current,
    fork: isFork,
    damaged: !record.ok && !pruned.has(number),
    missing: missing.has(number),
    pruned: pruned.has(number),
  };
  return {
    row,
    files: record.ok && !isFork ? record.record.execution_state.files_changed_count : undefined,
    marks: (Object.keys(marks) as Mark[]).filter(mark => marks[mark]),
  };
}

async function json({ row: { loop, name }, checkpoints: git }: History, lines: readonly Line[]) {
  const holder = await git?.holders();
  const checkpoints = lines.map(({ row, files, marks }) => ({
    number: row.number,
    checkpoint: row.checkpoint,
    at: row.at,
    iteration: row.iteration,
    task: row.task ?? null,
    label: row.label,
    filesChanged: files ?? null,
    marks,
    ref: holder?.(row.number) ?? row.ref,
    commit: row.commit,
    tree: row.tree,
    skipped: row.skipped,
  }));
  return { loop, name, checkpoints };
}

interface Widths {
  readonly number: number;
  readonly task: number;
}

interface Columns {
  readonly number: number;
  readonly at: number;
  readonly iteration: number;
  readonly task?: string | undefined;
}

function columnsBefore(
  { number, at, iteration, task = '' }: Columns,
  files: string,
  widths: Widths,
  style: Style,
): string {
  return [
    String(number).padStart(widths.number),
    timeWords(at).slice(5, 16),
    String(iteration).padStart(4),
    padColumns(fitted(task, widths.task, style), widths.task),
    files.padStart(5),
  ].join('  ');
}

/** Widths that let the usual list fit 80 columns. */
function widthsOf(rows: readonly Columns[]): Widths {
  const longest = (texts: readonly string[]): number => Math.max(1, ...texts.map(columnsOf));
  return {
    number: longest(rows.map(row => String(row.number))),
    task: Math.min(12, Math.max(4, longest(rows.map(row => row.task ?? '')))),
  };
}

function text({ row, files, marks }: Line, widths: Widths, style: Style): string {
  const isBad = marks.some(mark => ['damaged', 'missing'].includes(mark));
  const said = marks.map(mark => shortMarks[mark] ?? mark).join(' ');
  const changed = marks.includes('first') || row.isFork ? '' : files === undefined ? '?' : String(files);
  const before = columnsBefore(row, changed, widths, style);
  const room = Math.max(1, style.columns() - columnsOf(before) - said.length - 4);
  const tone = isBad ? 'bad' : marks.includes('current') ? 'good' : 'quiet';
  return `${before}  ${fitted(row.label, room, style)}${said === '' ? '' : `  ${style.paint(tone, said)}`}`;
}

function heading(widths: Widths): string {
  const words = ['#'.padStart(widths.number), 'when (UTC) ', 'iter', 'task'.padEnd(widths.task), 'files', 'what'];
  return words.join('  ');
}

function recordLine({ task, label, phase, ...row }: RecordRow, widths: Widths, style: Style): string {
  const before = columnsBefore({ ...row, task }, '', widths, style);
  const room = Math.max(1, style.columns() - columnsOf(before) - phase.length - 4);
  return `${before}  ${fitted(label, room, style)}  ${phase}`;
}

/** Of a loop that keeps no trees. */
async function listRecords(context: Context, { row, view }: LoopRecords, flags: Flags): Promise<number> {
  const records = view.rows();
  if (flags['json'] === true) return printJson(context, { loop: row.loop, name: row.name, checkpoints: [], records });
  const style = makeStyle(flags, process.stdout);
  const widths = widthsOf(records);
  context.out(style.paint('strong', heading(widths)));
  for (const one of records.slice(-shownMax)) context.out(recordLine(one, widths, style));
  context.say('  Records without files: this loop keeps no trees, so none can be restored.');
  context.say(`  Look at one: ralph checkpoint show N ${row.name}`);
  return 0;
}

export async function execute(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const records = await recordsOf(context, name);
  if (!records.hasTrees && records.view.rows().length > 0) return listRecords(context, records, flags);
  const history = await checkpointsOf(context, name, { heals: true });
  const isJson = flags['json'] === true;
  const all = history.list.rows.filter(one => isJson || !history.pruned.has(one.number));
  const rows = isJson ? all : all.slice(-shownMax);
  const lines: Line[] = [];
  for (const row of rows) lines.push(await lineOf(history, row));
  const more = records.view.rows();
  if (isJson) return printJson(context, { ...(await json(history, lines)), records: more });
  const style = makeStyle(flags, process.stdout);
  const widths = widthsOf([...rows, ...more]);
  context.out(style.paint('strong', heading(widths)));
  for (const line of lines) context.out(text(line, widths, style));
  for (const one of more) context.out(recordLine(one, widths, style));
  const { pruned, row } = history;
  if (all.length > rows.length) context.say(`... and ${all.length - rows.length} older ones (--json shows all)`);
  if (pruned.size > 0) context.say(`${plural(pruned.size, 'older checkpoint')} pruned.`);
  if (history.state.settings.worktreePerTask) return 0;
  context.say(`  Go back: ralph undo ${row.name}`);
  context.say(`  To any of them: ralph checkpoint restore N ${row.name}   # look first: --dry-run`);
  return 0;
}
