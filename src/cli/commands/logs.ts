// `ralph logs`: what the agent printed in an iteration, redacted when it was written, control sequences stripped now.
import { setTimeout } from 'node:timers/promises';
import type { Output } from '../../app/loops/output.ts';
import type { State } from '../../core/state.ts';
import { UsageError } from '../../text/errors.ts';
import { type Context, type Flags, loopStateOf, type Words } from '../context.ts';
import { stopOnSignals } from '../interrupt.ts';
import { LogLines } from '../output/agent-output.ts';

const lookEveryMs = 200;

function iterationOf(flags: Flags, { iterations: { begun } }: State): number {
  const text = String(flags['iteration'] ?? begun);
  if (/^[1-9][0-9]{0,9}$/.test(text) && Number(text) <= begun) return Number(text);
  const hint = begun === 0 ? 'This loop has run no iteration yet.' : `Give a number from 1 to ${begun}.`;
  throw new UsageError(`There is no iteration ${JSON.stringify(text.slice(0, 40))}.`, hint);
}

interface Shown {
  readonly iteration: number;
  readonly isPrompt: boolean;
  /** With it, what is printed later is shown too, until it fires or the iteration has ended. */
  readonly stop: AbortSignal | undefined;
}

async function printOutput(context: Context, { loops, row, state }: Looked, shown: Shown): Promise<void> {
  const { iteration, isPrompt, stop } = shown;
  const isLive = state.live.some(one => one.iteration === iteration);
  const lines: Partial<Record<Output['from'], LogLines>> = {};
  const end = (): void => {
    for (const one of Object.values(lines)) process.stdout.write(one.end());
  };
  const begin = (from: Output['from']): LogLines => {
    if (stop === undefined) end();
    if (from === 'errors') context.say('--- standard error ---');
    return new LogLines();
  };
  for await (const { from, text: chunk } of loops.output({ loop: row.loop, iteration, prompt: isPrompt }, stop)) {
    if (chunk === '') {
      if (stop === undefined || !isLive)
        context.say(`Iteration ${iteration} has printed nothing${isLive ? ' yet' : ''}.`);
      continue;
    }
    lines[from] ??= begin(from);
    process.stdout.write(lines[from].push(chunk));
  }
  end();
}

type Looked = Awaited<ReturnType<typeof loopStateOf>>;

/** Waits for an iteration after this one; undefined: none will come, and why. */
async function nextLook(
  context: Context,
  looked: Looked,
  after: number,
  stop: AbortSignal,
): Promise<Looked | undefined> {
  while (!stop.aborted) {
    const now = { ...looked, ...(await looked.loops.look(looked.row)) };
    if (now.state.iterations.begun > after) return now;
    const why =
      now.state.control.ended !== undefined ? 'has ended' : now.held?.alive === true ? undefined : 'is not running';
    if (why !== undefined) {
      context.say(`Loop ${now.row.name} ${why}.`);
      return undefined;
    }
    await setTimeout(lookEveryMs, undefined, { signal: stop }).catch(() => {});
  }
  return undefined;
}

/** With `-f` it goes on from iteration to iteration until the loop ends, unless one iteration is named. */
export async function execute(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const isPrompt = flags['prompt'] === true;
  const stop = flags['follow'] === true ? stopOnSignals() : undefined;
  const first = await loopStateOf(context, name);
  const isWaiting = stop !== undefined && first.state.iterations.begun === 0 && flags['iteration'] === undefined;
  let looked: Looked | undefined = isWaiting ? await nextLook(context, first, 0, stop) : first;
  let iteration = isWaiting ? 1 : iterationOf(flags, first.state);
  while (looked !== undefined) {
    await printOutput(context, looked, { iteration, isPrompt, stop });
    if (stop === undefined || flags['iteration'] !== undefined) return 0;
    looked = await nextLook(context, looked, iteration, stop);
    iteration += 1;
    if (looked !== undefined) context.say(`--- iteration ${iteration} ---`);
  }
  return 0;
}
