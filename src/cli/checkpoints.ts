// What the commands about checkpoints share: the loop they mean, its numbers, and why something cannot be done.
import { type History, newestVerifiedNumber, openHistory, recordOf } from '../app/rewind.ts';
import { waitingFor } from '../core/next.ts';
import { hasStorageTrouble } from '../core/state.ts';
import { UsageError } from '../text/errors.ts';
import { plural } from '../text/format.ts';
import type { CheckpointRow } from '../views/checkpoints.ts';
import { type Context, type Flags, loopOf } from './context.ts';
import { fitted, makeStyle, plain, type Style, type Tone } from './terminal.ts';

type Workspace = NonNullable<History['workspace']>;

export interface Kept {
  readonly history: History;
  readonly workspace: Workspace;
}

interface Opening {
  readonly writes?: boolean;
  readonly heals?: boolean;
}

/** The loop's checkpoints; refused where there can be none. */
export async function keptOf(context: Context, name: string | undefined, opening: Opening = {}): Promise<Kept> {
  const { writes = false, heals = writes } = opening;
  const { ledger, row } = await loopOf(context, name, writes);
  const history = await openHistory({ home: context.home(), env: context.env, ledger, row }, heals);
  for (const one of history.healed) context.say(`note: ${one}`);
  const { workspace, state, list } = history;
  if (list.rows.length === 0 && workspace !== undefined && state.settings.checkpoints)
    throw new UsageError(`Loop ${row.name} has no checkpoint yet.`, 'The first is made before its first iteration.');
  if (workspace === undefined)
    throw new UsageError(
      `${state.directory} is not in a git repository (any more), so there is no undo.`,
      'Before the next loop: git init, and a first commit.',
    );
  if (list.rows.length === 0)
    throw new UsageError(
      `Loop ${row.name} keeps no checkpoints, so there is no undo.`,
      'It was started with --no-checkpoints, or before this folder became a git repository.',
    );
  return { history, workspace };
}

/** The range and what is gone, in words. */
function rangeWords({ list, missing, pruned }: History): string {
  const [first, last] = [list.rows[0]?.number ?? 0, list.rows.at(-1)?.number ?? 0];
  const gone = [...missing, ...pruned].sort((one, other) => one - other).map(String);
  const without = gone.length === 0 ? '' : `, but for ${gone.slice(0, 10).join(', ')}${gone.length > 10 ? ' ...' : ''}`;
  return `${first === last ? `There is only ${first}` : `There are ${first} to ${last}`}${without}.`;
}

export function rowOf(history: History, number: number | string): CheckpointRow {
  const found = /^\d{1,9}$/.test(String(number))
    ? history.list.rows.find(one => one.number === Number(number))
    : undefined;
  if (found !== undefined) return found;
  const shown = JSON.stringify(String(number).slice(0, 40));
  throw new UsageError(
    `Loop ${history.row.name} has no checkpoint ${shown}. ${rangeWords(history)}`,
    `See them: ralph checkpoint list ${history.row.name}`,
  );
}

/** Its files are still in git. */
export function presentRow(history: History, number: number | string): CheckpointRow {
  const row = rowOf(history, number);
  const { pruned, missing } = history;
  if (pruned.has(row.number)) throw new UsageError(`Checkpoint ${row.number} was pruned. ${rangeWords(history)}`);
  if (missing.has(row.number))
    throw new UsageError(
      `Checkpoint ${row.number} is missing: git no longer holds its commit ${row.commit.slice(0, 12)}. ${rangeWords(history)}`,
      `See the others: ralph checkpoint list ${history.row.name}`,
    );
  return row;
}

/** What a restore may take: there, of the loop's folder, and with a record that verifies unless only files are asked for. */
export async function wholeRow(history: History, number: number | string, codeOnly: boolean): Promise<CheckpointRow> {
  const row = presentRow(history, number);
  if (row.isFork)
    throw new UsageError(
      `Checkpoint ${row.number} is of the fork of ${row.task ?? 'a task'}, not of the loop's folder.`,
      `Look at it: ralph checkpoint diff ${row.number} ${history.row.name}`,
    );
  if (codeOnly) return row;
  const record = await recordOf(history, row);
  if (record.ok) return row;
  const whole = await newestVerifiedNumber(history);
  const instead = whole === undefined ? 'No other one verifies.' : `The newest that verifies is ${whole}.`;
  throw new UsageError(
    `Checkpoint ${row.number} is damaged: ${record.problem}. ${instead}`,
    `Its files are proven by git itself: ralph checkpoint restore ${row.number} ${history.row.name} --code-only`,
  );
}

export async function latestRow(history: History): Promise<CheckpointRow> {
  const whole = await newestVerifiedNumber(history);
  if (whole !== undefined) return rowOf(history, whole);
  throw new UsageError(
    `No checkpoint of ${history.row.name} verifies. ${rangeWords(history)}`,
    'Files alone can still be restored: ralph checkpoint restore N --code-only',
  );
}

