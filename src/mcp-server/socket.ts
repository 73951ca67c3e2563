// The socket of one iteration: whoever shows its ticket is served the tools of its agent, until the iteration is over.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AgentTools, ToolServer } from '../agents/performer.ts';
import { agentCalls, agentInstructions } from './agent.ts';
import type { Serving } from './serve.ts';

/** From source, in the bundle, in a chunk of the bundle. */
const bridgePlaces = ['./bridge.ts', './mcp-bridge.js', '../mcp-bridge.js'];
const pathBytesMax = 103; // of the address of a socket, on the system that takes the fewest
const connectionsMax = 16; // an agent, its subagents, and what connects again
const ticketMsMax = 10_000;

/** Where the folder of work is long, the system's own place for such things: it is short. */
function socketFolder(): string {
  const [usual, short] = [tmpdir(), '/tmp'];
  const isLong = Buffer.byteLength(join(usual, 'ralph-XXXXXX', 's')) > pathBytesMax;
  return mkdtempSync(join(isLong ? short : usual, 'ralph-'));
}

function bridge(): string {
  const file = bridgePlaces.map(place => new URL(place, import.meta.url)).find(place => existsSync(place));
  if (file === undefined) throw new Error('the program that agents start (mcp-bridge.js) is missing beside the code');
  return fileURLToPath(file);
}

/** Resolves with what came behind the first line when that is the ticket; else with nothing. */
function shownTicket(socket: Socket, ticket: string): Promise<Buffer | undefined> {
  return new Promise(resolve => {
    let seen = Buffer.alloc(0);
    const timer = setTimeout(() => done(undefined), ticketMsMax).unref();
    const done = (rest: Buffer | undefined): void => {
      clearTimeout(timer);
      socket.off('data', onData).off('close', onClose).pause();
      resolve(rest);
    };
    const onClose = (): void => done(undefined);
    const onData = (chunk: Buffer): void => {
      seen = Buffer.concat([seen, chunk]);
      const wanted = Buffer.from(`${ticket}\n`);
      if (seen.length < wanted.length) return;
      const isRight = timingSafeEqual(seen.subarray(0, wanted.length), wanted);
      done(isRight ? seen.subarray(wanted.length) : undefined);
    };
    socket.on('data', onData).on('close', onClose);
  });
}

/** Only this user gets into the folder; only who was given the ticket gets an answer. Throws where there can be no socket. */
export async function openToolServer(agentTools: AgentTools, version: string): Promise<ToolServer> {
  const program = bridge();
  const folder = socketFolder();
  const path = join(folder, 's');
  const ticket = randomBytes(24).toString('base64url');
  const calls = agentCalls(agentTools);
  const sockets = new Set<Socket>();
  const serving = new Set<Serving>();

  async function admit(socket: Socket): Promise<void> {
    const rest = await shownTicket(socket, ticket);
    if (rest === undefined || socket.destroyed) return void socket.destroy();
    const { serve } = await import('./serve.ts');
    if (rest.length > 0) socket.unshift(rest);
    const order = { role: 'agent', calls, instructions: agentInstructions, version } as const;
    const one = await serve({ ...order, input: socket, output: socket });
    serving.add(one);
    socket.resume(); // it was paused for its ticket, and a listener alone does not end that
    await one.closed;
    serving.delete(one);
  }

  const server = createServer(socket => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
    if (sockets.size > connectionsMax) socket.destroy();
    else admit(socket).catch(() => socket.destroy());
  });
  try {
    await new Promise<void>((listening, failed) => server.once('error', failed).listen(path, listening));
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  return {
    command: process.execPath,
    args: [program],
    environment: { RALPH_MCP: `${ticket}@${path}` },
    async close() {
      server.close();
      await Promise.all([...serving].map(one => one.close()));
      for (const socket of sockets) socket.destroy();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
