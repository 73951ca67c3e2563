// The public API: the pure core and its views. Adapters and the engine follow as they settle.

export { checkBudget, forecastCost } from './core/budget.ts';
export { continuationPrompt } from './core/continuation.ts';
export { decide } from './core/decide.ts';
export type { Event, EventType } from './core/event.ts';
export { evolve } from './core/evolve.ts';
export { shouldHandOff } from './core/handoff.ts';
export { assessHealth } from './core/health.ts';
export type { Input } from './core/input.ts';
export { defaultSettings, limitPresets } from './core/limits.ts';
export { next } from './core/next.ts';
export { readSignals } from './core/signal.ts';
export { initialState, type State } from './core/state.ts';
export { evaluateTermination } from './core/termination.ts';
