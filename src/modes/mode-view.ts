// What a mode shows beside status.json and report.json: files made from the ledger, each written when its text changed.
import type { Event } from '../core/event.ts';
import type { State } from '../core/state.ts';

/** `text` null: the file is to be gone. Paths are absolute. */
export interface ViewFile {
  readonly path: string;
  readonly text: string | null;
  /** Only where nothing lies yet: from then on it is the user's. */
  readonly once?: true;
}

/** A fold of its own: `add` is called with each event and the state after it, `files` when the views are written. */
export interface ModeView {
  add(event: Event, state: State): void;
  files(state: State): readonly ViewFile[];
}
