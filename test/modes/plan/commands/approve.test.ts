// A yes at the terminal counts for exactly the text that was shown.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Context, Flags } from '../../../../src/cli/context.ts';
import { askAndApprove } from '../../../../src/modes/plan/commands/approve.ts';
import { makeVault, planAt } from '../../../../src/modes/plan/session/vault.ts';
import { planText, type VaultPlace, vaultPlace } from '../session/vault-kit.ts';

let place: VaultPlace;
const printed: string[] = [];
const said: string[] = [];
beforeEach(async () => {
  place = vaultPlace();
  await makeVault(place.root);
});
afterEach(() => place.end());

const context = (): Context =>
  ({
    env: {},
    by: 'ada',
    directory: dirname(place.root),
    home: () => dirname(place.root),
    ledger: async () => place.ledger,
    out: (text: string) => void printed.push(text),
    say: (text: string) => void said.push(text),
  }) as unknown as Context;

async function approved(flags: Flags, editAfterwards?: (text: string) => string) {
  const path = place.put('Plans/a.md', planText('plan_a'));
  const plan = await planAt(path);
  if (editAfterwards !== undefined) writeFileSync(path, editAfterwards(readFileSync(path, 'utf8')));
  const { root, record } = place;
  return askAndApprove(context(), { root, path, plan, loop: undefined }, { record, isAgreed: true, flags });
}

it('given a plan that is edited after it was read, then nothing is approved', async () => {
  const edited = approved({}, text => text.replace('Monday', 'Sunday'));
  await expect(edited).rejects.toThrow('Plan plan_a was edited meanwhile.');
  expect(await place.ledger.store.loops()).toEqual([]);
});

it('given --json, then the plan is told where people read, not where programs do', async () => {
  printed.length = 0;
  expect(await approved({ json: true })).toHaveProperty('path');
  expect([printed, said.join()]).toEqual([[], expect.stringContaining('Send the email')]);
});
