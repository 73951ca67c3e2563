// What must hold in every simulated loop, whatever happens: checked event by event and at the end.
import { deepStrictEqual } from 'node:assert/strict';
import type { Event } from '../../src/core/event.ts';
import { resetMsMax } from '../../src/core/scheduling.ts';
import {
  activeMsAt,
  hasStorageTrouble,
  initialState,
  packState,
  type State,
  totalTokens,
} from '../../src/core/state.ts';
import { allTasks, findTask, progress } from '../../src/core/task.ts';
import { evaluateTermination } from '../../src/core/termination.ts';
import { evolve } from '../../src/modes/evolve.ts';
import { messageUsdMicrosMax } from './agent.ts';

export class LawBroken extends Error {}

const law = (holds: boolean, sentence: string): void => {
  if (!holds) throw new LawBroken(sentence);
};

const afterTheEnd: readonly Event['type'][] = [
  'loop.resumed',
  'escalation.answered',
  'limits.changed',
  'guidance.given',
  'checkpoint.asked',
  'checkpoint.made',
  'restore.asked',
  'checkpoint.restored',
  'escalation.raised',
];

/** A rollback of ours takes away what failed, never what was proven. */
export function checkNothingLost(state: State, present: ReadonlySet<string>): void {
  for (const task of allTasks(state.tasks))
    law(task.verified !== true || present.has(task.id), `${task.id} was proven, and its work is gone`);
}

/** Folds the ledger from its start and checks each step. `worked` is the world's truth about the tasks. */
export function checkLaws(events: readonly Event[], worked: ReadonlySet<string>): State {
  let state = initialState;
  const closed = new Set<string>();
  for (const event of events) {
    const before = state;
    state = evolve(state, event);
    law(state.iterations.begun >= before.iterations.begun, 'the number of iterations went down');
    law(state.spend.usage.costUsdMicros >= before.spend.usage.costUsdMicros, 'the cost went down');
    law(totalTokens(state.spend.usage) >= totalTokens(before.spend.usage), 'the tokens went down');
    law(state.spend.activeMs >= before.spend.activeMs, 'the active time went down');
    law(before.control.ended === undefined || afterTheEnd.includes(event.type), `${event.type} after the end`);
    if (event.type === 'task.closed') {
      law(!closed.has(event.task), `${event.task} was closed twice`);
      law(!event.verified || worked.has(event.task), `${event.task} was called proven without work`);
      closed.add(event.task);
    }
    if (event.type === 'task.reopened') closed.delete(event.task);
    if (event.type === 'iteration.nudged' && event.trigger === 'token_budget')
      law(!before.spend.isHandedOff, 'the handoff for money fired twice');
    if (event.type === 'iteration.ended' && event.outcome === 'handed-off') checkHandoff(before, event);
    if (event.type === 'iteration.started') checkStart(before, event);
    if (event.type === 'loop.ended') {
      const first = evaluateTermination(before, event.at);
      law(
        first?.reason === event.reason,
        `ended by ${event.reason}, but the first criterion that held is ${first?.reason}`,
      );
    }
    checkBounds(state);
  }
  return state;
}

/** An iteration that was asked to hand off ends as that, or its own words asked for it. */
function checkHandoff(before: State, event: Extract<Event, { type: 'iteration.ended' }>): void {
  const asked = before.live.find(one => one.iteration === event.iteration)?.handoff;
  if (asked?.delivered)
    law(event.handoff === asked.trigger, `handed off by ${event.handoff}, asked by ${asked.trigger}`);
  else law(event.handoff === 'explicit_request', `handed off by ${event.handoff}, which nobody asked for`);
  law(event.failure === undefined, 'a handoff is no failure');
}

function checkStart(before: State, event: Extract<Event, { type: 'iteration.started' }>): void {
  const { iterationsMax } = before.settings.limits;
  if (event.again) return;
  law(iterationsMax === null || event.iteration <= iterationsMax, `iteration ${event.iteration} of ${iterationsMax}`);
  const limitedUntil = before.performers.rateLimitedUntil[event.performer] ?? 0;
  law(limitedUntil <= event.at || limitedUntil > event.at + resetMsMax, `${event.performer} began before its reset`);
  law(!before.questions.open.some(one => one.performer === event.performer), `${event.performer} began unanswered`);
  law(event.iteration === before.iterations.begun + 1, 'an iteration number was skipped or used twice');
  const merging = before.claims.open.filter(claim => claim.stage === 'merge').length;
  const working = before.live.length + before.claims.open.length - merging;
  law(working < before.settings.parallel, 'more live iterations than allowed');
  law(working + merging < 2 * before.settings.parallel, 'more work waits to be merged than is worked on');
  law(!before.control.paused && !before.control.stop, 'an iteration began although the loop was paused or stopped');
  const task = findTask(before.tasks, event.task);
  law(task?.status === 'pending', `an iteration began on a task that is ${task?.status}`);
  law(
    task!.ignoresUnmet || task!.spec.dependsOn.every(id => findTask(before.tasks, id)?.status === 'done'),
    'a dependency was not done',
  );
}

function checkBounds(state: State): void {
  const {
    memory,
    memory: { recentOutputs: echoes, guidance },
    live,
    settings,
    document: { unsaved },
  } = state;
  law(memory.recent.length <= 5 && memory.errors.length <= 5 && memory.successes.length <= 3, 'the memory grew');
  law(echoes.length <= 5 && guidance.length <= 20, 'the echoes or the guidance grew');
  law(live.length <= settings.parallel, 'too many live iterations');
  law(unsaved.length <= state.tasks.size, 'the unsaved list grew');
}

/** At the end of everything: within limits by one message of each live iteration at most, replay = live state, goal wins, document = ledger. */
export function checkEnd(
  live: State,
  replayed: State,
  document: readonly { id: string; done: boolean; skipped: boolean }[],
  now: number,
  /** A claim that was made is still checked when the time is up. */
  overrunMs: number,
): void {
  deepStrictEqual(
    JSON.parse(JSON.stringify(packState(replayed))),
    JSON.parse(JSON.stringify(packState(live))),
    'replay differs from the live state',
  );
  const { limits, parallel } = live.settings;
  if (limits.costUsdMicrosMax !== null) {
    law(
      live.spend.usage.costUsdMicros <= limits.costUsdMicrosMax + messageUsdMicrosMax * parallel,
      'spent more than one message over the budget',
    );
  }
  if (limits.durationMsMax !== null)
    law(activeMsAt(live, now) <= limits.durationMsMax + 1_000 + overrunMs, 'worked longer than the duration limit');
  const { open, done, total } = progress(live.tasks);
  if (live.control.ended && open === 0)
    law(
      live.control.ended.reason === 'goal_achieved',
      `all ${done} of ${total} tasks closed, but ended by ${live.control.ended.reason}`,
    );
  if (live.control.ended === undefined) return;
  // Only a person's stop may leave the document behind, and only where it cannot be written: an open question says so.
  law(
    live.document.unsaved.length === 0 || (live.control.stop !== undefined && hasStorageTrouble(live)),
    'it ended unwritten',
  );
  for (const task of allTasks(live.tasks)) {
    if (live.document.unsaved.includes(task.id)) continue;
    const shown = document.find(one => one.id === task.id);
    law(
      shown?.done === (task.status === 'done'),
      `the document shows ${task.id} ${shown?.done ? 'done' : 'open'}, the ledger ${task.status}`,
    );
    law(shown?.skipped === (task.status === 'skipped'), `the document does not show ${task.id} as skipped`);
  }
}
