// `ralph run --json` for programs, and the run that finds nothing to do.
import { describe, expect, it } from 'vitest';
import { claims, inScratch, runScript, scripted } from './kit.ts';

describe('run --json', () => {
  it('prints the loop as one JSON object with the exit code', () =>
    inScratch(async place => {
      scripted(place, ['US-001', 'US-002'], [claims()]);
      const told = await place.ralph([...runScript, '--json']);
      expect(told.code).toBe(0);
      expect(JSON.parse(told.stdout)).toMatchObject({
        version: 2,
        ending: { reason: 'goal_achieved', verified: false },
        exitCode: 0,
        tasks: { total: 2, done: 2, skipped: 0, open: 0 },
        spend: { iterations: 2 },
        questions: [],
      });
      expect(JSON.parse(told.stdout)).not.toHaveProperty('spend.usage');
    }));

  it('says so and begins no loop when every task is done already', () =>
    inScratch(async place => {
      scripted(place, ['US-001'], [claims()]);
      expect((await place.ralph([...runScript])).code).toBe(0);
      const again = await place.ralph([...runScript]);
      expect(again).toMatchObject({ code: 0, stdout: '' });
      expect(again.stderr).toMatch(/^Nothing to do: every task of .* is done or skipped\.$/m);
      const told = await place.ralph([...runScript, '--json']);
      expect(JSON.parse(told.stdout)).toEqual({ version: 2, exitCode: 0, said: told.stderr.trim().split('\n') });
      expect(JSON.parse((await place.ralph(['loops', 'list', '--json'])).stdout).loops).toHaveLength(1);
    }));

  it('says why it could not begin: every fault, and what to do', () =>
    inScratch(async place => {
      place.put('PRD.json', '{"userStories": [{"id": "A"}, {"id": "A"}]}');
      for (const words of [['nothing.json'], ['PRD.json'], ['PRD.json', '--rounds', '2']]) {
        const told = await place.ralph(['run', ...words, '--json']);
        const { error, ...rest } = JSON.parse(told.stdout);
        expect([told.code, rest, error.code]).toEqual([2, { version: 2, exitCode: 2 }, 'usage']);
        expect(told.stderr).toBe(`ralph: ${error.message}\n  ${error.hint}\n`);
      }
    }));
});
