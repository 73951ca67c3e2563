// `ralph mcp serve`: the loops of this machine as tools for a person's program, over standard input and output.
import { operatorCalls, operatorInstructions } from '../../mcp-server/operator.ts';
import { serve } from '../../mcp-server/serve.ts';
import { version } from '../../version.ts';
import type { Context } from '../context.ts';

export async function execute(context: Context): Promise<number> {
  const { directory, by } = context;
  const calls = operatorCalls({ loops: () => context.loops({ write: true }), directory, by: `${by} (mcp)` });
  if (process.stdin.isTTY)
    context.say('This waits for a program that speaks MCP; Ctrl-C ends it. See docs/guides/mcp.md.');
  const { closed } = await serve({
    role: 'operator',
    calls,
    instructions: operatorInstructions,
    version: version(),
    input: process.stdin,
    output: process.stdout,
  });
  await closed;
  return 0;
}
