// The line to a living process: more input for it, and what its adapter knows about it that a timer cannot.

export interface Feed {
  /** Queued until it has started; lost after its end. */
  write(text: string): void;
  /** Closes its stdin. */
  end(): void;
  /** It has said its last word: from now on it has a short time to exit; further output starts that time anew. */
  finished(): void;
  /** It goes on after all: the times of one that works hold again. */
  resumed(): void;
  /** It works on something that may be silent for long (a tool): silence is allowed to last longer. */
  busy(isBusy: boolean): void;
  /** How many bytes of what was written lie there because it does not read them. */
  unreadBytes(): number;
}

/** For one process: the adapter holds the feed, `runProcess` the other end. */
export interface OpenFeed extends Feed {
  /** Passes on what was said before and, from now on, everything; undefined once the process has ended. */
  attach(listener: Feed | undefined): void;
}

export function openFeed(): OpenFeed {
  const early: ((listener: Feed) => void)[] = [];
  let listener: Feed | undefined;
  let wasAttached = false;
  function pass(say: (to: Feed) => void): void {
    if (listener) say(listener);
    else if (!wasAttached) early.push(say);
  }
  return {
    write: text => pass(to => to.write(text)),
    end: () => pass(to => to.end()),
    finished: () => pass(to => to.finished()),
    resumed: () => pass(to => to.resumed()),
    busy: isBusy => pass(to => to.busy(isBusy)),
    unreadBytes: () => listener?.unreadBytes() ?? 0,
    attach(next) {
      listener = next;
      wasAttached = true;
      const said = early.splice(0);
      if (next) for (const say of said) say(next);
    },
  };
}
