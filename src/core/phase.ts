// Which of the six phases of seed 000 the next iteration of a goal works in, by what the last report said.
import type { Phase } from '../messages/claims.ts';
import type { State } from './state.ts';

/** What follows a phase that the last report named: while items are pending, and when none is. */
const afterwards: Readonly<Record<Phase, { readonly pending: Phase; readonly none: Phase }>> = {
  planning: { pending: 'implementing', none: 'planning' },
  implementing: { pending: 'implementing', none: 'testing' },
  testing: { pending: 'testing', none: 'reviewing' },
  reviewing: { pending: 'reviewing', none: 'handoff' },
  handoff: { pending: 'implementing', none: 'complete' },
  // It said so, and yet here we are: the claim was refused.
  complete: { pending: 'implementing', none: 'testing' },
};

/** The phase to work in now: planning while no report names one, then by the table above. */
export function phaseNow({ report }: State): Phase {
  if (report?.phase === undefined) return 'planning';
  const { pending, none } = afterwards[report.phase];
  return report.pending.length > 0 ? pending : none;
}
