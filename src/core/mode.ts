// Mode rules: what the folder of a mode tells the decider. The fold with them is here, the decisions in `decide/decide.ts`.

import type { Event, EventOf } from './event.ts';
import { fold } from './evolve/evolve.ts';
import type { ModeName, ModePreset } from './settings.ts';
import type { ModeState, State } from './state.ts';

/** Rules beyond a preset are for what no policy can say. All are pure. */
export interface ModeRules extends ModePreset {
  /** The mode's part of the state after an event; `state` is all else after it. */
  readonly evolve?: (before: ModeState, event: Event, state: State) => ModeState;
  /** Tasks that a decision makes necessary: they are added with it, so that no loop is "done" in between. */
  readonly expand?: (state: State) => Expansion | undefined;
}

export type Expansion = Pick<EventOf<'tasks.added'>, 'tasks' | 'because'>;

/** A loop of a mode that nobody knows follows the policy that it recorded. */
export type FindRules = (mode: ModeName) => ModeRules | undefined;

export type Evolve = (state: State, event: Event) => State;

export const makeEvolve =
  (find: FindRules): Evolve =>
  (state, event) => {
    const after = fold(state, event);
    const own = find(after.settings.mode)?.evolve;
    return own === undefined ? after : { ...after, mode: own(after.mode, event, after) };
  };
