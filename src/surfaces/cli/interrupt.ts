// Signals: the first Ctrl-C stops the agent and records it, the second is immediate; TERM and HUP stop once.
import { readFileSync } from 'node:fs';
import { endOwnTree } from '../../app.ts';

export interface Interrupt {
  readonly signal: AbortSignal;
  /** 130 or 143 once a signal came. */
  readonly exitCode: () => number | undefined;
  readonly press: () => void;
  readonly close: () => void;
}

const sameSignalMs = 50; // a signal to the whole group and its forwarded copy are one

/** Started under nohup: the person asked to outlive the terminal, and a handler of ours would undo that. */
function ignoresHangUp(): boolean {
  try {
    const ignored = /^SigIgn:\s*([0-9a-f]+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
    return (Number.parseInt(ignored.slice(-1), 16) & 1) === 1;
  } catch {
    return false;
  }
}

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
    if (exitCode === 130 && now - pressedAt > sameSignalMs) {
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
  if (!ignoresHangUp()) process.on('SIGHUP', hangUp);
  // Started through another Node (bin/ralph): when that wrapper dies, so must we.
  if (process.connected) {
    process.on('disconnect', terminate);
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
      process.off('disconnect', terminate);
    },
  };
}
