// Which loop a `run` means: the unfinished one of this document, or a new one; never a silent reset of a limit.
import {
  type Chosen,
  type Earlier,
  earlierLoop,
  goalOverWords,
  goneWords,
  hasWork,
  newLoop,
} from '../app/session/resume-rules.ts';
import type { Prepared } from '../app/session/prepare.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { endedByLimit, endingOf } from '../views/ending.ts';
import { confirm } from './confirm.ts';
import type { Context, Flags } from './context.ts';

export type { Chosen };

/** An exit code: a person must first say what to do with a loop that ended with work left. */
export async function chooseLoop(
  context: Context,
  ledger: Ledger,
  prepared: Prepared,
  flags: Flags,
  interactive: boolean,
): Promise<Chosen | { readonly exitCode: number }> {
  const earlier = flags['new'] === true ? undefined : await earlierLoop(ledger, prepared);
  if (earlier?.type === 'open') return earlier.chosen;
  if (earlier !== undefined) {
    const exitCode = sayOver(context, earlier);
    const mayAsk = earlier.type === 'ended' && interactive && flags['yes'] !== true; // new counters must be said (ADR 4)
    if (!mayAsk || !(await confirm('Press Enter to start over with new counters, Ctrl-C to leave ')))
      return { exitCode };
  }
  return newLoop(ledger, prepared);
}

type Ended = Extract<Earlier, { type: 'ended' }>;

/** That the loop of this document is over, and the exit code for it. */
export function sayOver(context: Context, earlier: Exclude<Earlier, { type: 'open' }>): number {
  if (earlier.type === 'over') {
    context.say(goalOverWords(earlier.state));
    return 0;
  }
  sayEnded(context, earlier);
  return endedByLimit(earlier.state) ? 3 : 6;
}

/** Says so. */
export function hasNothingLeft(context: Context, given: Pick<Prepared, 'mode' | 'path' | 'document'>): boolean {
  if (hasWork(given)) return false;
  const isSkipped = given.document.tasks.every(task => !task.done);
  const why =
    given.mode === 'prompt'
      ? `${given.path} is ${isSkipped ? 'marked as left out' : 'complete'}; to run it again, take the mark of that out of it`
      : `every task of ${given.path} is done or skipped.`;
  context.say(`Nothing to do: ${why}`);
  return true;
}

function sayEnded(context: Context, { state, gone }: Ended): void {
  const ending = endingOf(state);
  const what = state.settings.mode === 'goal' ? 'goal' : 'file';
  context.say(`ralph: the last loop of this ${what} ended with work left. ${ending.sentence}`);
  if (gone.length > 0) context.say(`  ${goneWords(gone, state)}`);
  const resume = ending.next.find(line => line.startsWith('ralph resume'))?.replace(/\s+#.*$/, '');
  const stopped = state.ended?.reason === 'explicit_stop' ? `ralph resume ${state.name}` : undefined;
  if (resume !== undefined || stopped !== undefined)
    context.say(`  Go on, counters kept: ${resume ?? stopped}   # then the same command`);
  context.say('  Start over with new counters: the same command with --new');
}
