// An MCP server behind a URL (streamable HTTP): the SDK's transport, with a bound on what it may read.
import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { answerBytesMax, type Connection, type Hearing, type HttpServer, tooLarge } from './server.ts';

/** What the server gets for the end of its session: a courtesy that nobody waits long for. */
const partingMs = 1_000;

export function httpConnection(server: HttpServer, hearing: Hearing): Connection {
  const lines: StreamableHTTPClientTransport[] = [];
  const giveUp = (): void => hearing.breakOff({ why: 'unreadable', detail: tooLarge });
  return {
    async line() {
      const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
      const line = new StreamableHTTPClientTransport(new URL(server.url), {
        requestInit: { headers: { ...server.headers } },
        fetch: async (url, init) => bounded(await fetch(url, init), giveUp),
      });
      lines.push(line);
      return line;
    },
    async close(atOnce) {
      for (const line of lines) {
        if (!atOnce) await parting(line);
        await line.close();
      }
      return 0;
    },
  };
}

async function parting(line: StreamableHTTPClientTransport): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>(resolve => {
    timer = setTimeout(resolve, partingMs);
  });
  await Promise.race([line.terminateSession().catch(() => {}), patience]);
  clearTimeout(timer);
}

/** The SDK reads whole bodies into memory. */
function bounded(response: Response, giveUp: () => void): Response {
  if (response.body === null) return response;
  let bytes = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes <= answerBytesMax) return controller.enqueue(chunk);
      giveUp();
      controller.error(new Error(tooLarge));
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counter), { status, statusText, headers });
}
