// The socket of an iteration and the program that agents start: one ticket, one iteration, and nothing after its end.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, expect, it } from 'vitest';
import type { AgentTools, ToolServer } from '../../src/agents/performer.ts';
import { openToolServer } from '../../src/mcp-server/socket.ts';
import { answerOf, connected } from './client.ts';

const opened: ToolServer[] = [];
async function open(task: string): Promise<ToolServer> {
  const agentTools: AgentTools = { ask: about => ({ about, task }), report: async () => undefined };
  const server = await openToolServer(agentTools, '1');
  opened.push(server);
  return server;
}
afterEach(async () => {
  for (const server of opened.splice(0)) await server.close();
});

const partsOf = ({ environment: { RALPH_MCP = '' } }: ToolServer) => {
  const at = RALPH_MCP.indexOf('@');
  return { ticket: RALPH_MCP.slice(0, at), path: RALPH_MCP.slice(at + 1) };
};

/** What comes back for these first bytes until the other side hangs up. */
async function said(path: string, bytes: string): Promise<string> {
  const socket = connect(path);
  let text = '';
  socket.setEncoding('utf8').on('data', (more: string) => (text += more));
  socket.on('error', () => {});
  socket.write(bytes);
  await once(socket, 'close');
  return text;
}

it('the program passes an agent through to the tools of its iteration, and to no other', async () => {
  const [mine, theirs] = [await open('A'), await open('B')];
  const { command, args, environment } = mine;
  const transport = new StdioClientTransport({ command, args: [...args], env: { ...environment } });
  const client = await connected(transport, 'modern');
  expect(await answerOf(client, 'get_task')).toEqual({ about: 'task', task: 'A' });
  await client.close();
  const hello = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`;
  expect(await said(partsOf(theirs).path, `${partsOf(mine).ticket}\n${hello}`)).toBe('');
  expect(await said(partsOf(theirs).path, hello)).toBe('');
});

it('only its user gets into its folder, and the end of the iteration ends every connection and the folder', async () => {
  const server = await open('A');
  const { ticket, path } = partsOf(server);
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  const socket = connect(path);
  socket.on('error', () => {});
  socket.write(`${ticket}\n${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`);
  const [answer] = (await once(socket.setEncoding('utf8'), 'data')) as [string];
  expect(JSON.parse(answer)).toMatchObject({ id: 1, result: {} });
  const gone = once(socket, 'close');
  await server.close();
  await gone;
  expect(existsSync(dirname(path))).toBe(false);
  const child = spawn(server.command, [...server.args], {
    env: { ...server.environment },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let words = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (words += text));
  const [code] = (await once(child, 'close')) as [number];
  expect([code, words]).toEqual([1, expect.stringContaining('the iteration is over')]);
});
