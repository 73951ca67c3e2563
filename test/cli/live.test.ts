// A run that is alive, seen from other processes: who holds it, how it is interrupted, steered, answered and resumed.
import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import {
  asks,
  claims,
  eventually,
  hangingAgent,
  inScratch,
  type Live,
  prd,
  runScript,
  type Scratch,
  scripted,
} from './kit.ts';

interface LedgerEvent {
  readonly type: string;
  readonly outcome?: string;
  readonly because?: string;
  readonly [key: string]: unknown;
}

const events = async (place: Scratch): Promise<readonly LedgerEvent[]> =>
  (await place.ralph(['events', '--json'])).stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as LedgerEvent);

interface Hanging {
  readonly live: Live;
  readonly words: readonly string[];
  readonly gone: () => Promise<void>;
}

/** A run whose agent hangs: it has started and said its first word. */
async function hanging(place: Scratch, ...flags: readonly string[]): Promise<Hanging> {
  place.put('PRD.json', prd());
  const agent = hangingAgent(place);
  const words = ['run', 'PRD.json', '--agent-command', agent.command, ...flags];
  const live = place.start(words);
  await live.says('Iteration 1: US-001');
  await eventually('the agent works', async () => (await place.ralph(['logs'])).stdout.includes('agent at work'));
  return { live, words, gone: agent.gone };
}

describe('interrupting', () => {
  for (const [signal, code, why] of [
    ['SIGINT', 130, /Stopping the agent; Ctrl-C again ends at once\.\n {2}Go on later: ralph resume shop/],
    ['SIGTERM', 143, /Stopping the agent and recording it\.\n {2}Go on later: ralph resume shop/],
    ['SIGHUP', 143, /The terminal was closed: stopping the agent and recording it\./],
  ] as const) {
    it.concurrent(`F09 F10 F11: ${signal} ends the agent, records it and exits ${code}; the same command resumes`, () =>
      inScratch(async place => {
        const { live, words, gone } = await hanging(place);
        live.child.kill(signal);
        await live.says(why);
        const told = await live.ended;
        expect(told.code).toBe(code);
        expect(told.stderr).toContain('Interrupted and recorded. Go on: ralph resume shop');
        await gone();
        const ended = (await events(place)).filter(event => event.type === 'iteration.ended');
        expect(ended.map(event => event.outcome)).toEqual(['interrupted']);
        expect((await place.ralph(['status'])).stdout).toContain('go on: ralph resume shop');
        const again = place.start([...words.slice(0, 3), 'read -r _; echo Task US-001 complete', '--verify', 'true']);
        expect((await again.ended).stdout).toMatch(/^Done: 1 of 1 task done, 2 iterations/);
        expect(again.said()).toContain('shop, resumed after iteration 1');
      }));
  }

  it.concurrent('F10: a second Ctrl-C is immediate, also when the agent ignores the first, and leaves nothing behind', () =>
    inScratch(async place => {
      place.put('PRD.json', prd());
      const agent = hangingAgent(place);
      const stubborn = `trap '' TERM INT; ${agent.command}`;
      const live = place.start(['run', 'PRD.json', '--agent-command', stubborn]);
      await live.says('Iteration 1: US-001');
      await eventually('the agent works', async () => (await place.ralph(['logs'])).stdout.includes('agent at work'));
      live.child.kill('SIGINT');
      await live.says('Ctrl-C again ends at once');
      // A copy of the same signal soon after it counts as one, so it is pressed until it is heard.
      const pressing = setInterval(() => live.child.kill('SIGINT'), 60);
      const told = await live.ended.finally(() => clearInterval(pressing));
      expect(told.code).toBe(130);
      expect(told.stderr).toContain('Ended at once. What was recorded is kept.\n  Go on later: ralph resume shop');
      await agent.gone();
      expect((await place.ralph(['audit', 'verify'])).code).toBe(0);
      scripted(place, ['US-001'], [claims()]);
      expect((await place.ralph(runScript)).stdout).toMatch(/^Done: 1 of 1 task done, 2 iterations/);
    }));
});

