// What the two ways to an MCP server have in common, and everything that can break a talk with one.
import type { Transport } from '@modelcontextprotocol/client';
import type { FailureKind } from '../../core/failure.ts';
import type { Activity } from '../../agents/performer.ts';

/** Why a talk was broken off before it had come to its end. */
export type Break =
  | { readonly why: 'stop' }
  | { readonly why: 'time'; readonly timeMs: number }
  /** The server or the way to it is gone. */
  | { readonly why: 'lost'; readonly kind: FailureKind; readonly detail: string; readonly exitCode?: number }
  /** Something came that must have been an answer, but nobody can read it. */
  | { readonly why: 'unreadable'; readonly detail: string };

/** What a connection tells while it lasts. */
export interface Hearing {
  tell(activity: Activity): void;
  /** Resolves when more may be told. */
  room(): Promise<void>;
  /** The first one counts. */
  breakOff(reason: Break): void;
}

export interface Connection {
  /** A fresh line over the same connection: a talk that failed at its first words closes the line that it had. */
  line(): Promise<Transport>;
  /** Lets the server go, or ends it at once; resolves when nothing of it is alive, with how many had to be ended. */
  close(atOnce: boolean): Promise<number>;
}

/** One answer at most: larger ones are not read. */
export const answerBytesMax = 16_000_000;
export const tooLarge = `its answer is larger than ${answerBytesMax / 1_000_000} MB`;
