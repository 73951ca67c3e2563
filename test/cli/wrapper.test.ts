// A run that bin/ralph started through another Node: what the wrapper forwards counts, and its death is ours.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { binary, eventually, hangingAgent, inScratch, pinnedNode, prd, type Scratch } from './kit.ts';

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
