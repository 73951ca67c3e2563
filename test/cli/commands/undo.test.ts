// Undo through the real binary: the last act is taken back, a person's edits are not, and the loop can do it again.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openLedger } from '../../../src/app/app.ts';
import { openLoops } from '../../../src/app/library/library.ts';
import { command } from '../../../src/app/loops/commands.ts';
import { eventually, inScratch, type Scratch } from '../kit.ts';
import { everything, filesOf, git, loopOf, makeRepository, ok, passes, runWith, worker } from '../repository.ts';

interface Listed {
  readonly checkpoints: readonly [{ checkpoint: string; number: number; commit: string; tree: string }];
}

const undo = (place: Scratch, ...words: readonly string[]) => ok(place.ralph(['undo', ...words, '--yes']));
const work = (place: Scratch): string => place.read('a.txt').split('\n').slice(3, -1).join(' ');

describe('given a loop that has ended with two tasks done', () => {
  it('when it is undone, then files and tasks go back, undo takes that back too, and steps lead further', () =>
    inScratch(async place => {
      makeRepository(place, ['US-001', 'US-002']);
      const ended = await ok(place.ralph(runWith(worker)));
      expect(ended.stderr).toContain('ralph diff shop');
      expect(ended.stderr).toContain('ralph undo shop');
      const head = git(place, 'rev-parse', 'HEAD');
      const done = filesOf(place);

      const before = await everything(place);
      const dry = await ok(place.ralph(['undo', '--dry-run']));
      expect(dry.stderr).toContain('takes back iteration 2, to checkpoint 2');
      expect(dry.stderr).toContain('1 file to write, 1 to delete');
      expect(dry.stderr).toContain('open again: US-002');
      expect(await everything(place)).toEqual(before);

      const told = await undo(place);
      expect(told.stderr).toContain('Restored checkpoint 2: 1 file written, 1 deleted.');
      expect(told.stderr).toContain('Take it back: ralph undo shop   # checkpoint 4 holds what was there');
      expect([work(place), passes(place)]).toEqual(['US-001', [true, false]]);
      expect(Object.keys(filesOf(place))).not.toContain('made/US-002.txt');

      const back = await undo(place);
      expect(back.stderr).toContain('takes back the restore of checkpoint 2');
      expect(back.stderr).toContain('done again: US-002');
      expect(filesOf(place)).toEqual(done);

      await undo(place, '--steps', '2');
      expect([work(place), passes(place)]).toEqual(['', [false, false]]);
      expect(filesOf(place)).toMatchObject({ 'b.txt': 'b\nmine\n', 'u.txt': 'untracked\n' });
      const none = await place.ralph(['undo', '--steps', '1', '--yes']);
      expect(none.stderr).toContain('No iteration stands in these files.');
      expect(none.code).toBe(2);
      expect(git(place, 'rev-parse', 'HEAD')).toBe(head);

      await ok(place.ralph(runWith(worker)));
      expect([work(place), passes(place)]).toEqual(['US-001 US-002', [true, true]]);
      expect((await ok(place.ralph(['audit', 'verify', 'shop']))).code).toBe(0);
    }));
});

describe('given a loop whose last iterations left nothing in the files', () => {
  it('when it is undone, then the last real work goes, and steps count the iterations that stand in the files', () =>
    inScratch(async place => {
      makeRepository(place, ['US-001', 'US-002', 'US-003', 'US-004']);
      const refused = `if [ "$RALPH_TASK" = US-003 ]; then echo half > half.txt; echo "Task US-003 complete"; exit; fi; `;
      const asking = `if [ "$RALPH_TASK" = US-004 ]; then echo thinking; exit; fi; `;
      const agent = `${worker.replace('; ', `; ${refused}${asking}`)}`;
      const check = '! test -e half.txt';
      const words = runWith(agent).map(word => (word === 'file:a.txt' ? check : word));
      expect((await place.ralph([...words, '--max-attempts', '1', '--no-input'])).code).toBe(5);
      expect([place.read('a.txt').includes('US-002'), filesOf(place)['half.txt']]).toEqual([true, undefined]);

      const told = await undo(place);
      expect(told.stderr).toContain('takes back iteration 2, the last that stands in the files, to checkpoint 2');
      expect([work(place), passes(place).slice(0, 2)]).toEqual(['US-001', [true, false]]);
      await undo(place);
      expect([work(place), passes(place).slice(0, 2)]).toEqual(['US-001 US-002', [true, true]]);

      const far = await place.ralph(['undo', '--steps', '3', '--yes']);
      expect([far.code, far.stderr]).toEqual([2, expect.stringContaining('Give a number from 1 to 2.')]);
      await undo(place, '--steps', '2');
      expect([work(place), passes(place).slice(0, 2)]).toEqual(['', [false, false]]);
    }));
});

