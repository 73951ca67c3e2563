// The plugin for Claude Code: the real CLI validates and installs it from this clone, and each of its commands is typed once.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  all,
  assertDone,
  begin,
  counting,
  type HookTrial,
  installHook,
  promised,
  reviewed,
  type SessionPlace,
} from './hook.ts';
import { systemPath } from './install.ts';
import type { Model } from './mock.ts';

const clone = resolve(import.meta.dirname, '../..');
const agents = ['claude'];

async function calls(place: SessionPlace, ...words: readonly string[]): Promise<string> {
  const told = await place.call(words);
  assert.equal(told.code, 0, `${words.join(' ')}: ${told.stdout}${told.stderr}`);
  return told.stdout + told.stderr;
}

async function installFrom(place: SessionPlace, marketplace: string): Promise<SessionPlace> {
  await calls(place, 'plugin', 'marketplace', 'add', marketplace);
  await calls(place, 'plugin', 'install', 'ralph@ralph-wiggum');
  assert.match(await calls(place, 'plugin', 'list'), /ralph@ralph-wiggum.*enabled/s);
  return place;
}

const install = (place: SessionPlace): Promise<SessionPlace> => installFrom(place, clone);
const trial = (name: string, run: HookTrial['run'], more: Partial<HookTrial> = {}): HookTrial => ({
  ...{ name, agents, install, run },
  ...more,
});

const printing = ['-p', '--output-format', 'stream-json', '--verbose', '--model', 'claude-sonnet-4-5'];

/** One prompt in a session, with no more permission than the plugin itself asks for. */
async function types(place: SessionPlace, session: string, prompt: string, isNew = true): Promise<string> {
  return (await place.call([...printing, isNew ? '--session-id' : '--resume', session], prompt)).stdout;
}

/** What the model was told last, without all that the host says before it. */
const heard = ({ mock }: SessionPlace): string =>
  (mock.work().at(-1)?.asked.prompt ?? '').replace(/^.*(?=<command-message>)/s, '');
const answers: Model = () => ({ text: 'This is what it says.' });
const loopWords = '--max-iterations 20 --no-progress 40 --completion-promise DONE';

const validates = trial('it is valid by the strictest rules, and so is the marketplace', async (_agent, make) => {
  const place = await make(answers);
  const plugin = join(clone, 'plugin');
  const found = await calls(place, 'plugin', 'validate', plugin, '--strict', '--profile', 'directory');
  assert.match(found, /found nothing to report.*Validation passed/s);
  assert.match(await calls(place, 'plugin', 'validate', clone, '--strict'), /✔ Validation passed/);
});

const hostile = [
  'Draw the house, don\'t stop: "quoted" $(touch pwned-1) `touch pwned-2` ; touch pwned-3',
  '',
  '---',
  "!`touch pwned-4` $HOME $ARGUMENTS $1 \\n it's all text | tee pwned-5 > pwned-6 &",
].join('\n');

const loops = trial('/ralph-loop: any text is text, and the loop ends exactly at the promise', async (agent, make) => {
  for (const mode of ['default', 'bypassPermissions']) {
    const place = await make(counting(5));
    const session = randomUUID();
    const words = [...printing, '--permission-mode', mode, '--session-id', session];
    const { stdout } = await place.call(words, `/ralph:ralph-loop ${hostile}\n${loopWords} --name house`);
    await assertDone(place, 5);
    assert.ok(
      place.mock.work()[0]?.asked.prompt.includes(hostile),
      'the first prompt holds the words as they were typed',
    );
    assert.match(stdout, /Loop house works in session/);
    assert.match(stdout, /Ralph loop house: Done/);
    assert.deepEqual(
      readdirSync(place.project).filter(name => name.startsWith('pwned')),
      [],
    );
    const [started] = all(await place.events(), 'loop.started');
    assert.ok(started?.settings.performers[0]?.startsWith(agent.name), 'its performer is the session');
  }
});

const twice = trial('with the hook in the settings as well, one of the two answers', async (agent, make) => {
  const place = await installHook(await make(counting(12)), agent);
  await types(place, randomUUID(), `/ralph:ralph-loop Draw the house ${loopWords}`);
  await assertDone(place, 12);
});

const refuses = trial('/ralph-loop: what it refuses is said at once, and no model is asked', async (_agent, make) => {
  const place = await make(answers);
  const typo = await types(place, randomUUID(), '/ralph:ralph-loop Draw --max-iteration 3');
  assert.match(typo, /did you mean --max-iterations/);
  assert.match(await types(place, randomUUID(), '/ralph:ralph-loop Draw --verify npm test'), /in quotes/);
  assert.equal(place.mock.work().length, 0);
});

