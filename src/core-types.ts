// Types of the decider for programs that read events or state in full (`ralph-wiggum/core`). Unstable: they change with any version.

export type { Event, EventType } from './core/event.ts';
export type { Settings } from './core/settings.ts';
export type { LiveIteration, State } from './core/state.ts';