describe('one loop, several processes', () => {
  it.concurrent('F18: a second run of the same file exits 9 and names the process and the host', () =>
    inScratch(async place => {
      const { live, words, gone } = await hanging(place);
      const second = await place.ralph(words);
      expect(second.code).toBe(9);
      expect(second.stderr).toMatch(/^ralph: process \d+ on \S+ works on this loop since \d{4}-/m);
      expect(second.stderr).toContain(`process ${live.child.pid} on ${hostname()} works on this loop since`);
      expect(second.stdout).toBe('');
      expect((await place.ralph(['status'])).stdout).toContain(`process ${live.child.pid} on ${hostname()}`);
      live.child.kill('SIGTERM');
      await live.ended;
      await gone();
    }));

  it.concurrent('stop reaches the live agent at once; the run ends with 0 and says who asked', () =>
    inScratch(async place => {
      const { live, gone } = await hanging(place);
      const told = await place.ralph(['stop']);
      expect(told.stderr).toContain('Stop of shop: taken up by the running loop.');
      const ended = await live.ended;
      expect(ended.code).toBe(0);
      expect(ended.stdout).toMatch(/^Stopped on request: ralph stop \(by .+\)\. 0\/1 tasks done/);
      await gone();
    }));

  it.concurrent('pause --now interrupts the agent, tell gives guidance meanwhile, resume goes on with it', () =>
    inScratch(async place => {
      place.put('PRD.json', prd());
      const agent = hangingAgent(place);
      // The first turn hangs; with guidance in its prompt it claims.
      const command = `if grep -q "Mind the gap"; then echo Task US-001 complete; else ${agent.command}; fi`;
      const live = place.start(['run', 'PRD.json', '--agent-command', command, '--verify', 'true']);
      await live.says('Iteration 1: US-001');
      await eventually('the agent works', async () => (await place.ralph(['logs'])).stdout.includes('agent at work'));
      expect((await place.ralph(['pause', '--now'])).stderr).toContain('Pause of shop: taken up by the running loop.');
      await agent.gone();
      await live.says(/iteration 1 interrupted/);
      const paused = (await place.ralph(['status'])).stdout;
      expect(paused).toMatch(/^shop {2}paused/);
      expect(paused).toMatch(/· paused by /);
      expect((await place.ralph(['tell', 'Mind the gap.'])).stderr).toContain('taken up by the running loop');
      expect((await place.ralph(['resume'])).stderr).toContain('Resume of shop: taken up by the running loop.');
      const told = await live.ended;
      expect(told.stdout).toMatch(/^Done: 1 of 1 task done, 2 iterations/);
      expect(told.stderr).toContain('Iteration 2: US-001 Story US-001 (with guidance)');
    }));

  it.concurrent('a question is answered from another process while the run waits for it', () =>
    inScratch(async place => {
      const escalate = {
        type: 'deviation',
        summary: 'Old or new?',
        context: '',
        options: ['Old', 'New'],
        question: 'Which?',
      };
      scripted(place, ['US-001'], [{ attempt: 1, steps: [{ escalate }] }, claims()]);
      const live = place.start([...runScript, '--on-escalation', 'wait', '--verify', 'true']);
      await live.says('E1 needs you (deviation, US-001): Old or new?');
      const bad = await place.ralph(['answer', 'E1', '--option', '3']);
      expect(bad.code).toBe(2);
      expect(bad.stderr).toMatch(/--option "3" is not one of this question's options\.\n {2}Give a number from 1 to 2/);
      const told = await place.ralph(['answer', 'E1', '--option', '2']);
      expect(told.code).toBe(0);
      expect(told.stderr).toContain('Answer to shop/E1: taken up by the running loop.');
      const ended = await live.ended;
      expect(ended.stdout).toMatch(/^Done: 1 of 1 task done, 2 iterations/);
      expect((await place.ralph(['logs', '--prompt'])).stdout).toContain('Proceed with option 2: New');
      const late = await place.ralph(['answer', 'E1', '--option', '1']);
      expect(late.code).toBe(1);
      expect(late.stderr).toMatch(/^ralph: shop\/E1 was answered by \S+ at \S+Z: option 2\./);
    }));

  it.concurrent('events -f of a loop that nobody runs says so, what it waits for, and what to type', () =>
    inScratch(async place => {
      scripted(place, ['US-001'], [{ steps: [asks] }]);
      await place.ralph(runScript);
      const follower = place.start(['events', '-f']);
      await follower.says('Loop shop is not running. Waiting for you: Which?');
      await follower.says('ralph answer shop/E1 --option 1');
      follower.child.kill('SIGTERM');
      expect((await follower.ended).code).toBe(0);
    }));

  it.concurrent('events -f --json follows a live loop line by line until it ends', () =>
    inScratch(async place => {
      const { live, gone } = await hanging(place);
      const following = place.start(['events', '-f', '--json']);
      await following.says('iteration.spawned');
      await place.ralph(['stop']);
      const { code, stdout } = await following.ended;
      expect(code).toBe(0);
      const lines = stdout
        .trim()
        .split('\n')
        .map(line => JSON.parse(line) as LedgerEvent);
      expect(lines.at(-1)).toMatchObject({ type: 'loop.ended', reason: 'explicit_stop', version: 2 });
      expect(lines.map(line => line['seq'])).toEqual(lines.map((_, at) => at + 1));
      await live.ended;
      await gone();
    }));

  it.concurrent('logs -f prints what a live agent says and ends with its turn', () =>
    inScratch(async place => {
      const { live, gone } = await hanging(place);
      const following = place.start(['logs', '-f']);
      await following.says('agent at work');
      await place.ralph(['stop']);
      expect((await following.ended).code).toBe(0);
      await live.ended;
      await gone();
    }));

  it.concurrent('logs -f goes on into the next iterations and ends with the loop', () =>
    inScratch(async place => {
      place.put('PRD.json', prd(['US-001', 'US-002', 'US-003']));
      const agent =
        'read -r _; echo "I work on $RALPH_TASK"; until test -f go; do sleep 0.05; done; echo Task $RALPH_TASK complete';
      const live = place.start(['run', 'PRD.json', '--agent-command', agent]);
      await live.says('Iteration 1: US-001');
      const following = place.start(['logs', '-f']);
      await following.says('I work on US-001');
      place.put('go', '');
      const told = await following.ended;
      expect(told.code).toBe(0);
      expect(told.stdout).toMatch(/I work on US-001\n[\s\S]*I work on US-002\n[\s\S]*I work on US-003\n/);
      expect(told.stderr).toMatch(/--- iteration 2 ---\n--- iteration 3 ---\nLoop shop has ended\.\n/);
      await live.ended;
    }));

  it.concurrent('logs -f ends when the process of the loop was killed', () =>
    inScratch(async place => {
      const { live, gone } = await hanging(place);
      const following = place.start(['logs', '-f']);
      await following.says('agent at work');
      live.child.kill('SIGKILL');
      await live.ended;
      expect((await following.ended).stderr).toContain('Loop shop is not running.');
      await gone();
    }));

  it.concurrent('run --verbose shows what the agent says while it works, without secrets; beside --quiet it is refused', () =>
    inScratch(async place => {
      place.put('PRD.json', prd());
      const agent =
        'read -r _; echo reading the cart; echo key $MY_API_KEY; until test -f go; do sleep 0.05; done; echo Task US-001 complete';
      const words = ['run', 'PRD.json', '--agent-command', agent, '--verbose'];
      const secret = 'kb82hx93hxs81hw9hs71h2';
      const live = place.start(words, { env: { MY_API_KEY: secret } });
      await live.says('  1 | reading the cart');
      place.put('go', '');
      const told = await live.ended;
      expect(told.stderr).toContain('  1 | Task US-001 complete');
      expect(told.stderr).not.toContain(secret);
      const both = await place.ralph([...words, '--quiet']);
      expect(both.stderr).toContain('--verbose and --quiet contradict each other.');
      expect(both.code).toBe(2);
    }));
});
