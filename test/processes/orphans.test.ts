// kill -9 of the real binary over every shape of process tree; `npm run prove -- orphans` does it by the hundred.
import { describe, it } from 'vitest';
import { contained } from '../../src/processes/contain.ts';
import { killAndLook, shapes } from '../prove/orphans.ts';

describe('when ralph is killed with -9 (F02), nobody survives', () => {
  it.each(shapes)('whose agent has a tree of the shape %s', async shape => {
    await killAndLook({ shape, victim: 'ralph', moment: 'up', afterMs: 0 });
  });
});

const adopts = contained('true', [], 'group').containment === 'group';

describe.runIf(adopts)('when we are killed with -9 on a host without namespaces, nobody survives', () => {
  it.each(shapes)('of a tree of the shape %s', async shape => {
    await killAndLook({ shape, victim: 'group', moment: 'up', afterMs: 0 });
  });

  it.each([6, 9])('of a tree that is only just growing, after %i ms', async afterMs => {
    await killAndLook({ shape: 'double-fork', victim: 'group', moment: 'child', afterMs });
  });
});

describe('when we are killed with -9 while the agent is only just being started, it never runs or dies', () => {
  it.each([0, 4])('after %i ms', async afterMs => {
    await killAndLook({ shape: 'plain', victim: 'confined', moment: 'child', afterMs });
  });
});
