// The laws that hold after any number of crashes: nothing lost, nothing done twice, nobody left behind.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Event, EventOf, EventType } from '../../src/core/event.ts';
import { isAlive } from '../../src/processes/identity.ts';
import { type LoopRecord, living, type Stage, storyIds, until } from './stage.ts';

export class LawBroken extends Error {}

function hold(isSo: boolean, law: string, found: unknown): void {
  if (!isSo) throw new LawBroken(`${law}; found ${JSON.stringify(found)}`);
}

function same(found: unknown, wanted: unknown, law: string): void {
  hold(isDeepStrictEqual(found, wanted), `${law}: ${JSON.stringify(wanted)}`, found);
}

export function ofType<Type extends EventType>(events: readonly Event[], type: Type): readonly EventOf<Type>[] {
  return events.filter((event): event is EventOf<Type> => event.type === type);
}

/** Numbers without gap or double; each iteration ended once; each agent start has its own recorded intent. */
function checkIterations({ events }: LoopRecord, starts: readonly string[]): void {
  const begun = ofType(events, 'iteration.started');
  const numbers = begun.filter(event => event.again !== true).map(event => event.iteration);
  same(
    numbers,
    numbers.map((_, at) => at + 1),
    'iterations are numbered without gap or double',
  );
  const ended = ofType(events, 'iteration.ended').map(event => event.iteration);
  same(
    [...ended].sort((one, other) => one - other),
    numbers,
    'every iteration is ended exactly once',
  );
  for (const iteration of new Set(starts.map(line => line.split(' ')[0]))) {
    const started = starts.filter(line => line.startsWith(`${iteration} `)).length;
    const intended = begun.filter(event => String(event.iteration) === iteration).length;
    hold(
      started <= intended,
      `iteration ${iteration} was started at most as often as the ledger says (${intended})`,
      started,
    );
  }
}

function checkTasks({ events }: LoopRecord, stories: number): void {
  const closed = ofType(events, 'task.closed');
  same(closed.map(event => event.task).sort(), storyIds(stories), 'every task is closed exactly once');
  hold(
    closed.every(event => event.verified),
    'every task is proven',
    closed,
  );
  for (const { task } of closed) {
    const at = events.findIndex(event => event.type === 'task.closed' && event.task === task);
    const late = events.slice(at).some(event => event.type === 'iteration.started' && event.task === task);
    hold(!late, `${task} is not begun again after it was closed`, late);
  }
  same(
    ofType(events, 'loop.ended').map(event => event.reason),
    ['goal_achieved'],
    'the loop ends once, its goal achieved',
  );
}

/** Whoever worked for this stage is gone; a kill takes a moment to be carried out. */
export async function checkNobodyLeft(stage: Stage, records: readonly LoopRecord[]): Promise<void> {
  const spawned = records.flatMap(({ events }) => ofType(events, 'iteration.spawned'));
  const alive = (): readonly number[] => [
    ...living(stage.project),
    ...spawned.filter(({ pid, startTime }) => isAlive(pid, startTime)).map(({ pid }) => pid),
  ];
  await until('no agent is left', () => alive().length === 0, 10_000).catch(() =>
    hold(false, 'no agent is left', alive()),
  );
}

/** The same final state as without any disturbance: `documentText` is what an undisturbed run wrote. */
export async function checkFinished(stage: Stage, stories: number, documentText: string): Promise<LoopRecord> {
  const records = await stage.ledger();
  // A crash after the very last event leaves nothing to resume: the next run finds all done and begins nothing.
  const [record, ...more] = records.filter(({ events }) => ofType(events, 'iteration.started').length > 0);
  hold(
    record !== undefined && more.length === 0,
    'one loop did the work',
    records.map(({ loop }) => loop),
  );
  for (const { loop, verified } of records) hold(verified.ok, `the chain of loop ${loop} holds`, verified);
  checkIterations(record!, stage.starts());
  checkTasks(record!, stories);
  hold(readFileSync(stage.document, 'utf8') === documentText, 'PRD.json is, byte for byte, as without a crash', '');
  for (const id of storyIds(stories)) {
    same(
      readFileSync(join(stage.project, 'work', `${id}.txt`), 'utf8'),
      `${id} is finished\n`,
      'the work itself is whole',
    );
  }
  await checkNobodyLeft(stage, records);
  const { code, output } = await stage.warm(['audit', 'verify']);
  hold(code === 0, 'ralph audit verify holds', output);
  return record!;
}
