// One yes-or-no moment at the terminal.
import { createInterface } from 'node:readline/promises';

/** True when Enter, y or yes was typed; false on anything else, Ctrl-C, Ctrl-D or when the terminal went away. */
export async function confirm(question: string, stop?: AbortSignal): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const leave = new AbortController();
  lines.on('SIGINT', () => leave.abort());
  lines.on('close', () => leave.abort());
  try {
    const signal = stop === undefined ? leave.signal : AbortSignal.any([leave.signal, stop]);
    const typed = await lines.question(question, { signal });
    return ['', 'y', 'yes'].includes(typed.trim().toLowerCase());
  } catch {
    process.stderr.write('\n');
    return false;
  } finally {
    lines.close();
  }
}
