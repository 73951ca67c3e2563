// Checkpoint commands: the loop they mean, and numbers, names and patches for people.
import { type CheckpointedLoop, openCheckpoints } from '../app/restore.ts';
import { UsageError } from '../text/errors.ts';
import { plural } from '../text/format.ts';
import type { CheckpointRow } from '../views/checkpoints.ts';
import { type Context, type Flags, loopOf, printJson } from './context.ts';
import { fitted, makeStyle, plain, type Style, type Tone } from './terminal.ts';

interface Opening {
  readonly writes?: boolean;
  readonly heals?: boolean;
}

export async function checkpointsOf(
  context: Context,
  name: string | undefined,
  { writes = false, heals = writes }: Opening = {},
): Promise<CheckpointedLoop> {
  const { ledger, row } = await loopOf(context, name, writes);
  return openCheckpoints({ home: context.home(), env: context.env, ledger, row }, heals, context.say);
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

export interface PatchSpan {
  readonly from: string;
  readonly to: string;
  /** `checkpoint 1 to 4`. */
  readonly words: string;
}

const bytesMax = 20_000_000;

type Stat = Awaited<ReturnType<CheckpointedLoop['workspace']['stat']>>;

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

export async function printPatch(
  context: Context,
  { row, workspace }: CheckpointedLoop,
  span: PatchSpan,
  flags: Flags,
): Promise<number> {
  const isJson = flags['json'] === true;
  const isStat = flags['stat'] === true;
  const stat = isJson || isStat ? await workspace.stat(span) : [];
  const patch = isStat ? undefined : await workspace.patch(span, bytesMax);
  const text = patch && plain(patch.text);
  if (isJson) {
    const { from, to, words } = span;
    const files = stat.map(({ path, added, deleted }) => ({ path, added: added ?? null, deleted: deleted ?? null }));
    const whole = { version: 1, loop_id: row.loop, name: row.name, span: words, from, to, files };
    return printJson(context, { ...whole, patch: text, cut: patch?.isCut });
  }
  const style = makeStyle(flags, process.stdout);
  const isEmpty = patch === undefined ? stat.length === 0 : patch.text === '';
  const lines =
    text === undefined
      ? statLines(stat, style)
      : text
          .trimEnd()
          .split('\n')
          .map(line => painted(line, style));
  if (isEmpty) context.say(`Nothing changed: ${span.words}.`);
  else context.out(lines.join('\n'));
  if (patch?.isCut) context.say(`Cut after ${bytesMax / 1_000_000} MB: --stat shows every file.`);
  return 0;
}
