// What is printed arrives, however slowly it is read.
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { claims, inScratch, prd } from './kit.ts';

describe('the output of a command', () => {
  it('reaches a slow reader whole, also when it is larger than a pipe holds', async () => {
    await inScratch(async place => {
      const description = 'long '.repeat(100_000);
      place.put('PRD.json', prd([{ id: 'US-001', description }, 'US-002']));
      place.put('script.json', JSON.stringify({ turns: [claims('US-001'), claims('US-002')] }));
      await place.ralph([
        'run',
        'PRD.json',
        '--agent',
        'scripted',
        '--script',
        'script.json',
        '--yes',
        '--name',
        'long',
      ]);
      const live = place.start(['events', 'long', '--json']);
      live.child.stdout?.pause();
      await setImmediate();
      live.child.stdout?.resume();
      const { code, stdout } = await live.ended;
      const events = stdout
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line) as { type: string });
      expect(code).toBe(0);
      expect(events.at(-1)?.type).toBe('loop.ended');
      expect(stdout).toContain(description);
    });
  });
});
