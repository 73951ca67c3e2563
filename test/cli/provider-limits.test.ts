// A provider's limit seen by a person (F54), and what an agent did with its tools, through the real binary.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually, prd } from './kit.ts';
import { fakeClaude, flat, inWorkshop } from './workshop.ts';

/** The subscription's window is used up until then, as claude tells it. */
const usedUp = (resetsAt: number): string =>
  `if (model === 'opus') { print({ type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt: ${resetsAt}, rateLimitType: 'five_hour' } }); refuse(429, "You've hit your limit"); } else say('Task ' + process.env.RALPH_TASK + ' complete')`;
const inAnHour = (): number => Math.floor(Date.now() / 1_000) + 3_600;

describe('F54: a limit with a known reset', () => {
  it.concurrent(
    'is waited for, with its time and a countdown; a restart goes on waiting',
    inWorkshop(async place => {
      place.install('claude', fakeClaude(usedUp(inAnHour())));
      const words = ['run', '--agent', 'claude/opus', '--verify', 'true'];
      const waits = /waits for claude\/opus's limit to reset at \d\d:\d\dZ \(in (60 min|1h)\), nothing is spent/;
      for (let runs = 1; runs <= 2; runs++) {
        const live = place.start(words, { env: place.path });
        await eventually(`process ${live.child.pid} waits`, async () => {
          const said = flat((await place.ralph(['status'])).stdout);
          return waits.test(said) && said.includes(`process ${live.child.pid} on`);
        });
        live.child.kill('SIGTERM');
        expect((await live.ended).code).toBe(143);
      }
      const { folded: state } = JSON.parse((await place.ralph(['loops', 'show', 'shop', '--json'])).stdout);
      expect(state).toMatchObject({ iterations: { begun: 1 }, streaks: { errors: 0 } });
    }),
  );

  it.concurrent(
    'is not waited for while an agent of the fallback chain can work',
    inWorkshop(async place => {
      place.install('claude', fakeClaude(usedUp(inAnHour())));
      const words = ['run', '--agent', 'claude/opus', '--fallback', 'claude/haiku', '--verify', 'true'];
      const told = await place.ralph(words, { env: place.path });
      expect(told.code).toBe(0);
      expect((await place.ralph(['events'])).stdout).toMatch(/claude\/opus on US-001[\s\S]*claude\/haiku on US-001/);
    }),
  );
});

describe('F92: a network that is away', () => {
  it.concurrent(
    'rests in the words of any program and goes on: no task is blamed, and no attempt is used up',
    inWorkshop(async place => {
      place.put('PRD.json', prd());
      const agent = join(place.root, 'agent');
      const down = `echo 'TypeError: fetch failed' >&2; exit 1`;
      writeFileSync(
        agent,
        `read -r _; echo >> tries; [ $(wc -l < tries) -lt 3 ] && { ${down}; }; echo x > made; echo Task US-001 complete`,
      );
      const words = ['run', 'PRD.json', '--agent-command', `sh ${agent}`, '--verify', 'true', '--max-attempts', '1'];
      const told = await place.ralph([...words, '--backoff-base', '10ms', '--yes']);
      expect(told.code).toBe(0);
      expect(told.stderr).toMatch(/the network connection failed[\s\S]*TypeError: fetch failed/);
    }),
  );
});

describe('what an agent did', () => {
  it.concurrent(
    '`logs` shows its words and each of its tools on a line',
    inWorkshop(async place => {
      place.put('PRD.json', prd());
      const content = `[{ type: 'text', text: 'I look.' }, { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls -la' } }]`;
      place.install(
        'claude',
        fakeClaude(
          `print({ type: 'assistant', message: { id: 'm0', role: 'assistant', content: ${content} } }); say('Task US-001 complete')`,
        ),
      );
      expect((await place.ralph(['run', '--verify', 'true'], { env: place.path })).code).toBe(0);
      const { stdout } = await place.ralph(['logs']);
      expect(stdout).toMatch(/I look\.\n[\s\S]*\[Bash\] .*ls -la\n[\s\S]*Task US-001 complete/);
    }),
  );
});
