// `ralph logs`: what the agent printed in an iteration, redacted when it was written, control sequences stripped now.
import { createReadStream, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { iterationFolderOf, stateOf } from '../../app/app.ts';
import type { State } from '../../core/state.ts';
import { UsageError } from '../../text/errors.ts';
import { stripControls } from '../../text/text.ts';
import { type Context, type Flags, loopStateOf, type Words } from '../context.ts';
import { stopOnSignals } from '../interrupt.ts';

interface Log {
  readonly path: string;
  readonly lines: LogLines;
  /** How many bytes of it were shown. */
  at: number;
}

async function printNew(log: Log): Promise<void> {
  for await (const chunk of createReadStream(log.path, { start: log.at, encoding: 'utf8' })) {
    process.stdout.write(log.lines.push(chunk as string));
    log.at += Buffer.byteLength(chunk as string);
  }
}

export async function execute(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const { ledger, row, state } = await loopStateOf(context, name);
  const text = String(flags['iteration'] ?? state.iterations);
  if (!/^[1-9][0-9]{0,9}$/.test(text) || Number(text) > state.iterations) {
    const hint =
      state.iterations === 0 ? 'This loop has run no iteration yet.' : `Give a number from 1 to ${state.iterations}.`;
    throw new UsageError(`There is no iteration ${JSON.stringify(text.slice(0, 40))}.`, hint);
  }
  const iteration = Number(text);
  const isLive = ({ live }: State): boolean => live.some(one => one.iteration === iteration);
  const isFollowing = flags['follow'] === true;
  const folder = await iterationFolderOf(context.home(), row.loop, iteration);
  const files = flags['prompt'] === true ? ['prompt.md'] : ['output.log', 'errors.log'];
  const logs: readonly Log[] = files.map(file => ({ path: join(folder, file), lines: new LogLines(), at: 0 }));
  const printAll = async (): Promise<void> => {
    for (const log of logs) {
      if (!existsSync(log.path) || statSync(log.path).size <= log.at) continue;
      if (log.at === 0 && log.path.endsWith('errors.log')) context.say('--- standard error ---');
      await printNew(log);
      if (!isFollowing) process.stdout.write(log.lines.end());
    }
  };
  await printAll();
  if (logs.every(log => log.at === 0))
    context.say(`Iteration ${iteration} has printed nothing${isLive(state) ? ' yet' : ''}.`);
  if (!isFollowing) return 0;
  const stop = stopOnSignals();
  while (!stop.aborted) {
    const now = (await stateOf(ledger, row.loop)).state;
    await printAll();
    if (!isLive(now)) break;
    await setTimeout(200, undefined, { signal: stop }).catch(() => {});
  }
  for (const { lines } of logs) process.stdout.write(lines.end());
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
