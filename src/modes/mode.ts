// What makes a mode: data over the one loop. No mode has a loop or an effect of its own.
import type { ModeName } from '../core/settings.ts';
import type { LiveIteration, State } from '../core/state.ts';
import type { Format, ParsedDocument } from '../documents/document.ts';
import type { PromptText } from './iteration-prompt.ts';
import type { ModeView } from './mode-view.ts';

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
  /** What it shows beside status.json and report.json. */
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

/** What the engine looks up for a prompt because it is not in the state: `diff` since the start, `scratchpad`, `spec`. */
type PromptFacts = Readonly<Record<string, string>>;

/** Absolute paths. */
export interface ViewPlace {
  readonly directory: string;
  readonly document: string;
  /** The loop's own folder, out of the agent's reach. */
  readonly folder: string;
}
