// A session of an agent as the holder of a loop: no process of its own lives between two turns, so time alone tells (ADR 9).

const prefix = 'session:';

/** A session that was silent for so long has left its loop. */
export const sessionIdleMsMax = 30 * 60_000;

export const sessionHolder = (session: string): string => `${prefix}${session}`;

/** The session that is meant by the id of a holder; undefined: a process. */
export const sessionOf = (holder: string): string | undefined =>
  holder.startsWith(prefix) ? holder.slice(prefix.length) : undefined;
