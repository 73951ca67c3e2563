// The port to people who want to be told.
import type { Event } from '../core/event.ts';
import type { State } from '../core/state.ts';

/** Contract: called after the event is durable; returns at once and never throws. */
export interface Notifier {
  tell(event: Event, state: State): void;
}
