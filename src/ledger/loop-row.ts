// What the list of loops takes from an event, so that every store lists loops alike.
import type { Event } from '../core/event.ts';

export interface LoopFacts {
  readonly name: string;
  readonly document: string;
  readonly directory: string;
  readonly startedAt: number;
  readonly reason: string | null;
  readonly endedAt: number | null;
}

export type LoopEvent = Extract<Event, { type: 'loop.started' | 'loop.resumed' | 'loop.ended' }>;

export function isLoopEvent(event: Event): event is LoopEvent {
  return event.type === 'loop.started' || event.type === 'loop.resumed' || event.type === 'loop.ended';
}

/** `undefined` while the loop has not started: a loop without a start is not listed. */
export function listed(facts: LoopFacts | undefined, event: LoopEvent): LoopFacts | undefined {
  if (event.type === 'loop.started') {
    const { name, document, directory, at } = event;
    return { name, document, directory, startedAt: at, reason: null, endedAt: null };
  }
  if (facts === undefined) return undefined;
  if (event.type === 'loop.resumed') return { ...facts, reason: null, endedAt: null };
  return { ...facts, reason: event.reason, endedAt: event.at };
}
