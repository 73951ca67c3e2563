// What a person can be asked about.

export type EscalationKind =
  | 'stuck'
  | 'deviation'
  | 'unknown'
  | 'blocked'
  | 'health'
  | 'agent'
  | 'storage'
  /** The work is claimed and its checks passed, but tests or checks were changed for it. */
  | 'tamper'
  /** An action's reply was lost: only a person can see whether it happened. */
  | 'effect'
  /** A plan waits for a yes to exactly what it says now. */
  | 'approval';
