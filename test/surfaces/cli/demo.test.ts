// `ralph demo`: the first thing a newcomer runs must work, tell the truth about itself and leave nothing behind.
import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { inScratch } from './kit.ts';

describe('ralph demo', () => {
  for (const flags of [['--fast'], []]) {
    it.concurrent(`ralph demo ${flags.join(' ')} shows the whole tour and removes it`, () =>
      inScratch(async place => {
        const told = await place.ralph(['demo', ...flags]);
        expect(told.code).toBe(0);
        expect(told.stderr).toMatch(
          /^Ralph demo\. The agent is SCRIPTED: [\s\S]*no model is called, no key is\sneeded/,
        );
        expect(told.stderr).toContain('✗ the claim was refused: the check "sh run-tests.sh" failed');
        expect(told.stderr).toContain('? E1 needs you (US-003)');
        expect(told.stderr).toContain('E1 answered by');
        expect(told.stderr).toMatch(/cost {2}█+░+ {2}\$0\.2050 of \$0\.50/);
        expect(told.stderr).toMatch(/the ledger's \d+ events verify/);
        expect(told.stderr).toContain('What next');
        expect(told.stdout).toBe('Done: 4 of 4 tasks done, 6 iterations, $0.2050.\n');
        expect(readdirSync(place.temporary)).toEqual([]);
        expect(readdirSync(place.project)).toEqual([]);
        expect(existsSync(place.home)).toBe(false);
      }));
  }

  it.concurrent('Ctrl-C in the middle of it leaves nothing behind either', () =>
    inScratch(async place => {
      const live = place.start(['demo']);
      await live.says('Iteration 2: US-002');
      live.child.kill('SIGINT');
      expect((await live.ended).code).toBe(130);
      expect(readdirSync(place.temporary)).toEqual([]);
    }));

  it.concurrent('--ascii draws it with plain characters', () =>
    inScratch(async place => {
      const told = await place.ralph(['demo', '--fast', '--ascii']);
      expect(told.stdout + told.stderr).toMatch(/^[\n -~]*$/);
    }));
});
