// Allowed differences between the states that 0.4.0 recorded and today's: each row says why it is no regression.
import type { Event } from '../../src/core/event.ts';
import type { Input } from '../../src/core/input.ts';

/** A packed state as JSON: `tasks` is an array. */
export type PackedState = Record<string, unknown>;

export interface StateChange {
  readonly because: string;
  /** Turns a recorded state into what today's code must give. It gets a copy and may change it. */
  readonly rewrite: (state: PackedState) => PackedState;
}

/** Applied in this order to every recorded state. Add a row for a renamed or regrouped field, never for a changed value. */
export const stateChanges: readonly StateChange[] = [];

/** The keys of the effects that `next` wants, and when it wants to be asked again. */
export interface RecordedNext {
  readonly effects: readonly string[];
  readonly wakeAt?: number;
}

export interface NextChange {
  readonly because: string;
  readonly rewrite: (next: RecordedNext) => RecordedNext;
}

export const nextChanges: readonly NextChange[] = [];

/** How a stored event body becomes an event. An upcaster belongs here once there is one. */
export const readEvent = (stored: unknown): Event => stored as Event;

/** How a recorded input becomes one of today: a command that has another shape by now is rewritten here. */
export const readInput = (recorded: unknown): Input => recorded as Input;

/** What differs in printed output, by the command's words; empty: every byte is as it was. */
export interface OutputChange {
  readonly because: string;
  readonly rewrite: (output: string, command: readonly string[]) => string;
}

export const outputChanges: readonly OutputChange[] = [];
