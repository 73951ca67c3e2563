// A scratch place for one scenario: a git repository with a PRD of two stories, a throw-away HOME, the mock, the real ralph.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Event, EventOf, EventType } from '../../src/core/event.ts';
import { isAlive } from '../../src/processes/identity.ts';
import type { LiveAgent, Stage } from './agents.ts';
import { nodeFolder, systemPath } from './install.ts';
import { type Mock, type Model, startMock } from './mock.ts';
import { storyPlace } from './story-model.ts';

/** Times leave Ralph as ISO 8601; an event has them as milliseconds. */
const inward = (name: string, value: unknown): unknown =>
  typeof value === 'string' && /^at$|(?:At|Until)$/.test(name) ? Date.parse(value) : value;

const repository = resolve(import.meta.dirname, '../..');
export const program = join(repository, 'dist/ralph.cjs');
export const pinnedNode = join(nodeFolder, 'node');

interface Told {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Told>;
  /** Resolves once it has said this to people. */
  says(words: string): Promise<void>;
}

/** The ledger as it grows, by `ralph events -f --json`. */
interface Following {
  until<Type extends EventType>(type: Type, holds?: (event: EventOf<Type>) => boolean): Promise<EventOf<Type>>;
}

export interface LivePlace {
  readonly root: string;
  readonly project: string;
  readonly temporary: string;
  readonly env: Readonly<Record<string, string>>;
  readonly mock: Mock;
  /** A tool call that goes on for minutes and holds the lock. */
  readonly longCommand: string;
  /** Flags that the agent needs here. */
  readonly words: readonly string[];
  run(more?: readonly string[]): Running;
  /** Any command, with nothing added. */
  start(words: readonly string[]): Running;
  ralph(words: readonly string[]): Promise<Told>;
  /** From the start of the run's first iteration on. */
  follow(running: Running): Promise<Following>;
  events(): Promise<readonly Event[]>;
  /** Resolves once the long command works. */
  toolStarted(): Promise<void>;
  /** What still lives of all that was started here; empty when nothing does. */
  survivors(): Promise<readonly string[]>;
  /** What a person needs to understand a failure here. */
  account(): Promise<string>;
  remove(): Promise<void>;
}

export interface Needs {
  readonly agent: LiveAgent;
  readonly bin: string;
  readonly model: Model;
  readonly environment?: Readonly<Record<string, string>>;
  readonly without?: readonly string[];
  /** Changes how the agent is set up. */
  readonly restage?: (stage: Stage) => Stage;
}

const name = 'live';

function prdText(): string {
  const story = (id: string, description: string) => ({
    id,
    title: `Write the file of ${id}`,
    description,
    criteria: [`${storyPlace(id)} ends with "is finished"`],
    passes: false,
  });
  const stories = [story('US-001', 'Write it.'), story('US-002', bigDescription)];
  return `${JSON.stringify({ project: 'live', description: 'Two files.', userStories: stories }, null, 2)}\n`;
}

/** More than fits into one argument of a program (F78). */
export const bigDescription = `${Array.from({ length: 20_000 }, (_, at) => `line ${at}`).join('\n')}\nthe end of it`;

/** Every story file that is there must be whole, and one must be there. */
const check = 'set -e; for file in work/*.txt; do tail -n 1 "$file" | grep -q "is finished$"; done';

function makeRepository(project: string): void {
  mkdirSync(project, { recursive: true });
  writeFileSync(join(project, 'PRD.json'), prdText());
  const env = { PATH: systemPath, HOME: project, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...words: readonly string[]): void => {
    execFileSync('git', words, { cwd: project, env, stdio: 'ignore' });
  };
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('-c', 'user.name=live', '-c', 'user.email=live@example.invalid', 'commit', '-q', '-m', 'A backlog');
}

function start(words: readonly string[], cwd: string, env: Readonly<Record<string, string>>): Running {
  const child = spawn(pinnedNode, [program, ...words], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const told = { stdout: '', stderr: '' };
  for (const which of ['stdout', 'stderr'] as const) {
    child[which]?.setEncoding('utf8').on('data', (text: string) => {
      told[which] += text;
    });
  }
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...told }));
  const says = (wanted: string): Promise<void> =>
    new Promise((resolveSaid, reject) => {
      const look = (): void => {
        if (told.stderr.includes(wanted)) resolveSaid();
      };
      child.stderr?.on('data', look);
      look();
      void ended.then(({ stderr }) => reject(new Error(`it ended without saying ${wanted}: ${stderr}`)));
    });
  return { child, ended, says };
}

