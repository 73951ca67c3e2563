// An agent's output for people: whole lines without control sequences, and a line that repeats itself once with a count.
import { stripControls } from '../../text/text.ts';

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
