// B29: a project's own config names the agent. It is run once the user has said so for exactly that, and refused before.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { binary, eventsOf, isInstalled, pinnedNode } from './kit.ts';
import { openTerminal, quoted } from './terminal.ts';
import { fakeClaude, inWorkshop, type Workshop } from './workshop.ts';

const agentCommand = 'read -r _; echo "Task $RALPH_TASK complete"';
const config = (more: object = {}): string => JSON.stringify({ agentCommand, ...more });
const run = ['run', 'PRD.json', '--detect-checks', 'none', '--no-input'];

async function performers(place: Workshop): Promise<readonly unknown[]> {
  const all = await eventsOf(place);
  return all.filter(one => one['type'] === 'iteration.ended').map(one => one['performer']);
}

it.concurrent(
  'untrusted it is refused with what to type, although another agent is there, unless the user names one',
  inWorkshop(async place => {
    place.install('claude', fakeClaude());
    place.put('ralph.config.json', config());
    const told = await place.ralph(run, { env: place.path });
    expect(told.code).toBe(2);
    expect(told.stderr).toMatch(/which you have not trusted yet\.\n.*ralph config trust; or name an agent yourself/);
    expect((await place.ralph([...run, '--agent', 'claude'], { env: place.path })).code).toBe(0);
    expect(await performers(place)).toEqual(['claude']);
  }),
);

it.concurrent(
  'trusted it is run, also after an edit of something else, but not with another command',
  inWorkshop(async place => {
    place.put('ralph.config.json', config());
    expect(await place.ralph(['config', 'trust', '--no-input'])).toMatchObject({ code: 2 });
    const trusting = await place.ralph(['config', 'trust', '--yes']);
    expect(trusting).toMatchObject({ code: 0, stderr: expect.stringContaining('agentCommand: "read -r _') });
    place.put('ralph.config.json', config({ maxIterations: 3 }));
    const told = await place.ralph(run);
    expect(told.code, told.stderr).toBe(0);
    expect(await performers(place)).toEqual(['command']);
    writeFileSync(join(place.project, 'ralph.config.json'), JSON.stringify({ agentCommand: `${agentCommand}; true` }));
    expect((await place.ralph([...run, '--new'])).code).toBe(2);
    expect((await place.ralph(['config', 'trust', '--no-input'])).code).toBe(2);
  }),
);

it.runIf(isInstalled('tmux'))(
  'at a terminal it is asked (needs tmux)',
  inWorkshop(async place => {
    place.put('ralph.config.json', config());
    const trust = quoted([pinnedNode, binary, 'config', 'trust']);
    const terminal = openTerminal(place, place.bin, `${trust}; echo "code $?"; exec cat`);
    try {
      await terminal.shows('Press Enter to trust exactly this');
      terminal.keys('Enter');
      await terminal.shows(/Trusted, until one of these values changes\.[\s\S]*code 0/);
    } finally {
      terminal.end();
    }
    expect((await place.ralph(run)).code).toBe(0);
  }),
);
