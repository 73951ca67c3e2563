// Checkpoints through the real binary: listed, shown, compared, made by hand, restored, healed and pruned.
import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inScratch, prd, refused, type Scratch, scratch } from './kit.ts';
import { everything, filesOf, git, loopOf, makeRepository, ok, passes, runWith, worker } from './repository.ts';

/** One finished loop of two tasks in a repository that was dirty at the start. */
let place: Scratch;

beforeAll(async () => {
  place = scratch();
  makeRepository(place, ['US-001', 'US-002']);
  await ok(place.ralph(runWith(worker)));
});

afterAll(() => place.end());

interface Listed {
  readonly number: number;
  readonly marks: readonly string[];
  readonly [key: string]: unknown;
}

const list = async (): Promise<readonly Listed[]> => {
  const { checkpoints } = (await place.json(['checkpoint', 'list', '--json'])) as { checkpoints: readonly Listed[] };
  return checkpoints;
};
const marksOf = async (): Promise<readonly string[]> => (await list()).map(one => one.marks.join(' '));

describe('given a loop that did two tasks', () => {
  it.concurrent('then an agent has one name in records, status, report and prompts, and what worked says how', async () => {
    const { record } = (await place.json(['checkpoint', 'show', '2', '--json'])) as {
      record: { metadata: { agent_id: string } };
    };
    const { agent_id } = record.metadata;
    expect(agent_id).toMatch(/^ralph-loop-[0-9a-f]{8}-iter-1$/);
    const [status, report] = ['status.json', 'report.json'].map(name =>
      JSON.parse(place.read(join('../home/loops', loopOf(place), name))),
    );
    expect(status.iterations[0]).toMatchObject({ agent_id, phase: 'complete' });
    expect(report.iterations[0]).toMatchObject({ agent_id, phase: 'complete' });
    const prompt = (await ok(place.ralph(['logs', '--prompt', '--iteration', '2']))).stdout;
    expect(prompt).toMatch(/### What worked before\n\n> US-001 .*\. How: wrote the file; keep it small/);
  });

  it.concurrent('then the list has one line per checkpoint, within 80 columns, and says which matter', async () => {
    const { stdout, stderr } = await ok(place.ralph(['checkpoint', 'list']));
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(5);
    expect(lines[4]).toMatch(/^4 .* 2 {2}US-002 +after the final checks {2}complete$/);
    expect(lines[1]).toMatch(/^1 {2}\d\d-\d\d \d\d:\d\d {5}0 .* before iteration 1 {2}first$/);
    expect(lines[3]).toMatch(/^3 .* 2 {2}US-002 +\d {2}after iteration 2 {2}newest good current$/);
    for (const line of `${stdout}${stderr}`.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(stderr).toContain('ralph undo shop');
  });

  it.concurrent('then the list is there for programs, with a version and the ids of git', async () => {
    const found = (await place.json(['checkpoint', 'list', 'shop', '--json'])) as Record<string, unknown>;
    expect(found).toMatchObject({ version: 2, name: 'shop', loop: loopOf(place) });
    const [first, second] = await list();
    expect(first).toMatchObject({ number: 1, iteration: 0, task: null, marks: ['first'], skipped: [] });
    expect(second).toMatchObject({ number: 2, iteration: 1, task: 'US-001', label: 'after iteration 1' });
    expect(git(place, 'rev-parse', `${second?.['ref']}^{tree}`).trim()).toBe(second?.['tree']);
    expect(second?.['filesChanged']).toBe(2);
  });

  it.concurrent('then a checkpoint is shown with the agent’s words as the agent’s, and its record is proven', async () => {
    const { stdout } = await ok(place.ralph(['checkpoint', 'show', '3']));
    expect(stdout).toContain('Checkpoint 3: after iteration 2');
    expect(stdout).toMatch(/done \(written by the agent\)\n {4}- wrote the file\n/);
    expect(stdout).toMatch(/decisions \(written by the agent\)\n {4}- keep it small\n/);
    expect(stdout).toMatch(/record +ok: its SHA-256/);
    expect(stdout).toContain(`refs/ralph/${loopOf(place)}/3`);
    const record = await place.json(['checkpoint', 'show', '3', 'shop', '--json']);
    expect(record).toMatchObject({
      version: 2,
      number: 3,
      record: { version: 1, metadata: { number: 3, task: 'US-002' } },
    });
  });

  it.concurrent('then two checkpoints are compared as a patch, as counts, and never as control sequences', async () => {
    const { stdout } = await ok(place.ralph(['checkpoint', 'diff', '2']));
    expect(stdout).toContain('+++ b/made/US-001.txt');
    expect(stdout).toContain('+red US-001');
    expect(stdout).not.toContain('\u001b');
    const stat = await ok(place.ralph(['checkpoint', 'diff', '1..3', 'shop', '--stat']));
    expect(stat.stdout).toMatch(/ {2}a\.txt +\+2 -0\n/);
    expect(stat.stdout).toMatch(/\d files changed, \+\d+ -\d+ lines\n$/);
  });

  it.concurrent.each([
    [['checkpoint', 'show', '9'], /has no checkpoint "9"\. There are 1 to 3\./],
    [['checkpoint', 'diff', '1..9'], /has no checkpoint "9"/],
    [['checkpoint', 'restore', '1'], /there is no terminal to ask at\.\n {2}Say --yes/],
    [['checkpoint', 'restore', '1', '--iteration', '1', '--yes'], /not both/],
    [['checkpoint', 'restore', '--iteration', '7', '--yes'], /no checkpoint of iteration "7"/],
    [['checkpoint', 'prune', '--keep', '0', '--confirm', 'shop'], /--keep "0" is not possible/],
  ])('when somebody says %j, then it is refused in a sentence with exit code 2', async (words, wanted) => {
    const told = await place.ralph(words);
    expect(told.stderr).toMatch(wanted);
    expect(told.stdout).toBe('');
    expect(told.code).toBe(2);
  });
});

/** As if somebody had removed the ref and tidied up. */
function lose(number: number): void {
  const ref = `refs/ralph/${loopOf(place)}/${number}`;
  const commit = git(place, 'rev-parse', ref).trim();
  git(place, 'update-ref', '-d', ref);
  rmSync(join(place.project, '.git/objects', commit.slice(0, 2), commit.slice(2)));
}

describe('given the same loop, one act after the other', () => {
  it('when a restore is only tried (--dry-run), then it counts files and tasks and changes nothing at all', async () => {
    const before = await everything(place);
    const told = await ok(place.ralph(['checkpoint', 'restore', '1', '--dry-run']));
    expect(told.stderr).toContain('1 file to write, 2 to delete');
    expect(told.stderr).toContain('open again: US-001, US-002');
    expect(told.stderr).toContain('Dry run: nothing was changed.');
    const found = await place.json(['checkpoint', 'restore', '1', '--dry-run', '--json']);
    expect(found).toMatchObject({
      version: 2,
      to: 1,
      restored: false,
      written: ['a.txt'],
      deleted: ['made/US-001.txt', 'made/US-002.txt'],
      tasks: [
        { id: 'US-001', status: 'pending' },
        { id: 'US-002', status: 'pending' },
      ],
    });
    expect(await everything(place)).toEqual(before);
  });

  it('when one is made by hand, then it holds what is there and is listed with its label', async () => {
    place.put('notes.txt', 'mine\n');
    const told = await ok(place.ralph(['checkpoint', 'create', '--label', 'before I edit']));
    expect(told.stderr).toContain('Checkpoint 4 of shop was made.');
    const made = (await list()).at(-1);
    expect(made).toMatchObject({
      number: 4,
      label: 'by hand: before I edit',
      marks: ['newest', 'last good', 'current'],
    });
    expect(git(place, 'show', `${made?.['ref']}:notes.txt`)).toBe('mine\n');
  });

  it('when only the code is restored, then files go back, the user’s dirty ones too, and tasks stay done', async () => {
    await ok(place.ralph(['checkpoint', 'restore', '1', '--code-only', '--yes']));
    const files = filesOf(place);
    expect(files).toMatchObject({ 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'b\nmine\n', 'u.txt': 'untracked\n' });
    expect(Object.keys(files)).not.toContain('notes.txt');
    expect(passes(place)).toEqual([true, true]);
    expect(await marksOf()).toEqual(['first last good current', '', '', '', 'newest']);
  });

  it('when an iteration is named, then the files and tasks are as after that iteration', async () => {
    await ok(place.ralph(['checkpoint', 'restore', '--iteration', '1', '--yes']));
    expect(filesOf(place)['a.txt']).toBe('one\ntwo\nthree\nUS-001\n');
    expect(passes(place)).toEqual([true, false]);
  });

  it('when a ref was lost but its commit is there, then the list brings it back; without its commit it is missing', async () => {
    const ref = `refs/ralph/${loopOf(place)}/3`;
    git(place, 'update-ref', '-d', ref);
    const told = await ok(place.ralph(['checkpoint', 'list']));
    expect(told.stderr).toContain('note: made the refs of 1 checkpoints anew');
    lose(3);
    expect((await list())[2]?.marks).toEqual(['missing']);
    const refusal = await place.ralph(['checkpoint', 'restore', '3', '--yes']);
    expect(refusal.stderr).toMatch(/Checkpoint 3 is missing: git no longer holds its commit/);
    expect(refusal.code).toBe(2);
  });

  it('when a record was changed, then it is called damaged, not restored, and the newest whole one is named', async () => {
    const before = filesOf(place);
    appendFileSync(join(place.home, 'loops', loopOf(place), 'checkpoints', '6.json'), ' ');
    const shown = await place.ralph(['checkpoint', 'show', '6']);
    expect(shown.stdout).toMatch(/record +DAMAGED: its SHA-256 is not the one in the ledger/);
    expect(shown.code).toBe(1);
    const told = await place.ralph(['checkpoint', 'restore', '6', '--yes']);
    expect(told.stderr).toMatch(/Checkpoint 6 is damaged.*The newest that verifies is 5\./);
    expect(told.stderr).toContain('--code-only');
    expect(told.code).toBe(2);
    expect(filesOf(place)).toEqual(before);
    const latest = (await place.json(['checkpoint', 'restore', '--dry-run', '--json'])) as { to: number };
    expect(latest.to).toBe(5);
  });

  it('when old ones are pruned, then the first, the current and what undo needs stay, and nothing brings them back', async () => {
    const before = await everything(place);
    const dry = await ok(place.ralph(['checkpoint', 'prune', '--keep', '1', '--dry-run']));
    expect(dry.stderr).toContain('checkpoints 4-5 (2)');
    expect(await everything(place)).toEqual(before);
    const told = await ok(place.ralph(['checkpoint', 'prune', '--keep', '1', '--confirm', 'shop']));
    expect(told.stderr).toContain('2 checkpoints pruned.');
    const listed = await ok(place.ralph(['checkpoint', 'list']));
    expect(listed.stdout.split('\n').map(line => line.trim().split(' ')[0])).toEqual([
      '#',
      '1',
      '2',
      '3',
      '6',
      '7',
      '',
    ]);
    expect(git(place, 'for-each-ref', '--format=%(refname)', 'refs/ralph').split('\n')).toHaveLength(4);
    const gone = await place.ralph(['checkpoint', 'restore', '4', '--yes']);
    expect(gone.stderr).toContain('Checkpoint 4 was pruned. There are 1 to 6, but for 3, 4, 5.');
  });
});

describe('given that the checkpoint which the files were last known by is lost', () => {
  it('then a restore asks for a new one first, and works after it', async () => {
    lose(2);
    const told = await place.ralph(['checkpoint', 'restore', '1', '--yes']);
    expect(told.stderr).toMatch(/Checkpoint 2 is missing, by which your own edits.*\n.*ralph checkpoint create shop/);
    expect(told.code).toBe(2);
    await ok(place.ralph(['checkpoint', 'create']));
    await ok(place.ralph(['checkpoint', 'restore', '1', '--yes']));
    expect(passes(place)).toEqual([false, false]);
  });
});

describe('where there are no checkpoints', () => {
  it('given no loop at all, then that is said and nothing is written', () =>
    inScratch(async empty => {
      await refused(empty, ['checkpoint', 'list'], /There is no loop yet/);
    }));

  it('given a folder without git, then there is no undo, and it says why', () =>
    inScratch(async bare => {
      bare.put('PRD.json', prd());
      bare.put('a.txt', '');
      await ok(bare.ralph(runWith(worker)));
      for (const words of [
        ['undo', '--yes'],
        ['checkpoint', 'restore', '1', '--yes'],
      ]) {
        const told = await bare.ralph(words);
        expect(told.stderr).toMatch(
          /is not in a git repository, so its checkpoints are records without files: no diff, no undo, no restore\./,
        );
        expect(told.code).toBe(2);
      }
      const listed = await ok(bare.ralph(['checkpoint', 'list']));
      expect(listed.stdout).toMatch(
        /\n1 .* 1 {2}US-001 +after iteration 1 {2}complete\n2 .* 1 {2}US-001 +after the final checks {2}complete\n$/,
      );
      const shown = await ok(bare.ralph(['checkpoint', 'show', '2']));
      expect(shown.stdout).toMatch(/phase +complete/);
      expect(shown.stdout).toContain('in git       no: a record without files');
      const { record } = (await bare.json(['checkpoint', 'show', '1', '--json'])) as { record: { git: unknown } };
      expect(record.git).toBeNull();
    }));

  it('given a good end, then the last record is of phase complete, and holds no files of its own', () =>
    inScratch(async done => {
      makeRepository(done, ['US-001']);
      await ok(done.ralph(runWith(worker)));
      const { checkpoints, records } = (await done.json(['checkpoint', 'list', '--json'])) as never as {
        checkpoints: readonly { number: number }[];
        records: readonly { number: number; phase: string }[];
      };
      const last = (checkpoints.at(-1)?.number ?? 0) + 1;
      expect(records).toMatchObject([{ number: last, phase: 'complete', label: 'after the final checks' }]);
      const refused = await done.ralph(['checkpoint', 'restore', String(last), '--yes']);
      expect([refused.code, refused.stderr]).toEqual([
        2,
        expect.stringContaining('is the record of the end, without files'),
      ]);
    }));

  it('given --no-checkpoints, then the loop keeps none and undo says so', () =>
    inScratch(async off => {
      makeRepository(off, ['US-001']);
      await ok(off.ralph([...runWith(worker), '--no-checkpoints']));
      const told = await off.ralph(['undo', '--yes']);
      expect(told.stderr).toMatch(/Loop shop keeps no checkpoints, so there is no undo\./);
      expect(told.code).toBe(2);
    }));
});
