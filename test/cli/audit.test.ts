// The audit through the real binary: anchors in git that are gone are said, not passed over.
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
});
