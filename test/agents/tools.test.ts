// The tools of Ralph as each agent's own settings name them for one iteration: beside its user's servers, none of whose files change.
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AgentCli, Reader } from '../../src/agents/agent.ts';
import { type CliAgentOptions, cliAgent } from '../../src/agents/driver.ts';
import type { AgentTools, ToolServer } from '../../src/agents/performer.ts';
import { clis, plainPrices } from '../contracts/cli-agent.ts';
import { activitiesOf, assignmentIn, endOf } from '../contracts/performer.ts';
import { plainEnvironment, scratchDirectory } from '../processes/fixture.ts';

const agentTools: AgentTools = { ask: () => undefined, report: async () => undefined };
const taking = clis.filter(({ withTools }) => withTools !== undefined);
/** Says what it was started with, and what is in its home. */
const script = `#!/bin/sh
printf '%s\\n' "$@" "RALPH_MCP=$RALPH_MCP" "$OPENCODE_CONFIG_CONTENT"
for word in "$@"; do case "$word" in */mcp.json) cat "$word" ;; esac; done
[ -n "$GEMINI_CLI_HOME" ] && cd "$GEMINI_CLI_HOME" && cat .gemini/settings.json .gemini/extensions/*/* .env
exit 0
`;

function words(): Reader {
  let message = '';
  return {
    read: () => [],
    readPlain: line => {
      message += `${line}\n`;
      return [];
    },
    result: () => ({ message: () => message, finished: false }),
  };
}

async function started(cli: AgentCli, more: Partial<CliAgentOptions> = {}, visible: Record<string, string> = {}) {
  const [directory, home, folderIn] = [scratchDirectory(), scratchDirectory(), scratchDirectory()];
  for (const [name, text] of Object.entries({
    '.gemini/settings.json': '{"own": "settings"}',
    '.gemini/extensions/theirs/gemini-extension.json': '{"name": "theirs"}',
    '.env': 'OWN=1',
  })) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), text);
  }
  const program = join(directory, 'agent.sh');
  writeFileSync(program, script);
  chmodSync(program, 0o755);
  let closed = 0;
  const server: ToolServer = {
    command: '/usr/bin/node',
    args: ['/a place/bridge.js'],
    environment: { RALPH_MCP: 'ticket@/tmp/s' },
    async close() {
      closed += 1;
    },
  };
  const environment = { ...plainEnvironment, HOME: home, ...visible };
  const options = { name: cli.name, program, environment, args: [], prices: plainPrices, folderIn };
  const agent = cliAgent({ ...cli, reader: words }, { ...options, openTools: async () => server, ...more });
  const activities = await activitiesOf(agent, { ...assignmentIn(directory), agentTools });
  const left = { folders: readdirSync(folderIn), settings: readFileSync(join(home, '.gemini/settings.json'), 'utf8') };
  return { agent, activities, end: endOf(activities), closed, left };
}

const named: Readonly<Record<string, readonly string[]>> = {
  claude: ['"command":"/usr/bin/node","args":["/a place/bridge.js"]', '"env":{"RALPH_MCP":"$' + '{RALPH_MCP}"}'],
  codex: ['mcp_servers.ralph={command="/usr/bin/node",args=["/a place/bridge.js"],env_vars=["RALPH_MCP"]}'],
  gemini: ['"own": "settings"', '"name": "theirs"', 'OWN=1', '"env":{"RALPH_MCP":"$RALPH_MCP"}'],
  opencode: ['"command":["/usr/bin/node","/a place/bridge.js"]', '"environment":{"RALPH_MCP":"{env:RALPH_MCP}"}'],
};

it('are known to these', () => {
  expect(taking.map(({ name }) => name).sort()).toEqual(Object.keys(named).sort());
});

describe.each(taking.map(cli => [cli.name, cli] as const))('%s', (name, cli) => {
  it('is told of the server and has the ticket in its environment alone; nothing of it is left', async () => {
    const { agent, end, closed, left } = await started(cli);
    expect(agent.can.tools).toBe(true);
    for (const part of named[name]!) expect(end.message).toContain(part);
    expect(end.message.split('ticket@').length - 1).toBe(1);
    expect(end.message).toContain('RALPH_MCP=ticket@/tmp/s');
    expect({ closed, left }).toEqual({ closed: 1, left: { folders: [], settings: '{"own": "settings"}' } });
  });
});

const [claude, opencode] = ['claude', 'opencode'].map(name => taking.find(cli => cli.name === name)!);

it('an agent whose tools cannot be opened works without them, and says so', async () => {
  const openTools = () => Promise.reject(new Error('the disk is full'));
  const { activities, end } = await started(claude!, { openTools });
  expect(end.failure).toBeUndefined();
  expect(end.message).not.toContain('mcp.json');
  expect(activities).toContainEqual(
    expect.objectContaining({ channel: 'errors', text: expect.stringContaining('the disk is full') }),
  );
});

it('an agent that is given no tools is started as ever', async () => {
  const { agent, end, closed } = await started(claude!, { openTools: undefined });
  expect([agent.can.tools, end.message.includes('mcp'), closed]).toEqual([undefined, false, 0]);
});

it('what a user of opencode has in its last layer stays there', async () => {
  const own = { model: 'mine/m', mcp: { theirs: { type: 'remote', url: 'https://example.invalid' } } };
  const { end } = await started(opencode!, {}, { OPENCODE_CONFIG_CONTENT: JSON.stringify(own) });
  expect(end.message).toContain('"theirs"');
  expect(end.message).toContain('"ralph"');
  const unreadable = await started(opencode!, {}, { OPENCODE_CONFIG_CONTENT: '{ // theirs' });
  expect(unreadable.end.message).toContain('{ // theirs');
});
