// A chain of agents through the real binary: who gets which words, who takes over, and what a cloned project cannot smuggle in.
import { chmodSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { claims, runScript, scripted } from './kit.ts';
import { fakeClaude, flat, inWorkshop } from './workshop.ts';

const limited = (resetInS: number): string => `
  const fs = require('node:fs');
  if (fs.existsSync('served')) say('Task US-001 complete');
  else {
    fs.writeFileSync('served', '');
    const resetsAt = Math.floor(Date.now() / 1000) + ${resetInS};
    print({ type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt, rateLimitType: 'five_hour' } });
    refuse(429, 'limit');
  }`;

const unauthorised = `#!/bin/sh
read -r _
echo '{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized"}}'
exit 1
`;

describe('a chain of agents', () => {
  it.concurrent(
    'a fallback that cannot log in does not end the night: the first one is waited for, and its question stays',
    inWorkshop(async place => {
      place.install('claude', fakeClaude(limited(2)));
      place.install('codex', unauthorised);
      const words = ['run', '--agent', 'claude', '--fallback', 'codex', '--verify', 'true'];
      const told = await place.ralph(words, { env: place.path });
      expect(told.stderr).toContain('codex: login needed');
      expect(told.code).toBe(0);
    }),
  );

  it.concurrent(
    'a stronger one takes a task over after two refused claims: the card and the log say so',
    inWorkshop(async place => {
      place.install('claude', fakeClaude("require('node:fs').writeFileSync('right', ''); say('Task US-001 complete')"));
      const weak = 'read -r _; echo "Task US-001 complete"';
      const words = ['run', '--agent-command', weak, '--stronger', 'claude/opus', '--verify', 'test -f right'];
      const told = await place.ralph([...words, '--allow-red-start'], { env: place.path });
      expect([told.code, flat(told.stderr)]).toEqual([
        0,
        expect.stringContaining('stronger claude/opus, after 2 refused claims'),
      ]);
      expect(told.stderr).toMatch(/Iteration 3: US-001 .* by claude\/opus/);
    }),
  );

  it.concurrent(
    'the arguments of the user go to the agent that was chosen, not to its fallback',
    inWorkshop(async place => {
      place.install('claude', fakeClaude(limited(60)));
      place.install(
        'codex',
        '#!/bin/sh\nread -r _\nprintf "%s " "$@" > words\necho \'{"type":"item.completed","item":{"type":"agent_message","text":"Task US-001 complete"}}\'\necho \'{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}\'\n',
      );
      const words = ['run', '--agent', 'claude', '--fallback', 'codex', '--agent-args', '--max-turns 30'];
      expect((await place.ralph(words, { env: place.path })).code).toBe(0);
      expect(place.read('words')).not.toContain('--max-turns');
    }),
  );

  it.concurrent(
    'a file of the project named like an agent is none, whatever PATH says',
    inWorkshop(async place => {
      chmodSync(place.put('claude', '#!/bin/sh\ntouch ran\n'), 0o755);
      const env = { PATH: `.:${place.env['PATH']}` };
      const told = await place.ralph(['agents', 'list'], { env });
      expect(told.stdout).toMatch(/^claude +not installed/m);
      expect(() => place.read('ran')).toThrow('ENOENT');
    }),
  );

  it.concurrent(
    'an ACP program that is named at the command line is the agent, and a key in it is not shown',
    inWorkshop(async place => {
      place.install('claude', fakeClaude());
      place.install('my-acp', '#!/bin/sh\nexit 1\n');
      const key = ['sk-ant-api03', 'A'.repeat(40)].join('-');
      const env = { ...place.path, RALPH_ACP_COMMAND: `my-acp --key ${key}` };
      const dry = await place.ralph(['run', '--dry-run'], { env });
      expect(flat(dry.stdout)).toContain('agent acp: my-acp --key');
      expect(flat(dry.stdout).replaceAll(' ', '')).not.toContain(key);
    }),
  );
});

describe('ralph tell', () => {
  it.concurrent(
    'given a task that nobody will work on any more, then it is refused in one sentence',
    inWorkshop(async place => {
      const question = { type: 'stuck', summary: 'What?', context: '', options: [], question: '' };
      scripted(place, ['US-001', 'US-002'], [claims('US-001'), { steps: [{ escalate: question }] }]);
      expect((await place.ralph([...runScript])).code).toBe(5);
      const told = await place.ralph(['tell', 'hello', '--task', 'US-001']);
      expect(told.code).toBe(2);
      expect(told.stderr).toContain('US-001 is done: nobody will work on it any more.');
      expect((await place.ralph(['tell', 'hello', '--task', 'US-002'])).code).toBe(0);
    }),
  );
});
