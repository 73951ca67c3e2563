// Mode type: a mode is data over the one loop. No mode has a loop or an effect of its own.

import type { Event } from '../core/event.ts';
import type { ModeName } from '../core/settings.ts';
import type { LiveIteration, State } from '../core/state.ts';
import type { Format, ParsedDocument } from '../documents/document.ts';
import type { PromptFacts, PromptText } from './iteration-prompt.ts';

export interface Mode {
  readonly name: ModeName;
  /** The first that recognises a document reads it. */
  readonly formats: readonly Format[];
  /** The user's standing words; absent: the document says all. */
  readonly instructions?: Instructions;
  readonly prompt: (state: State, live: LiveIteration, instructions: string, facts?: PromptFacts) => PromptText;
  /** What an iteration has spoiled in its document, although that can be read; absent: nothing ever. */
  readonly damage?: (before: ParsedDocument, now: ParsedDocument) => string | undefined;
  /** Each prompt is kept here too, in the folder of work, as prompt_N.md. */
  readonly promptsFolder?: string;
  /** Its files beside status.json and report.json. */
  readonly view?: (place: ViewPlace) => ModeView;
}

interface Instructions {
  /** Beside the document, or in the folder of work. */
  readonly name: string;
  readonly within: 'document' | 'directory';
  readonly text: string;
  /** A first version is written where there is none. */
  readonly isWritten: boolean;
}

/** Absolute paths. */
export interface ViewPlace {
  readonly directory: string;
  readonly document: string;
  /** The loop's own folder, out of the agent's reach. */
  readonly folder: string;
}

/** Made from the ledger, and written when its text changed. `text` null: the file is to be gone. Paths are absolute. */
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