const checked = trial('/ralph-loop with --verify: the check decides over the promise', async (_agent, make) => {
  const place = await make((_asked, count) =>
    count === 0 ? { text: promised } : count === 1 ? { sh: 'touch house.txt' } : { text: promised },
  );
  const words = `${loopWords} --verify 'test -e house.txt' --allow-red-start`;
  await place.say(randomUUID(), `/ralph:ralph-loop Draw the house ${words}`);
  await assertDone(place, 2, 3);
  const closed = all(await place.events(), 'task.closed');
  assert.deepEqual(
    closed.map(({ verified }) => verified),
    [true],
  );
});

const cancels = trial('/cancel-ralph ends the loop of its session, and of no other', async (agent, make) => {
  const place = await make(answers);
  const [one, two] = [randomUUID(), randomUUID()];
  await begin(place, agent, one, '--name', 'first');
  await begin(place, agent, two, '--name', 'second');
  await types(place, one, '/ralph:cancel-ralph');
  assert.match(heard(place), /Stop of first: recorded/);
  assert.equal(place.mock.work().length, 1, 'the turn may end');
  assert.equal(all(await place.events('first'), 'loop.ended')[0]?.reason, 'explicit_stop');
  assert.equal(all(await place.events('second'), 'loop.ended').length, 0);
});

const pauses = trial('/pause-ralph lets it rest until it is resumed', async (agent, make) => {
  const place = await make(counting(3));
  const session = randomUUID();
  await begin(place, agent, session, '--name', 'house');
  await types(place, session, '/ralph:pause-ralph');
  assert.match(heard(place), /Pause of house/);
  assert.equal(place.mock.work().length, 1, 'the turn may end');
  assert.equal(all(await place.events(), 'loop.paused').length, 1);
  const waits = await types(place, randomUUID(), 'Hello');
  assert.match(waits, /loop house belongs to session .*, paused/);
  assert.equal((await place.ralph('resume', 'house')).code, 0);
  await types(place, session, 'Go on', false);
  assert.equal(all(await place.events(), 'loop.ended').at(-1)?.reason, 'goal_achieved');
  const told = all(await place.events(), 'guidance.given').map(({ text }) => text);
  assert.deepEqual(told, ['Go on'], 'a command is no guidance');
});

function repository({ project, home }: SessionPlace): void {
  const env = { PATH: systemPath, HOME: home };
  const git = (...words: readonly string[]): void => {
    spawnSync('git', ['-c', 'user.name=live', '-c', 'user.email=l@example.invalid', ...words], { cwd: project, env });
  };
  git('init', '-q', '-b', 'main');
  git('commit', '-q', '--allow-empty', '-m', 'Nothing yet');
}

const keeps = trial('/checkpoint keeps what is there, when the turn ends', async (agent, make) => {
  const place = await make(counting(2));
  repository(place);
  const session = randomUUID();
  await begin(place, agent, session, '--name', 'house');
  writeFileSync(join(place.project, 'plan.txt'), 'a roof\n');
  await types(place, session, '/ralph:checkpoint');
  assert.match(place.mock.work()[0]?.asked.prompt ?? '', /The checkpoint is asked for/);
  const made = all(await place.events(), 'checkpoint.made').filter(one => one.kind === 'by-hand');
  assert.equal(made.length, 1);
});

