// `ralph logs`: what the agent printed in an iteration, redacted when it was written, control sequences stripped now.
import { createReadStream, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { iterationFolderOf, stateOf } from '../../app/app.ts';
import { UsageError } from '../../text/errors.ts';
import { stripControls } from '../../text/text.ts';
import { type Context, type Flags, loopOf, type Words } from '../context.ts';

async function print(path: string, from: number, lines: LogLines): Promise<number> {
  let at = from;
  const stream = createReadStream(path, { start: from, encoding: 'utf8' });
  for await (const chunk of stream) {
    process.stdout.write(lines.push(chunk as string));
    at += Buffer.byteLength(chunk as string);
  }
  return at;
}

export async function execute(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const { ledger, row } = await loopOf(context, name);
  const { state } = await stateOf(ledger, row.loop);
  const text = flags['iteration'] === undefined ? String(state.iterations) : String(flags['iteration']);
  if (!/^[1-9][0-9]{0,9}$/.test(text) || Number(text) > state.iterations) {
    const hint =
      state.iterations === 0 ? 'This loop has run no iteration yet.' : `Give a number from 1 to ${state.iterations}.`;
    throw new UsageError(`There is no iteration ${JSON.stringify(text.slice(0, 40))}.`, hint);
  }
  const iteration = Number(text);
  const folder = await iterationFolderOf(context.home(), row.loop, iteration);
  const files = flags['prompt'] === true ? ['prompt.md'] : ['output.log', 'errors.log'];
  const seen = new Map<string, number>();
  const shown = new Map(files.map(file => [file, new LogLines()]));
  const printAll = async (): Promise<void> => {
    for (const file of files) {
      const path = join(folder, file);
      const from = seen.get(file) ?? 0;
      if (!existsSync(path) || statSync(path).size <= from) continue;
      if (from === 0 && file === 'errors.log') context.say('--- standard error ---');
      seen.set(file, await print(path, from, shown.get(file) ?? new LogLines()));
      if (!isFollowing) process.stdout.write(shown.get(file)?.end() ?? '');
    }
  };
  const isFollowing = flags['follow'] === true;
  await printAll();
  if (seen.size === 0)
    context.say(
      `Iteration ${iteration} has printed nothing${state.live.some(one => one.iteration === iteration) ? ' yet' : ''}.`,
    );
  if (!isFollowing) return 0;
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  process.once('SIGTERM', () => stop.abort());
  const ended = new Promise<void>(done => stop.signal.addEventListener('abort', () => done()));
  while (!stop.signal.aborted) {
    const now = (await stateOf(ledger, row.loop)).state;
    await printAll();
    if (!now.live.some(one => one.iteration === iteration)) break;
    await Promise.race([ended, new Promise(done => setTimeout(done, 200))]);
  }
  for (const lines of shown.values()) process.stdout.write(lines.end());
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
