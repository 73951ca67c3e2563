// A loop that goes on after its person changed the checks: whose version counts, and how that is told from an agent's.
import { describe, expect, it } from 'vitest';
import { inScratch, type Scratch } from './kit.ts';
import { git, makeRepository, worker } from './repository.ts';

const run = (agent: string, ...more: readonly string[]): readonly string[] => [
  'run',
  'PRD.json',
  '--agent-command',
  agent,
  '--quiet',
  ...more,
];

/** Two tasks of which the first iteration does one; verify.sh passes. */
async function stopped(place: Scratch, agent: string): Promise<void> {
  makeRepository(place, ['US-001', 'US-002']);
  place.put('verify.sh', 'echo by ada >> ../ran\n');
  git(place, 'add', 'verify.sh');
  git(place, 'commit', '-q', '-m', 'verify', 'verify.sh');
  const told = await place.ralph(run(agent, '--verify', 'sh verify.sh', '--max-iterations', '1', '--sandbox', 'none'));
  expect(told.code).toBe(3);
}

const goOn = (place: Scratch, agent: string, most: number, ...more: readonly string[]) =>
  place.ralph(['resume', '--max-iterations', String(most), '--agent-command', agent, '--quiet', ...more]);

const ran = (place: Scratch): readonly string[] => place.read('../ran').trim().split('\n');

describe('given a loop that stopped, and its check script', () => {
  it('when its person changed it meanwhile, then that one is protected from now on', () =>
    inScratch(async place => {
      await stopped(place, worker);
      place.put('verify.sh', 'echo anew >> ../ran\n');
      const told = await goOn(place, `${worker}; echo exit 0 > verify.sh`, 5);
      expect(told.stderr).toContain('note: verify.sh: changed by you, and protected as it is from now on');
      expect(told.code).toBe(0);
      expect(ran(place).at(-1)).toBe('anew');
      expect(place.read('verify.sh')).toBe('echo anew >> ../ran\n');
    }));

  it('when the agent changed it, then it is put back, and the note says how to take it all the same', () =>
    inScratch(async place => {
      const forger = `read -r _; echo 'echo forged >> ../ran' > verify.sh; echo $RALPH_TASK > $RALPH_TASK.txt`;
      await stopped(place, forger);
      const told = await goOn(place, worker, 2);
      expect(told.stderr).toContain('note: verify.sh differs from the one that this loop protects; it is put back');
      expect(ran(place)).not.toContain('forged');

      place.put('verify.sh', 'echo mine >> ../ran\n');
      const anew = await goOn(place, worker, 5, '--protect-anew');
      expect(anew.code).toBe(0);
      expect(ran(place).at(-1)).toBe('mine');
    }));

  it('when another check is given, then its script is protected too, and the agent’s version of the first is not taken', () =>
    inScratch(async place => {
      const forger = `read -r _; echo 'echo forged >> ../ran' > verify.sh; echo $RALPH_TASK > $RALPH_TASK.txt`;
      await stopped(place, forger);
      place.put('more.sh', 'echo more >> ../ran\n');
      const spoiler = `${worker}; echo 'echo spoiled >> ../ran' > more.sh`;
      const told = await goOn(place, spoiler, 5, '--verify', 'sh verify.sh', '--verify', 'sh more.sh');
      expect(told.stderr).toContain('note: verify.sh: put back as this loop protects it');
      expect(ran(place)).toContain('more');
      expect(ran(place)).not.toContain('forged');
      expect(ran(place)).not.toContain('spoiled');
      expect(place.read('more.sh')).toBe('echo more >> ../ran\n');
    }));
});
