// Mode type: a mode is data over the one loop. No mode has a loop or an effect of its own.

import type { Check } from '../checks/check.ts';
import type { Event } from '../core/event.ts';
import type { Settings } from '../core/settings.ts';
import type { LiveIteration, State } from '../core/state.ts';
import type { Format, ParsedDocument } from '../documents/document.ts';
import type { Checkpoints } from '../git/checkpoints.ts';
import type { Prompt, PromptFacts } from './iteration-prompt.ts';

export interface Mode {
  /** The first that recognises a document reads it. */
  readonly formats: readonly [Format, ...Format[]];
  /** The user's standing words; absent: the document says all. */
  readonly instructions?: Instructions;
  readonly prompt: Prompt;
  /** What an iteration has spoiled in its document, although that can be read; absent: nothing ever. */
  readonly damage?: (before: ParsedDocument, now: ParsedDocument) => string | undefined;
  /** Each prompt is kept here too, in the folder of work, as prompt_N.md. */
  readonly promptsFolder?: string;
  /** Its files beside status.json and report.json. */
  readonly view?: (place: ViewPlace) => ModeView;
  /** Where else than in the folder of work its files may lie; absent: beside the document. */
  readonly viewRoot?: (place: ViewPlace) => string;
  /** What a problem is found in, where the document is no file of the user's. */
  readonly subject?: string;
  /** The project's own tests say something about its work. */
  readonly detectsChecks?: boolean;
  /** Rounds at the terminal, each proven by what it leaves: nothing to commit, and no tests to look at. */
  readonly conversation?: { readonly check: string };
  /** A yes holds for exactly this text, and it asks about boxes that nobody has recorded. */
  readonly bindsText?: boolean;
  /** It finds its own tasks, so that there is always work. */
  readonly findsTasks?: boolean;
  /** Its document is a list of tasks that people add to. */
  readonly hasBacklog?: boolean;
  /** Once reached it is over: no document says so, only the ledger. */
  readonly endsForGood?: boolean;
  readonly words?: ModeWords;
}

/** Words of a mode before a start; absent ones are those of a list of tasks. */
interface ModeWords {
  /** What is to be done, and how much of it is: a row of the summary. */
  readonly work?: (work: WorkFacts) => readonly [string, string];
  /** When its work is committed. */
  readonly commits?: string;
  /** When the whole is: for a mode of one task. */
  readonly completed?: string;
  /** Why nothing is left to do. */
  readonly nothingLeft?: (path: string, isSkipped: boolean) => string;
}

interface WorkFacts {
  readonly path: string;
  readonly document: ParsedDocument;
  readonly done: number;
  readonly total: number;
}

/** What a mode does around its loop: with the files beside its document, and for its prompts. */
export interface ModeSession {
  /** Said before a start. */
  notices?(document: string, settings: Settings): Promise<readonly string[]>;
  /** Before the first iteration of a new loop. */
  beforeFirst?(document: string, loop: string, say: (sentence: string) => void): Promise<void>;
  /** Checks beside those of the settings. */
  checks?(place: SessionPlace): Promise<readonly Check[]>;
  /** What neither an agent nor a server may change. */
  readOnly?(place: SessionPlace, config: { readonly mcpConfig?: string | undefined }): readonly string[];
  /** The file that ends an interactive round, when it is not done.md in the folder of work. */
  doneFile?(document: string): string;
  /** Files by which an agent says that it has finished: a hint, and gone once it was seen. */
  signals?(document: string): readonly string[];
  /** What a prompt needs and the state does not hold. */
  promptInputs?(state: State, live: LiveIteration, work: WorkPlace): Promise<PromptFacts>;
}

/** Where an iteration works, and what earlier ones changed. */
interface WorkPlace {
  readonly directory: string;
  readonly checkpoints: Checkpoints | undefined;
}

export interface SessionPlace {
  readonly path: string;
  readonly directory: string;
  readonly settings: Settings;
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
