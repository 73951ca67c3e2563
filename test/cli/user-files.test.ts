// What a loop leaves in the user's folder, and that it is said: PROMPT.md, an uncommitted document, a branch to merge.
import { expect, it } from 'vitest';
import { inScratch } from './kit.ts';
import { git, makeRepository, ok, runWith, worker } from './repository.ts';

const run = runWith(worker).filter(word => word !== '--quiet');

it('given no PROMPT.md, then it is said that one is made; given one, then nothing', () =>
  inScratch(async place => {
    makeRepository(place, ['US-1']);
    expect((await ok(place.ralph(run))).stderr).toContain(
      'note: PROMPT.md is made beside PRD.json: every agent gets it',
    );
    expect(place.read('PROMPT.md')).not.toBe('');
    git(place, 'checkout', '-q', 'HEAD~', 'PRD.json');
    expect((await ok(place.ralph(run))).stderr).not.toContain('PROMPT.md is made');
  }));

it('given a PRD.json that was never committed, then it is said once that no commit holds it', () =>
  inScratch(async place => {
    makeRepository(place, ['US-1', 'US-2', 'US-3']);
    git(place, 'rm', '-q', '--cached', 'PRD.json');
    git(place, 'commit', '-qm', 'without it');
    const { stderr } = await ok(place.ralph(run));
    expect(stderr.match(/US-\d: 2 files committed/g)).toHaveLength(3);
    expect(stderr.match(/PRD\.json is in no commit of this loop: it was not committed when that began/g)).toHaveLength(
      1,
    );
    expect(git(place, 'log', '--format=', '--name-only', '-3')).not.toContain('PRD.json');
  }));
