// What an effect is given when it is performed: the ports, the state it came from, and where its answer goes.
import type { Input } from '../core/input.ts';
import type { Effect } from '../core/next.ts';
import type { State } from '../core/state.ts';
import type { Problem } from '../documents/document.ts';
import type { Engine } from './engine.ts';
import type { NoteBoard } from './steering.ts';

export interface Workplace {
  readonly engine: Engine;
  readonly state: State;
  readonly post: (input: Input) => void;
  readonly board: NoteBoard;
  /** Records that an action is about to have its effect; false: it must not. */
  readonly intend: (iteration: number, repeatable: boolean) => Promise<boolean>;
  readonly refuse: (problems: readonly Problem[]) => void;
  /** The ledger's head. */
  readonly anchor: { readonly sequence: number; readonly hash: string };
  /** Iterations whose claim this process has checked itself. */
  readonly proven: Set<number>;
}

export type Perform<Type extends Effect['type']> = (
  effect: Extract<Effect, { type: Type }>,
  place: Workplace,
  stop: AbortSignal,
) => Promise<void>;
