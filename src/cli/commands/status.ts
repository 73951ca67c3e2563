// `ralph status`: the truth about a loop now, for people in a few lines, for programs as a LoopView.
import { sessionOf } from '../../core/event.ts';
import { assessHealth } from '../../core/health.ts';
import { canGoOn } from '../../core/scheduling.ts';
import { isBusy, type State } from '../../core/state.ts';
import { progress } from '../../core/task.ts';
import { formatDuration } from '../../text/format.ts';
import { endingOf, isTakenBack } from '../../views/ending.ts';
import { healthOf, type Liveness, livenessOf, standingOf } from '../../views/loop.ts';
import { windowWords } from '../../views/words.ts';
import { type Context, type Flags, loopOf, printJson, type Words } from '../context.ts';
import { liveLine } from '../live.ts';
import { aboutWords } from '../output/about.ts';
import { questionCard, questionLine, shownCard } from '../questions/card.ts';
import { folded, makeStyle, type Style } from '../terminal.ts';

function workWords(state: State, now: number): string {
  if (state.live.length === 0 && state.claims.open.length > 0)
    return `checking ${state.claims.open.map(one => one.task).join(', ')}`;
  const live = state.live.map(
    ({ iteration, task, performer, startedAt }) =>
      `iteration ${iteration} (${task}) by ${performer} for ${formatDuration(now - startedAt)}`,
  );
  return live.join('; ');
}

/** The lines about a loop that has not ended. */
function openLines(state: State, liveness: Liveness, process: string, style: Style): readonly string[] {
  const now = Date.now();
  const isAlive = liveness.is === 'held';
  const health = healthOf(state, liveness, now);
  return [
    liveLine(state, now, { dot: style.marks.dot, workedUntil: isAlive ? now : state.spend.countedUntil }),
    ...(isAlive && isBusy(state) ? [`at work    ${workWords(state, now)}`] : []),
    `process    ${process}`,
    ...(isAlive && (isBusy(state) || assessHealth(state, now).state !== 'healthy')
      ? [`health     ${health.state}: ${health.because}`]
      : []),
    ...Object.entries(state.performers.permissionModes ?? {}).map(([name, mode]) => `may do     ${name}: ${mode}`),
    ...Object.entries(state.performers.windows ?? {}).map(([name, all]) => `windows    ${name}: ${windowWords(all)}`),
  ];
}

/** Undefined: no process works on it. */
function workerWords(liveness: Liveness): string | undefined {
  const holder = liveness.is === 'nobody' ? undefined : liveness.holder;
  const session = holder && sessionOf(holder.id);
  return session === undefined
    ? holder && `process ${holder.pid} on ${holder.host}`
    : `none: it works in session ${session}`;
}

function nobodyWords(state: State): string {
  const { questions, loop } = state;
  const then = questions.open.length === 0 || canGoOn(state) ? 'go on:' : 'answer first (ralph inbox), then';
  return `NONE: no process works on it; ${then} ralph resume ${loop.name}`;
}

export async function execute(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const { loops, row } = await loopOf(context, name);
  if (flags['json'] === true) return printJson(context, await loops.view(row.loop));
  const { state, held } = await loops.look(row);
  const style = makeStyle(flags, process.stdout);
  const liveness = livenessOf(state.control.ended !== undefined, held);
  const working = workerWords(liveness);
  const isAlive = working !== undefined;
  const worker = working ?? nobodyWords(state);
  const standing = `${loopWords(state, liveness)}${leftOutWords(state)}${state.control.paused && !isAlive && !state.control.ended ? ', paused' : ''}`;
  const what = folded(`${row.name}  ${standing}  (${aboutWords(state, row.document)})`, process.stdout);
  context.out(`${style.paint('strong', row.name)}${what.slice(row.name.length)}`);
  const ending = endingOf(state);
  const lines = state.control.ended
    ? [ending.sentence, `process    ${isAlive ? worker : 'none'}`]
    : openLines(state, liveness, worker, style);
  for (const line of lines) context.print(`  ${line}`);
  if (state.control.ended || state.questions.open.length === 0) return 0;
  printQuestions(context, state, style, ending.next.at(-1) ?? '');
  return 0;
}

/** One is shown whole; several in a line each, so that how the loop stands is still on the screen. */
function printQuestions(context: Context, { questions: { open }, loop }: State, style: Style, answer: string): void {
  const [only, ...others] = open;
  if (only !== undefined && others.length === 0) {
    context.out(process.stdout.isTTY ? shownCard(only, loop.name, style) : questionCard(only, style));
    context.print(`  ${answer}`);
    return;
  }
  for (const one of open) context.out(style.paint('attention', questionLine(one, style)));
  context.print('  Read and answer them: ralph inbox');
}

/** How a loop stands, in the word of the read model. */
export const loopWords = (state: State, liveness: Liveness): string =>
  standingOf(state, liveness, Date.now()).replace('-', ' ');

/** What a completed loop has left out. */
const leftOutWords = ({ control: { ended }, tasks }: State): string => {
  const { skipped } = progress(tasks);
  return ended?.reason === 'goal_achieved' && skipped > 0 ? `, ${skipped} skipped` : '';
};

/** Why it ended, for lists: nobody may take what was left out, or taken back, for done. */
export function endedByWords(state: State): string {
  const { ended } = state.control;
  if (ended === undefined) return '';
  if (isTakenBack(state)) return `${progress(state.tasks).open} open again`;
  const left = leftOutWords(state);
  if (ended.reason === 'explicit_stop') return 'on request';
  return left === '' ? ended.reason.replaceAll('_', ' ') : `done${left}`;
}
