// Memory of the past for a fresh context: four layers, each entry and the whole bounded, the stable one hashed.

import { findStandstill, isNewWork, isProgress, type Standstill } from '../messages/progress/progress.ts';
import { type NotedObstacle, type Phase, phases, type Report } from '../messages/report.ts';
import { comparable } from '../messages/said.ts';
import { takeCharacters, takeLastCharacters } from '../text/text.ts';
import type { EventOf } from './event.ts';
import { isNoFaultOfTask } from './failure.ts';
import type { Memory, Obstacle, Reported, State } from './state.ts';
import type { MergeConflict, TrailStep } from './task.ts';

export const entryCharsMax = 500; // seed 001
const entriesMax = { recent: 5, errors: 5, successes: 3 } as const;
type Layer = keyof typeof entriesMax;

export function remember(memory: Memory, layer: Layer, entry: string): Memory {
  const text = takeCharacters(entry.trim(), entryCharsMax);
  return text === '' ? memory : { ...memory, [layer]: [...memory[layer], text].slice(-entriesMax[layer]) };
}

const headCharsMax = 150;

/** Why a claim was refused, as an entry: its first line, which names the check, and the end of what that printed. */
export function refusalEntry(rejection: string): string {
  const text = rejection.trim();
  if (text.length <= entryCharsMax) return text;
  const head = `${takeCharacters(text.split('\n', 1)[0] ?? '', headCharsMax)}\n[…] `;
  return `${head}${takeLastCharacters(text, entryCharsMax - head.length)}`;
}

const titles: Readonly<Record<Layer, string>> = {
  errors: 'What went wrong before',
  successes: 'What worked before',
  recent: 'What the last iterations said',
};

/** Agent text is data: quoted line by line, so that nothing in it can pass for our own words. */
export function quoted(text: string): string {
  return text
    .split('\n')
    .map(line => `> ${line}`)
    .join('\n');
}

/** Errors matter most, then what worked, then what was said; the newest of each come first to stay. */
export function composeMemory(memory: Memory, charsMax: number): string {
  const sections: string[] = [];
  let left = charsMax;
  for (const layer of ['errors', 'successes', 'recent'] as const) {
    const heading = `### ${titles[layer]}`;
    const kept: string[] = [];
    let room = left - heading.length - 2;
    for (const entry of [...memory[layer]].reverse()) {
      const text = quoted(entry);
      if (text.length + 2 > room) break;
      kept.unshift(text);
      room -= text.length + 2;
    }
    if (kept.length === 0) continue;
    left = room;
    sections.push(`${heading}\n\n${kept.join('\n\n')}`);
  }
  return sections.join('\n\n');
}

