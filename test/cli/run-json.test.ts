// `ralph run --json` for programs, and the run that finds nothing to do.
import { describe, expect, it } from 'vitest';
import { schemas } from '../../scripts/docs-schemas.ts';
import { asks, claims, inScratch, runScript, scripted } from './kit.ts';

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

  it('of a dry run says what the command would do, with a loop as it really stands, and the card says the same', () =>
    inScratch(async place => {
      scripted(place, ['US-001', 'US-002'], [{ task: 'US-001', steps: [asks] }, claims()]);
      const dry = async () => JSON.parse((await place.ralph([...runScript, '--dry-run', '--json'])).stdout);
      expect(await dry()).toMatchObject({
        version: 2,
        dryRun: true,
        would: 'start',
        loop: null,
        mode: 'prd',
        checks: [],
      });
      await place.ralph(runScript);
      const half = await dry();
      expect(schemas['dry-run'].safeParse(half).error).toBeUndefined();
      expect(half).toMatchObject({ would: 'resume', loop: { name: 'shop', state: 'not-running', tasks: { done: 1 } } });
      const card = (await place.ralph([...runScript, '--dry-run'])).stdout;
      expect(card).toMatch(/^loop +shop, would go on after iteration 2 \(1 done, 0 blocked, 0 skipped; open: E1/m);
      expect(card).toMatch(/^left +48 of 50 iterations/m);
      await place.ralph(['stop']);
      expect(await dry()).toMatchObject({ would: expect.stringMatching(/^(start|ask)$/) });
    }));
});
