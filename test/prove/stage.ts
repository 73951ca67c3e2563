// A scratch project with its own RALPH_HOME, and the real `ralph` on the pinned Node to be run and killed in it.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
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
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { openLedger } from '../../src/app/app.ts';
import type { Event } from '../../src/core/event.ts';
import { eventsOf } from '../../src/engine/replay.ts';
import type { Verified } from '../../src/ledger/ledger.ts';
import { hosted } from '../cli/hosts.ts';
import { homeWithProbes } from '../processes/probes.ts';

export const agentPath = (name: string): string => resolve(import.meta.dirname, '../fixtures/agents', name);
const program = resolve(import.meta.dirname, '../../dist/ralph.cjs');

/** Every story file that is there must be whole. */
const workCheck = 'for file in work/*.txt; do read -r id rest <"$file" && [ "$rest" = "is finished" ] || exit 1; done';

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
  readonly errors: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** What it has said so far, to people. */
  errors(): string;
}

interface RunOptions {
  /** The command line that starts ralph: a tracer, a shell that sets limits. */
  readonly before?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly program?: string;
  readonly directory?: string;
}

export interface LoopRecord {
  readonly loop: string;
  readonly events: readonly Event[];
  readonly verified: Verified;
}

export interface Stage {
  readonly folder: string;
  readonly home: string;
  readonly project: string;
  readonly document: string;
  ralph(words: readonly string[], options?: RunOptions): Running;
  /** The same command line in a process that is warm, where the process itself is not what is looked at. */
  warm(words: readonly string[]): Promise<Omit<Ended, 'signal'>>;
  /** `ralph run` of the document with this agent, checked, without waits between failures. */
  run(agent?: string, options?: RunOptions, more?: readonly string[]): Running;
  runWarm(agent?: string, more?: readonly string[]): Promise<Omit<Ended, 'signal'>>;
  /** Every loop in the ledger, oldest first; none while there is no ledger. */
  ledger(): Promise<readonly LoopRecord[]>;
  /** One line per start of an agent: iteration and task. */
  starts(): readonly string[];
  gate(): void;
  openGate(): void;
  remove(): void;
}

export function storyIds(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `US-00${at + 1}`);
}

/** Odd spacing and unknown keys, so that a byte-identical file means something. */
function documentText(stories: number): string {
  const rows = storyIds(stories).map(
    (id, at) =>
      `  { "id": "${id}",   "title": "Story ${at + 1}", "description": "Write it.", "criteria": ["its file is whole"],\n` +
      `    "passes":false, "depends_on": [${at > 1 ? `"US-00${at - 1}"` : ''}], "points": ${at}.50 }`,
  );
  return `{ "project" : "proof", "description": "A small backlog.", "owner":{"b":1,"a":2},\n "userStories": [\n${rows.join(',\n')}\n ] }\n`;
}

export function makeStage(stories = 5, folder?: string): Stage {
  const root = folder ?? realpathSync(mkdtempSync(join(tmpdir(), 'ralph-stage-')));
  const [home, project] = [join(root, 'home'), join(root, 'project')];
  mkdirSync(project, { recursive: true });
  const document = join(project, 'PRD.json');
  writeFileSync(document, documentText(stories));
  const started: ChildProcess[] = [];
  const environment = { PATH: process.env['PATH'] ?? '', HOME: root, RALPH_HOME: home };
  const ralph = (words: readonly string[], options: RunOptions = {}): Running => {
    homeWithProbes(home);
    const running = start([...(options.before ?? []), process.execPath, options.program ?? program, ...words], {
      directory: options.directory ?? project,
      env: { ...environment, ...options.env },
    });
    started.push(running.child);
    return running;
  };
  const warm: Stage['warm'] = async words => {
    const { code, stdout, stderr } = await hosted({ words, cwd: project, env: environment }).told;
    return { code, output: stdout, errors: stderr };
  };
  const runWords = (agent: string, more: readonly string[]): readonly string[] => [
    ...['run', 'PRD.json', '--agent-command', agentPath(agent), '--verify', workCheck],
    ...['--allow-red-start', '--backoff-base', '10ms', ...more],
  ];
  return {
    folder: root,
    home,
    project,
    document,
    ralph,
    warm,
    run: (agent = 'prd-works', options = {}, more = []) => ralph(runWords(agent, more), options),
    runWarm: (agent = 'prd-works', more = []) => warm(runWords(agent, more)),
    ledger: () => readLedger(home),
    starts: () => linesOf(join(project, 'starts.log')),
    gate: () => void spawnSync('sh', ['-c', 'mkfifo gate'], { cwd: project }),
    openGate: () => {
      // Opened for both directions, so that neither side waits for the other for ever.
      const gate = join(project, 'gate');
      if (existsSync(gate)) spawnSync('sh', ['-c', 'exec 3<>"$1"; echo >&3; rm "$1"', 'sh', gate]);
    },
    remove: () => {
      for (const child of started) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function linesOf(path: string): readonly string[] {
  return existsSync(path)
    ? readFileSync(path, 'utf8')
        .split('\n')
        .filter(line => line !== '')
    : [];
}

function start(
  [command, ...args]: readonly string[],
  { directory, env }: { directory: string; env: Readonly<Record<string, string>> },
): Running {
  const child = spawn(command!, args, { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [output, errors] = ['', ''];
  child.stdout.on('data', data => {
    output += data;
  });
  child.stderr.on('data', data => {
    errors += data;
  });
  const ended = new Promise<Ended>((done, fail) => {
    child.on('error', fail);
    // Not `close`: an agent that outlived us for a moment may still hold the pipes.
    child.on('exit', (code, signal) => setImmediate(() => done({ code, signal, output, errors })));
  });
  return { child, ended, errors: () => errors };
}

async function readLedger(home: string): Promise<readonly LoopRecord[]> {
  if (!existsSync(join(home, 'ralph.db'))) return [];
  const ledger = await openLedger({ home, env: {}, warn: () => {}, readOnly: true });
  try {
    const found: LoopRecord[] = [];
    for (const { loop } of [...(await ledger.store.loops())].reverse()) {
      const events: Event[] = [];
      for await (const page of eventsOf(ledger, loop)) events.push(...page.map(recorded => recorded.event));
      found.push({ loop, events, verified: await ledger.store.verify(loop) });
    }
    return found;
  } finally {
    await ledger.store.close();
  }
}

/** Living processes that work below this folder; every agent does, whatever it calls itself. */
export function living(folder: string): readonly number[] {
  return readdirSync('/proc').flatMap(name => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const at = readlinkSync(`/proc/${name}/cwd`);
      return at === folder || at.startsWith(`${folder}/`) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

/** Looks again until it is so; the deadline is generous, because only a failure ever reaches it. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>, msMax = 30_000): Promise<void> {
  const giveUpAt = performance.now() + msMax;
  while (!(await isSo())) {
    if (performance.now() > giveUpAt) throw new Error(`waited in vain until ${what}`);
    await setTimeout(5);
  }
}
