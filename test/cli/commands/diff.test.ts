// `ralph diff` through the real binary: what a loop changed as a whole, in one iteration, and between two checkpoints.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Scratch, scratch } from '../kit.ts';
import { everything, makeRepository, ok, runWith, worker } from '../repository.ts';

let place: Scratch;

beforeAll(async () => {
  place = scratch();
  makeRepository(place, ['US-001', 'US-002']);
  await ok(place.ralph(runWith(worker)));
});

afterAll(() => place.end());

interface Diffed {
  readonly version: number;
  readonly files: readonly { readonly path: string; readonly added: number | null }[];
  readonly patch: string;
  readonly [key: string]: unknown;
}

const added = (patch: string): readonly string[] => patch.split('\n').filter(line => /^\+[^+]/.test(line));

describe('given a loop that did two tasks', () => {
  it.concurrent('then all that it changed since it began is one patch, without what was the user’s before', async () => {
    const { stdout } = await ok(place.ralph(['diff']));
    expect(added(stdout)).toEqual(expect.arrayContaining(['+US-001', '+US-002', '+red US-001', '+red US-002']));
    expect(stdout).not.toContain('mine');
    expect(stdout).not.toContain('\u001b');
  });

  it.concurrent('then one iteration shows only its own work, also for programs', async () => {
    const told = (await place.json(['diff', 'shop', '--iteration', '2', '--json'])) as Diffed;
    expect(told).toMatchObject({ version: 2, name: 'shop', cut: false });
    expect(told.files.map(one => one.path)).toEqual(['PRD.json', 'a.txt', 'made/US-002.txt']);
    expect(added(told.patch)).not.toContain('+US-001');
    expect(added(told.patch)).toContain('+US-002');
  });

  it.concurrent('then two checkpoints are compared either way round, with the loop’s name before or after', async () => {
    const [there, back] = await Promise.all([
      ok(place.ralph(['diff', '1..2', '--stat'])),
      ok(place.ralph(['diff', 'shop', '2..1', '--stat'])),
    ]);
    expect(there.stdout).toMatch(
      /^ {2}a\.txt +\+1 -0\n {2}made\/US-001\.txt +\+1 -0\n2 files changed, \+2 -0 lines\n$/,
    );
    expect(back.stdout).toContain('2 files changed, +0 -2 lines');
  });

  it.concurrent('when nothing differs, then that is a message and the output is empty', async () => {
    const told = await ok(place.ralph(['diff', '2..2']));
    expect(told.stdout).toBe('');
    expect(told.stderr).toMatch(/^Nothing changed: checkpoint 2 /);
  });

  it.concurrent.each([
    [['diff', '--iteration', '9'], /has no iteration "9"\.\n {2}Give a number from 1 to 2\./],
    [['diff', 'shop', 'one'], /"one" is no pair of checkpoints/],
    [['diff', '1..2', '--iteration', '1'], /Give one of --iteration N and A\.\.B/],
  ])('when somebody says %j, then it is refused in a sentence', async (words, wanted) => {
    const told = await place.ralph(words);
    expect(told.stderr).toMatch(wanted);
    expect(told.code).toBe(2);
  });
});

describe('given that the last iteration was undone', () => {
  it('then the whole diff ends where the files stand, and looking changes nothing', async () => {
    await ok(place.ralph(['undo', '--yes']));
    const before = await everything(place);
    const { stdout } = await ok(place.ralph(['diff']));
    expect(added(stdout)).toContain('+US-001');
    expect(added(stdout)).not.toContain('+US-002');
    expect(await everything(place)).toEqual(before);
  });
});
