// The small form of `npm run prove -- plan-kills`: ralph is killed while a real MCP server over stdio counts the calls.
import { expect, it } from 'vitest';
import { killPlan } from './plans-killed.ts';

it.concurrent('given kill -9 of ralph between an effect and its reply, then a person is asked, and it happens once', async () => {
  const at = { what: 'effect', times: 1 } as const;
  const killed = await killPlan(1, { kills: 1, steps: ['slow', 'with_key'], at });
  expect(killed).toEqual({ kills: 1, questions: 1, effects: 2, moments: ['effect'] });
});

it.concurrent('given kill -9 of ralph somewhere in a step, then its effect happens once', async () => {
  const at = { what: 'changes', times: 8 } as const;
  expect(await killPlan(1, { kills: 1, steps: ['append_line'], at })).toMatchObject({ kills: 1, effects: 1 });
});
