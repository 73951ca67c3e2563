// What makes a mode: data over the one loop. No mode has a loop or an effect of its own.
import type { ModeName } from '../core/limits.ts';
import type { LiveIteration, State } from '../core/state.ts';
import type { Format } from '../ports/source.ts';
import type { PromptText } from '../prompts/iteration.ts';

export interface Mode {
  readonly name: ModeName;
  readonly format: Format;
  /** The user's standing instructions, beside the document. */
  readonly instructionsName: string;
  readonly defaultInstructions: string;
  readonly prompt: (state: State, live: LiveIteration, instructions: string) => PromptText;
}
