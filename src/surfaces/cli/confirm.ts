// One yes-or-no moment at the terminal.
import { createInterface } from 'node:readline/promises';

/** True when Enter was pressed; false on Ctrl-C, Ctrl-D or when the terminal went away. */
export async function confirm(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const leave = new AbortController();
  lines.on('SIGINT', () => leave.abort());
  lines.on('close', () => leave.abort());
  try {
    await lines.question(question, { signal: leave.signal });
    return true;
  } catch {
    process.stderr.write('\n');
    return false;
  } finally {
    lines.close();
  }
}
