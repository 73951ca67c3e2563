// Loops in the session of an agent: the real CLI calls the real hook at the end of its turns, and the mock is its model.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Event, EventOf, EventType } from '../../src/core/event.ts';
import type { LiveAgent } from './agents.ts';
import { nodeFolder, systemPath } from './install.ts';
import { type Mock, type Model, type Step, startMock } from './mock.ts';

const program = resolve(import.meta.dirname, '../../bin/ralph');
const pinnedNode = join(nodeFolder, 'node');

interface Told {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface SessionPlace {
  readonly project: string;
  readonly home: string;
  readonly mock: Mock;
  ralph(...words: readonly string[]): Promise<Told>;
  /** The agent itself; `folder` comes first on its PATH. */
  call(words: readonly string[], input?: string, folder?: string): Promise<Told>;
  /** A turn of the user's in a session, to its end. */
  say(session: string, prompt: string, isNew?: boolean): Promise<Told>;
  events(loop?: string): Promise<readonly Event[]>;
  remove(): Promise<void>;
}

/** How each agent takes a prompt in a session that has an id. */
const sayings: Readonly<Record<string, (session: string, isNew: boolean) => readonly string[]>> = {
  claude: (session, isNew) => [
    ...['-p', '--output-format', 'stream-json', '--verbose', '--permission-mode', 'bypassPermissions'],
    ...['--model', 'claude-sonnet-4-5', isNew ? '--session-id' : '--resume', session],
  ],
  codex: () => [
    ...['exec', '--json', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'],
    ...['--dangerously-bypass-hook-trust', '--model', 'gpt-5.4', '-'],
  ],
  gemini: () => ['--output-format', 'stream-json', '--yolo', '--model', 'gemini-2.5-pro'],
  opencode: () => ['run', '--format', 'json'],
};

const run = (command: string, words: readonly string[], cwd: string, env: Record<string, string>, input = '') =>
  new Promise<Told>(done => {
    const child = spawn(command, words, { cwd, env, stdio: 'pipe' });
    const told = { stdout: '', stderr: '' };
    for (const which of ['stdout', 'stderr'] as const)
      child[which].setEncoding('utf8').on('data', (text: string) => {
        told[which] += text;
      });
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.on('close', code => done({ code, ...told }));
  });

/** Without the hook in its settings. */
async function makeSessionPlace(agent: LiveAgent, bin: string, model: Model): Promise<SessionPlace> {
  const mock = await startMock(model);
  const root = realpathSync(mkdtempSync(join(tmpdir(), `ralph-hook-${agent.name}-`)));
  const [home, project] = [join(root, 'user'), join(root, 'project')];
  for (const folder of [home, project]) mkdirSync(folder);
  const stage = agent.stage({ home, url: mock.url });
  for (const [path, content] of Object.entries(stage.files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), content);
  }
  const path = `${bin}:${nodeFolder}:${systemPath}`;
  const env: Record<string, string> = {
    PATH: path,
    HOME: home,
    RALPH_HOME: join(root, 'ralph'),
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    IS_SANDBOX: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
    GEMINI_CLI_NO_RELAUNCH: 'true',
    ...stage.environment,
  };
  const ralph = (...words: readonly string[]): Promise<Told> => run(pinnedNode, [program, ...words], project, env);
  const call: SessionPlace['call'] = (words, input, folder) =>
    run(agent.name, words, project, { ...env, PATH: folder === undefined ? path : `${folder}:${path}` }, input);
  return {
    project,
    home,
    mock,
    ralph,
    call,
    say: (session, prompt, isNew = true) => call(sayings[agent.name]?.(session, isNew) ?? [], prompt),
    async events(loop) {
      const { stdout } = await ralph('events', ...(loop === undefined ? [] : [loop]), '--json');
      return stdout.split('\n').flatMap(line => (line === '' ? [] : [JSON.parse(line) as Event]));
    },
    async remove() {
      await mock.hangUp();
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

export async function installHook(place: SessionPlace, agent: LiveAgent): Promise<SessionPlace> {
  const installed = await place.ralph('hook', 'install', agent.name, '--yes');
  assert.equal(installed.code, 0, installed.stderr);
  return place;
}

export const all = <Type extends EventType>(events: readonly Event[], type: Type): readonly EventOf<Type>[] =>
  events.filter((event): event is EventOf<Type> => event.type === type);

const limits = ['--max-iterations', '30', '--no-progress', '40', '--completion-promise', 'DONE'];
export const promised = 'All of it is there.\n\n<promise>DONE</promise>';
const stepName = [
  '',
  'roof',
  'wall',
  'door',
  'lamp',
  'stair',
  'floor',
  'sink',
  'table',
  'chair',
  'shelf',
  'bed',
  'rug',
];
const word = (number: number): Step => ({
  text: `The ${stepName[number % 13]} of part ${number} is drawn, more is to be done.`,
});

/** Says something else each time, and the promise at last. */
export const counting =
  (last: number): Model =>
  (_asked, count) =>
    count + 1 < last ? word(count + 1) : { text: promised };

/** Exactly so many iterations, no request after the promise, and the loop done. */
export async function assertDone(
  place: SessionPlace,
  iterations: number,
  requests = iterations,
  loop?: string,
): Promise<void> {
  const events = await place.events(loop);
  assert.equal(all(events, 'loop.ended').at(-1)?.reason, 'goal_achieved');
  assert.equal(all(events, 'iteration.ended').length, iterations, 'iterations');
  assert.equal(place.mock.work().length, requests, 'requests to the model');
}

export async function begin(
  place: SessionPlace,
  agent: LiveAgent,
  session: string,
  ...more: readonly string[]
): Promise<string> {
  const words = ['hook', 'start', 'Draw the house', '--agent', agent.name, ...limits, ...more];
  const told = await place.ralph(...words, ...(session === '' ? [] : ['--session', session]));
  assert.equal(told.code, 0, told.stderr);
  return told.stdout;
}

export interface HookTrial {
  readonly name: string;
  readonly agents: readonly string[];
  /** How often, unless told. */
  readonly times?: number;
  /** What calls Ralph at the end of a turn; the hook in the settings unless told. */
  readonly install?: (place: SessionPlace, agent: LiveAgent) => Promise<SessionPlace>;
  run(agent: LiveAgent, make: (model: Model) => Promise<SessionPlace>): Promise<void>;
}

const exactly: HookTrial = {
  name: 'twelve turns without a tool end exactly at the promise',
  agents: ['claude'],
  times: 20,
  async run(agent, make) {
    const place = await make(counting(12));
    const session = randomUUID();
    await place.say(session, await begin(place, agent, session));
    await assertDone(place, 12);
    const usage = all(await place.events(), 'usage.recorded').map(event => event.usage.inputTokens);
    assert.equal(
      usage.reduce((sum, one) => sum + one, 0),
      12_000,
      'every token is counted once',
    );
    assert.ok(!existsSync(join(place.project, '.claude/ralph-loop.local.md')), 'the state file is gone');
  },
};

const withTools: HookTrial = {
  name: 'twelve turns with a tool each, in a repository, with a check',
  agents: ['claude'],
  times: 3,
  async run(agent, make) {
    const place = await make((_asked, count) => {
      const turn = Math.floor(count / 2) + 1;
      if (count % 2 === 0) return { sh: `echo ${turn} >> house.txt` };
      return turn < 12 ? word(turn) : { text: promised };
    });
    const git = (...words: readonly string[]): void => {
      const env = { PATH: systemPath, HOME: place.home };
      spawnSync('git', ['-c', 'user.name=live', '-c', 'user.email=l@example.invalid', ...words], {
        cwd: place.project,
        env,
      });
    };
    git('init', '-q', '-b', 'main');
    git('commit', '-q', '--allow-empty', '-m', 'Nothing yet');
    const session = randomUUID();
    const check = ['--verify', 'test "$(wc -l < house.txt)" -eq 12', '--allow-red-start'];
    await place.say(session, await begin(place, agent, session, ...check));
    await assertDone(place, 12, 24);
    const [closed] = all(await place.events(), 'task.closed');
    assert.equal(closed?.verified, true);
  },
};

const twoSessions: HookTrial = {
  name: 'two sessions with a loop each and one without, in one directory',
  agents: ['claude'],
  times: 3,
  async run(agent, make) {
    const counts = new Map<string, number>();
    const place = await make(asked => {
      const who = /I am session (\w+)/.exec(asked.prompt)?.[1] ?? '';
      const count = (counts.get(who) ?? 0) + 1;
      counts.set(who, count);
      return count < { one: 5, two: 7 }[who]! ? word(count) : { text: promised };
    });
    const [one, two, none] = [randomUUID(), randomUUID(), randomUUID()];
    const first = await begin(place, agent, one, '--name', 'first');
    const second = await begin(place, agent, two, '--name', 'second');
    await Promise.all([
      place.say(one, `I am session one. ${first}`),
      place.say(two, `I am session two. ${second}`),
      place.say(none, 'I am session none. Say something.'),
    ]);
    assert.deepEqual(Object.fromEntries(counts), { one: 5, two: 7, none: 1 });
    await assertDone(place, 5, 13, 'first');
    await assertDone(place, 7, 13, 'second');
  },
};

/** In place of the hook a shell that dies once, before it has done anything or when all is recorded and nothing answered. */
function crashOnce(place: SessionPlace, at: 'before' | 'after'): void {
  const path = join(place.home, '.claude/settings.json');
  const settings = JSON.parse(readFileSync(path, 'utf8'));
  const mark = join(place.home, 'crashed');
  for (const event of ['Stop', 'StopFailure']) {
    const [hook] = settings.hooks[event][0].hooks;
    const real = [hook.command, ...hook.args].map((one: string) => `'${one}'`).join(' ');
    const first = at === 'before' ? '' : `${real} >/dev/null; `;
    const script = `if [ -e '${mark}' ]; then exec ${real}; fi; echo . >> '${mark}.turns'; if [ "$(wc -l < '${mark}.turns')" -lt 3 ]; then exec ${real}; fi; touch '${mark}'; ${first}kill -9 $$`;
    settings.hooks[event][0].hooks = [{ type: 'command', command: 'sh', args: ['-c', script], timeout: 60 }];
  }
  writeFileSync(path, JSON.stringify(settings));
}

const crashed = (at: 'before' | 'after'): HookTrial => ({
  name: `the hook is killed ${at} its work: the turn ends, and the next word of the user goes on`,
  agents: ['claude'],
  times: 3,
  async run(agent, make) {
    const place = await make(counting(6));
    crashOnce(place, at);
    const session = randomUUID();
    await place.say(session, await begin(place, agent, session));
    assert.equal(place.mock.work().length, 3, 'the killed hook lets the turn end');
    assert.ok(existsSync(join(place.project, '.claude/ralph-loop.local.md')), 'the state file stays');
    await place.say(session, 'Please go on', false);
    const events = await place.events();
    assert.equal(all(events, 'loop.ended').at(-1)?.reason, 'goal_achieved');
    assert.equal(place.mock.work().length, 6);
    assert.equal(all(events, 'iteration.ended').length, at === 'before' ? 5 : 6);
    assert.deepEqual(
      all(events, 'guidance.given').map(({ text }) => text),
      ['Please go on'],
    );
  },
});

const falsePromises = [
  'When I am ready I will say <promise>DONE</promise> and stop.',
  'You asked for this:\n\n> <promise>DONE</promise>',
  'It would look like this:\n\n```\n<promise>DONE</promise>\n```',
  'Nearly: <promise>done</promise>',
  '<promise>DONE</promise>\n\nOnly kidding, two rooms are missing.',
];

const notMeant: HookTrial = {
  name: 'a promise in prose, quoted, in a code block, in small letters, or not last does not end it',
  agents: ['claude'],
  times: 3,
  async run(agent, make) {
    const place = await make((_asked, count) => ({ text: falsePromises[count] ?? promised }));
    const session = randomUUID();
    await place.say(session, await begin(place, agent, session));
    await assertDone(place, falsePromises.length + 1);
    const refused = all(await place.events(), 'signal.read').filter(one => !one.accepted);
    assert.ok(refused.length >= 2, 'why it did not count is said');
  },
};

const capped: HookTrial = {
  name: 'at the cap of the host it pauses, says how to go on, and goes on headless to the promise',
  agents: ['claude'],
  async run(agent, make) {
    const place = await make((_asked, count) => (count < 10 ? word(count + 1) : { text: promised }));
    const path = join(place.home, '.claude/settings.json');
    const { env: _env, ...settings } = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify(settings));
    const session = randomUUID();
    const { stdout } = await place.say(session, await begin(place, agent, session, '--name', 'capped'));
    assert.equal(place.mock.work().length, 9, 'eight in a row go on, the ninth ends');
    assert.match(stdout, /ralph resume capped --headless/);
    assert.ok(!stdout.includes('overriding and ending turn'), 'the host had nothing to override');
    assert.equal(all(await place.events(), 'loop.paused').length, 1);
    const told = await place.ralph(
      'resume',
      'capped',
      '--headless',
      '--yes',
      '--no-input',
      '--model',
      'claude-sonnet-4-5',
    );
    assert.equal(told.code, 0, told.stderr);
    await assertDone(place, 11);
  },
};

/** A review of a file: the reviewer finds one issue, the fixer mends it, the second round is content. */
export async function reviewed(
  make: (model: Model) => Promise<SessionPlace>,
  begins: (place: SessionPlace) => Promise<unknown>,
): Promise<void> {
  let looks = 0;
  const place = await make(asked => {
    const newest = asked.prompt.slice(asked.prompt.lastIndexOf('## You work in a session') - 6_000);
    if (newest.includes('You mend a document')) {
      if (asked.turn === 0) return { sh: "printf '# Notes\\n\\nThe house has two doors.\\n' > notes.md" };
      return { text: 'It is mended.\n\n<review-complete>ALL_ISSUES_RESOLVED</review-complete>' };
    }
    looks += 1;
    const issue = { severity: 'high', place: 'line 3', issue: 'The number of doors is not said.', confidence: 90 };
    return { text: `<review>${JSON.stringify({ confidence: 97, issues: looks === 1 ? [issue] : [] })}</review>` };
  });
  const path = join(place.project, 'notes.md');
  writeFileSync(path, '# Notes\n\nThe house has doors.\n');
  await begins(place);
  const events = await place.events();
  assert.equal(all(events, 'loop.ended').at(-1)?.reason, 'goal_achieved', JSON.stringify(events.at(-1)));
  assert.match(readFileSync(path, 'utf8'), /two doors/);
  assert.equal(all(events, 'review.answered').length, 2);
}

const review: HookTrial = {
  name: 'a review: found, mended, looked at again',
  agents: ['claude'],
  run: (agent, make) =>
    reviewed(make, async place => {
      const session = randomUUID();
      const words = ['hook', 'start', 'notes.md', '--mode', 'review', '--agent', agent.name, '--session', session];
      const told = await place.ralph(...words, '--reviewer', 'adversarial', '--rounds', '3');
      assert.equal(told.code, 0, told.stderr);
      await place.say(session, told.stdout);
    }),
};

const others: HookTrial = {
  name: 'twelve turns end exactly at the promise, in the first session of the folder',
  agents: ['codex', 'gemini'],
  async run(agent, make) {
    const place = await make(counting(12));
    const told = await place.say('', await begin(place, agent, ''));
    const state = await place.ralph('hook', 'status');
    assert.equal(
      place.mock.work().length,
      12,
      `${told.stdout.slice(-2_000)}${told.stderr.slice(-2_000)}${state.stdout}`,
    );
    await assertDone(place, 12);
  },
};

export const hookTrials: readonly HookTrial[] = [
  exactly,
  withTools,
  twoSessions,
  crashed('before'),
  crashed('after'),
  notMeant,
  capped,
  review,
  others,
];

interface TrialRow {
  readonly agent: string;
  readonly trial: string;
  readonly passed: number;
  readonly times: number;
  readonly seconds: number;
}

/** Each as often as it says; what fails is told, and the others go on. */
export async function playTrials(trials: readonly HookTrial[], agent: LiveAgent, bin: string, most: number) {
  const rows: TrialRow[] = [];
  for (const trial of trials.filter(one => one.agents.includes(agent.name))) {
    const times = Math.min(trial.times ?? 1, most);
    const began = performance.now();
    let passed = 0;
    for (let time = 0; time < times; time += 1) {
      const places: SessionPlace[] = [];
      const make = async (model: Model): Promise<SessionPlace> => {
        const place = await makeSessionPlace(agent, bin, model);
        places.push(place);
        return (trial.install ?? installHook)(place, agent);
      };
      try {
        await trial.run(agent, make);
        passed += 1;
      } catch (error) {
        console.error(`\n${agent.name}: ${trial.name}: ${error instanceof Error ? error.stack : String(error)}`);
        for (const place of places) console.error((await place.ralph('explain')).stdout.slice(-4_000));
      }
      for (const place of places) await place.remove();
    }
    rows.push({ agent: agent.name, trial: trial.name, passed, times, seconds: (performance.now() - began) / 1_000 });
  }
  return rows;
}
