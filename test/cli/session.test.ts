// The example session of seed 003: five stories, a question with three options in iteration 2, answered with 1.
import { execFileSync } from 'node:child_process';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  binary,
  claims,
  eventually,
  inScratch,
  isInstalled,
  pinnedNode,
  runScript,
  type Scratch,
  scripted,
} from './kit.ts';
import { openTerminal, quoted } from './terminal.ts';

const ids = ['US-001', 'US-002', 'US-003', 'US-004', 'US-005'];
const options = [
  'Call v2 and correct the criteria',
  'Call v1 all the same',
  'Leave the story out until the spec is clear',
];
const escalate = {
  type: 'deviation',
  summary: 'The story names an endpoint that is deprecated',
  context: 'US-002 asks for /api/v1/users.\nEverything else here calls /api/v2/users.',
  options,
  question: 'Which version is meant?',
};

function project(place: Scratch): void {
  const stories = ids.map((id, at) => ({ id, ...(at === 0 ? {} : { depends_on: [ids[at - 1]] }) }));
  scripted(place, stories, [{ task: 'US-002', attempt: 1, steps: [{ escalate }] }, claims()]);
}

const checked = [...runScript, '--verify', 'test -f PRD.json'];

async function expectWholeSession(place: Scratch): Promise<void> {
  const events = (await place.ralph(['events', '--json'])).stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
  const turns = events.filter(event => event.type === 'iteration.started').map(event => event.task);
  expect(turns).toEqual(['US-001', 'US-002', 'US-002', 'US-003', 'US-004', 'US-005']);
  expect(events.find(event => event.type === 'escalation.answered')).toMatchObject({
    id: 'E1',
    answer: { kind: 'option', option: 1 },
  });
  expect(events.at(-1)).toMatchObject({ type: 'loop.ended', reason: 'goal_achieved' });
  expect((await place.ralph(['logs', '--prompt', '--iteration', '3'])).stdout).toContain(
    `Proceed with option 1: ${options[0]}`,
  );
  expect((await place.ralph(['logs', '--prompt', '--iteration', '4'])).stdout).not.toContain('Proceed with option 1');
  const stories = JSON.parse(place.read('PRD.json')).userStories as readonly { passes: boolean }[];
  expect(stories.map(story => story.passes)).toEqual([true, true, true, true, true]);
}

describe('the example session of seed 003', () => {
  it.concurrent('headless: the run exits 5 with the question, `ralph answer` takes option 1, the same run finishes', () =>
    inScratch(async place => {
      project(place);
      const first = await place.ralph(checked);
      expect(first.code).toBe(5);
      expect(first.stdout).toMatch(/^Waiting for you: The story names an endpoint .* 1\/5 tasks done, 2 iterations/);
      const inbox = await place.ralph(['inbox']);
      expect(inbox.stdout).toContain(
        '? E1 needs you (deviation, US-002): The story names an endpoint that is deprecated',
      );
      expect(inbox.stdout).toContain('    | Everything else here calls /api/v2/users.');
      for (const [at, option] of options.entries()) expect(inbox.stdout).toContain(`    ${at + 1}. ${option}`);
      expect(inbox.stdout).toContain('    Which version is meant?');
      const answered = await place.ralph(['answer', 'shop/E1', '--option', '1']);
      expect(answered.code).toBe(0);
      expect(answered.stderr).toMatch(/Answer to shop\/E1: recorded\.\n {2}Go on: ralph resume shop/);
      const second = await place.ralph(checked);
      expect(second.stdout).toMatch(/^Done: 5 of 5 tasks done, 6 iterations/);
      expect(second.stderr).toContain('Iteration 3: US-002 Story US-002 (with guidance) (attempt 2)');
      expect(second.code).toBe(0);
      await expectWholeSession(place);
    }));

  for (const [flag, outcome] of [
    ['--skip', /^Waiting for you: .* 1\/5 tasks done, 1 skipped, 2 iterations/], // US-003 depends on it
    ['--retry', /^Waiting for you: .* 1\/5 tasks done, 3 iterations/], // the same turn again asks the same again
    ['--abort', /^Stopped on request: E1 was answered with abort/],
  ] as const) {
    it.concurrent(`headless: the answer ${flag} does what it says`, () =>
      inScratch(async place => {
        project(place);
        await place.ralph(checked);
        expect((await place.ralph(['answer', 'E1', flag])).code).toBe(0);
        const shown = flag === '--abort' ? await place.ralph(['status']) : await place.ralph(checked);
        expect(shown.stdout.replace(/^shop .*\n {2}/, '')).toMatch(outcome);
        if (flag === '--skip') expect(JSON.parse(place.read('PRD.json')).userStories[1].skipped).toBe(true);
      }));
  }

  it.runIf(isInstalled('tmux'))('in a terminal of 80x24 (needs tmux): Enter starts, 1 answers, all is done', () =>
    inScratch(async place => {
      project(place);
      const socket = basename(place.root);
      const env = { ...place.env, TERM: 'xterm-256color', TMUX_TMPDIR: place.temporary };
      const tmux = (...words: readonly string[]): string =>
        execFileSync('tmux', ['-L', socket, '-f', '/dev/null', ...words], {
          env,
          cwd: place.project,
          encoding: 'utf8',
        });
      const screen = (): string => tmux('capture-pane', '-p', '-J', '-S', '-200', '-t', 'seed');
      const shows = (wanted: string | RegExp): Promise<string> =>
        eventually(`the screen shows ${wanted}`, () => {
          const text = screen();
          return (typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text)) ? text : undefined;
        });
      const words = [pinnedNode, binary, ...checked].map(word => `'${word}'`).join(' ');
      tmux('new-session', '-d', '-s', 'seed', '-x', '80', '-y', '24', `${words}; echo "exit code $?"; exec cat`);
      try {
        const card = await shows('Press Enter to start, Ctrl-C to leave');
        expect(card).not.toContain('…');
        tmux('send-keys', '-t', 'seed', 'Enter');
        const asked = await shows('E1 US-002 deviation (1-3, c, s, r, a, ?) >');
        expect(asked).toMatch(
          /\? E1 needs you \(deviation, US-002\): The story names an endpoint that\n {4}is deprecated\n/,
        );
        expect(asked).toContain('    1. Call v2 and correct the criteria');
        tmux('send-keys', '-t', 'seed', '7', 'Enter');
        await shows('There are only 3 options.');
        tmux('send-keys', '-t', 'seed', '1', 'Enter');
        const done = await shows('exit code 0');
        expect(done).toContain('Iteration 3: US-002 Story US-002 (with guidance) (attempt 2)');
        expect(done).toContain('Done: 5 of 5 tasks done, 6 iterations');
        for (const line of done.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
      } finally {
        tmux('kill-server');
      }
      await expectWholeSession(place);
    }),
  );

  it.skipIf(!isInstalled('tmux')).concurrent(
    'where nobody is to be asked, the question is shown at the terminal all the same (needs tmux)',
    () =>
      inScratch(async place => {
        project(place);
        const words = quoted([pinnedNode, binary, ...checked, '--yes', '--on-escalation', 'exit']);
        const terminal = openTerminal(place, place.root, `${words}; echo "exit code $?"; exec cat`);
        try {
          expect(await terminal.shows('exit code 5')).toContain('? E1 needs you (deviation, US-002)');
        } finally {
          terminal.end();
        }
      }),
  );
});
