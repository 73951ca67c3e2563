// What the tests of the command line share: a scratch project with a home of its own, and the real binary run in it.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  createReadStream,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect } from 'vitest';
// @ts-expect-error: a plain script without types
import { isBuilt } from '../../scripts/build.mjs';
import type { ScriptTurn } from '../../src/agents/scripted.ts';
import { homeWithProbes } from '../processes/probes.ts';
import { type Hosted, hosted, type Told } from './hosts.ts';

export type { Told };

const repository = join(import.meta.dirname, '..', '..');
export const pinnedNode = join(repository, 'node_modules', 'node', 'bin', 'node');
export const binary = join(repository, 'dist', 'ralph.cjs');
/** As users start it: with what was compiled of the bundle before. */
const command = join(repository, 'bin', 'ralph');
const deadlineMs = 45_000;

if (!isBuilt()) execFileSync(pinnedNode, [join(repository, 'scripts', 'build.mjs')], { stdio: 'inherit' });

export interface Manner {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** Standard output and standard error are a terminal of this width; nobody sits at it. */
  readonly columns?: number;
  readonly input?: string | Buffer;
  /** Another one than that of this repository. */
  readonly binary?: string;
  /** Standard input stays open and silent. */
  readonly holdsInput?: true;
}

/** A process that goes on while the test acts. */
export interface Live {
  readonly child: ChildProcess;
  readonly said: () => string;
  /** Resolves once standard output and standard error together hold this. */
  readonly says: (wanted: string | RegExp) => Promise<void>;
  readonly ended: Promise<Told>;
}

export interface Scratch {
  readonly root: string;
  readonly project: string;
  readonly home: string;
  readonly temporary: string;
  readonly env: Readonly<Record<string, string>>;
  readonly put: (name: string, text: string | Uint8Array) => string;
  readonly read: (name: string) => string;
  /** The real binary. */
  readonly start: (words: readonly string[], manner?: Manner) => Live;
  /** The same command line in a process that is warm; the real binary where it is asked for or has standard input. */
  readonly ralph: (words: readonly string[], manner?: Manner) => Promise<Told>;
  readonly json: (words: readonly string[]) => Promise<never>;
  readonly end: () => void;
}

const variables = (env: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined));

function startIn(
  env: Readonly<Record<string, string>>,
  words: readonly string[],
  project: string,
  manner: Manner,
): Live {
  const child = spawn(pinnedNode, [manner.binary ?? command, ...words], {
    cwd: manner.cwd ?? project,
    env: variables({ ...env, ...manner.env }),
    stdio: [manner.input === undefined && !manner.holdsInput ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  child.stdin?.on('error', () => {});
  if (!manner.holdsInput) child.stdin?.end(manner.input);
  const told = { stdout: '', stderr: '' };
  const waiting = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      told[name] += text;
      for (const look of waiting) look();
    });
  }
  const said = (): string => told.stdout + told.stderr;
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...told }));
  const holds = (wanted: string | RegExp): boolean =>
    typeof wanted === 'string' ? said().includes(wanted) : wanted.test(said());
  const says = (wanted: string | RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const give = (how: () => void): void => {
        waiting.delete(look);
        clearTimeout(timer);
        how();
      };
      const look = (): void => {
        if (holds(wanted)) give(resolve);
      };
      const timer = setTimeout(() => give(() => reject(new Error(`never said ${wanted} but:\n${said()}`))), deadlineMs);
      waiting.add(look);
      look();
      void ended.then(() => {
        if (!holds(wanted)) give(() => reject(new Error(`ended without saying ${wanted} but:\n${said()}`)));
      });
    });
  return { child, said, says, ended };
}

export function scratch(): Scratch {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-cli-')));
  const [project, home, temporary] = [join(root, 'project'), join(root, 'home'), join(root, 'tmp')];
  for (const folder of [project, temporary, join(root, 'user')]) mkdirSync(folder);
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: join(root, 'user'),
    RALPH_HOME: home,
    TMPDIR: temporary,
    LANG: 'C.UTF-8',
    TZ: 'UTC',
  };
  const lives: Live[] = [];
  const startAsItIs = (words: readonly string[], manner: Manner = {}): Live => {
    const live = startIn(env, words, project, manner);
    lives.push(live);
    return live;
  };
  const start: Scratch['start'] = (words, manner) => {
    if (words[0] !== 'demo') homeWithProbes(home); // a demo has a home of its own
    return startAsItIs(words, manner);
  };
  const commands: Hosted[] = [];
  const ralph = (words: readonly string[], manner: Manner = {}): Promise<Told> => {
    if (manner.binary !== undefined || manner.input !== undefined || manner.holdsInput)
      return startAsItIs(words, manner).ended; // it may be one that must make no home
    const { cwd = project, columns } = manner;
    const one = hosted({ words, cwd, columns, env: variables({ ...env, ...manner.env }) });
    commands.push(one);
    return one.told;
  };
  return {
    root,
    project,
    home,
    temporary,
    env,
    put(name, text) {
      writeFileSync(join(project, name), text);
      return join(project, name);
    },
    read: name => readFileSync(join(project, name), 'utf8'),
    start,
    ralph,
    json: async words => JSON.parse((await ralph(words)).stdout) as never,
    end() {
      for (const one of commands) one.kill();
      for (const { child } of lives) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      rmSync(root, { recursive: true, force: true });
    },
  };
}

