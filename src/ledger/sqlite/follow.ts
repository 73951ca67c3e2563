// Hands out events as they come: what is there, page by page, then what is added, until told to stop.
import type { Recorded } from '../ledger.ts';
import type { Pulse } from './pulse.ts';
import type { Reader } from './read.ts';

export async function* follow(
  reader: Reader,
  pulse: Pulse,
  from: { readonly cursor: number; readonly loop?: string },
  stop: AbortSignal,
): AsyncGenerator<Recorded> {
  const { loop } = from;
  let hasChanged = true;
  let wake = (): void => {};
  const changed = (): void => {
    hasChanged = true;
    wake();
  };
  const unlisten = pulse.listen(changed);
  stop.addEventListener('abort', changed);
  try {
    let place = loop === undefined ? from.cursor : reader.seqAt(loop, from.cursor);
    while (!stop.aborted) {
      hasChanged = false;
      const page = loop === undefined ? reader.after(place) : reader.read(loop, place);
      for (const recorded of page) {
        if (stop.aborted) return;
        place = loop === undefined ? recorded.cursor : recorded.seq;
        yield recorded;
      }
      if (page.length > 0 || hasChanged || stop.aborted) continue;
      await new Promise<void>(resolve => {
        wake = resolve;
      });
    }
  } finally {
    unlisten();
    stop.removeEventListener('abort', changed);
  }
}
