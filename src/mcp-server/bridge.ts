// The program that an agent starts as its MCP server: it passes standard input and output to the socket of the agent's iteration.
import { connect } from 'node:net';

/** `TICKET@PATH`: from the environment, because arguments and files can be read by whoever works beside this agent. */
const [, ticket = '', path = ''] = /^([^@]+)@(.+)$/s.exec(process.env['RALPH_MCP'] ?? '') ?? [];

function refuse(why: string): never {
  process.stderr.write(`ralph: ${why}\n`);
  process.exit(1);
}

if (path === '') refuse('RALPH_MCP names no iteration; this program is started by an agent that Ralph runs.');
const socket = connect(path, () => {
  socket.write(`${ticket}\n`);
  process.stdin.pipe(socket);
});
socket.on('error', ({ message }) => refuse(`the iteration is over or out of reach (${message}).`));
socket.on('close', () => process.exit(0));
socket.pipe(process.stdout);
