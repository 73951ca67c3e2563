// `ralph logs`: what the agent printed in an iteration, redacted when it was written, control sequences stripped now.
import type { Output } from '../../app/loops/output.ts';
import type { State } from '../../core/state.ts';
import { UsageError } from '../../text/errors.ts';
import { stripControls } from '../../text/text.ts';
import { type Context, type Flags, loopStateOf, type Words } from '../context.ts';
import { stopOnSignals } from '../interrupt.ts';

function iterationOf(flags: Flags, state: State): number {
  const { begun } = state.iterations;
  const text = String(flags['iteration'] ?? begun);
  if (/^[1-9][0-9]{0,9}$/.test(text) && Number(text) <= begun) return Number(text);
  const hint = begun === 0 ? 'This loop has run no iteration yet.' : `Give a number from 1 to ${begun}.`;
  throw new UsageError(`There is no iteration ${JSON.stringify(text.slice(0, 40))}.`, hint);
}

export async function execute(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const { loops, row, state } = await loopStateOf(context, name);
  const iteration = iterationOf(flags, state);
  const isLive = state.live.some(one => one.iteration === iteration);
  const isFollowing = flags['follow'] === true;
  const wanted = { loop: row.loop, iteration, prompt: flags['prompt'] === true };
  const lines: Partial<Record<Output['from'], LogLines>> = {};
  const end = (): void => {
    for (const one of Object.values(lines)) process.stdout.write(one.end());
  };
  const sayNothing = (): void => context.say(`Iteration ${iteration} has printed nothing${isLive ? ' yet' : ''}.`);
  for await (const { from, text: chunk } of loops.output(wanted, isFollowing ? stopOnSignals() : undefined)) {
    if (chunk === '') sayNothing();
    else if (lines[from] === undefined) {
      if (!isFollowing) end();
      if (from === 'errors') context.say('--- standard error ---');
      lines[from] = new LogLines();
    }
    process.stdout.write(lines[from]?.push(chunk) ?? '');
  }
  end();
  return 0;
}

// An agent's output for people: whole lines without control sequences, and a line that repeats itself once with a count.

const sameShownMax = 2;
const heldCharsMax = 1_000_000;

export class LogLines {
  private held = '';
  private last: string | undefined;
  private times = 0;

  /** What can be shown of it now: a line that is not finished waits, so that no sequence is ever shown in halves. */
  push(chunk: string): string {
    const text = this.held + chunk;
    const end = text.lastIndexOf('\n') + 1;
    this.held = text.slice(end);
    let shown = this.shown(text.slice(0, end));
    if (this.held.length > heldCharsMax) {
      shown += this.shown(`${this.held}\n`).slice(0, -1);
      this.held = '';
    }
    return shown;
  }

  end(): string {
    const rest = this.held === '' ? '' : this.shown(`${this.held}\n`);
    this.held = '';
    const folded = this.folded();
    this.last = undefined;
    return rest + folded;
  }

  private shown(text: string): string {
    if (text === '') return '';
    let out = '';
    for (const line of stripControls(text).slice(0, -1).split('\n')) {
      if (line === this.last && line !== '') {
        this.times += 1;
        if (this.times <= sameShownMax) out += `${line}\n`;
        continue;
      }
      out += `${this.folded()}${line}\n`;
      this.last = line;
      this.times = 1;
    }
    return out;
  }

  private folded(): string {
    const more = this.times - sameShownMax;
    this.times = 0;
    return more > 0 ? `  [the same line ${more} ${more === 1 ? 'time' : 'times'} more]\n` : '';
  }
}
