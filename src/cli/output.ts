// What happens when nobody reads our output any more: a look ends quietly, a loop goes on without being watched.

let isWatchOnly = true;

/** From now on the work matters more than its audience. */
export function workWithoutAudience(): void {
  isWatchOnly = false;
}

/** A reader that went away (| head), a terminal that was closed. */
export function guardOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', () => {
      if (isWatchOnly) process.exit(0);
    });
  }
}

/** What was written reaches a slow reader whole: a pipe takes only so much at once, and an exit loses the rest. */
export async function flushOutput(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise<void>(done => {
      stream.write('', () => done());
    });
  }
}
