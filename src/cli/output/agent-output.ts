// An agent's output for people: whole lines without control sequences, a line that repeats itself once with a count.

import type { Engine } from '../../engine/engine.ts';
import { makeRedactor, makeStreamRedactor, secretValues } from '../../secrets/redactor.ts';
import { stripControls } from '../../text/text.ts';
import type { LiveView } from '../live.ts';

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

/** `run --verbose`: what agents say and which tools they use, line by line while they work; redacted as in the log. */
export function showOutput(view: Pick<LiveView, 'line'>, env: Readonly<Record<string, string | undefined>>) {
  const redact = makeRedactor(secretValues(env));
  const shownAs = (iteration: number) => {
    const [stream, lines] = [makeStreamRedactor(redact), new LogLines()];
    const print = (text: string): void => {
      if (text !== '') view.line(text.trimEnd().replace(/^/gm, `  ${iteration} | `));
    };
    return {
      push: (text: string): void => print(lines.push(stream.push(text))),
      end: (): void => print(lines.push(stream.end()) + lines.end()),
    };
  };
  return (engine: Engine): Engine => ({
    ...engine,
    spool: {
      found: iteration => engine.spool.found(iteration),
      open(iteration, prompt) {
        const writer = engine.spool.open(iteration, prompt);
        const shown = { output: shownAs(iteration), errors: shownAs(iteration) };
        return {
          write(text, channel) {
            writer.write(text, channel);
            shown[channel].push(text);
          },
          end(end) {
            writer.end(end);
            shown.output.end();
            shown.errors.end();
          },
        };
      },
    },
  });
}
