// Mode x setting: a flag that a mode does not know is refused, never taken and forgotten.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fieldOf, flagName, keys, settingFlags } from '../../src/config/fields.ts';
import { goalRules } from '../../src/modes/goal/rules.ts';
import { prdRules } from '../../src/modes/prd/rules.ts';
import { promptRules } from '../../src/modes/prompt/rules.ts';
import { prd, type Scratch, scratch } from './kit.ts';

let place: Scratch;
beforeAll(() => {
  place = scratch();
  place.put('PRD.json', prd());
  place.put('PROMPT.md', 'Do it.\n');
});
afterAll(() => place.end());

it.each([
  ['goal', 'make it work now', goalRules.flags],
  ['prompt', 'PROMPT.md', promptRules.flags],
  ['prd', 'PRD.json', prdRules.flags],
] as const)('mode %s refuses every flag that it does not know', async (_mode, what, flags) => {
  const known = settingFlags(flags ?? []).map(one => /--[a-z-]+/.exec(one.flags)?.[0]);
  const unknown = keys.filter(key => !known.includes(flagName(key)));
  expect(unknown.length).toBeGreaterThan(3);
  for (const key of unknown) {
    const value = fieldOf(key).kind === 'truth' ? [] : [fieldOf(key).example];
    const words = ['run', what, '--dry-run', '--agent-command', 'cat', flagName(key), ...value];
    const { code, stderr } = await place.ralph(words);
    expect([key, code, stderr.includes(flagName(key))]).toEqual([key, 2, true]);
  }
});
