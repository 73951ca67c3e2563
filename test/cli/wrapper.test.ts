// A run that bin/ralph started through another Node: what the wrapper forwards counts, and its death is ours.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  asks,
  binary,
  claims,
  eventually,
  hangingAgent,
  inScratch,
  isInstalled,
  pinnedNode,
  prd,
  runScript,
  type Scratch,
  scripted,
} from './kit.ts';
import { openTerminal, quoted } from './terminal.ts';

const launcher = join(import.meta.dirname, '..', '..', 'bin', 'ralph');

/** One that Ralph does not run in: it starts the pinned one. */
const oldNode = (process.env['PATH'] ?? '')
  .split(delimiter)
  .map(folder => join(folder, 'node'))
  .find(path => existsSync(path) && /^v(?:1\d|20)\./.test(spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout));

/** A run with a channel to us, as bin/ralph gives it, whose agent is at work. */
async function wrapped(place: Scratch): Promise<{ readonly child: ChildProcess; readonly gone: () => Promise<void> }> {
  place.put('PRD.json', prd());
  const agent = hangingAgent(place);
  const child = spawn(pinnedNode, [binary, 'run', 'PRD.json', '--agent-command', agent.command], {
    cwd: place.project,
    env: { ...place.env },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  // Not before its own words: an agent that is killed before it has opened its pipe would never be seen to go.
  await eventually('the agent is at work', async () => (await place.ralph(['logs'])).stdout.includes('agent at work'));
  return { child, gone: agent.gone };
}

describe('a run below a wrapper', () => {
  it('stops and records a SIGINT that the wrapper alone was sent', () =>
    inScratch(async place => {
      const { child, gone } = await wrapped(place);
      child.send({ signal: 'SIGINT' });
      expect((await once(child, 'exit'))[0]).toBe(130);
      await gone();
      expect((await place.ralph(['explain'])).stdout).toContain('iteration 1 interrupted: Ctrl-C');
    }));

  it('ends at once, agent and all, when the wrapper is killed; the same command goes on', () =>
    inScratch(async place => {
      const { child, gone } = await wrapped(place);
      child.disconnect();
      expect((await once(child, 'exit'))[0]).toBe(137);
      await gone();
      expect((await place.ralph(['status'])).stdout).toContain('not running');
    }));
});

describe('a prompt in a shell with job control (needs tmux)', () => {
  const nodes = [
    { how: 'in this Node', node: pinnedNode },
    { how: 'below the wrapper', node: oldNode ?? '' },
  ];
  it.skipIf(!isInstalled('tmux')).each(nodes.filter(one => one.node !== ''))(
    '$how: Ctrl-Z gives the shell back, and fg the prompt, at the card and at a question',
    ({ node }) =>
      inScratch(async place => {
        scripted(place, ['US-001'], [{ attempt: 1, steps: [asks] }, claims()]);
        const terminal = openTerminal(place, place.root, 'bash --norc --noprofile -i');
        const stopAndGoOn = async (again: string): Promise<void> => {
          const marker = `back to ${again}`;
          terminal.keys('C-z');
          await terminal.shows(/Stopped/);
          terminal.keys(`clear; tmux clear-history; echo 'back' 'to' '${again}'`, 'Enter');
          await terminal.shows(marker);
          terminal.keys('fg', 'Enter');
          await eventually('the prompt again', () => terminal.screen().split(`${marker}\n`)[1]?.includes(again));
        };
        try {
          terminal.keys(`${quoted([node, launcher, ...runScript])}`, 'Enter');
          await terminal.shows('Press Enter to start, Ctrl-C to leave');
          await stopAndGoOn('Press Enter to start');
          terminal.keys('Enter');
          await terminal.shows(/E1 US-001 .*\?\) >/);
          await stopAndGoOn('E1 US-001');
          terminal.keys('s', 'Enter');
          await terminal.shows('Over, nothing done');
        } finally {
          terminal.end();
        }
      }),
  );
});
