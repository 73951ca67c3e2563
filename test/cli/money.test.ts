// Money through the real binary: who pays, by which model, and what a preset, a typed limit and an upper bound do (F84, F85).
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pinnedNode, prd } from './kit.ts';
import { fakeClaude, flat, inWorkshop as inShop, type Workshop } from './workshop.ts';

/** Sixty dollars by its own word, with the limits that are told to a subscription alone; or with a key. */
const dear = (isSubscription: boolean): string =>
  fakeClaude(
    `${isSubscription ? `print({ type: 'rate_limit_event', rate_limit_info: { status: 'allowed', isUsingOverage: false, unifiedWindows: { five_hour: { utilization: 0.2, resetsAt: 4e9, status: 'allowed' }, seven_day: { utilization: 0.5, resetsAt: 4e9, status: 'allowed' } } } });` : ''} usage.costUSD = 60; say('Task ' + process.env.RALPH_TASK + ' complete')`,
  );

/** As `codex exec --json`: tokens, and neither a model nor a cost. */
const fakeCodex = `#!${pinnedNode}
const print = event => process.stdout.write(JSON.stringify(event) + '\\n');
print({ type: 'thread.started', thread_id: 't' });
print({ type: 'item.completed', item: { id: 'i', type: 'agent_message', text: 'Task ' + process.env.RALPH_TASK + ' complete' } });
print({ type: 'turn.completed', usage: { input_tokens: 1904000, cached_input_tokens: 0, output_tokens: 0 } });
`;

function putAtHome({ env }: Workshop, path: string, text: string): void {
  const whole = join(env['HOME'] ?? '', path);
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, text);
}

/** With three stories, so that the first does not end the loop. */
const inWorkshop = (work: (place: Workshop) => Promise<void>) =>
  inShop(place => {
    putStories(place);
    return work(place);
  });

const putStories = (place: Workshop): string => place.put('PRD.json', prd(['US-001', 'US-002', 'US-003']));

const login = JSON.stringify({ claudeAiOauth: { accessToken: 'sk-ant-oat01-dummy-token', subscriptionType: 'max' } });
const run = ['run', '--verify', 'file:PRD.json', '--allow-red-start'];

describe('F84: a subscription login', () => {
  it.concurrent(
    'passes the preset of $50; the card and the end say API-equivalent, and its windows are in the log',
    inWorkshop(async place => {
      putAtHome(place, '.claude/.credentials.json', login);
      place.install('claude', dear(true));
      const told = await place.ralph(run, { env: place.path });
      const said = flat(told.stderr);
      expect([told.code, said]).toEqual([0, expect.stringContaining('login: its own files (subscription)')]);
      expect(said).toContain('$50.00 API-equivalent, which only alerts (--max-cost sets one that binds)');
      expect(said).toContain('cost reported by the agent; API-equivalent');
      expect(flat(told.stdout)).toContain('$180.00 API-equivalent');
      const log = (await place.ralph(['events'])).stdout;
      expect(log).toContain('claude: limits of its provider: five hour 20 % used');
      expect(log).toContain('seven day 50 % used');
      expect(log).toContain('API-equivalent, which ends nothing');
    }),
  );

  it.concurrent(
    'is learned from the stream where no file tells of it, and bound by a limit that was typed',
    inWorkshop(async place => {
      place.install('claude', dear(true));
      expect((await place.ralph(run, { env: place.path })).code).toBe(0);
      putStories(place);
      const typed = await place.ralph([...run, '--new', '--max-cost', '50'], { env: place.path });
      expect([typed.code, flat(typed.stdout)]).toEqual([4, expect.stringContaining('$60.00 API-equivalent')]);
    }),
  );

  it.concurrent(
    'is not assumed: whoever is not known to have one is bound by the preset',
    inWorkshop(async place => {
      place.install('claude', dear(false));
      expect((await place.ralph(run, { env: place.path })).code).toBe(4);
    }),
  );

  it.concurrent(
    'beside a key that would be billed: said loudly before the start, and the preset binds',
    inWorkshop(async place => {
      putAtHome(place, '.claude/.credentials.json', login);
      place.install('claude', dear(false));
      const told = await place.ralph(run, { env: { ...place.path, ANTHROPIC_API_KEY: 'sk-ant-dummy' } });
      expect(told.code).toBe(4);
      expect(flat(told.stderr)).toContain('BILLED ANTHROPIC_API_KEY is set: it is billed, NOT your subscription.');
    }),
  );
});

describe('F85: codex without --model', () => {
  it.concurrent(
    'costs the list price of the model in its config.toml, and the card says which',
    inWorkshop(async place => {
      putAtHome(place, '.codex/config.toml', 'model = "gpt-5"\n');
      place.install('codex', fakeCodex);
      const told = await place.ralph(run, { env: place.path });
      expect([told.code, flat(told.stderr)]).toEqual([
        0,
        expect.stringContaining('codex (found on PATH; --agent chooses another), model gpt-5 (its config.toml)'),
      ]);
      expect(flat(told.stderr)).toContain('cost estimated from tokens by the price list');
      expect(flat(told.stdout)).toMatch(/3 iterations, \$\d\.\d\d est\./);
    }),
  );

  it.concurrent(
    'at an upper bound asks when that meets the limit; unanswered it is exit 4, and an answer lets it go on',
    inWorkshop(async place => {
      place.install('codex', fakeCodex);
      const words = [...run, '--agent', 'codex'];
      const told = await place.ralph(words, { env: place.path });
      expect(flat(told.stderr)).toContain('model gpt-6.1-sol (its default)');
      const said = flat(`${told.stdout}${told.stderr}`);
      expect([told.code, said]).toEqual([4, expect.stringContaining('at most $57.12, an upper bound')]);
      expect((await place.ralph(words, { env: place.path })).code).toBe(4);
      expect((await place.ralph(['answer', 'E1', '--option', '1'], { env: place.path })).code).toBe(0);
      const again = await place.ralph(words, { env: place.path });
      expect(again.code).toBe(4);
      expect(flat(`${again.stdout}${again.stderr}`)).toContain('at most $114.24, an upper bound');
      expect((await place.ralph([...words, '--max-cost', '500'], { env: place.path })).code).toBe(0);
    }),
  );
});