const testMsMax = 100_000; // below the test runner's own limit, after which nothing of a test is run any more

/** One scratch place for one test; it and every process started in it are gone when it ends, also when it hangs. */
export async function inScratch<Result>(work: (place: Scratch) => Promise<Result>): Promise<Result> {
  const place = scratch();
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`it hangs: ${testMsMax} ms have passed`)), testMsMax);
  try {
    return await Promise.race([work(place), late]);
  } finally {
    clearTimeout(timer);
    place.end();
  }
}

/** Everything in a folder, byte by byte. */
function bytesOf(folder: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    const path = join(folder, name);
    const stat = lstatSync(path);
    const content = stat.isSymbolicLink() ? readlinkSync(path) : stat.isFile() ? readFileSync(path, 'base64') : '';
    const changedMs = name === 'tmp' ? 0 : stat.mtimeMs; // files without a name come and go there
    found[name] = `${stat.mode} ${changedMs} ${content}`;
  }
  return found;
}

/** Runs it and proves that it was refused in words and that nothing was written anywhere. */
export async function refused(
  place: Scratch,
  words: readonly string[],
  wanted: RegExp,
  manner: Manner & { readonly code?: number } = {},
): Promise<Told> {
  const before = bytesOf(place.root);
  const told = await place.ralph(words, manner);
  expect(told.stderr).toMatch(wanted);
  expect(told.stderr).toMatch(/^(note: .*\n)*ralph: [^\n]+(\n {2}[^\n]+)*\n$/);
  expect(told.stderr).not.toMatch(/internal error|\n\s+at /);
  expect(told.stdout).toBe('');
  expect(told.code).toBe(manner.code ?? 2);
  expect(existsSync(place.home)).toBe(false);
  expect(bytesOf(place.root)).toEqual(before);
  return told;
}

export interface Story {
  readonly id: string;
  readonly [key: string]: unknown;
}

/** A PRD.json with these stories; whatever a story does not say is filled in. */
export function prd(
  stories: readonly (string | Story)[] = ['US-001'],
  more: Readonly<Record<string, unknown>> = {},
): string {
  const userStories = stories.map(one => {
    const story = typeof one === 'string' ? { id: one } : one;
    const title = `Story ${story.id.slice(0, 20)}`;
    return { title, description: `${title}.`, criteria: ['it works'], passes: false, ...story };
  });
  return `${JSON.stringify({ project: 'shop', description: 'A shop', ...more, userStories }, null, 2)}\n`;
}

export const claims = (task?: string): ScriptTurn => ({
  ...(task === undefined ? {} : { task }),
  steps: [{ say: 'It works now.' }, { claim: true }],
});

/** An agent that asks a person instead of working. */
export const asks = {
  escalate: { type: 'stuck', summary: 'Which?', context: '', options: ['this'], question: 'Which?' },
};

/** A project with a PRD.json and a script for the scripted agent. */
export function scripted(place: Scratch, stories: readonly (string | Story)[], turns: readonly ScriptTurn[]): void {
  place.put('PRD.json', prd(stories));
  place.put('script.json', JSON.stringify({ turns }));
}

export const runScript = ['run', 'PRD.json', '--script', 'script.json'] as const;

/** An agent that says that it has started and then hangs with a child of its own; a fifo shows when all of it is dead. */
export function hangingAgent(place: Scratch): { readonly command: string; readonly gone: () => Promise<void> } {
  const path = join(place.root, 'alive');
  spawnSync('sh', ['-c', 'mkfifo "$0"', path]);
  const stream = createReadStream(path).resume();
  const end = once(stream, 'close');
  return {
    command: `exec 9>${path}; read -r _; echo agent at work; sleep 3600 & sleep 3600; wait`,
    gone: async () => {
      await end;
    },
  };
}

/** Asks again until it holds; the deadline only bounds a test that has failed. */
export async function eventually<Value>(what: string, look: () => Value | Promise<Value>): Promise<NonNullable<Value>> {
  const until = Date.now() + deadlineMs;
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== null && value !== false) return value as NonNullable<Value>;
    if (Date.now() > until) throw new Error(`it never came true: ${what}`);
    await new Promise(resolve => setTimeout(resolve, 20));
  }
}

/** The ledger of the newest loop, event by event. */
export async function eventsOf(place: Scratch): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { stdout } = await place.ralph(['events', '--json']);
  return stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
}

export const isInstalled = (program: string): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some(folder => existsSync(join(folder, program)));
