// A loop that goes on keeps its proof and its limits, whatever an agent left in the folder and whatever was left out.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ScriptTurn } from '../../src/agents/scripted.ts';
import { asks, claims, inScratch, runScript, scripted } from './kit.ts';

describe('a loop that goes on', () => {
  it('keeps its check and its limits although an agent wrote a ralph.config.json', () =>
    inScratch(async place => {
      scripted(place, ['US-001'], [{ steps: [asks] }]);
      expect((await place.ralph([...runScript, '--verify', 'false', '--allow-red-start', '-n', '2'])).code).toBe(5);
      place.put('ralph.config.json', JSON.stringify({ verify: ['true'], maxIterations: 1000, maxCost: '$9999' }));
      scripted(place, ['US-001'], [claims()]);
      await place.ralph(['answer', 'E1', '--retry']);
      const again = await place.ralph([...runScript]);
      expect(again.code).toBe(3);
      const { folded: state } = JSON.parse((await place.ralph(['loops', 'show', 'shop', '--json'])).stdout);
      expect(state.settings).toMatchObject({
        checks: ['false'],
        limits: { iterationsMax: 2, costUsdMicrosMax: 50_000_000 },
      });
      expect(state.tasks).toMatchObject([{ status: 'pending', claimFailed: true }]);
    }));

  it('asks for a check again that held a secret, rather than run what is left of it', () =>
    inScratch(async place => {
      scripted(place, ['US-001'], [{ steps: [asks] }]);
      const secret = `DATABASE_PASSWORD=s3cr3t-${'k9Q2'.repeat(4)} true`;
      expect((await place.ralph([...runScript, '--verify', secret])).code).toBe(5);
      const again = await place.ralph([...runScript]);
      expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('Give the checks again: --verify') });
    }));

  it('is refused limits that would leave it without any bound', () =>
    inScratch(async place => {
      scripted(place, ['US-001'], [{ steps: [asks] }]);
      expect((await place.ralph([...runScript, '--max-cost', 'unlimited', '-n', '9'])).code).toBe(5);
      const again = await place.ralph([...runScript, '-n', 'unlimited', '--max-tokens', '5', '--verify', 'false']);
      expect(again.code).not.toBe(2);
      const unbounded = await place.ralph(['resume', 'shop', '--max-tokens', 'unlimited', '-n', 'unlimited']);
      expect(unbounded.code).toBe(2);
    }));

  it('works in its own folder although a variable that looks secret names it', () =>
    inScratch(async place => {
      scripted(place, ['US-001'], [claims()]);
      const told = await place.ralph([...runScript], { env: { KEYCLOAK_HOME: place.project } });
      expect(told).toMatchObject({ code: 0, stderr: expect.not.stringContaining('no such directory') });
    }));

  it('is not started over with new counters after it ended without progress, unless that is said', () =>
    inScratch(async place => {
      scripted(place, ['US-001'], [{ steps: [{ say: 'hm' }] }]);
      expect((await place.ralph([...runScript, '--no-progress', '2'])).code).toBe(6);
      const again = await place.ralph([...runScript]);
      expect(again).toMatchObject({
        code: 6,
        stderr: expect.stringMatching(/ended with work left[\s\S]*ralph resume shop/),
      });
      const nobody = await place.ralph(['run', 'PRD.json'], { env: { PATH: place.temporary } });
      expect(nobody).toMatchObject({ code: 6, stderr: again.stderr }); // who has nothing to do needs no agent
      expect((await place.ralph([...runScript, '--no-progress', '2', '--new'])).code).toBe(6);
      expect(JSON.parse((await place.ralph(['loops', 'list', '--json'])).stdout).loops).toHaveLength(2);
    }));

  it('is refused a broken document, left as it is, and says where its last good version lies', () =>
    inScratch(async place => {
      scripted(place, ['US-001'], [{ steps: [asks] }]);
      expect((await place.ralph([...runScript])).code).toBe(5);
      const good = place.read('PRD.json');
      place.put('PRD.json', good.slice(0, -5));
      const told = await place.ralph([...runScript]);
      expect(told).toMatchObject({ code: 2, stderr: expect.stringMatching(/^ralph: PRD\.json:\d+:\d+: /) });
      const copy = /as this loop read it: (.*)$/m.exec(told.stderr)?.[1] ?? '';
      expect(readFileSync(copy, 'utf8')).toBe(good);
      expect(place.read('PRD.json')).toBe(good.slice(0, -5));
    }));

  it('asks on through five questions, and exits 5 with all of them in the inbox', () =>
    inScratch(async place => {
      const ids = ['A-1', 'A-2', 'A-3', 'A-4', 'A-5', 'A-6'];
      scripted(place, ids, [{ steps: [asks] }]);
      expect((await place.ralph([...runScript])).code).toBe(5);
      expect(JSON.parse((await place.ralph(['inbox', '--json'])).stdout).questions).toHaveLength(6);
    }));

  it('goes on to the other stories when the first one never passes its check', () =>
    inScratch(async place => {
      const works: ScriptTurn = { steps: [{ write: 'ok', text: 'yes' }, { claim: true }] };
      scripted(place, ['H-1', 'E-2'], [{ task: 'H-1', steps: [{ claim: true }] }, works]);
      const told = await place.ralph([...runScript, '--verify', 'test -f ok', '--allow-red-start']);
      expect(told.stdout).toContain('1/2 tasks done, 1 blocked');
    }));
});
