// `ralph run --json` for programs, and the run that finds nothing to do.
import { describe, expect, it } from 'vitest';
import { claims, inScratch, runScript, scripted } from './kit.ts';

describe('run --json', () => {
  it('prints the ending as one JSON object with the exit code', () =>
    inScratch(async place => {
      scripted(place, ['US-001', 'US-002'], [claims()]);
      const told = await place.ralph([...runScript, '--json']);
      expect(told.code).toBe(0);
      expect(JSON.parse(told.stdout)).toMatchObject({
        version: 1,
        reason: 'goal_achieved',
        exit_code: 0,
        verified: false,
        tasks: { total: 2, done: 2, skipped: 0, open: 0 },
        iterations: 2,
        questions: [],
      });
    }));

  it('says so and begins no loop when every task is done already', () =>
    inScratch(async place => {
      scripted(place, ['US-001'], [claims()]);
      expect((await place.ralph([...runScript])).code).toBe(0);
      const again = await place.ralph([...runScript]);
      expect(again).toMatchObject({ code: 0, stdout: '' });
      expect(again.stderr).toMatch(/^Nothing to do: every task of .* is done or skipped\.$/m);
      expect(JSON.parse((await place.ralph(['loops', 'list', '--json'])).stdout).loops).toHaveLength(1);
    }));
});
