// Loops with rollbacks in a few random dirty repositories; `npm run prove -- trees` does the same by the hundred.
import { expect, it } from 'vitest';
import { proveTree } from '../prove/trees.ts';

// Chosen by what they hold: agents that change the rules of what is ignored, a merge under way, odd names, commits.
it.each([7, 31])(
  "a loop changes nothing of the user's, and every checkpoint comes back: seed %i",
  async seed => {
    const { checkpoints, restores, compared } = await proveTree(seed);
    expect(checkpoints).toBeGreaterThan(3);
    expect(restores).toBeGreaterThan(3);
    expect(compared).toBeGreaterThan(100);
  },
  60_000,
);
