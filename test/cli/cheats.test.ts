// Cheats in real repositories by the real program, in both settings where the sandbox matters: caught, or a limit that the guide lists (F33, F35, F89).
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { confinementKind } from '../../src/processes/confine.ts';
import {
  type ActingCheat,
  actingAgent,
  actingCheats,
  actingCheck,
  actingFiles,
  settingsOf,
} from '../checks/acting-cheats.ts';
import { startFrom } from '../git/template.ts';
import { eventsOf, inScratch, isInstalled, prd, type Scratch } from './kit.ts';

const limits = readFileSync(join(import.meta.dirname, '../../docs/guides/limits.md'), 'utf8');
const userOf = (place: Scratch): string => place.env['HOME'] ?? '';

const repository = (place: Scratch): void => startFrom({ ...actingFiles, 'PRD.json': prd(['US-001']) }, place.project);

/** A task that is done without the work, or the trick that was meant. */
async function isCaught(place: Scratch, cheat: ActingCheat, sandbox: string): Promise<boolean> {
  repository(place);
  const words = ['run', 'PRD.json', '--agent-command', actingAgent(cheat, place.home), '--verify', actingCheck];
  const told = await place.ralph([
    ...words,
    ...['--allow-red-start', '--max-attempts', '1', '--quiet', '--sandbox', sandbox],
  ]);
  execFileSync('chmod', ['-R', 'u+w', place.project]);
  if (cheat.worked !== undefined) return !cheat.worked({ project: place.project, user: userOf(place) });
  const events = await eventsOf(place).catch(() => []);
  return told.code !== 0 && !events.some(event => event['type'] === 'task.closed');
}

const whyNot = confinementKind() === 'none' ? 'bubblewrap does not work here' : undefined;

describe.skipIf(!isInstalled('git'))('an agent that cheats in a real repository (needs git)', () => {
  const settings = ['none', ...(whyNot === undefined ? ['bwrap'] : [])] as const;
  /** What a sandbox makes no difference to is done where there is none; `npm run prove -- cheats` does all in both. */
  const rows = settings.flatMap(sandbox =>
    actingCheats
      .filter(({ none, bwrap }) => sandbox === 'none' || none !== bwrap)
      .map(cheat => ({ ...cheat, sandbox })),
  );
  it.concurrent.each(rows)('$name, --sandbox $sandbox', row =>
    inScratch(async place => {
      const expected = row.sandbox === 'none' ? row.none : row.bwrap;
      expect(await isCaught(place, row, row.sandbox), expected).toBe(expected === 'caught');
      if (expected !== 'caught') expect(limits).toContain(`(${expected})`);
    }),
  );
});

describe.skipIf(!isInstalled('git'))("the user's own settings (needs git)", () => {
  it('that changed while an unconfined agent worked are shown, and hold only when a person says that they are theirs (F89)', () =>
    inScratch(async place => {
      repository(place);
      const path = settingsOf(userOf(place));
      const agent = `read -r _; mkdir -p '${join(path, '..')}'; echo '{"maxCost": "unlimited"}' >'${path}'; echo "Task US-001 complete"`;
      const words = ['run', 'PRD.json', '--agent-command', agent, '--verify', 'sh verify.sh', '--allow-red-start'];
      const more = ['--max-attempts', '1', '--quiet', '--sandbox', 'none', '--new'];
      expect((await place.ralph([...words, ...more])).code).toBe(8);
      const refused = await place.ralph([...words, ...more]);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('changed while an agent worked')]);
      expect(refused.stderr).toContain('"maxCost": "unlimited"');
      expect(refused.stderr).toContain('--accept-settings');
      expect((await place.ralph([...words, ...more])).code).toBe(2);
      expect((await place.ralph([...words, ...more, '--accept-settings'])).code).toBe(8);
      expect((await place.ralph([...words, ...more])).code).toBe(8);
    }));

  it("that a person changed while nobody worked are nobody's question", () =>
    inScratch(async place => {
      repository(place);
      const words = [
        'run',
        'PRD.json',
        '--agent-command',
        'read -r _; echo "Task US-001 complete"',
        '--verify',
        'sh verify.sh',
        '--allow-red-start',
      ];
      const more = ['--max-attempts', '1', '--quiet', '--new'];
      expect((await place.ralph([...words, ...more])).code).toBe(8);
      mkdirSync(join(settingsOf(userOf(place)), '..'), { recursive: true });
      place.put('../user/.config/ralph/config.json', '{"maxIterations": 7}');
      expect((await place.ralph([...words, ...more])).code).toBe(8);
    }));
});
