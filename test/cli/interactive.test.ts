// An iteration at the terminal: the agent has the whole screen, done.md or its own exit ends the round, nothing is left behind.
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isAlive } from '../../src/processes/identity.ts';
import type { LoopView } from '../../src/views/loop.ts';
import { binary, eventually, inScratch, isInstalled, pinnedNode, prd, type Scratch } from './kit.ts';
import { openTerminal, quoted, type Terminal } from './terminal.ts';

const agent = join(import.meta.dirname, '..', 'fixtures', 'agents', 'takes-screen');

/** Ralph with a fake `claude` that takes the screen, in a terminal of its own; then the modes of that terminal. */
function atTerminal(place: Scratch, words: readonly string[], shellWords = ''): Terminal {
  const bin = join(place.root, 'bin');
  mkdirSync(bin);
  symlinkSync(agent, join(bin, 'claude'));
  place.put('PRD.json', prd());
  const line = quoted([pinnedNode, binary, 'run', '--agent', 'claude', '--interactive', '--yes', ...words]);
  return openTerminal(place, bin, `${shellWords}${line}; echo "code $?"; stty -a; exec cat`);
}

async function endings(place: Scratch): Promise<readonly Record<string, unknown>[]> {
  const lines = (await place.ralph(['events', '--json'])).stdout.trim().split('\n');
  return lines.map(line => JSON.parse(line)).filter(event => event.type === 'iteration.ended');
}

describe.runIf(isInstalled('tmux'))('an interactive iteration (needs tmux)', () => {
  it('gives the agent the whole screen; done.md ends the round, its words are the message, the terminal is restored', () =>
    inScratch(async place => {
      const terminal = atTerminal(place, []);
      try {
        const during = await terminal.shows('THE PROMPT IS THERE');
        expect(during).not.toContain('tasks ·');
        terminal.keys('x');
        const after = await terminal.shows(/code 0[\s\S]*icanon/);
        expect(after).toContain('US-001 done, closed unverified');
        expect(after).not.toContain('THE SCREEN OF THE AGENT');
        expect(after).toMatch(/\sicanon\s/);
        expect(after).toMatch(/\secho\s/);
      } finally {
        terminal.end();
      }
      expect(() => place.read('done.md')).toThrow('ENOENT');
      expect(await endings(place)).toMatchObject([
        { outcome: 'succeeded', excerpt: 'I did it.\n\nTask US-001 complete' },
      ]);
      const prompt = (await place.ralph(['logs', '--prompt', '--iteration', '1'])).stdout;
      expect(prompt).toContain('done.md');
    }));

  it('ends with the own exit of the agent too; nothing on its screen is a claim', () =>
    inScratch(async place => {
      const terminal = atTerminal(place, ['--max-iterations', '1']);
      try {
        await terminal.shows('THE SCREEN OF THE AGENT');
        terminal.keys('b');
        expect(await terminal.shows(/code 3[\s\S]*icanon/)).not.toContain('US-001 done');
      } finally {
        terminal.end();
      }
      expect(await endings(place)).toMatchObject([{ outcome: 'succeeded', excerpt: '' }]);
    }));

  it('given an agent with job control, to whose job the terminal belonged, then Ralph goes on and the next round has it', ({
    skip,
  }) => {
    skip(!isInstalled('perl'), 'only perl can take a terminal back');
    return inScratch(async place => {
      const terminal = atTerminal(place, [], 'set -m; ');
      try {
        await terminal.shows('THE SCREEN OF THE AGENT');
        terminal.keys('j');
        await eventually('the first round is over', async () => (await endings(place)).length === 1);
        await terminal.shows('THE SCREEN OF THE AGENT');
        terminal.keys('x');
        const after = await terminal.shows(/code \d+[\s\S]*icanon/);
        expect(after).toContain('code 0');
        expect(after).toMatch(/\sicanon\s/);
      } finally {
        terminal.end();
      }
      const rounds = await endings(place);
      expect(rounds.map(each => each['excerpt'])).toEqual(['Not yet.', 'I did it.\n\nTask US-001 complete']);
    });
  });

  it('given two Ctrl-C, then it ends at once, in words on a screen of its own', () =>
    inScratch(async place => {
      const terminal = atTerminal(place, []);
      try {
        await terminal.shows('THE PROMPT IS THERE');
        const { liveness } = (await place.json(['status', '--json'])) as LoopView;
        if (liveness.is !== 'held') throw new Error('nobody works');
        const { pid, startTime } = liveness.holder;
        const press = (): void => void (isAlive(pid, startTime) && process.kill(pid, 'SIGINT'));
        const pressing = setInterval(press, 60);
        const after = await terminal.shows(/code 130[\s\S]*icanon/).finally(() => clearInterval(pressing));
        expect(after).toMatch(
          /Stopping the agent[\s\S]*Ended at once\. What was recorded is kept\.\s+Go on later: ralph/,
        );
        expect(after).not.toContain('THE SCREEN OF THE AGENT');
        expect(after).toMatch(/\sicanon\s/);
      } finally {
        terminal.end();
      }
    }));

  it('given a done.md that lay there before, then it does not count and is not touched', () =>
    inScratch(async place => {
      place.put('done.md', 'Task US-001 complete\n');
      const terminal = atTerminal(place, ['--max-iterations', '1']);
      try {
        await terminal.shows('THE SCREEN OF THE AGENT');
        terminal.keys('q');
        await terminal.shows(/code 3/);
      } finally {
        terminal.end();
      }
      expect(place.read('done.md')).toBe('Task US-001 complete\n');
    }));
});

describe('without a terminal', () => {
  it('is refused before anything is written', () =>
    inScratch(async place => {
      place.put('PRD.json', prd());
      const told = await place.ralph(['run', '--agent', 'scripted', '--script', 'x.json', '--interactive']);
      expect(told.code).toBe(2);
    }));
});
