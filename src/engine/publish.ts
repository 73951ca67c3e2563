// Writes the views of a loop into its folder: status.json while it runs, report.json beside it; never in the loop's way.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import writeFileAtomic from 'write-file-atomic';
import { evolve } from '../core/evolve/evolve.ts';
import { initialState, type State } from '../core/state.ts';
import type { Clock } from './ports-clock-part.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ModeView } from '../modes/mode-view.ts';
import { ReportView } from '../views/report.ts';
import { putView } from './put-view.ts';
import { eventsOf } from './replay.ts';

const everyMs = 1_000;

export interface Publisher {
  changed(): void;
  close(): Promise<void>;
}

/** What a mode shows, and the folders that it may be shown in. */
export interface Shown {
  readonly view: ModeView;
  readonly roots: readonly string[];
}

/** Views are projections of the ledger: the publisher reads it for itself, a second at the earliest after the last time. */
export function publisher(
  ledger: Ledger,
  clock: Clock,
  loop: string,
  folder: string,
  warn: (sentence: string) => void,
  mode?: Shown,
): Publisher {
  const shown = new Map<string, string | null>();
  const view = new ReportView();
  let state: State = initialState;
  let seq = 0;
  let cancel: (() => void) | undefined;
  let writing: Promise<void> = Promise.resolve();

  const write = async (): Promise<void> => {
    for await (const page of eventsOf(ledger, loop, seq)) {
      for (const recorded of page) {
        state = evolve(state, recorded.event);
        view.add(recorded.event);
        mode?.view.add(recorded.event, state);
        seq = recorded.seq;
      }
      await setImmediate(); // a long loop that was resumed has thousands of pages, and its agents must not wait for them
    }
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const options = { fsync: false, mode: 0o600 } as const;
    await writeFileAtomic(join(folder, 'status.json'), `${JSON.stringify(view.status(), null, 2)}\n`, options);
    await writeFileAtomic(join(folder, 'report.json'), `${JSON.stringify(view.report(state), null, 2)}\n`, options);
    for (const file of mode?.view.files(state) ?? []) {
      if (shown.get(file.path) === file.text) continue;
      const problem = await putView([folder, ...(mode?.roots ?? [])], file);
      if (problem !== undefined) warn(`Not written: ${problem}.`);
      shown.set(file.path, file.text);
    }
  };
  const queue = (): Promise<void> => {
    writing = writing
      .then(write)
      .catch((error: unknown) => warn(`The views of the loop could not be written: ${String(error)}`));
    return writing;
  };
  return {
    changed() {
      cancel ??= clock.at(clock.now() + everyMs, () => {
        cancel = undefined;
        void queue();
      });
    },
    async close() {
      cancel?.();
      cancel = undefined;
      await queue();
    },
  };
}
