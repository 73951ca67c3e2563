// MCP servers as a person's configuration names them, and the connection to one with all that can break it.
import type { Transport } from '@modelcontextprotocol/client';
import type { Activity } from '../../agents/performer.ts';
import type { FailureKind } from '../../core/failure.ts';

interface AnyServer {
  readonly name: string;
  /** How long one call of a tool may take; absent: the action's usual time. */
  readonly timeMsMax?: number;
  /** Tools of which the person says that calling them twice is as good as once. */
  readonly idempotent: readonly string[];
}

/** A program that we start and talk to over its stdin and stdout. */
export interface StdioServer extends AnyServer {
  readonly type: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  /** Besides the harmless variables: all that it sees of our environment is named here. */
  readonly environment: Readonly<Record<string, string>>;
  /** Where it runs; absent: where the loop works. */
  readonly directory?: string;
}

/** Streamable HTTP. */
export interface HttpServer extends AnyServer {
  readonly type: 'http';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export type McpServer = StdioServer | HttpServer;

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
