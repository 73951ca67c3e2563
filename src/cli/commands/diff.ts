// `ralph diff` and `ralph checkpoint diff`: what a loop has changed, as a patch or as counts of lines.

import {
  ofIteration,
  type PatchSpan,
  patchBytesMax,
  sinceStart,
  spanBetween,
  spanOf,
  spanWords,
} from '../../app/loops/diff.ts';
import { presentRow } from '../../app/restore.ts';
import type { CheckpointedLoop } from '../../app/rewind.ts';
import { allTasks } from '../../core/task.ts';
import { columnsOf, padColumns } from '../../text/columns.ts';
import { UsageError } from '../../text/errors.ts';
import { plural } from '../../text/format.ts';
import { asideWords } from '../../views/loop.ts';
import { checkpointsOf, timeWords } from '../checkpoints.ts';
import { type Context, type Flags, printJson, type Words } from '../context.ts';
import { fitted, makeStyle, plain, type Style, type Tone } from '../terminal.ts';

type Stat = Awaited<ReturnType<CheckpointedLoop['checkpoints']['stat']>>;

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
  const width = Math.min(room, Math.max(0, ...rows.map(({ path }) => columnsOf(path))));
  const counts = rows.map(({ path, added, deleted }) => {
    const said = added === undefined ? 'not text' : `+${added} -${deleted ?? 0}`;
    return `  ${padColumns(fitted(path, room, style), width)}  ${said}`;
  });
  const sum = (pick: (one: Stat[number]) => number | undefined): number =>
    rows.reduce((total, one) => total + (pick(one) ?? 0), 0);
  const all = `${plural(rows.length, 'file')} changed, +${sum(one => one.added)} -${sum(one => one.deleted)} lines`;
  return [...counts, all];
}

async function printPatch(
  context: Context,
  { row, checkpoints }: CheckpointedLoop,
  told: PatchSpan,
  flags: Flags,
): Promise<number> {
  const span = { ...told, words: spanWords(told, at => timeWords(at)) };
  const isJson = flags['json'] === true;
  const isStat = flags['stat'] === true;
  const stat = isJson || isStat ? await checkpoints.stat(span) : [];
  const patch = isStat ? undefined : await checkpoints.patch(span, patchBytesMax);
  const text = patch && plain(patch.text);
  if (isJson) {
    const { from, to, words } = span;
    const files = stat.map(({ path, added, deleted }) => ({ path, added: added ?? null, deleted: deleted ?? null }));
    const whole = { loop: row.loop, name: row.name, span: words, from, to, files };
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
  if (patch?.isCut) context.say(`Cut after ${patchBytesMax / 1_000_000} MB: --stat shows every file.`);
  return 0;
}

/** `1..4`. */
const spanPattern = /^(\d{1,9})\.\.(\d{1,9})$/;

/** What is not there, because it was set aside. */
const asideLines = ({ state, row: { name } }: CheckpointedLoop): readonly string[] =>
  [...allTasks(state.tasks)].flatMap(({ id, aside }) =>
    aside === undefined || aside.count === 0
      ? []
      : [
          `Not in it: ${id}, ${asideWords(aside)}.`,
          `  See it: ralph diff ${aside.since}..${aside.checkpoint} ${name}`,
          ...(state.control.ended === undefined ? [`  Have it back: ralph task retry ${id} --with-work`] : []),
        ],
  );

/** Since the loop began, in one iteration, or between two checkpoints. */
export async function diff(context: Context, [one, other]: Words, flags: Flags): Promise<number> {
  const words = [one, other].filter(word => word !== undefined);
  const spans = words.filter(word => spanPattern.test(word));
  const names = words.filter(word => !spanPattern.test(word));
  const { iteration } = flags;
  if (names.length > 1)
    throw new UsageError(`${JSON.stringify(names[1])} is no pair of checkpoints.`, 'Give two numbers: ralph diff 1..3');
  if (spans.length > 1 || (spans.length === 1 && iteration !== undefined))
    throw new UsageError('Give one of --iteration N and A..B.', 'ralph help diff');
  const loop = await checkpointsOf(context, names[0]);
  const [, from, to] = spanPattern.exec(spans[0] ?? '') ?? [];
  if (from !== undefined && to !== undefined) return printPatch(context, loop, spanBetween(loop, from, to), flags);
  if (iteration !== undefined) return printPatch(context, loop, ofIteration(loop, String(iteration)), flags);
  const code = await printPatch(context, loop, await sinceStart(loop), flags);
  if (flags['json'] !== true) for (const line of asideLines(loop)) context.say(line);
  return code;
}

/** Between two checkpoints, or since the one before. */
export async function checkpointDiff(context: Context, [which = '', name]: Words, flags: Flags): Promise<number> {
  const loop = await checkpointsOf(context, name);
  const [, from, to] = spanPattern.exec(which) ?? [];
  const isPair = from !== undefined && to !== undefined;
  return printPatch(context, loop, isPair ? spanBetween(loop, from, to) : spanOf(loop, presentRow(loop, which)), flags);
}
