// Every scenario file beside this one: what the agent does, what must happen, in its own few lines.
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { play, type Scenario } from './play.ts';

const files = readdirSync(import.meta.dirname).filter(name => name.endsWith('.scenario.json'));

describe('scenarios (scripted agents)', () => {
  it('are there', () => expect(files.length).toBeGreaterThanOrEqual(7));

  for (const name of files) {
    const scenario = JSON.parse(readFileSync(`${import.meta.dirname}/${name}`, 'utf8')) as Scenario;
    it(`${name.replace('.scenario.json', '')}: ${scenario.says}`, async () => {
      const played = await play(scenario);
      expect(played.timeline).toEqual(scenario.timeline);
      expect(played.passes).toEqual(scenario.passes);
      for (const [iteration, texts] of Object.entries(scenario.prompts ?? {})) {
        for (const text of texts) expect(played.prompt(iteration)).toContain(text);
      }
    });
  }
});
