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