describe('given a checkpoint whose ref was lost', () => {
  it('when undo, a restore or a prune is only tried with --dry-run, then nothing is mended either', () =>
    inScratch(async place => {
      makeRepository(place, ['US-001', 'US-002']);
      await ok(place.ralph(runWith(worker)));
      git(place, 'update-ref', '-d', `refs/ralph/${loopOf(place)}/2`);
      const before = await everything(place);
      for (const words of ['undo', 'checkpoint restore 1', 'checkpoint prune --keep 1']) {
        await ok(place.ralph([...words.split(' '), '--dry-run']));
        expect(await everything(place), words).toEqual(before);
      }
    }));
});

describe('given edits of a person since the last checkpoint', () => {
  it('when it is undone, then what can be merged is, what cannot is listed and refused, and --overwrite keeps it apart', () =>
    inScratch(async place => {
      makeRepository(place, ['US-001']);
      await ok(place.ralph(runWith(worker)));
      place.put('new.txt', 'mine\n');
      place.put('a.txt', place.read('a.txt').replace('one', 'ONE'));
      await undo(place);
      expect(place.read('a.txt')).toBe('ONE\ntwo\nthree\n');
      expect(place.read('new.txt')).toBe('mine\n');

      await undo(place);
      place.put('a.txt', 'quite different\n');
      const before = await everything(place);
      const told = await place.ralph(['undo', '--steps', '1', '--yes']);
      expect(told.stderr).toMatch(/1 file changed by you since the last checkpoint cannot be merged\. Nothing was/);
      expect(told.stderr).toContain('\n  a.txt\n  --overwrite takes');
      expect(told.code).toBe(2);
      expect(await everything(place)).toEqual(before);

      await undo(place, '--steps', '1', '--overwrite');
      expect(place.read('a.txt')).toBe('one\ntwo\nthree\n');
      await undo(place);
      expect(place.read('a.txt')).toBe('quite different\n');
    }));
});

/** Without the workspace a restore is recorded and not done: as if the process had died then. */
async function cutRestore(place: Scratch): Promise<string> {
  makeRepository(place, ['US-001']);
  await ok(place.ralph(runWith(worker)));
  const { env, home } = place;
  const ledger = await openLedger({ home, env, warn: () => {} });
  const [row] = await ledger.store.loops();
  if (row === undefined) throw new Error('there is no loop');
  const { checkpoints } = (await place.json(['checkpoint', 'list', '--json'])) as Listed;
  const [{ checkpoint, number, commit, tree }] = checkpoints;
  const tasks = [{ id: 'US-001', status: 'pending' as const }];
  const restore = { type: 'restore' as const, to: { checkpoint, number, commit, tree }, because: 'a test', tasks };
  await command({ home, env, ledger, loop: row.loop, row, warn: () => {}, by: 'ada' }, [restore]);
  await ledger.store.close();
  expect(work(place)).toBe('US-001');
  return row.loop;
}

describe('given an undo that was cut after it was asked for', () => {
  it('when it is said again, then that one is finished, and only that', () =>
    inScratch(async place => {
      await cutRestore(place);

      const dry = await ok(place.ralph(['undo', '--dry-run']));
      expect(dry.stderr).toContain('The restore of checkpoint 1 that ada asked for was cut, and is finished first.');
      expect(work(place)).toBe('US-001');
      const pruned = await ok(place.ralph(['checkpoint', 'prune', '--dry-run']));
      expect(pruned.stderr).toContain('note: The restore of checkpoint 1 was cut');
      const told = await undo(place);
      expect(told.stderr).toContain('Restored checkpoint 1');
      expect([work(place), passes(place)]).toEqual(['', [false]]);
    }));

  it('when a program previews another one and sends it, then that one is finished, and only that', () =>
    inScratch(async place => {
      const loop = await cutRestore(place);
      const loops = await openLoops({ home: place.home, environment: place.env });
      const { to, commands } = await loops.preview(loop);
      expect([to, commands, work(place)]).toEqual([1, [], 'US-001']);
      expect(await loops.send(loop, commands, 'ada')).toEqual({ became: 'decided' });
      await loops.close();
      expect([work(place), passes(place)]).toEqual(['', [false]]);
    }));
});

