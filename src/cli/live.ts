// Live view of a running loop: a line for everything that matters, and one live line below them.

import { assessHealth } from '../core/health.ts';
import { waitingFor } from '../core/next.ts';
import { canGoOn } from '../core/scheduling.ts';
import { forecastCost } from '../core/spend.ts';
import { activeMsAt, initialState, isSingleTask, type State } from '../core/state.ts';
import { progress } from '../core/task.ts';
import type { Notifier } from '../engine/engine.ts';
import { columnsOf } from '../text/columns.ts';
import { formatDuration, formatUsd } from '../text/format.ts';
import { costWords, isCostKnown } from '../views/ending.ts';
import { type EventLine, eventLine } from '../views/event-line.ts';
import { healthNow } from '../views/loop.ts';
import { stepParts } from '../views/words.ts';
import { clockTime, dayAndTime } from './output/time.ts';
import { questionCard, shownCard } from './questions/card.ts';
import { fitted, hanging, indented, plain, type Style, wrapped } from './terminal.ts';

export interface LiveView extends Notifier {
  line(text: string): void;
  /**
   * The live line goes away while something else uses the terminal; `redraw` brings that back below a printed line, and is
   * to show all of it again once nothing else is at work.
   */
  hold(redraw: (isWhole: boolean) => void): () => void;
  close(): void;
}

/** In minutes while there are some: seconds would only flicker. */
const awayWords = (ms: number): string =>
  ms < 120_000 || ms >= 3_600_000 ? formatDuration(ms) : `${Math.ceil(ms / 60_000)} min`;

/** What a loop waits for and until when; a provider's limit with the time of its reset (F54). */
export function waitWords(state: State, now: number): string | undefined {
  const waits = waitingFor(state, now);
  if (waits === undefined || state.control.paused) return waits?.what;
  if (waits.until === undefined) return `waits for ${waits.what}`;
  const limited = Object.entries(state.performers.rateLimitedUntil).find(([, until]) => until === waits.until);
  if (limited === undefined) return `waits for ${waits.what}, ${formatDuration(waits.until - now)} left`;
  const clock = waits.until - now < 86_400_000 ? clockTime(waits.until) : dayAndTime(waits.until);
  return `waits for ${limited[0]}'s limit to reset at ${clock} (in ${awayWords(waits.until - now)}), nothing is spent`;
}

/** Of a loop on which nobody works, nothing is healthy or ill. */
function healthPart(state: State, now: number, workedUntil: number): readonly { text: string; goes: number }[] {
  const health = assessHealth(state, now).state;
  // What waits for a person stands in the line already, and is no health that anybody would call healthy.
  const isSaid = healthNow(state, now).state !== health;
  return workedUntil < now || isSaid ? [] : [{ text: health, goes: health === 'healthy' ? 2 : 0 }];
}

/** `4/10 tasks, 1 skipped, 2 blocked` */
function tallyWords(state: State): string {
  const { done, total, skipped, blocked } = progress(state.tasks);
  const left = Object.entries({ skipped, blocked }).flatMap(([what, count]) =>
    count === 0 ? [] : [`${count} ${what}`],
  );
  return [`${done}/${total} tasks`, ...left].join(', ');
}

/** What the live line says, and which parts go first when it is longer than the terminal is wide (0: none). */
function liveParts(
  state: State,
  now: number,
  workedUntil: number,
): readonly { readonly text: string; readonly goes: number }[] {
  const { done, skipped, total } = progress(state.tasks);
  const { iterationsMax, costUsdMicrosMax } = state.settings.limits;
  const isSingle = isSingleTask(state);
  const working =
    state.live.map(one => one.task).join(' ') || state.claims.open.map(one => `checking ${one.task}`).join(' ');
  const forecast = forecastCost({
    usedUsdMicros: state.spend.usage.costUsdMicros,
    iterations: state.iterations.ended,
    tasksClosed: done,
    tasksOpen: total - done - skipped,
  });
  const cost = isCostKnown(state) ? costWords(state) : '';
  const budget = costUsdMicrosMax === null ? '' : ` / ${formatUsd(costUsdMicrosMax)}`;
  const waits = waitWords(state, now);
  return [
    ...(isSingle ? stepParts(state) : [tallyWords(state), ...(working === '' ? [] : [working])]).map(text => ({
      text,
      goes: 0,
    })),
    {
      text: `iteration ${state.iterations.begun}${iterationsMax === null ? '' : `/${iterationsMax}`}`,
      goes: waits === undefined ? 0 : 5,
    },
    { text: formatDuration(activeMsAt(state, workedUntil)), goes: 3 },
    ...(cost === '' ? [] : [{ text: `${cost}${cost.startsWith('$') ? budget : ''}`, goes: 4 }]),
    ...(forecast === undefined ? [] : [{ text: `forecast ${formatUsd(forecast.totalUsdMicros)}`, goes: 1 }]),
    ...healthPart(state, now, workedUntil),
    ...(waits === undefined ? [] : [{ text: waits, goes: 0 }]),
  ];
}

