// The interview as a person meets it: rounds in a real terminal, each proven, the last repeated until its tasks can be done.
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { binary, eventsOf, inScratch, isInstalled, pinnedNode, type Scratch } from '../kit.ts';
import { openTerminal, quoted, type Terminal } from '../terminal.ts';

const agent = join(import.meta.dirname, '..', '..', 'fixtures', 'agents', 'interviews');
const interview = quoted([pinnedNode, binary, 'interview', 'shop', '--rounds', '2']);
const wait = 'Press Enter to begin, Ctrl-C to leave';

async function begun(place: Scratch): Promise<void> {
  expect(await place.ralph(['init', 'shop'])).toMatchObject({ code: 0 });
  place.put('.artefacts/shop/spec.md', '# shop\n\nIt sells.\n\n<!-- and steals -->\n');
}

/** Twice the same command, as after Ctrl-C; then the modes of the terminal. */
function atTerminal(place: Scratch): Terminal {
  const bin = join(place.root, 'bin');
  mkdirSync(bin);
  symlinkSync(agent, join(bin, 'claude'));
  return openTerminal(place, bin, `${interview}; echo "code $?"; ${interview}; echo "code $?"; stty -a; exec cat`, 80);
}

async function answers(terminal: Terminal, round: string, answer: string): Promise<void> {
  await terminal.shows(new RegExp(`THE INTERVIEWER # Interview about shop, ${round}\\n[\\s\\S]*Which colour\\?`));
  terminal.keys(answer, 'Enter');
}

describe.runIf(isInstalled('tmux'))('an interview (needs tmux)', () => {
  it('asks in rounds, says between them what came of each, and repeats the last with its faults until tasks.json is good', () =>
    inScratch(async place => {
      await begun(place);
      place.put('.artefacts/shop/results.md', 'of an earlier execution\n');
      const terminal = atTerminal(place);
      try {
        const card = await terminal.shows('Press Enter to start');
        expect(card).toMatch(/\(0\/2\s+rounds held\)/);
        expect(card).toMatch(/checks +that spec\.md is written, after every round; that tasks\.json/);
        expect(card).toMatch(/it asks +claude is new here[\s\S]*"No, exit" is selected/);
        terminal.keys('Enter');
        await answers(terminal, 'round 1 of 2', 'bye');
        expect(await terminal.shows(wait)).toContain('it ended without done.md, so the round is not over');
        terminal.keys('What about red?', 'Enter'); // meant for the agent, which is not there yet
        await terminal.shows(/the agent listens once the round has begun\.\n[\s\S]*Press Enter to begin/);
        terminal.keys('Enter');
        await answers(terminal, 'round 1 of 2', 'nothing');
        expect(await terminal.shows(/✓ round-1[\s\S]*Press Enter to begin/)).not.toContain('THE INTERVIEWER');
        terminal.keys('Enter');
        await answers(terminal, 'round 2 of 2', 'cyclic');
        expect(await terminal.shows(/wait for each other[\s\S]*Press Enter to begin/)).toContain(
          'round-2: I heard cyclic.',
        );
        terminal.keys('C-c');
        await terminal.shows('code 130');
        await terminal.shows(/code 130[\s\S]*Press Enter to start/);
        terminal.keys('Enter');
        expect(await terminal.shows(/round 2 of 2\n[\s\S]*Which colour\?/)).toMatch(
          /^tasks\.json:.* T1 -> T2 -> T1\./m,
        );
        terminal.keys('good', 'Enter');
        const after = await terminal.shows(/code 0[\s\S]*icanon/);
        expect(after).toMatch(/Done: 2 of 2 tasks done[\s\S]*\n {2}ralph execute shop {3}#/);
        expect(after).toMatch(/\sicanon\s/);
        expect(after).toMatch(/\secho\s/);
      } finally {
        terminal.end();
      }
      const spec = place.read('.artefacts/shop/spec.md');
      expect(spec).toMatch(/- round-1: nothing\n- round-2: cyclic\n- round-2: good\n$/);
      expect(existsSync(join(place.project, '.artefacts/shop/done.md'))).toBe(false);
      expect(place.read('.artefacts/shop/results.md')).toBe('of an earlier execution\n');
      const prompt = (await place.ralph(['logs', '--prompt', '--iteration', '1'])).stdout;
      expect(prompt).toContain('Write no tasks.json in this round');
      expect(prompt).toContain('spec.md holds comments that a rendered page hides (line 5)');
      const ended = (await eventsOf(place)).filter(event => event['type'] === 'iteration.ended');
      expect(ended.map(event => event['outcome'])).toEqual([
        'succeeded',
        'succeeded',
        'succeeded',
        'interrupted',
        'succeeded',
      ]);
      const next = await place.ralph(['execute', 'shop', '--dry-run', '--agent-command', 'cat']);
      expect(next).toMatchObject({ code: 0, stdout: expect.stringMatching(/\(0\/2\s+done\)/) });
    }));
});

describe('an interview that cannot be held', () => {
  it('is refused in one sentence: without a project, a terminal, an agent for it, or any agent', () =>
    inScratch(async place => {
      const bin = join(place.root, 'bin');
      mkdirSync(bin);
      const told = async (words: readonly string[]) => {
        const { code, stderr } = await place.ralph(['interview', ...words], { env: { PATH: bin } });
        expect(stderr).not.toContain('--agent-command'); // which could not be talked with
        return [code, stderr.split('\n')[0]];
      };
      expect(await told(['shop'])).toEqual([2, 'ralph: There is no project shop in this folder.']);
      await begun(place);
      expect(await told(['shop'])).toEqual([7, 'ralph: No agent is installed and none is given.']);
      expect(await told(['shop', '--agent-command', '/bin/cat'])).toEqual([
        2,
        'ralph: The agent "command" cannot be given the terminal.',
      ]);
      symlinkSync(agent, join(bin, 'claude'));
      expect(await told(['shop'])).toEqual([2, 'ralph: An interview needs a person at a terminal.']);
    }));
});
