// Which loop a `run` means: the unfinished one of this document, or a new one; never a silent reset of a limit.
import { type Chosen, earlierLoop, newLoop } from '../../app/choose-loop.ts';
import type { State } from '../../core/state.ts';
import type { Ledger } from '../../ports/store.ts';
import { endedByLimit, endingOf } from '../../views/ending.ts';
import { confirm } from './confirm.ts';
import type { Context } from './context.ts';
import type { Prepared } from './prepare.ts';

export type { Chosen };

/** An exit code: a person must first say what to do with a loop that ended with work left. */
export async function chooseLoop(
  context: Context,
  ledger: Ledger,
  prepared: Prepared,
  flags: Readonly<Record<string, unknown>>,
  interactive: boolean,
): Promise<Chosen | { readonly exitCode: number }> {
  const earlier = flags['new'] === true ? undefined : await earlierLoop(ledger, prepared);
  if (earlier?.type === 'open') return earlier.chosen;
  if (earlier?.type === 'ended' && !(interactive && (await newInstead(context, earlier.state)))) {
    if (!interactive) sayEnded(context, earlier.state);
    return { exitCode: endedByLimit(earlier.state) ? 3 : 6 };
  }
  return newLoop(ledger, prepared);
}

function sayEnded(context: Context, state: State): void {
  const ending = endingOf(state);
  const what = state.settings.mode === 'goal' ? 'goal' : 'file';
  context.say(`ralph: the last loop of this ${what} ended with work left. ${ending.sentence}`);
  const resume = ending.next.find(line => line.startsWith('ralph resume'))?.replace(/\s+#.*$/, '') ?? '';
  if (resume !== '') context.say(`  Go on, counters kept: ${resume}`);
  context.say('  Start over with new counters: the same command with --new');
}

async function newInstead(context: Context, state: State): Promise<boolean> {
  sayEnded(context, state);
  return confirm('Press Enter to start over with new counters, Ctrl-C to leave ');
}
