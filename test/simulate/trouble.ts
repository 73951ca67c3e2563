// What else goes wrong in a simulated world: a document that people edit or that cannot be written, a clock that is set
// back, checks that take long, mail that is no command. Drawn from its own chances, so that a seed keeps its agents.
import { type Random, random } from './random.ts';

export interface Trouble {
  readonly chances: Random;
  /** How often a save fails. */
  readonly unwritable: number;
  /** People add stories, reword them, and flip statuses. */
  readonly edits: boolean;
  readonly clockSteps: boolean;
  readonly slowChecks: boolean;
  readonly junkMail: boolean;
  /** The agent can be spoken to while it works; how often it does what it is told. */
  readonly steer: boolean;
  readonly obeys: number;
}

export const checkMsMax = 900_000;

export function trouble(seed: number): Trouble {
  const chances = random(seed ^ 0x9e3779b9);
  const calm = chances.is(0.5);
  const has = (probability: number): boolean => !calm && chances.is(probability);
  return {
    chances,
    unwritable: has(0.3) ? 0.2 : 0,
    edits: has(0.4),
    clockSteps: has(0.3),
    slowChecks: has(0.3),
    junkMail: has(0.3),
    steer: chances.is(0.5),
    obeys: chances.pick([0, 0.5, 1]),
  };
}

/** Mail that no version of ours sends: it must change nothing and break nothing. */
export const junk: readonly unknown[] = [
  null,
  3,
  'x',
  [],
  {},
  { type: 'nope' },
  { type: 'limits' },
  { type: 'limits', limits: { iterationsMax: -1 } },
  { type: 'limits', limits: { iterationMsMax: null, noProgressIterations: null } },
  { type: 'limits', limits: { iterationsMax: null, costUsdMicrosMax: null, tokensMax: null, durationMsMax: null } },
  { type: 'limits', limits: {}, settings: { checks: null } },
  { type: 'limits', limits: {}, settings: { checks: [] } },
  { type: 'limits', limits: {}, settings: { performers: [] } },
  { type: 'limits', limits: {}, settings: { parallel: 9 } },
  { type: 'answer', escalation: '__proto__', answer: { kind: 'option', option: 1e9 } },
  { type: 'answer', escalation: 'E1', answer: { kind: 'bribe' } },
];
