// `ralph checkpoint show`: the record of one checkpoint, and whether it is still what it was.
import { rowOf } from '../../app/restore.ts';
import { type History, recordOf } from '../../app/rewind.ts';
import { UsageError } from '../../text/errors.ts';
import { formatUsd, plural } from '../../text/format.ts';
import type { CheckpointRecord } from '../../views/checkpoint-record.ts';
import type { CheckpointRow } from '../../views/checkpoints.ts';
import { checkpointsOf, type LoopRecords, recordsOf, timeWords } from '../checkpoints.ts';
import { type Context, type Flags, printJson, type Words } from '../context.ts';
import { hanging, makeStyle, plain } from '../terminal.ts';

const listMax = 20;

class Sheet {
  readonly lines: string[] = [];
  private readonly columns: number;
  constructor(columns: number) {
    this.columns = columns;
  }

  line(name: string, text: string): void {
    this.lines.push(hanging(`  ${name.padEnd(12)} `, plain(text), this.columns));
  }

  /** Nothing when it is empty; agents' words are labelled as such. */
  list(name: string, items: readonly string[], byAgent = false): void {
    if (items.length === 0) return;
    this.lines.push(`  ${name}${byAgent ? ' (written by the agent)' : ''}`);
    for (const item of items.slice(0, listMax)) this.lines.push(hanging('    - ', plain(item), this.columns));
    if (items.length > listMax) this.lines.push(`    ... and ${items.length - listMax} more (--json shows all)`);
  }
}

function addGit(sheet: Sheet, row: CheckpointRow, ref: string): void {
  sheet.line('git', ref);
  sheet.line('', `commit ${row.commit}`);
  sheet.line('', `tree   ${row.tree}`);
  const skipped = row.skipped.map(({ path, why }) => `${path}: ${why}`);
  sheet.list('not in it', skipped);
}

function addRecord(sheet: Sheet, record: CheckpointRecord): void {
  const { metadata, execution_state: execution, context_summary: context, metrics } = record;
  const { sources } = execution;
  if (metadata.agent_id !== '') sheet.line('agent', metadata.agent_id);
  sheet.line('phase', `${execution.phase}${sources.phase === 'reported' ? ' (written by the agent)' : ''}`);
  sheet.line('changed', `${plural(execution.files_changed_count, 'file')} since the checkpoint before`);
  const files = execution.files_changed.map(({ path, how }) => `${how} ${path}`);
  sheet.list('files', files);
  sheet.list('done', execution.completed_items, sources.completed_items === 'reported');
  sheet.list('open', execution.pending_items, sources.pending_items === 'reported');
  const blocked = execution.blocked_items.map(({ item, reason }) => `${item}: ${reason}`);
  sheet.list('blocked', blocked, sources.blocked_items === 'reported');
  sheet.list('decisions', context.key_decisions, true);
  sheet.list('assumptions', context.assumptions, true);
  sheet.list('constraints', context.constraints, true);
  sheet.list('obstacles', context.obstacles, true);
  const tests = metrics.tests.map(
    ({ check, passed, iteration }) => `${check}: ${passed ? 'passed' : 'FAILED'} (iteration ${iteration})`,
  );
  sheet.list('checks', tests);
  const tokens = metrics.input_tokens + metrics.output_tokens;
  const cost = `${formatUsd(Math.round(metrics.cost_usd * 1_000_000))}${metrics.cost_estimated ? ' est.' : ''}`;
  const spent = tokens === 0 && metrics.cost_usd === 0 ? ['cost not reported'] : [plural(tokens, 'token'), cost];
  const effort = [plural(metrics.iterations, 'iteration'), ...spent];
  sheet.line('so far', [...effort, plural(metrics.tool_calls, 'tool call')].join(', '));
}

const stateOf = ({ missing, pruned }: History, number: number): string =>
  pruned.has(number)
    ? 'PRUNED: it may be gone at any time'
    : missing.has(number)
      ? 'MISSING: git no longer holds its commit'
      : 'yes';

/** A record without files; undefined: no such number is one. */
function showRecord(context: Context, { row, view }: LoopRecords, number: number, flags: Flags): number | undefined {
  const record = view.record(number);
  if (record === undefined) return undefined;
  if (flags['json'] === true) return printJson(context, { loop: row.loop, name: row.name, number, record });
  const style = makeStyle(flags, process.stdout);
  const sheet = new Sheet(style.columns());
  const { iteration, task, label } = record.metadata;
  sheet.line('loop', row.name);
  sheet.line('iteration', `${iteration}${task === '' ? '' : ` (${task})`}`);
  addRecord(sheet, record);
  sheet.line('in git', 'no: a record without files, which cannot be restored');
  context.out(style.paint('strong', `Record ${number}: ${plain(label)}`));
  for (const line of sheet.lines) context.out(line);
  return 0;
}

export async function execute(context: Context, [number = '', name]: Words, flags: Flags): Promise<number> {
  const shown = showRecord(context, await recordsOf(context, name), Number(number), flags);
  if (shown !== undefined) return shown;
  const history = await checkpointsOf(context, name);
  const row = rowOf(history, number);
  const record = await recordOf(history, row);
  if (flags['json'] === true) {
    if (!record.ok)
      throw new UsageError(
        `The record of checkpoint ${row.number} is damaged: ${record.problem}.`,
        `What the ledger knows: ralph checkpoint show ${row.number} ${history.row.name}`,
        1,
      );
    const { loop, name: called } = history.row;
    return printJson(context, { loop, name: called, number: row.number, record: record.record });
  }
  const style = makeStyle(flags, process.stdout);
  const sheet = new Sheet(style.columns());
  sheet.line('loop', history.row.name);
  sheet.line('made', timeWords(row.at));
  sheet.line('iteration', `${row.iteration}${row.task === undefined ? '' : ` (${row.task})`}`);
  if (record.ok) addRecord(sheet, record.record);
  sheet.line('in git', stateOf(history, row.number));
  sheet.line('record', record.ok ? 'ok: its SHA-256 is the one in the ledger' : `DAMAGED: ${record.problem}`);
  addGit(sheet, row, (await history.checkpoints?.holders())?.(row.number) ?? row.ref);
  context.out(style.paint('strong', `Checkpoint ${row.number}: ${plain(row.label)}`));
  for (const line of sheet.lines) context.out(line);
  const isThere = !history.missing.has(row.number) && !history.pruned.has(row.number);
  if (isThere && !row.isFork)
    context.say(
      `  Go back to it: ralph checkpoint restore ${row.number} ${history.row.name}   # look first: --dry-run`,
    );
  return record.ok && isThere ? 0 : 1;
}