const shows = trial(
  '/health-status, /token-status, /cost-report, /ralph-help tell what is known',
  async (agent, make) => {
    const place = await make(counting(4));
    const session = randomUUID();
    const [health, tokens, cost] = ['health-status', 'token-status', 'cost-report'];
    await begin(place, agent, session, '--name', 'house');
    const turnOf = async (command: string): Promise<string> => {
      const count = place.mock.work().length;
      await types(place, randomUUID(), `/ralph:${command}`);
      assert.equal(place.mock.work().length, count + 1, 'a session without the loop answers once');
      return heard(place);
    };
    const first = await turnOf(health);
    assert.match(first, /iteration 1\/30 .*is not known yet/s);
    assert.doesNotMatch(first, /\$\d/);
    assert.match(await turnOf(tokens), /"cost": "not reported"/);
    await place.say(session, 'Begin');
    assert.equal(all(await place.events(), 'loop.ended').at(-1)?.reason, 'goal_achieved');
    assert.match(await turnOf(health), /house {2}completed/);
    assert.match(await turnOf(tokens), /"inputTokens": 2000/);
    assert.match(await turnOf(cost), /# house.*est\., 2500 tokens.*\| task \| title \|/s);
    const help = await turnOf('ralph-help');
    for (const name of readdirSync(join(clone, 'plugin/commands')).map(file => file.replace(/\.md$/, '')))
      if (name !== 'ralph-help') assert.ok(help.includes(`/ralph:${name}`), name);
  },
);

const reviews = trial('/review-loop: found, mended, looked at again', (_agent, make) =>
  reviewed(make, place => place.say(randomUUID(), '/ralph:review-loop notes.md --reviewer adversarial --rounds 3')),
);

/** As others would have it: the plugin alone, without a Ralph beside it. */
function plainMarketplace({ home }: SessionPlace): string {
  const folder = join(home, 'marketplace');
  for (const part of ['plugin', '.claude-plugin']) cpSync(join(clone, part), join(folder, part), { recursive: true });
  return folder;
}

const missing: HookTrial = trial(
  'without a Ralph it says what to install and lets every turn end; with one on PATH it works',
  async (_agent, make) => {
    const place = await make(counting(3));
    const without = await types(place, randomUUID(), 'Hello');
    assert.match(without, /npm install -g ralph-wiggum/);
    assert.equal(place.mock.work().length, 1);
    const bin = join(place.home, 'bin');
    mkdirSync(bin);
    symlinkSync(join(clone, 'bin', 'ralph'), join(bin, 'ralph'));
    const { stdout } = await place.call(printing, `/ralph:ralph-loop Draw ${loopWords}`, bin);
    assert.match(stdout, /Done/);
    assert.equal(all(await place.events(), 'loop.ended').at(-1)?.reason, 'goal_achieved');
    assert.equal(place.mock.work().length, 3);
  },
  { install: place => installFrom(place, plainMarketplace(place)) },
);

const monitor = trial(
  'the monitor looks at a loop that runs elsewhere, and its nudge arrives there',
  async (agent, make) => {
    const nudge = 'You draw the cellar. The task is the roof: begin with its beams.';
    const prompts: string[] = [];
    const place = await make(({ prompt, turn }) => {
      if (prompt.includes('Begin with the house')) {
        prompts.push(prompt);
        return { text: prompts.length < 2 ? 'The cellar is drawn.' : promised };
      }
      if (!prompt.includes('Keep my loops on track')) {
        if (turn > 1) return { text: 'house was nudged.' };
        return { sh: turn === 0 ? 'ralph status house --json' : `ralph tell house "${nudge}"` };
      }
      const wanted = {
        subagent_type: 'ralph:ralph-loop-monitor',
        description: 'Watch',
        prompt: 'Look after loop house.',
      };
      return turn === 0 ? { call: { name: 'Agent', arguments: wanted } } : { text: 'It is looked after.' };
    });
    const session = randomUUID();
    await begin(place, agent, session, '--name', 'house');
    await place.say(randomUUID(), 'Keep my loops on track');
    assert.ok(
      place.mock.work().some(({ body }) => body.includes('\\"health\\"')),
      'it has read how the loop stands',
    );
    await place.say(session, 'Begin with the house');
    assert.ok(prompts[1]?.includes(nudge), 'it stands in the next prompt');
  },
);

const agentsShell = trial(
  'the agent finds `ralph` in its shell, and the monitor and the skills are there',
  async (_agent, make) => {
    const place = await make((_asked, count) => (count === 0 ? { sh: 'ralph version' } : { text: 'Told.' }));
    const stdout = await place.say(randomUUID(), 'Which version is it?').then(told => told.stdout);
    const { version } = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8'));
    assert.ok(place.mock.work().at(-1)?.body.includes(version), 'the shell of the agent has it');
    const [init] = stdout
      .split('\n')
      .map(line => JSON.parse(line || '{}'))
      .filter(line => line.subtype === 'init');
    assert.ok(init.agents.includes('ralph:ralph-loop-monitor'), String(init.agents));
    for (const name of readdirSync(join(clone, 'plugin/skills')))
      assert.ok(init.skills.includes(`ralph:${name}`), name);
  },
);

/** The skill for others, where all of them look for one. */
const others: HookTrial = trial(
  'the skill for other agents is offered to their models',
  async (_agent, make) => {
    const place = await make(() => ({ text: 'Hello.' }));
    const told = await place.say('', 'Hello');
    const [asked] = place.mock.work();
    assert.match(asked?.body ?? told.stderr, /ralph-loop.{0,200}Begin, watch and work in a Ralph loop/s);
  },
  {
    agents: ['codex', 'gemini', 'opencode'],
    async install(place) {
      cpSync(join(clone, 'plugin/others/skills'), join(place.home, '.agents/skills'), { recursive: true });
      return place;
    },
  },
);

/** As an extension it validates by Gemini's own rules, and brings its skill. */
const extension: HookTrial = trial(
  'as an extension of Gemini CLI it is valid, and is installed with its skill',
  async (_agent, make) => {
    const place = await make(() => ({ text: 'Hello.' }));
    const folder = join(clone, 'plugin/others');
    assert.match(await calls(place, 'extensions', 'validate', folder), /validated/i);
    await calls(place, 'extensions', 'install', folder, '--consent');
    assert.match(await calls(place, 'skills', 'list'), /ralph-loop/);
  },
  { agents: ['gemini'], install: async place => place },
);

export const pluginTrials: readonly HookTrial[] = [
  validates,
  loops,
  twice,
  refuses,
  checked,
  cancels,
  pauses,
  keeps,
  shows,
  reviews,
  missing,
  agentsShell,
  monitor,
  others,
  extension,
];
