// `ralph status`: the truth about a loop now, for people in a few lines, for programs as the seed's LoopStatus.
import { ledgerEvents, stateOf } from '../../app/app.ts';
import { assessHealth } from '../../core/health.ts';
import type { State } from '../../core/state.ts';
import { progress } from '../../core/task.ts';
import { formatDuration, plural } from '../../text/format.ts';
import { endingOf } from '../../views/ending.ts';
import { loopLabel, StatusView } from '../../views/status.ts';
import { type Context, type Flags, loopOf, type Words } from '../context.ts';
import { escalationCard, liveLine } from '../live.ts';
import { folded, makeStyle } from '../terminal.ts';

function workWords(state: State, now: number): string {
  if (state.live.length === 0 && state.claims.length > 0)
    return `checking ${state.claims.map(one => one.task).join(', ')}`;
  return (
    state.live
      .map(
        one =>
          `iteration ${one.iteration} (${one.task}) by ${one.performer} for ${formatDuration(now - one.startedAt)}`,
      )
      .join('; ') || 'nothing at the moment'
  );
}

export async function execute(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const { ledger, row } = await loopOf(context, name);
  if (flags['json'] === true) {
    const view = new StatusView();
    for await (const page of ledgerEvents(ledger, row.loop)) for (const { event } of page) view.add(event);
    const status = view.status();
    const alive = (await ledger.store.holder(row.loop))?.alive === true;
    // The seed has no word for a loop that no process works on; paused is the one that tells a program to resume it.
    const state = alive || row.reason !== null ? status.state : 'paused';
    context.out(JSON.stringify({ ...status, state }, null, 2));
    return 0;
  }
  const { state } = await stateOf(ledger, row.loop);
  const now = Date.now();
  const style = makeStyle(flags, process.stdout);
  const health = assessHealth(state, now);
  const held = await ledger.store.holder(row.loop);
  const process_ = held?.alive
    ? `process ${held.lease.holder.pid} on ${held.lease.holder.host}`
    : state.ended
      ? 'none'
      : 'NONE: no process works on it; the same `ralph run` resumes';
  const alive = held?.alive === true;
  const standing = `${loopWords(state, alive)}${state.paused && !alive && !state.ended ? ', paused' : ''}`;
  const what = folded(
    `${row.name}  ${standing}  (${state.settings.mode === 'goal' ? state.goal : row.document})`,
    process.stdout,
  );
  context.out(`${style.paint('strong', row.name)}${what.slice(row.name.length)}`);
  if (state.ended) context.print(`  ${endingOf(state).sentence}`);
  const since = takenBackWords(state);
  if (since !== undefined) context.print(`  ${since}`);
  if (!state.ended) {
    context.print(`  ${liveLine(state, now, style.marks.dot, undefined, held?.alive ? now : state.clockedAt)}`);
    context.print(`  at work    ${held?.alive ? workWords(state, now) : 'nothing'}`);
  }
  context.print(`  process    ${process_}`);
  if (!state.ended) context.print(`  health     ${health.state}: ${health.because}`);
  for (const escalation of state.ended ? [] : state.escalations) context.out(escalationCard(escalation, style));
  if (!state.ended && state.escalations.length > 0) context.print(`  ${endingOf(state).next.at(-1) ?? ''}`);
  return 0;
}

// How a loop stands, for people: its label, that no process works on it, or that an undo has opened its work again.

const isTakenBack = ({ ended, tasks }: State): boolean => ended?.reason === 'goal_achieved' && progress(tasks).open > 0;

export function loopWords(state: State, isAlive: boolean): string {
  if (isTakenBack(state)) return 'taken back';
  return state.ended !== undefined || isAlive ? loopLabel(state) : 'not running';
}

/** What the sentence of its end no longer says. */
function takenBackWords(state: State): string | undefined {
  if (!isTakenBack(state)) return undefined;
  const { open } = progress(state.tasks);
  return `${plural(open, 'task')} open again since then (ralph undo); the same command as before starts a new loop`;
}
