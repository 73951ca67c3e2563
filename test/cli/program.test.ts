// The command line is built from one table: what its flags are called must not change what they mean.
import { describe, expect, it } from 'vitest';
import { inScratch, prd } from './kit.ts';

describe('a flag with a value', () => {
  it('sets that value although its name begins with no-, as a denial would', () =>
    inScratch(async place => {
      place.put('PRD.json', prd());
      const words = ['run', 'PRD.json', '--yes', '--no-input', '--agent-command', 'echo nothing claimed'];
      const told = await place.ralph([...words, '--no-progress', '2']);
      expect(told.stdout).toContain('no task completed in the last 2 iterations');
      expect(told.code).toBe(6);
    }));
});

describe('the help of a command', () => {
  it('shows its flags, also when it is asked for by the word help', () =>
    inScratch(async place => {
      const asked = await place.ralph(['help', 'run']);
      expect(asked.stdout).toContain('--no-progress <number>');
      expect(asked.stdout).toBe((await place.ralph(['run', '--help'])).stdout);
      expect((await place.ralph(['help', 'status'])).stdout).toContain('--json');
    }));

  it('refuses a flag that the command does not have', () =>
    inScratch(async place => {
      const told = await place.ralph(['status', '--no-progress', '2']);
      expect(told.code).toBe(2);
      expect(told.stderr).toMatch(/unknown option '--no-progress'/i);
    }));
});
