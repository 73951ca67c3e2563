// Signals: the first Ctrl-C stops what is at work and records it, the second is immediate; TERM and HUP stop once.
import { endOwnTree } from '../app/app.ts';
import { initialState, type State } from '../core/state.ts';
import { findTask } from '../core/task.ts';
import type { Notifier } from '../engine/engine.ts';
import { capitalized } from '../text/format.ts';

export interface Interrupt {
  readonly signal: AbortSignal;
  /** 130 or 143 once a signal came. */
  readonly exitCode: () => number | undefined;
  readonly press: () => void;
  readonly close: () => void;
}

const sameSignalMs = 300; // a signal to the whole group and its forwarded copy are one
const forwardedMs = 1_000; // what the wrapper forwards late is still the signal that we had ourselves

/** Whom a signal would stop: undefined while a question or a pause is all there is. */
function atWork({ live, claims: { open: claims }, tasks }: State): string | undefined {
  if (live.length === 0) return claims.length === 0 ? undefined : 'the check';
  return live.every(one => findTask(tasks, one.task)?.spec.order !== undefined) ? 'the action' : 'the agent';
}

/** Listens to the loop, so that a signal says what it stops. */
export function workWatch(): Notifier & Required<Pick<Manner, 'doing' | 'again'>> {
  let state: State = initialState;
  return {
    tell(_event, next) {
      state = next;
    },
    doing: () => atWork(state),
    again: () => (state.loop.name === '' ? undefined : `ralph resume ${state.loop.name}`),
  };
}

interface Manner {
  /** What is stopped, in words; undefined: nothing is at work. */
  readonly doing?: () => string | undefined;
  /** The line that goes on with it later; undefined: nothing is begun. */
  readonly again?: () => string | undefined;
  /** Leaves the screen as it should stay. */
  readonly leave?: () => void;
}

type Listeners = Readonly<Record<string, (message?: unknown) => void>>;

/** Listens until the returned function is called. */
function listen(listeners: Listeners): () => void {
  for (const [name, listener] of Object.entries(listeners)) process.on(name, listener);
  return () => {
    for (const [name, listener] of Object.entries(listeners)) process.off(name, listener);
  };
}

const wrapperGone = (): void => {
  endOwnTree();
  process.exit(137);
};

export function watchSignals(say: (text: string) => void, { doing, again, leave }: Manner = {}): Interrupt {
  const controller = new AbortController();
  let exitCode: number | undefined;
  let pressedAt = 0;
  const goOn = (): string => {
    const line = again?.();
    return line === undefined ? '' : `\n  Go on later: ${line}`; // its own line: it is there to be copied
  };
  const stop = (code: number, why: string, text: string): void => {
    if (exitCode !== undefined) return;
    exitCode = code;
    say(text);
    controller.abort(why);
  };
  const press = (): void => {
    const now = Date.now();
    if (exitCode !== undefined) {
      if (now - pressedAt <= sameSignalMs) return;
      endOwnTree();
      leave?.();
      say(`Ended at once. What was recorded is kept.${goOn()}`);
      process.exit(130);
    }
    pressedAt = now;
    const what = doing?.();
    const how = what === undefined ? 'Leaving' : `Stopping ${what}`;
    stop(130, 'Ctrl-C', `${how}; Ctrl-C again ends at once.${goOn()}`);
  };
  const recording = (): string => {
    const what = doing?.();
    return what === undefined ? 'leaving' : `stopping ${what} and recording it`;
  };
  const terminate = (): void => stop(143, 'SIGTERM', `${capitalized(recording())}.${goOn()}`);
  const hangUp = (): void => stop(143, 'the terminal was closed', `The terminal was closed: ${recording()}.`);
  // Started through another Node (bin/ralph): it forwards what it alone was sent, and when it is killed, so are we.
  const forwarded = (message: unknown): void => {
    const { signal } = (message ?? {}) as { signal?: unknown };
    if (signal === 'SIGINT' && Date.now() - pressedAt > forwardedMs) press();
    else if (signal === 'SIGHUP' || signal === 'SIGQUIT') hangUp();
  };
  const signals = { SIGINT: press, SIGTERM: terminate, SIGHUP: hangUp };
  const close = listen(process.connected ? { ...signals, message: forwarded, disconnect: wrapperGone } : signals);
  if (process.connected) process.channel?.unref();
  return { signal: controller.signal, exitCode: () => exitCode, press, close };
}

/** For commands that only look: Ctrl-C or SIGTERM ends them. */
export function stopOnSignals(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  return stop.signal;
}