describe('given an iteration that was cut', () => {
  it('when it had changed nothing, then Ctrl-C promises no undo', () =>
    inScratch(async place => {
      makeRepository(place, ['US-001', 'US-002']);
      const idle = `if [ "$RALPH_ITERATION" = 2 ]; then echo "idle $((3 * 4))"; sleep 3600; fi; ${worker}`;
      const live = place.start(runWith(idle).filter(word => word !== '--quiet'));
      await live.says('Iteration 2');
      live.child.kill('SIGINT');
      const { stderr } = await live.ended;
      expect(stderr).toContain('Interrupted and recorded.');
      expect(stderr).not.toContain('ralph undo shop');
    }));

  it.each(['SIGINT', 'SIGKILL'] as const)('by %s, when it is undone, then its half work goes, and comes back', signal =>
    inScratch(async place => {
      makeRepository(place, ['US-001', 'US-002']);
      const hangs = `${worker}; if [ "$RALPH_ITERATION" = 2 ]; then echo up > up; sleep 3600; fi`;
      const live = place.start(runWith(hangs));
      await eventually('the second iteration is at work', () => existsSync(join(place.project, 'up')));
      live.child.kill(signal);
      await live.ended;
      expect(work(place)).toBe('US-001 US-002');

      const before = await everything(place);
      const dry = await ok(place.ralph(['undo', '--dry-run']));
      expect(dry.stderr).toContain('1 file to write, 2 to delete');
      expect(await everything(place)).toEqual(before);
      await undo(place);
      expect([work(place), passes(place)]).toEqual(['US-001', [true, false]]);
      await undo(place);
      expect(work(place)).toBe('US-001 US-002');
    }),
  );
});

describe('given a loop that a process holds', () => {
  /** Waits in its second iteration for the file `go`. */
  const waits = `${worker}; if [ "$RALPH_ITERATION" = 2 ]; then echo at work > up; until [ -f go ]; do sleep 0.05; done; fi`;

  it('when it is at work, then undo is refused with 9; when it rests, then it does the undo itself', () =>
    inScratch(async place => {
      makeRepository(place, ['US-001', 'US-002', 'US-003']);
      git(place, 'config', 'core.excludesFile', join(place.root, 'ignored'));
      writeFileSync(join(place.root, 'ignored'), 'up\ngo\n');
      const live = place.start(runWith(waits));
      await eventually('the second iteration is at work', () => existsSync(join(place.project, 'up')));
      for (const words of [
        ['undo', '--dry-run'],
        ['checkpoint', 'restore', '1', '--yes'],
      ]) {
        const told = await place.ralph(words);
        expect(told.stderr).toMatch(
          /Loop shop is at work in these files\.\n {2}Let it rest first: ralph pause shop --now/,
        );
        expect(told.code).toBe(9);
      }
      const made = await ok(place.ralph(['checkpoint', 'create', '--label', 'half way']));
      expect(made.stderr).toContain('Checkpoint 3 of shop was made.');

      await ok(place.ralph(['pause']));
      place.put('go', '');
      await eventually('the second task is done', () => passes(place)[1]);
      await eventually('its work is committed', async () =>
        /committed +US-002/.test((await place.ralph(['events'])).stdout),
      );
      const told = await undo(place);
      expect(told.stderr).toContain('Restored checkpoint 2');
      await eventually('the loop has marked its tasks', () => passes(place)[1] === false); // after it has answered
      expect([work(place), passes(place)]).toEqual(['US-001', [true, false, false]]);
      expect(live.child.exitCode).toBeNull();
      expect(told.stderr).toContain('Go on: ralph resume shop');

      await ok(place.ralph(['resume']));
      expect((await live.ended).code).toBe(0);
      expect([work(place), passes(place)]).toEqual(['US-001 US-002 US-003', [true, true, true]]);
    }));
});
