// Proves what `ralph` alone says: how things stand in this folder, what the night did, and the one line to type next.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commands, standingLines } from '../../src/cli/help/overview.ts';
import { initialState } from '../../src/core/state.ts';
import { asks, claims, inScratch, runScript, type Scratch, scripted } from './kit.ts';

/** What stands below the commands. */
const standing = async (place: Scratch, cwd = place.project): Promise<readonly string[]> => {
  const told = await place.ralph([], { cwd });
  expect(told.code).toBe(0);
  expect(told.stdout).toContain('ralph run FILE');
  return told.stdout.trimEnd().split('\n\n').at(-1)!.split('\n');
};

it('given a loop that is done, then it says what it did and where the report is', () =>
  inScratch(async place => {
    scripted(place, ['US-001'], [claims()]);
    await place.ralph([...runScript, '--verify', 'true']);
    expect(await standing(place)).toEqual([
      expect.stringMatching(/^Loop shop ended \S+ ago, after \S+ of work:$/),
      expect.stringMatching(/^ {2}Done: 1 of 1 task done, 1 iteration/),
      '  What it changed: ralph diff shop   What happened: ralph report shop',
      'All done: ralph report shop',
    ]);
  }));

it('given a question, then it is counted with the command that shows it, here and from elsewhere', () =>
  inScratch(async place => {
    scripted(place, ['US-001'], [{ steps: [asks] }]);
    await place.ralph(runScript);
    const here = await standing(place);
    expect(here[0]).toMatch(/^Loop shop has stood still for/);
    expect(here.at(-1)).toBe('1 question waits: ralph inbox');
    const elsewhere = join(place.root, 'elsewhere');
    mkdirSync(elsewhere);
    expect((await standing(place, elsewhere))[0]).toBe('1 question waits in other folders: ralph inbox');
  }));

it('given a loop that a limit stopped, then the whole line that goes on is there', () =>
  inScratch(async place => {
    scripted(place, ['US-001'], [{ steps: [{ say: 'hm' }] }]);
    await place.ralph([...runScript, '--max-iterations', '1']);
    const lines = await standing(place);
    expect(lines).toHaveLength(4);
    expect(lines.at(-1)).toBe('Next here: ralph resume shop --max-iterations 2');
  }));

it('given a loop that ended days ago, then only what to do next is said', () => {
  const ended = { reason: 'goal_achieved' as const, because: 'all done', at: 1 };
  const state = { ...initialState, control: { ...initialState.control, ended } };
  const look = { row: { name: 'shop' }, state, held: undefined } as never;
  expect(standingLines(look, [], 3 * 86_400_000)).toEqual(['All done: ralph report shop']);
});

it('given a ledger that cannot be read, then the commands are shown, and why nothing else is', () =>
  inScratch(async place => {
    mkdirSync(place.home);
    writeFileSync(join(place.home, 'ralph.db'), 'no database at all, but long enough to be taken for one'.repeat(100));
    expect((await standing(place)).join(' ')).toMatch(/^note: /);
  }));

it('fits a terminal of 80 columns without being folded', () => {
  expect(commands.split('\n').filter(line => line.length > 79)).toEqual([]);
});

it('given a brief of ralph init, then it is to be talked about next; given a broken PRD.json, then that is to be mended', () =>
  inScratch(async place => {
    await place.ralph(['init', 'shop']);
    expect(await standing(place)).toEqual([expect.stringMatching(/^Next here: ralph interview shop /)]);
    const broken = join(place.root, 'broken');
    mkdirSync(broken);
    writeFileSync(join(broken, 'PRD.json'), '{"userStories": [{');
    expect(await standing(place, broken)).toEqual([
      expect.stringMatching(/^Next here: mend PRD\.json, which is no JSON/),
    ]);
  }));
