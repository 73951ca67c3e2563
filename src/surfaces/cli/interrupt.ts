// Signals: the first Ctrl-C stops the agent and records it, the second is immediate; TERM and HUP stop once.
import { endOwnTree } from '../../app.ts';

export interface Interrupt {
  readonly signal: AbortSignal;
  /** 130 or 143 once a signal came. */
  readonly exitCode: () => number | undefined;
  readonly press: () => void;
  readonly close: () => void;
}

const sameSignalMs = 50; // a signal to the whole group and its forwarded copy are one
const forwardedMs = 1_000; // what the wrapper forwards late is still the signal that we had ourselves

export function watchSignals(say: (text: string) => void): Interrupt {
  const controller = new AbortController();
  let exitCode: number | undefined;
  let pressedAt = 0;
  const stop = (code: number, why: string, text: string): void => {
    if (exitCode !== undefined) return;
    exitCode = code;
    say(text);
    controller.abort(why);
  };
  const press = (): void => {
    const now = Date.now();
    if (exitCode !== undefined && now - pressedAt > sameSignalMs) {
      say('Ended at once. What was recorded is kept; the same command resumes.');
      endOwnTree();
      process.exit(130);
    }
    pressedAt = now;
    stop(130, 'Ctrl-C', 'Stopping the agent; Ctrl-C again ends at once. The same command resumes.');
  };
  const terminate = (): void => stop(143, 'SIGTERM', 'Stopping the agent and recording it; the same command resumes.');
  const hangUp = (): void =>
    stop(143, 'the terminal was closed', 'The terminal was closed: stopping the agent and recording it.');
  process.on('SIGINT', press);
  process.on('SIGTERM', terminate);
  process.on('SIGHUP', hangUp);
  // Started through another Node (bin/ralph): it forwards what it alone was sent, and when it is killed, so are we.
  const forwarded = (message: unknown): void => {
    const { signal } = (message ?? {}) as { signal?: unknown };
    if (signal === 'SIGINT' && Date.now() - pressedAt > forwardedMs) press();
    else if (signal === 'SIGHUP' || signal === 'SIGQUIT') hangUp();
  };
  const wrapperGone = (): void => {
    endOwnTree();
    process.exit(137);
  };
  if (process.connected) {
    process.on('message', forwarded);
    process.on('disconnect', wrapperGone);
    process.channel?.unref();
  }
  return {
    signal: controller.signal,
    exitCode: () => exitCode,
    press,
    close() {
      process.off('SIGINT', press);
      process.off('SIGTERM', terminate);
      process.off('SIGHUP', hangUp);
      process.off('message', forwarded);
      process.off('disconnect', wrapperGone);
    },
  };
}
