// The audit through the real binary: anchors in git that are gone are said, not passed over.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { inScratch } from './kit.ts';
import { git, loopOf, makeRepository, ok, runWith, worker } from './repository.ts';

interface Verified {
  readonly loops: readonly [{ readonly anchors: number; readonly anchorsExpected: number }];
}

describe('given a loop whose checkpoints anchored its ledger in git', () => {
  it('when the anchors were deleted, then the audit says how many are left; pruned ones are not missed', () =>
    inScratch(async place => {
      makeRepository(place, ['US-001', 'US-002', 'US-003']);
      await ok(place.ralph(runWith(worker)));
      const whole = await ok(place.ralph(['audit', 'verify', 'shop']));
      expect(whole.stdout).toContain('4 anchors in git agree');
      expect(whole.stdout).not.toContain('left in git');
      await ok(place.ralph(['checkpoint', 'prune', '--keep', '1', '--confirm', 'shop']));
      const { loops } = (await place.json(['audit', 'verify', '--json'])) as Verified;
      const [{ anchors, anchorsExpected: expected }] = loops;
      expect([anchors, expected]).toEqual([anchors, anchors]);
      expect(anchors).toBeLessThan(4);

      const refs = git(place, 'for-each-ref', '--format=%(refname)', `refs/ralph/${loopOf(place)}`)
        .trim()
        .split('\n');
      for (const ref of refs) git(place, 'update-ref', '-d', ref);
      const told = await place.ralph(['audit', 'verify', 'shop']);
      expect(told.stdout).toContain(`shop: ${expected} checkpoints were anchored, 0 anchors are left in git`);
      expect(told.code).toBe(0);
    }));

  it('when the ledger is cut at any event, then the audit names the first anchor beyond it (F90)', () =>
    inScratch(async place => {
      makeRepository(place, ['US-001', 'US-002']);
      await ok(place.ralph(runWith(worker)));
      const cutTo = (last: number): void => {
        const database = new DatabaseSync(join(place.home, 'ralph.db'));
        const triggers = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all();
        for (const { name } of triggers) database.exec(`DROP TRIGGER "${String(name)}"`);
        database.prepare('DELETE FROM events WHERE seq > ?').run(last);
        database.close();
      };
      const anchored = (await place.json(['audit', 'verify', '--json'])) as Verified;
      expect(anchored.loops[0].anchors).toBe(3);
      for (const last of [12, 3, 1, 0]) {
        cutTo(last);
        const told = await place.ralph(['audit', 'verify']);
        expect([told.code, told.stdout]).toEqual([
          1,
          expect.stringMatching(
            new RegExp(`BROKEN: event \\d+ was anchored in git, and the ledger ends with event ${last}`),
          ),
        ]);
      }
    }));
});