interface LineShape {
  readonly dot: string;
  readonly columns?: number;
  readonly workedUntil?: number;
}

/** Task i/n, iteration, elapsed, cost / budget / forecast, health, what it waits for and until when. */
export function liveLine(
  state: State,
  now: number,
  /** `workedUntil` is earlier than now when no process works on it any more. */
  { dot, columns = Number.POSITIVE_INFINITY, workedUntil = now }: LineShape,
): string {
  const parts = liveParts(state, now, workedUntil);
  const without = (gone: number): string =>
    parts
      .filter(part => part.goes === 0 || part.goes > gone)
      .map(part => part.text)
      .join(` ${dot} `);
  return [0, 1, 2, 3, 4].map(without).find(line => columnsOf(line) <= columns) ?? without(5);
}

function lineText(at: number, { tone, text, detail, escalation }: EventLine, loop: string, style: Style): string {
  const time = `[${clockTime(at, 'seconds')}] `;
  if (escalation !== undefined)
    return `${time}${style.live ? shownCard(escalation, loop, style) : questionCard(escalation, style)}`;
  const isProse = style.live && !text.includes('\n');
  const prose = isProse ? hanging(time, text, style.columns()) : `${time}${text}`;
  return style.paint(tone, plain(detail === undefined ? prose : `${prose}\n${detailWords(detail, style)}`));
}

/** At a terminal, lines that are too long keep their bar. */
const detailWords = (detail: string, style: Style): string =>
  indented(style.live ? wrapped(detail, style.columns() - 7).join('\n') : detail, '    | ');

const liveColumnsMin = 20; // narrower, a line would wrap and could not be cleared

function liveText(state: State, style: Style): string {
  const columns = style.columns() - 1;
  return style.paint('quiet', fitted(liveLine(state, Date.now(), { dot: style.marks.dot, columns }), columns, style));
}

/** Somebody works on it, or could begin to. */
const isAtWork = (state: State): boolean => state.live.length + state.claims.open.length > 0 || canGoOn(state);

/** `asks`: each question is shown where it is asked, so not a second time when it is raised. */
export function liveView(style: Style, write: (text: string) => void, quiet: boolean, asks = false): LiveView {
  let state: State = initialState;
  let shown = false;
  let held = 0;
  let printedSince = 0; // lines, since what holds the terminal was shown whole
  let redrawHeld: (isWhole: boolean) => void = () => {};
  const clear = (): void => {
    if (shown) write('\r\x1b[2K');
    shown = false;
  };
  const draw = (): void => {
    const isWorthIt = style.live && !quiet && style.columns() >= liveColumnsMin;
    if (!isWorthIt || held > 0 || !state.document.isLoaded || state.control.ended) return;
    clear();
    write(liveText(state, style));
    shown = true;
  };
  const tick = (): void => {
    const isBuried = held > 0 && printedSince > 0 && !isAtWork(state);
    if (isBuried) printedSince = 0;
    if (isBuried) redrawHeld(true);
    else draw();
  };
  const timer = style.live ? setInterval(tick, 1_000).unref() : undefined;
  const line = (text: string): void => {
    if (held > 0 && style.live) write('\r\x1b[2K');
    clear();
    write(`${text}\n`);
    printedSince += 1;
    if (held > 0) redrawHeld(false);
    else draw();
  };
  return {
    tell(event, next) {
      state = next;
      const isShownLater = asks && event.type === 'escalation.raised';
      const said = quiet || isShownLater ? undefined : eventLine(event, next, style.marks);
      if (said === undefined) draw();
      else line(lineText(event.at, said, next.loop.name, style));
    },
    line,
    hold(redraw) {
      clear();
      held += 1;
      redrawHeld = redraw;
      printedSince = 0;
      return () => {
        held -= 1;
        redrawHeld = () => {};
        draw();
      };
    },
    close() {
      clearInterval(timer);
      clear();
      held += 1;
      redrawHeld = () => {};
    },
  };
}
