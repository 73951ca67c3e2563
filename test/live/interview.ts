// An interview with the real claude from a fresh HOME: its own dialogs come first, are explained before, and are answered by keys.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../cli/kit.ts';
import { openTerminal, quoted, type Terminal } from '../cli/terminal.ts';
import type { Model } from './mock.ts';
import { type LivePlace, pinnedNode, program } from './place.ts';
import { all, failuresOf, type Scenario, type Stand } from './scenarios.ts';

const isPlayable = ({ name }: { readonly name: string }): boolean =>
  name === 'claude' && spawnSync('tmux', ['-V'], { stdio: 'ignore' }).status === 0;

const folder = '.artefacts/shop';
const onboarded = { '.claude.json': '{"hasCompletedOnboarding": true}' };
const flat = (text: string): string => text.replaceAll(/[|\s]+/g, ' ');
const task = (id: string, dependencies: readonly string[]) => ({
  ...{ id, title: id, description: `Do ${id}`, status: 'pending', dependencies, attempts: 0, max_attempts: 3 },
  blocked: false,
});
const tasks = { project_name: 'shop', version: 1, tasks: [task('T1', []), task('T2', ['T1'])] };

/** One file for each turn; done.md ends the round. */
function interviewer(place: () => LivePlace): Model {
  let round = 0;
  return ({ turn }) => {
    if (turn === 0) round += 1;
    const files = [
      ['spec.md', `# shop\n\nIt sells pens. Round ${round}.\n`],
      ...(round === 2 ? [['tasks.json', JSON.stringify(tasks, null, 2)]] : []),
      ['done.md', 'I heard: pens.\n'],
    ];
    const [name = '', content = ''] = files[turn] ?? [];
    if (name === 'spec.md') return { sh: `printf '%s' '${content}' >'${join(place().project, folder, name)}'` }; // it was there
    return name === '' ? { text: 'We are done.' } : { write: join(place().project, folder, name), content };
  };
}

async function begun(stand: Stand, home: Readonly<Record<string, string>>): Promise<LivePlace> {
  let place: LivePlace | undefined;
  place = await stand.place({
    model: interviewer(() => place!),
    restage: stage => ({ ...stage, files: { ...stage.files, ...home } }),
  });
  assert.equal((await place.ralph(['init', 'shop'])).code, 0);
  writeFileSync(join(place.project, folder, 'spec.md'), '# shop\n\nIt sells.\n');
  return place;
}

function atTerminal(place: LivePlace): Terminal {
  const words = ['interview', 'shop', '--rounds', '2', '--agent', 'claude', ...place.words, '--name', 'live'];
  const line = quoted([pinnedNode, program, ...words]);
  return openTerminal(place, place.temporary, `${line}; echo "code $?"; stty -a; exec cat`);
}

/** Its menus begin at "No" and may be drawn anew before they listen: a key that changed nothing is sent again. */
async function choose(terminal: Terminal, dialog: string, wanted: 'Yes' | 'No'): Promise<void> {
  await terminal.shows(dialog);
  let [last, sentAt] = ['', 0];
  await eventually(`${dialog} is answered`, () => {
    const screen = terminal.screen();
    if (!screen.includes(dialog)) return true;
    if (screen === last && Date.now() - sentAt < 1_000) return false;
    [last, sentAt] = [screen, Date.now()];
    terminal.keys(screen.slice(screen.lastIndexOf(dialog)).includes(`❯ ${wanted}`) ? 'Enter' : 'Down');
    return false;
  });
}

/** At the question whether the folder is trusted; who was never set up asks its own server first, which is not there. */
const leaving: Scenario = {
  name: 'an interview from a fresh HOME: what it asks first is explained, and leaving there is not tried again',
  fits: isPlayable,
  async run(stand) {
    for (const [home, words] of [
      [{}, 'It is set up for the first time'],
      [onboarded, 'Whether you trust this folder'],
    ] as const) {
      const place = await begun(stand, home);
      const terminal = atTerminal(place);
      try {
        const card = flat(await terminal.shows('Press Enter to start'));
        assert.ok(card.includes(words));
        assert.match(card, /it asks claude is new here.*"No, exit" is selected.*ANTHROPIC_API_KEY/);
        terminal.keys('Enter');
        if (home === onboarded) await choose(terminal, 'Quick safety check', 'No');
        await terminal.shows(/E1 agent cannot work .*\) >/);
        terminal.keys('C-c');
        const after = flat(await terminal.shows(/code \d+[\s\S]*icanon/));
        assert.doesNotMatch(after, /Quick safety check/);
        assert.match(
          after,
          new RegExp(`it was left within ten seconds, at what it asks when it is new here:.*${words}`),
        );
      } finally {
        terminal.end();
      }
      assert.deepEqual(failuresOf(await place.events()), ['permission']);
      assert.deepEqual(place.mock.work(), []);
      assert.deepEqual(await place.survivors(), []);
    }
  },
};

const held: Scenario = {
  name: 'an interview from a fresh HOME: its first questions are answered, both rounds are held, nothing of its screen is left',
  fits: isPlayable,
  async run(stand) {
    const place = await begun(stand, onboarded);
    const terminal = atTerminal(place);
    try {
      await terminal.shows('Press Enter to start');
      terminal.keys('Enter');
      for (const dialog of ['Quick safety check', 'Detected a custom API key', 'Bypass Permissions mode'])
        await choose(terminal, dialog, 'Yes');
      await terminal.shows(/✓ round-1[\s\S]*Press Enter to begin/);
      terminal.keys('Enter');
      const after = await terminal.shows(/code \d+[\s\S]*icanon/);
      assert.match(after, /Done: 2 of 2 tasks done[\s\S]*ralph execute shop[\s\S]*code 0/);
      assert.doesNotMatch(after, /Claude Code v|bypass permissions on|claude --resume/);
    } catch (error) {
      console.error(terminal.screen());
      throw error;
    } finally {
      terminal.end();
    }
    assert.match(readFileSync(join(place.project, folder, 'spec.md'), 'utf8'), /Round 2/);
    const events = await place.events();
    assert.deepEqual(
      all(events, 'iteration.ended').map(({ outcome }) => outcome),
      ['succeeded', 'succeeded'],
    );
    assert.equal(all(events, 'loop.ended').at(-1)?.reason, 'goal_achieved');
    assert.deepEqual(await place.survivors(), []);
  },
};

export const interviewScenarios: readonly Scenario[] = [leaving, held];
