// What the tests of MCP tools share: the test server as a performer, both ways, and one call of it told whole.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { HttpServer, StdioServer } from '../../../src/actions/mcp/server.ts';
import { type McpToolOptions, mcpTool } from '../../../src/actions/mcp/tool.ts';
import type { Activity, Assignment } from '../../../src/agents/performer.ts';
import type { Json } from '../../../src/core/task.ts';
import { activitiesOf, assignmentIn, endOf } from '../../contracts/performer.ts';
import { type Effect, effectsIn } from '../../fixtures/mcp/tools.ts';

const fixture = (name: string): string => join(import.meta.dirname, '../../fixtures/mcp', name);

export function stdioServer(program: string, environment: Record<string, string> = {}): StdioServer {
  return {
    type: 'stdio',
    name: 'test',
    command: process.execPath,
    args: [fixture(program)],
    environment,
    idempotent: [],
  };
}

export const httpServer = (url: string, more: Partial<HttpServer> = {}): HttpServer => ({
  type: 'http',
  name: 'test',
  url,
  headers: {},
  idempotent: [],
  ...more,
});

export interface Called {
  readonly end: Extract<Activity, { type: 'ended' }>;
  readonly kind: string | undefined;
  readonly activities: readonly Activity[];
  /** What was recorded before the effect. */
  readonly intents: readonly boolean[];
}

export interface CallOrder {
  readonly params?: Readonly<Record<string, Json>>;
  readonly assignment?: Partial<Assignment>;
  readonly options?: Partial<McpToolOptions>;
  /** Stops it at the first word. */
  readonly stopAtWord?: boolean;
}

/** In a directory that is there: none of the tools writes into it. */
export async function call(server: McpToolOptions['server'], tool: string, order: CallOrder = {}): Promise<Called> {
  const intents: boolean[] = [];
  const stopping = new AbortController();
  const assignment = assignmentIn(import.meta.dirname, {
    order: { type: 'mcp', server: 'test', tool, params: order.params ?? {} },
    key: 'key-1',
    intend: async repeatable => {
      intents.push(repeatable);
      return true;
    },
    ...order.assignment,
  });
  const performer = mcpTool({ server, environment: process.env, graceMs: 200, ...order.options });
  const activities = await activitiesOf(performer, assignment, stopping.signal, activity => {
    if (order.stopAtWord && activity.type === 'text' && activity.channel === 'output') stopping.abort();
  });
  const end = endOf(activities);
  return { end, kind: end.failure?.kind, activities, intents };
}

/** A file of effects that no other test has. */
export function effects(directory: string): { readonly file: string; all(): readonly Effect[] } {
  const file = join(directory, `${randomUUID()}.jsonl`);
  return { file, all: () => effectsIn(file) };
}
