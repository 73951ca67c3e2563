// Prints what changed between two checkpoints: a patch, counts, or JSON.
import type { History } from '../app/history.ts';
import { plural } from '../text/format.ts';
import { type Kept, timeWords } from './checkpoints.ts';
import type { Context, Flags } from './context.ts';
import { fitted, makeStyle, plain, type Style, type Tone } from './terminal.ts';

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
