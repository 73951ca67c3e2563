// Which loop a `run` means: the unfinished one of this document, or a new one; never a silent reset of a limit.
import { freshId, loopName, stateOf } from '../../app.ts';
import type { State } from '../../core/state.ts';
import { progress } from '../../core/task.ts';
import type { Ledger } from '../../ports/store.ts';
import { endedByLimit, endedUnasked, endingOf } from '../../views/ending.ts';
import { confirm } from './confirm.ts';
import type { Context } from './context.ts';
import type { Prepared } from './prepare.ts';

export interface Chosen {
  readonly loop: string;
  readonly name: string;
  /** Absent for a new loop. */
  readonly state?: State;
}

/** An exit code: a person must first say what to do with a loop that ended with work left. */
export async function chooseLoop(
  context: Context,
  ledger: Ledger,
  prepared: Prepared,
  flags: Readonly<Record<string, unknown>>,
  interactive: boolean,
): Promise<Chosen | { readonly exitCode: number }> {
  const rows = await ledger.store.loops({ document: prepared.path });
  const newest = rows[0];
  if (newest !== undefined && flags['new'] !== true) {
    const { state } = await stateOf(ledger, newest.loop);
    if (state.ended === undefined) return { loop: newest.loop, name: newest.name, state };
    const isOpen = prepared.mode === 'review' || prepared.document.tasks.some(task => !task.done && !task.skipped);
    const left = isOpen && (progress(state.tasks).open > 0 || prepared.mode === 'review');
    if (endedUnasked(state) && left && !(interactive && (await newInstead(context, state)))) {
      if (!interactive) sayEnded(context, state);
      return { exitCode: endedByLimit(state) ? 3 : 6 };
    }
  }
  const taken = new Set((await ledger.store.loops()).map(row => row.name));
  const loop = await freshId();
  return { loop, name: await loopName(prepared.run.config.name, prepared.document.project, loop, taken) };
}

function sayEnded(context: Context, state: State): void {
  const ending = endingOf(state);
  context.say(`ralph: the last loop of this file ended with work left. ${ending.sentence}`);
  const resume = ending.next.find(line => line.startsWith('ralph resume'))?.replace(/\s+#.*$/, '') ?? '';
  context.say(`  Go on, counters kept: ${resume}`);
  context.say('  Start over with new counters: the same command with --new');
}

async function newInstead(context: Context, state: State): Promise<boolean> {
  sayEnded(context, state);
  return confirm('Press Enter to start over with new counters, Ctrl-C to leave ');
}
