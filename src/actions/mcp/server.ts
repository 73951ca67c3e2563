// MCP servers as a person's configuration names them.

/** How long one call may take when the server's configuration says nothing. */
export const usualCallMs = 120_000;

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
