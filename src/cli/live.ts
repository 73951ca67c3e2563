// Live view of a running loop: a line for everything that matters, and one live line below them.

import type { Escalation, Event, EventOf } from '../core/event.ts';
import { assessHealth } from '../core/health.ts';
import { waitingFor } from '../core/next.ts';
import { forecastCost } from '../core/spend.ts';
import { activeMsAt, initialState, isSingleTask, type State } from '../core/state.ts';
import { findTask, progress } from '../core/task.ts';
import { doneWords } from '../core/termination.ts';
import type { Notifier } from '../engine/engine.ts';
import { formatDuration, formatUsd } from '../text/format.ts';
import { takeCharacters } from '../text/text.ts';
import { costWords, isCostKnown } from '../views/ending.ts';
import { sentenceOf } from '../views/timeline.ts';
import { beginWords, reportWords, stepParts } from '../views/words.ts';
import { fitted, hanging, indented, plain, type Style, type Tone, wrapped } from './terminal.ts';

export interface LiveView extends Notifier {
  line(text: string): void;
  /** The live line goes away while something else uses the terminal; `redraw` brings that back below a printed line. */
  hold(redraw: () => void): () => void;
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
  const at = new Date(waits.until);
  const day = waits.until - now < 86_400_000 ? '' : `${at.toDateString().slice(4, 10)}, `;
  const clock = `${day}${at.toTimeString().slice(0, 5)}`;
  return `waits for ${limited[0]}'s limit to reset at ${clock} (in ${awayWords(waits.until - now)}), nothing is spent`;
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
  const health = assessHealth(state, now).state;
  return [
    ...(isSingle ? stepParts(state) : [`${done + skipped}/${total} tasks`, ...(working === '' ? [] : [working])]).map(
      text => ({ text, goes: 0 }),
    ),
    {
      text: `iteration ${state.iterations.begun}${iterationsMax === null ? '' : `/${iterationsMax}`}`,
      goes: waits === undefined ? 0 : 5,
    },
    { text: formatDuration(activeMsAt(state, workedUntil)), goes: 3 },
    ...(cost === '' ? [] : [{ text: `${cost}${cost.startsWith('$') ? budget : ''}`, goes: 4 }]),
    ...(forecast === undefined ? [] : [{ text: `forecast ${formatUsd(forecast.totalUsdMicros)}`, goes: 1 }]),
    { text: health, goes: health === 'healthy' ? 2 : 0 },
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
  return [0, 1, 2, 3, 4].map(without).find(line => line.length <= columns) ?? without(5);
}

const clockColumns = '[00:00:00] '.length + 1;

export function escalationCard(escalation: Escalation, style: Style): string {
  const about = escalation.task === undefined ? '' : ` (${escalation.task})`;
  const columns = style.columns();
  const headline = `${style.marks.ask} ${escalation.id} needs you${about}: ${escalation.summary}`;
  const quoted = (text: string): string =>
    wrapped(text, columns - 7)
      .map(line => `    | ${line}`)
      .join('\n');
  return [
    style.paint('attention', wrapped(headline, columns - clockColumns).join('\n    ')),
    ...(escalation.context === '' ? [] : [quoted(escalation.context)]),
    ...escalation.options.map((option, at) => hanging(`    ${at + 1}. `, option.text, columns)),
    ...(escalation.question === '' ? [] : [hanging('    ', escalation.question, columns)]),
  ].join('\n');
}

const clockTime = (at: number): string => new Date(at).toTimeString().slice(0, 8);

const isOneOfMany = ({ settings }: State): boolean =>
  new Set([
    ...settings.performers,
    ...Object.values(settings.performersByTask),
    ...Object.values(settings.performersByPhase),
  ]).size > 1;

/** So that five silent attempts do not look like a bug. */
function lastWords(excerpt: string): string {
  const line = excerpt.trimEnd().split('\n').at(-1)?.trim() ?? '';
  return line === '' ? ' (it said nothing)' : `; its last line: ${takeCharacters(line, 120)}`;
}

/** Nobody expects a claim from every iteration of a task that takes many. */
function unclaimed(event: EventOf<'iteration.ended'>, { settings }: State): string {
  const { iteration, because, durationMs, report, excerpt } = event;
  const how = settings.policy.tasks === 'one' ? `the agent ended after ${formatDuration(durationMs)}` : because;
  return `iteration ${iteration}: ${how}${report === undefined ? lastWords(excerpt) : `; ${reportWords(report)}`}`;
}

function startWords(event: EventOf<'iteration.started'>, state: State): string {
  const { iteration, task, attempt, performer } = event;
  const { limits } = state.settings;
  const isSingle = isSingleTask(state);
  const title = findTask(state.tasks, task)?.spec.title ?? '';
  const ofMax = limits.iterationsMax === null ? '' : ` of ${limits.iterationsMax}`;
  const what = isSingle ? `${ofMax}${beginWords(state)}` : `: ${task} ${title}`;
  const by = isOneOfMany(state) ? ` by ${performer}` : '';
  const guided = state.memory.guidance.some(one => one.iteration === iteration) ? ' (with guidance)' : '';
  return `Iteration ${iteration}${what}${by}${guided}${attempt > 1 && !isSingle ? ` (attempt ${attempt})` : ''}`;
}

/** What its agent wrote into done.md is for the person who has just talked with it. */
const isRound = ({ tasks }: State, id: string): boolean => {
  const task = findTask(tasks, id);
  return task?.spec.completion === 'result' && task.spec.performer === undefined;
};

/** At a terminal, lines that are too long keep their bar. */
const detailWords = (detail: string, style: Style): string =>
  indented(style.live ? wrapped(detail, style.columns() - 7).join('\n') : detail, '    | ');

interface Line {
  readonly tone?: Tone;
  readonly text: string;
}

/** Who is only to look may be kept from more by confinement; where it is not, what changed meanwhile is said. */
function changedByReader(
  { task = '', iteration, files = [] }: EventOf<'checkpoint.made'>,
  { tasks, loop: { name } }: State,
): Line | undefined {
  if (findTask(tasks, task)?.spec.readOnly !== true || files.length === 0) return undefined;
  const paths = `${files.slice(0, 3).join(', ')}${files.length > 3 ? ', …' : ''}`;
  const text = `files changed while ${task} was only to look: ${paths} (ralph diff ${name} --iteration ${iteration})`;
  return { tone: 'attention', text };
}

/** Open tasks went out of the document. */
const hasLost = ({ gone = [] }: EventOf<'tasks.loaded'>, { tasks }: State): boolean =>
  gone.some(id => !['done', 'skipped'].includes(findTask(tasks, id)?.status ?? 'done'));

function closedLine(event: EventOf<'task.closed'>, state: State, { marks }: Style): Line {
  const { task, because, verified } = event;
  // What an action did or a reviewer answered speaks for itself.
  if (findTask(state.tasks, task)?.spec.completion !== undefined)
    return { tone: 'good', text: `${marks.done} ${task}: ${because}` };
  const what = `${marks.done} ${doneWords(state) ?? `${task} done`}`;
  return verified
    ? { tone: 'good', text: `${what}, proven: ${because}` }
    : { tone: 'attention', text: `${what}, UNVERIFIED: no check is configured` };
}

function endedLine(event: EventOf<'iteration.ended'>, state: State): Line | undefined {
  const { outcome, task, excerpt } = event;
  if (outcome === 'succeeded' && isRound(state, task) && excerpt !== '')
    return { tone: 'quiet', text: `${task}: ${takeCharacters(excerpt, 300).replace(/\s+/g, ' ')}` };
  if (event.unclaimed) return { tone: 'quiet', text: unclaimed(event, state) };
  // The card of an escalation follows at once.
  if (outcome === 'succeeded' || outcome === 'escalated') return undefined;
  return { tone: outcome === 'failed' ? 'bad' : 'quiet', text: sentenceOf(event) };
}

const sentence = (event: Event): Line => ({ tone: 'quiet', text: sentenceOf(event) });
const nothing = (): undefined => undefined;
/** What Ralph asks of itself shows by what comes of it. */
const byPerson = (event: EventOf<'checkpoint.asked' | 'restore.asked'>): Line | undefined =>
  event.by === 'ralph' ? undefined : sentence(event);

type Teller<Type extends Event['type']> = (event: EventOf<Type>, state: State, style: Style) => Line | undefined;

/** The line of each type of event; the sentence of the timeline for those that are not here. */
const tellers: { readonly [Type in Event['type']]?: Teller<Type> } = {
  'iteration.started': (event, state) => ({ tone: 'strong', text: startWords(event, state) }),
  'iteration.ended': endedLine,
  'task.closed': closedLine,
  'check.ended': ({ passed, flaky, because, detail }, _state, style) => {
    if (passed) return flaky ? { tone: 'attention', text: because } : undefined;
    return { tone: 'bad', text: `${style.marks.failed} ${because}\n${detailWords(detail, style)}` };
  },
  // Reviewers look side by side: who is meant must be said.
  'signal.read': ({ accepted, signal, task, because }, _state, { marks }) =>
    accepted
      ? undefined
      : { tone: 'attention', text: `${marks.failed} ${signal === 'review' ? `${task}: ` : ''}${because}` },
  'escalation.raised': ({ escalation }, _state, style) => ({ text: escalationCard(escalation, style) }),
  'checkpoint.made': changedByReader,
  'checkpoint.asked': byPerson,
  'restore.asked': byPerson,
  'tasks.loaded': (event, state) => {
    if (isSingleTask(state) && state.iterations.begun === 0) return undefined; // one task, as everybody knows
    if (hasLost(event, state)) return { tone: 'attention', text: sentenceOf(event) };
    return event.tasks.length === 0 ? undefined : sentence(event);
  },
  'action.intended': nothing,
  'review.answered': nothing,
  'loop.started': nothing,
  'tasks.saved': nothing,
  'iteration.spawned': nothing,
  'iteration.heartbeat': nothing,
  'usage.recorded': nothing,
  'loop.ended': nothing,
};

function lineOf(event: Event, state: State, style: Style): Line | undefined {
  const teller = (tellers[event.type] ?? sentence) as (event: Event, state: State, style: Style) => Line | undefined;
  return teller(event, state, style);
}

const liveColumnsMin = 20; // narrower, a line would wrap and could not be cleared

/** `asks`: each question is shown where it is asked, so not a second time when it is raised. */
export function liveView(style: Style, write: (text: string) => void, quiet: boolean, asks = false): LiveView {
  let state: State = initialState;
  let shown = false;
  let held = 0;
  let redrawHeld: () => void = () => {};
  const clear = (): void => {
    if (shown) write('\r\x1b[2K');
    shown = false;
  };
  const draw = (): void => {
    const isWorthIt = style.live && !quiet && style.columns() >= liveColumnsMin;
    if (!isWorthIt || held > 0 || !state.document.isLoaded || state.control.ended) return;
    clear();
    const width = style.columns() - 1;
    write(
      style.paint('quiet', fitted(liveLine(state, Date.now(), { dot: style.marks.dot, columns: width }), width, style)),
    );
    shown = true;
  };
  const timer = style.live ? setInterval(draw, 1_000).unref() : undefined;
  const line = (text: string): void => {
    if (held > 0 && style.live) write('\r\x1b[2K');
    clear();
    write(`${text}\n`);
    if (held > 0) redrawHeld();
    else draw();
  };
  return {
    tell(event, next) {
      state = next;
      const isShownLater = asks && event.type === 'escalation.raised';
      const said = quiet || isShownLater ? undefined : lineOf(event, next, style);
      if (said !== undefined) {
        const time = `[${clockTime(event.at)}] `;
        const isProse = style.live && said.tone !== undefined && !said.text.includes('\n');
        const text = isProse ? hanging(time, said.text, style.columns()) : `${time}${said.text}`;
        line(said.tone === undefined ? text : style.paint(said.tone, plain(text)));
      } else draw();
    },
    line,
    hold(redraw) {
      clear();
      held += 1;
      redrawHeld = redraw;
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
