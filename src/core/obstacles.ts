// What agents ran into, folded from their reports: numbered once, bounded, told to every later prompt.
import type { EventOf } from './event.ts';
import { takeCharacters } from '../text/text.ts';

export interface Obstacle {
  /** O1, O2 … in the order in which they were met. */
  readonly id: string;
  readonly task: string;
  readonly message: string;
  readonly resolved: boolean;
  /** The iteration that met it first. */
  readonly iteration: number;
}

type Obstacles = readonly Obstacle[];

const obstaclesMax = 100;
const messageCharsMax = 500;

interface Told {
  readonly message: string;
  readonly resolved?: boolean;
}

const cleaned = (message: string): string => takeCharacters(message.replace(/\s+/g, ' ').trim(), messageCharsMax);

/** What cannot go on is an obstacle as well: `blocked` is told as one. */
function toldIn({ report }: EventOf<'iteration.ended'>): readonly Told[] {
  if (report === undefined) return [];
  const met: readonly Told[] = report.obstacles ?? [];
  const blocked = report.blocked.map(({ item, reason }) => ({ message: reason === '' ? item : `${item}: ${reason}` }));
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
