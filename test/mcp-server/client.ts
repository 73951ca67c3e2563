// The official client against a server of ours in this process, in either era of the protocol that the SDK speaks.
import { PassThrough } from 'node:stream';
import { Client, type Transport } from '@modelcontextprotocol/client';
import { serve } from '../../src/mcp-server/serve.ts';
import type { Role, ToolCalls } from '../../src/mcp-server/tools.ts';

/** With the handshake of 2025 and before; and without one, as since 2026. */
export const eras = ['legacy', 'modern'] as const;
export type Era = (typeof eras)[number];

function lines(input: PassThrough, output: PassThrough): Transport {
  let rest = '';
  const transport: Transport = {
    async start() {
      input.setEncoding('utf8').on('data', (text: string) => {
        const all = `${rest}${text}`.split('\n');
        rest = all.pop() ?? '';
        for (const line of all) transport.onmessage?.(JSON.parse(line));
      });
    },
    async send(message) {
      output.write(`${JSON.stringify(message)}\n`);
    },
    async close() {
      output.end();
      transport.onclose?.();
    },
  };
  return transport;
}

export async function connected(transport: Transport, era: Era): Promise<Client> {
  const mode = era === 'legacy' ? 'legacy' : { pin: '2026-07-28' };
  const client = new Client({ name: 'test', version: '1' }, { capabilities: {}, versionNegotiation: { mode } });
  await client.connect(transport);
  return client;
}

export async function clientOf<Whose extends Role>(role: Whose, calls: ToolCalls<Whose>, era: Era): Promise<Client> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  await serve({ role, calls, instructions: `for the ${role}`, version: '1', input, output });
  return connected(lines(output, input), era);
}

/** What a tool answers as data; of a problem its kind. */
export async function answerOf(client: Client, name: string, given: Record<string, unknown> = {}): Promise<unknown> {
  try {
    const { structuredContent, isError } = await client.callTool({ name, arguments: given });
    return isError ? ((structuredContent as { error: { kind: string } }).error.kind as string) : structuredContent;
  } catch (error) {
    const { code, data } = error as { readonly code: number; readonly data?: { readonly kind: string } };
    return `${code} ${data?.kind}`;
  }
}
