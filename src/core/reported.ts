// What the reports of a loop have brought so far: an item, a phase and a plan are each news only once.
import { prefixHash } from './memory.ts';
import type { EventOf } from './event.ts';
import type { Phase, Report } from '../messages/claims.ts';
import { phases } from '../messages/report.ts';
import type { State } from './state.ts';

export interface Reported {
  /** Hashes of what was ever called completed; beyond a bound the oldest are forgotten. */
  readonly items: readonly string[];
  /** The latest phase that was ever named. */
  readonly phase?: Phase;
  /** Some report said what is to be done. */
  readonly isPlanned: boolean;
  /** Iterations without a report block since the last news. */
  readonly silent: number;
}

export const nothingReported: Reported = { items: [], isPlanned: false, silent: 0 };

const itemsMax = 1_000;

const hashOf = (item: string): string => prefixHash(item.replace(/\s+/g, ' ').toLowerCase());

/** Its report names something completed that none before it did. */
export function hasNewItem({ reported }: State, report: Report | undefined): boolean {
  if (report === undefined || report.completed.length === 0) return false;
  const known = new Set(reported.items);
  return report.completed.some(item => !known.has(hashOf(item)));
}

const rank = (phase: Phase | undefined): number => (phase === undefined ? -1 : phases.indexOf(phase));

/** A goal also comes nearer by its first plan and by each phase that is entered for the first time. */
export function hasNewStep({ reported }: State, report: Report | undefined): boolean {
  if (report === undefined) return false;
  return rank(report.phase) > rank(reported.phase) || (!reported.isPlanned && report.pending.length > 0);
}

export function reportedAfter({ reported }: State, { report }: EventOf<'iteration.ended'>, isNews: boolean): Reported {
  if (report === undefined) return { ...reported, silent: reported.silent + 1 };
  const items = [...new Set([...reported.items, ...report.completed.map(hashOf)])].slice(-itemsMax);
  const phase = rank(report.phase) > rank(reported.phase) ? report.phase : reported.phase;
  return {
    items,
    phase,
    isPlanned: reported.isPlanned || report.pending.length > 0,
    silent: isNews ? 0 : reported.silent,
  };
}
