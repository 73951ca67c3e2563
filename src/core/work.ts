// What the loop remembers about work: checkpoints, what a restore gives back, and what makes a proof doubtful.
import type { ModeName } from './settings.ts';
import type { FindingKind } from '../checks/tamper/tamper-finding.ts';

/** Something in the work that makes its proof doubtful; see `core/tamper.ts`. */
export interface Doubt {
  readonly kind: FindingKind;
  readonly path: string;
  readonly detail: string;
  readonly severity: 'refuse' | 'report';
  readonly fingerprint: string;
}

/** A checkpoint as the loop remembers it. */
export interface CheckpointMark {
  readonly checkpoint: string;
  readonly number: number;
  readonly commit: string;
  readonly tree: string;
  /** What it does not hold: a restore of it leaves these alone. */
  readonly left?: readonly string[];
}

/** A status that a task had at a checkpoint and shall have again. */
export interface TaskThen {
  readonly id: string;
  readonly status: 'pending' | 'done' | 'skipped';
}

/** The document that Ralph itself keeps; where the document is the work (a review, an interview), there is none. */
export const keptDocuments = (mode: ModeName, document: string): readonly string[] =>
  mode === 'review' || (mode === 'project' && document.endsWith('/spec.md')) ? [] : [document];