/** FNV-1a: says whether the stable prefix changed (and so whether a provider's prompt cache still fits). */
export function prefixHash(stable: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < stable.length; at += 1) {
    hash = Math.imul(hash ^ stable.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
}

// What agents ran into, folded from their reports: numbered once, bounded, told to every later prompt.

type Obstacles = readonly Obstacle[];

const obstaclesMax = 100;
const messageCharsMax = 500;

const cleaned = (message: string): string => takeCharacters(message.replace(/\s+/g, ' ').trim(), messageCharsMax);

/** What cannot go on is an obstacle as well: `blocked` is told as one. */
function toldIn({ report, noted = [] }: EventOf<'iteration.ended'>): readonly NotedObstacle[] {
  const met: readonly NotedObstacle[] = [...(report?.obstacles ?? []), ...noted];
  const blocked = (report?.blocked ?? []).map(({ item, reason }) => ({
    message: reason === '' ? item : `${item}: ${reason}`,
  }));
  return [...met, ...blocked]
    .map(({ message, ...rest }) => ({ ...rest, message: cleaned(message) }))
    .filter(({ message }) => message !== '');
}

const same = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

const isAbout =
  (task: string, message: string) =>
  (one: Obstacle): boolean =>
    one.task === task && same(one.message, message);

/** What is over goes first, the oldest before the newer; the newest always stays, so that no number comes twice. */
function bounded(list: Obstacles): Obstacles {
  const many = list.length - obstaclesMax;
  if (many <= 0) return list;
  const over = new Set(list.filter(one => one.resolved).slice(0, many));
  return list.filter(one => !over.has(one)).slice(-obstaclesMax);
}

const withResolved = (list: Obstacles, resolved: boolean, which: (one: Obstacle) => boolean): Obstacles =>
  list.some(one => one.resolved !== resolved && which(one))
    ? list.map(one => (which(one) ? { ...one, resolved } : one))
    : list;

/** Named by its words or by its id; another task's too, when none of this task has these words. */
function settled(list: Obstacles, task: string, message: string): Obstacles {
  const own = isAbout(task, message);
  const any = (one: Obstacle): boolean => same(one.id, message) || same(one.message, message);
  return withResolved(list, true, list.some(own) ? own : any);
}

/** One that was over and is met again is open again, under its old number. */
function met(list: Obstacles, { task, iteration }: EventOf<'iteration.ended'>, message: string): Obstacles {
  const known = isAbout(task, message);
  if (list.some(known)) return withResolved(list, false, known);
  const number = Number(list.at(-1)?.id.slice(1) ?? 0) + 1;
  return bounded([...list, { id: `O${number}`, task, message, resolved: false, iteration }]);
}

/** The same list when nothing changed. */
export function obstaclesAfter(list: Obstacles, event: EventOf<'iteration.ended'>): Obstacles {
  let after = list;
  for (const { message, resolved } of toldIn(event)) {
    after = resolved === true ? settled(after, event.task, message) : met(after, event, message);
  }
  return after;
}

/** A task that is done has nothing in its way any more; what its last iteration met, others may meet too. */
export function obstaclesClosed(list: Obstacles, task: string, iteration: number): Obstacles {
  return withResolved(list, true, one => one.task === task && one.iteration !== iteration);
}

/** The ids of what this iteration ran into; `list` as it is after it. */
export function obstaclesMetIn(list: Obstacles, event: EventOf<'iteration.ended'>): readonly string[] {
  const ids = toldIn(event)
    .filter(({ resolved }) => resolved !== true)
    .flatMap(({ message }) => list.find(isAbout(event.task, message))?.id ?? []);
  return [...new Set(ids)];
}

// What was decided holds until somebody decides otherwise: a report that says nothing of it takes nothing back.

const carriedMax = 30;

const carried = (before: readonly string[] = [], now: readonly string[] = []): readonly string[] =>
  [...new Set([...before, ...now])].slice(-carriedMax);

/** The newest report of a task that takes many iterations, with the decisions, assumptions and constraints before it. */
export function carriedReport(before: Report | undefined, now: Report | undefined): Report | undefined {
  if (before === undefined || now === undefined) return now ?? before;
  const decisions = carried(before.decisions, now.decisions);
  const [assumptions, constraints] = (['assumptions', 'constraints'] as const).map(key => {
    const all = carried(before[key], now[key]);
    return all.length === 0 ? undefined : all;
  });
  return { ...now, decisions, assumptions, constraints };
}

// News in the reports of a loop: an item, a phase and a plan are each new only once.

const itemsMax = 1_000;

const hashOf = (item: string): string => prefixHash(item.replace(/\s+/g, ' ').toLowerCase());

/** Its report names something completed that none before it did. */
export function hasNewItem({ memory: { reported } }: State, report: Report | undefined): boolean {
  if (report === undefined || report.completed.length === 0) return false;
  const known = new Set(reported.items);
  return report.completed.some(item => !known.has(hashOf(item)));
}

const rank = (phase: Phase | undefined): number => (phase === undefined ? -1 : phases.indexOf(phase));

/** A goal also comes nearer by its first plan and by each phase that is entered for the first time. */
export function hasNewStep({ memory: { reported } }: State, report: Report | undefined): boolean {
  if (report === undefined) return false;
  return rank(report.phase) > rank(reported.phase) || (!reported.isPlanned && report.pending.length > 0);
}

export function reportedAfter(
  { memory: { reported } }: State,
  { report }: EventOf<'iteration.ended'>,
  isNews: boolean,
): Reported {
  if (report === undefined) return { ...reported, silent: reported.silent + 1 };
  const items = [...new Set([...reported.items, ...report.completed.map(hashOf)])].slice(-itemsMax);
  const phase = rank(report.phase) > rank(reported.phase) ? report.phase : reported.phase;
  return {
    items,
    phase,
    isPlanned: reported.isPlanned || report.pending.length > 0,
    silent: isNews ? 0 : reported.silent,
  };
}

// The trail: what the last iterations of each open task said and left, by which a task that stands still is known.

/** Of all tasks together: some work side by side. */
const stepsMax = 64;

export const trailOf = ({ trail }: State, task: string): readonly TrailStep[] => trail.filter(one => one.task === task);

type Ended = EventOf<'iteration.ended'>;

/** Before its files are saved and its claim is checked. */
const stepOf = ({ iteration, task, failure, echo, excerpt, report, unclaimed }: Omit<Ended, 'at'>): TrailStep => ({
  iteration,
  task,
  said: failure === undefined ? echo : comparable(excerpt),
  error: failure && echo,
  report: report && comparable(report.completed.join('; ')),
  words: failure?.detail ?? excerpt,
  unclaimed,
});

const withStep = (state: State, iteration: number, part: Partial<TrailStep>): State => ({
  ...state,
  trail: state.trail.map(one => (one.iteration === iteration ? { ...one, ...part } : one)),
});

/** What the provider or the network did is no step of the task. */
export const withEnded = (state: State, event: Omit<Ended, 'at'>): State =>
  event.failure !== undefined && isNoFaultOfTask(event.failure)
    ? state
    : { ...state, trail: [...state.trail, stepOf(event)].slice(-stepsMax) };

/** A person looked at it, it is over, or its files are others: what comes is compared with nothing before. */
export const withoutTrail = (state: State, task: string): State =>
  state.trail.some(one => one.task === task)
    ? { ...state, trail: state.trail.filter(one => one.task !== task) }
    : state;

export const withTree = (
  state: State,
  { iteration, kind, tree }: { iteration: number; kind: string; tree: string },
): State => (kind === 'iteration' ? withStep(state, iteration, { tree }) : state);

export const withRefusal = (state: State, { iteration, detail }: { iteration: number; detail: string }): State =>
  withStep(state, iteration, { check: comparable(detail) });

export const withConflict = (state: State, iteration: number, conflict: MergeConflict | undefined): State =>
  conflict === undefined ? state : withStep(state, iteration, { conflict });

/** How often in a row the task failed for the error of this iteration: others work beside it. */
export function sameErrorsOf(state: State, { task, iteration }: Pick<TrailStep, 'task' | 'iteration'>): number {
  const trail = trailOf(state, task);
  const last = trail.at(-1);
  const error = last?.iteration === iteration ? last.error : undefined;
  if (error === undefined || error === '') return 0;
  return trail.length - 1 - trail.findLastIndex(one => one.error !== error);
}

export const standstillOf = (state: State, task: string): Standstill | undefined =>
  findStandstill(trailOf(state, task));

export const triesAnew = (state: State, task: string): boolean => isNewWork(trailOf(state, task));

/** Whether the newest iteration of the task brought it on. */
export function movesOn(state: State, task: string | undefined): true | undefined {
  return task !== undefined && isProgress(trailOf(state, task)) ? true : undefined;
}
