// Records without files, from the ledger alone: after each iteration of a loop that keeps no trees, and of every good end.
import type { Event } from '../core/event.ts';
import { phaseOf } from '../core/handoff.ts';
import type { State } from '../core/state.ts';
import { type CheckpointRecord, checkpointRecord } from './checkpoint-record.ts';

/** What happened, and where in the ledger. */
export interface Moment {
  readonly seq: number;
  readonly hash: string;
  readonly event: Event;
}

export interface RecordRow {
  readonly number: number;
  readonly at: number;
  readonly iteration: number;
  readonly task: string;
  readonly label: string;
  readonly phase: string;
}

interface Taken {
  readonly row: Omit<RecordRow, 'number' | 'phase'>;
  readonly seq: number;
  readonly hash: string;
  readonly state: State;
}

export class RecordsView {
  private readonly taken: Taken[] = [];
  /** An iteration that is over; what is decided about its claim still belongs to it. */
  private open: Taken | undefined;
  private made = 0;

  add({ seq, hash, event }: Moment, state: State): void {
    this.made = state.checkpoints.made;
    if (this.open !== undefined) {
      if (event.type === 'iteration.started' || event.type === 'loop.ended') this.settle();
      else this.open = { ...this.open, seq, hash, state };
    }
    if (event.type === 'iteration.ended' && !state.settings.checkpoints) {
      this.settle();
      const { at, iteration, task } = event;
      const row = { at, iteration, task, label: `after iteration ${iteration}` };
      this.open = { row, seq, hash, state };
    }
    if (event.type !== 'loop.ended' || event.reason !== 'goal_achieved') return;
    const { iteration = 0, task = '' } = state.iterations.last ?? {};
    const row = { at: event.at, iteration, task, label: 'after the final checks' };
    this.taken.push({ row, seq, hash, state });
  }

  private settle(): void {
    if (this.open !== undefined) this.taken.push(this.open);
    this.open = undefined;
  }

  /** Their numbers go on behind those of the checkpoints, where there are any. */
  private all(): readonly (Taken & { readonly number: number })[] {
    const taken = this.open === undefined ? this.taken : [...this.taken, this.open];
    return taken.map((one, at) => ({ ...one, number: this.made + at + 1 }));
  }

  rows(): readonly RecordRow[] {
    return this.all().map(({ number, row, state }) => ({ number, ...row, phase: phaseOf(state) }));
  }

  /** As the file beside a checkpoint has it, but for git. */
  record(number: number): CheckpointRecord | undefined {
    const found = this.all().find(one => one.number === number);
    if (found === undefined) return undefined;
    const { row, state, seq, hash } = found;
    return checkpointRecord(state, {
      checkpoint: `${state.loop.id}-${number}`,
      number,
      ...row,
      anchor: { sequence: seq, hash },
      changes: [],
      toolCalls: state.iterations.toolCalls,
      lastChecks: Object.entries(state.claims.lastChecks).map(([check, one]) => ({ check, ...one })),
    });
  }
}
