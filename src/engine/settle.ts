// What may still be done for a loop that nobody runs, when a command comes for it.
import type { Effect, Plan } from '../core/next.ts';
import type { State } from '../core/state.ts';

const settling: readonly Effect['type'][] = ['abandon', 'recover', 'save', 'end'];
const keeping: readonly Effect['type'][] = ['recover', 'checkpoint', 'restore', 'save'];

/** An asked stop is brought to its end; so are files to be saved or restored, by a command that came with a workspace. */
export function settled(plan: Plan, state: State, hasWorkspace: boolean): Plan {
  const wanted = [...(state.stop ? settling : []), ...(hasWorkspace ? keeping : [])];
  return { effects: plan.effects.filter(effect => wanted.includes(effect.type)) };
}

const lasting: readonly Effect['type'][] = ['checkpoint', 'save'];

/** On Ctrl-C the work that was cut is still saved, and shown: what a person edits afterwards is not the loop's. */
export const lastSaved = (plan: Plan): Plan => ({
  effects: plan.effects.filter(effect => lasting.includes(effect.type)),
});