/** A restore needs quiet: nobody at work in the files, nothing wrong with the disk. */
export function refuseUnquiet({ history }: Kept): void {
  const { state, row, isHeld } = history;
  if (state.settings.worktreePerTask)
    throw new UsageError(
      `Loop ${row.name} works in forks (--parallel): each task is one commit on ${state.branch ?? 'its branch'}.`,
      'Take one back there: git revert COMMIT',
    );
  if (!state.settings.checkpoints)
    throw new UsageError(
      `Checkpoints are switched off in loop ${row.name}, so nothing can be kept before a restore.`,
      'Run it once without --no-checkpoints.',
    );
  if (hasStorageTrouble(state))
    throw new UsageError(`Loop ${row.name} has trouble with its disk or its files.`, 'Answer it first: ralph inbox', 5);
  if (state.newest !== undefined && history.missing.has(state.newest.number))
    throw new UsageError(
      `Checkpoint ${state.newest.number} is missing, by which your own edits would be told from the loop's.`,
      `Keep what is there first: ralph checkpoint create ${row.name}`,
    );
  const isIdle = state.ended !== undefined || waitingFor(state, Date.now()) !== undefined;
  if (isHeld && !isIdle)
    throw new UsageError(
      `Loop ${row.name} is at work in these files.`,
      `Let it rest first: ralph pause ${row.name} --now (or Ctrl-C where it runs)`,
      9,
    );
}

/** `--steps 2`, `--keep 5`. */
export function countOf(flags: Flags, key: string, most: number, why: string): number | undefined {
  const value = flags[key];
  if (value === undefined) return undefined;
  const text = String(value);
  if (/^[1-9]\d{0,8}$/.test(text) && Number(text) <= most) return Number(text);
  throw new UsageError(`--${key} ${JSON.stringify(text.slice(0, 40))} is not possible.`, why);
}

export const rowWords = ({ number, label, task, at }: CheckpointRow): string =>
  `checkpoint ${number} (${[label, ...(task === undefined ? [] : [task])].join(', ')}, ${timeWords(at)} UTC)`;

/** UTC, to the second. */
export const timeWords = (at: number): string => new Date(at).toISOString().slice(0, 19).replace('T', ' ');

export const fileWords = (count: number): string => plural(count, 'file');

// Prints what changed between two checkpoints: a patch, counts, or JSON.

export interface PatchSpan {
  readonly from: string;
  readonly to: string;
  /** `checkpoint 1 to 4`. */
  readonly words: string;
}

const bytesMax = 20_000_000;

type Stat = Awaited<ReturnType<Kept['workspace']['stat']>>;

const tones: readonly (readonly [RegExp, Tone])[] = [
  [/^(diff |index |new file|deleted file|old mode|new mode|--- |\+\+\+ )/, 'strong'],
  [/^@@/, 'quiet'],
  [/^\+/, 'good'],
  [/^-/, 'bad'],
];

const painted = (line: string, style: Style): string => {
  const tone = tones.find(([pattern]) => pattern.test(line))?.[1];
  return tone === undefined ? line : style.paint(tone, line);
};

function statLines(rows: Stat, style: Style): readonly string[] {
  const room = Math.max(20, style.columns() - 24);
  const width = Math.min(room, Math.max(0, ...rows.map(({ path }) => path.length)));
  const counts = rows.map(({ path, added, deleted }) => {
    const said = added === undefined ? 'not text' : `+${added} -${deleted ?? 0}`;
    return `  ${fitted(path, room, style).padEnd(width)}  ${said}`;
  });
  const sum = (pick: (one: Stat[number]) => number | undefined): number =>
    rows.reduce((total, one) => total + (pick(one) ?? 0), 0);
  const all = `${plural(rows.length, 'file')} changed, +${sum(one => one.added)} -${sum(one => one.deleted)} lines`;
  return [...counts, all];
}

function json(history: History, span: PatchSpan, rows: Stat, patch?: { text: string; isCut: boolean }): string {
  const files = rows.map(({ path, added, deleted }) => ({ path, added: added ?? null, deleted: deleted ?? null }));
  const { from, to, words } = span;
  const text = patch && plain(patch.text);
  const { loop, name } = history.row;
  const shown = { version: 1, loop_id: loop, name, span: words, from, to, files, patch: text, cut: patch?.isCut };
  return JSON.stringify(shown, null, 2);
}

export async function printPatch(
  context: Context,
  { history, workspace }: Kept,
  span: PatchSpan,
  flags: Flags,
): Promise<number> {
  const isJson = flags['json'] === true;
  const isStat = flags['stat'] === true;
  const stat = isJson || isStat ? await workspace.stat(span) : [];
  const patch = isStat ? undefined : await workspace.patch(span, { bytesMax });
  if (isJson) {
    context.out(json(history, span, stat, patch));
    return 0;
  }
  const style = makeStyle(flags, process.stdout);
  const lines = patch === undefined ? statLines(stat, style) : plain(patch.text).trimEnd().split('\n');
  const isEmpty = patch === undefined ? stat.length === 0 : patch.text === '';
  if (!isEmpty) context.out(lines.map(line => (patch === undefined ? line : painted(line, style))).join('\n'));
  if (isEmpty) context.say(`Nothing changed: ${span.words}.`);
  if (patch?.isCut) context.say(`Cut after ${bytesMax / 1_000_000} MB: --stat shows every file.`);
  return 0;
}

/** From one checkpoint to another, for people. */
export const betweenWords = (from: { number: number; at: number }, to: { number: number; at: number }): string =>
  `checkpoint ${from.number} (${timeWords(from.at)}) to ${to.number} (${timeWords(to.at)})`;