function following(running: Running): Following {
  const seen: Event[] = [];
  const watchers = new Set<() => void>();
  let rest = '';
  running.child.stdout?.on('data', (text: string) => {
    const lines = `${rest}${text}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) seen.push(JSON.parse(line, inward) as Event);
    for (const look of [...watchers]) look();
  });
  return {
    until: (type, holds = () => true) =>
      new Promise((resolveEvent, reject) => {
        const look = (): void => {
          const found = seen.find(event => event.type === type && holds(event as EventOf<typeof type>));
          if (found === undefined) return;
          watchers.delete(look);
          resolveEvent(found as EventOf<typeof type>);
        };
        watchers.add(look);
        look();
        void running.ended.then(({ stderr }) => reject(new Error(`the ledger ended without ${type}. ${stderr}`)));
      }),
  };
}

/** Resolves when the file is there. */
function appears(path: string): Promise<void> {
  return new Promise(resolveSeen => {
    const watcher = watch(dirname(path), () => look());
    const look = (): void => {
      if (!existsSync(path)) return;
      watcher.close();
      resolveSeen();
    };
    look();
  });
}

const isLocked = (path: string): boolean =>
  existsSync(path) &&
  spawnSync('perl', ['-e', 'use Fcntl ":flock"; open(F,">>",$ARGV[0]); exit(flock(F,LOCK_EX|LOCK_NB) ? 0 : 1)', path])
    .status !== 0;

export async function makePlace({
  agent,
  bin,
  model,
  environment,
  without,
  restage = stage => stage,
}: Needs): Promise<LivePlace> {
  const mock = await startMock(model);
  const root = realpathSync(mkdtempSync(join(tmpdir(), `ralph-live-${agent.name}-`)));
  const [home, project, temporary] = [join(root, 'user'), join(root, 'project'), join(root, 'tmp')];
  for (const folder of [home, temporary]) mkdirSync(folder);
  makeRepository(project);
  const stage = restage(agent.stage({ home, url: mock.url }));
  for (const [path, content] of Object.entries(stage.files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), content);
  }
  const all: Record<string, string> = {
    PATH: `${bin}:${nodeFolder}:${systemPath}`,
    HOME: home,
    RALPH_HOME: join(root, 'ralph'),
    TMPDIR: temporary,
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    ...stage.environment,
    ...environment,
  };
  for (const variable of without ?? []) delete all[variable];
  const started: Running[] = [];
  const keep = (words: readonly string[]): Running => {
    const running = start(words, project, all);
    started.push(running);
    return running;
  };
  const [lock, sign] = [join(project, 'long.lock'), join(project, 'long.started')];
  const said = new Set<string>();
  const told = (one: readonly string[]): Running => {
    const running = keep(one);
    void running.ended.then(({ code, stdout, stderr }) => said.add(`exit ${code}\n${stdout}${stderr}`));
    return running;
  };
  const events = async (): Promise<readonly Event[]> => {
    const { stdout } = await start(['events', name, '--json'], project, all).ended;
    return stdout.split('\n').flatMap(line => (line === '' ? [] : [JSON.parse(line) as Event]));
  };
  const words = [
    '--agent',
    agent.name,
    ...stage.words,
    '--verify',
    check,
    '--allow-red-start',
    '--name',
    name,
    '--backoff-base',
    '100ms',
  ];
  return {
    root,
    project,
    temporary,
    env: all,
    mock,
    words: stage.words,
    longCommand: `perl '${join(import.meta.dirname, 'hold.pl')}' '${lock}' '${sign}'`,
    run(more = []) {
      return told(['run', 'PRD.json', ...words, '--yes', '--no-input', ...more]);
    },
    start: told,
    ralph: one => keep(one).ended,
    async follow(running) {
      await running.says('Iteration 1');
      return following(keep(['events', name, '-f', '--json']));
    },
    events,
    toolStarted: () => appears(sign),
    async survivors() {
      const spawned = (await events()).filter(event => event.type === 'iteration.spawned');
      const alive = spawned.filter(({ pid, startTime }) => isAlive(pid, startTime));
      return [
        ...alive.map(({ pid, iteration }) => `process ${pid} of iteration ${iteration}`),
        ...(isLocked(lock) ? ['a holder of the lock'] : []),
      ];
    },
    async account() {
      const steps = mock.requests.map(({ path, step, asked }) => `${path} turn ${asked.turn} ${JSON.stringify(step)}`);
      const facts = (await events().catch(() => [])).map(event => JSON.stringify(event));
      return [...said, ...facts, ...steps].map(line => line.slice(0, 1_500)).join('\n');
    },
    async remove() {
      for (const { child } of started) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await Promise.all(started.map(({ ended }) => ended));
      await mock.hangUp();
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

export const storyText = (place: LivePlace, id: string): string =>
  readFileSync(join(place.project, storyPlace(id)), 'utf8');
