// The scratch ground of the benches of whole loops: projects with and without git, stub agents, and `ralph run` in them.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Build, bundleOf } from './section.ts';

/** The fake agent. Bash reads its clock without starting a program; its own start counts in every gap, also the floors'. */
const stub = (words: string): string =>
  `begun=$EPOCHREALTIME\n${words}\necho "$begun $EPOCHREALTIME" >>"$1"\nexit 0 # whatever comes after the clock is gap\n`;
const claim = 'echo "Task $RALPH_TASK complete"';
/** A line more in one file of the repository, another for each task. */
const work =
  // biome-ignore lint/suspicious/noTemplateCurlyInString: of bash
  'at=$((10#${RALPH_TASK#US-} % BENCH_FILES)); echo "$RALPH_TASK" >>"folder-$((at % 40))/sub-$((at % 7))/file-$at.txt"';
/** Something else each time: who says the same again and again stands still, and no flag lets a loop go on with that. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: of bash
const look = 'echo "looked at part ${begun#*.}, nothing claimed"';
const pause = (seconds: string): string => `read -t ${seconds} <> <(:)`;
const stubs = {
  idle: stub(look),
  claims: stub(claim),
  claimsAfterWork: stub(`${claim}; ${pause('0.1')}`),
  touches: stub(`${look}; printf " " >>PRD.json`),
  works: stub(`${work}; ${claim}`),
  worksFor: stub(`${work}; ${claim}; ${pause('$2')}`),
  edits: stub(
    `${work}; sed -i "/\\"$RALPH_TASK\\"/,/passes/s/\\"passes\\": false/\\"passes\\": true/" PRD.json; ${claim}`,
  ),
  /** Works until as many as $3 have, then rests so many seconds. */
  rests: stub(
    `${work}; ${claim}; mapfile -t seen <"$1" 2>/dev/null; if ((\${#seen[@]} >= $3)); then ${pause('$2')}; fi`,
  ),
  floods: stub(`yes 'a line of output as a compiler would print it, of some length' | head -c "$2"; echo; ${claim}`),
};
export type StubName = keyof typeof stubs;

const pathOf = (at: number): string => `folder-${at % 40}/sub-${at % 7}/file-${at}.txt`;

export interface LoopOrder {
  readonly agent: StubName;
  /** More words for the stub. */
  readonly words?: readonly string[];
  readonly tasks: number;
  /** In a repository with so many files; without it in a folder without git. */
  readonly files?: number;
  readonly iterations: number;
  readonly flags?: readonly string[];
  /** Before the bundle: a tracer. */
  readonly before?: readonly string[];
  /** Options of Node. */
  readonly node?: readonly string[];
  /** The program instead of the bundle. */
  readonly program?: string;
  /** PATH, where programs of its own come first. */
  readonly path?: string;
  /** A RALPH_HOME that was used before; without it a fresh one. */
  readonly home?: string;
  /** Look at its memory again and again. */
  readonly watched?: boolean;
}

interface Memory {
  readonly atMs: number;
  readonly residentMb: number;
  readonly peakMb: number;
}

export interface Ran {
  /** Of each agent, in milliseconds of the clock. */
  readonly agents: readonly { readonly begun: number; readonly ended: number }[];
  readonly startedMs: number;
  readonly tookMs: number;
  /** Of all its processes. */
  readonly cpuMs: number;
  readonly memory: readonly Memory[];
  readonly project: Project;
}

export interface Project {
  readonly directory: string;
  readonly log: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Of all descendants that have ended, as Linux counts it. */
function childrenCpuMs(): number {
  const fields = readFileSync('/proc/self/stat', 'latin1').split(') ')[1]!.split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10; // cutime and cstime, in ticks of 10 ms
}

function memoryOf(pid: number): Memory | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'latin1');
    const mb = (name: string): number => Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(text)?.[1]) / 1_024;
    return { atMs: Date.now(), residentMb: mb('VmRSS'), peakMb: mb('VmHWM') };
  } catch {
    return undefined; // it has ended
  }
}

export function run(command: string, args: readonly string[], { directory, env }: Omit<Project, 'log'>): string {
  const ran = spawnSync(command, args, { cwd: directory, env, encoding: 'utf8', maxBuffer: 1 << 30 });
  if (ran.status !== 0) throw new Error(`${command} ${args.join(' ')} exited with ${ran.status}: ${ran.stderr}`);
  return ran.stdout;
}

export function documentOf(tasks: number): string {
  const userStories = Array.from({ length: tasks }, (_, at) => ({
    id: `US-${String(at + 1).padStart(5, '0')}`,
    title: `Story ${at + 1}`,
    description: 'A short one.',
    criteria: ['it is there'],
    passes: false,
  }));
  return `${JSON.stringify({ project: 'bench', description: 'Gaps.', userStories }, null, 2)}\n`;
}

export class Ground {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-bench-')));
  #projects = 0;
  readonly #templates = new Map<string, string>();

  constructor() {
    for (const [name, text] of Object.entries(stubs)) writeFileSync(join(this.folder, name), text);
    mkdirSync(join(this.folder, 'nobody'));
    writeFileSync(join(this.folder, 'nobody', '.gitconfig'), '[user]\n\tname = Ann\n\temail = ann@localhost\n');
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** New each time: a loop that ran before must not be gone on with. */
  project(tasks: number, files?: number): Project {
    this.#projects += 1;
    const directory = join(this.folder, `project-${this.#projects}`);
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: join(this.folder, 'nobody'),
      RALPH_HOME: `${directory}-home`,
      BENCH_FILES: String(files ?? 1),
    };
    const project = { directory, log: `${directory}-times`, env };
    if (files === undefined) {
      mkdirSync(directory);
      writeFileSync(join(directory, 'PRD.json'), documentOf(tasks));
    } else {
      run('cp', ['-a', this.#repository(tasks, files, env), directory], { directory: this.folder, env });
      run('git', ['update-index', '-q', '--refresh'], project); // the copies have other inodes
    }
    return project;
  }

  /** Made once; packed, as a clone is. */
  #repository(tasks: number, files: number, env: Project['env']): string {
    const directory = join(this.folder, `repository-${files}-${tasks}`);
    if (this.#templates.has(directory)) return directory;
    const file = (path: string, text: string): string => `M 100644 inline ${path}\ndata ${text.length}\n${text}\n`;
    const stream = [
      'commit refs/heads/main\ncommitter Ann <ann@localhost> 1700000000 +0000\ndata 5\nfirst\n',
      ...Array.from({ length: files }, (_, at) => file(pathOf(at), `line of file ${at}\n`.repeat(20))),
      file('PRD.json', documentOf(tasks)),
    ].join('');
    const place = { directory, env };
    run('git', ['init', '-q', '-b', 'main', directory], { directory: this.folder, env });
    const made = spawnSync('git', ['fast-import', '--quiet'], { cwd: directory, env, input: stream });
    if (made.status !== 0) throw new Error(`git fast-import: ${made.stderr}`);
    run('git', ['reset', '-q', '--hard'], place);
    this.#templates.set(directory, directory);
    return directory;
  }

  /** Several projects need not stay at once. */
  drop({ directory }: Project): void {
    for (const path of [directory, `${directory}-home`]) rmSync(path, { recursive: true, force: true });
  }

  command(agent: StubName, log: string, words: readonly string[] = []): string {
    return `exec bash --norc '${join(this.folder, agent)}' '${log}' ${words.join(' ')}`;
  }

  /** As npm installs it: no sources beside it. Gives the folder. */
  install(build: Build): string {
    const folder = join(this.folder, `installed-${build.name.replaceAll(/\W/g, '-')}`);
    if (existsSync(folder)) return folder;
    for (const part of ['bin', 'dist', 'package.json', 'plugin']) {
      if (!existsSync(join(build.root, part))) continue; // a release without it
      cpSync(join(build.root, part), join(folder, part), { recursive: true, preserveTimestamps: true });
    }
    return folder;
  }

  /** The real thing: the bundle, SQLite, the command agent, git's checkpoints and commits unless told otherwise. */
  async ralph(build: Build, order: LoopOrder): Promise<Ran> {
    const fresh = this.project(order.tasks, order.files);
    const { PATH = '', RALPH_HOME = '' } = fresh.env;
    const project = { ...fresh, env: { ...fresh.env, PATH: order.path ?? PATH, RALPH_HOME: order.home ?? RALPH_HOME } };
    const words = ['run', 'PRD.json', '--yes', '--no-input', '--quiet', '--no-progress', '1000000'];
    const limits = ['--max-attempts', '1000000', '--max-iterations', String(order.iterations)];
    const agent = ['--agent-command', this.command(order.agent, project.log, order.words)];
    const program = order.program ?? bundleOf(build.root)!;
    const [command, ...args] = [
      ...(order.before ?? []),
      ...[process.execPath, ...(order.node ?? []), program],
      ...[...words, ...limits, ...(order.flags ?? []), ...agent, '--agent-env', 'BENCH_FILES'],
    ] as [string, ...string[]];
    const ended = await started(command, args, project, order.watched === true);
    const usedUp = 3; // --max-iterations
    if (ended.code !== usedUp && ended.code !== 0)
      throw new Error(`ralph run exited with ${ended.code}: ${ended.said}`);
    return { ...ended, agents: agentsIn(project.log), project };
  }

  /** Of all processes; what its start takes is in both runs. */
  async cpuMsPerIteration(build: Build, order: Omit<LoopOrder, 'iterations'>, iterations: number): Promise<number> {
    const few = 3;
    const [short, long] = [
      await this.ralph(build, { ...order, iterations: few }),
      await this.ralph(build, { ...order, iterations }),
    ];
    for (const { project } of [short, long]) this.drop(project);
    return (long.cpuMs - short.cpuMs) / (iterations - few);
  }
}

/** Runs it, and tells what it took. */
export function started(
  command: string,
  args: readonly string[],
  { directory, env, input }: Omit<Project, 'log'> & { readonly input?: string },
  isWatched = false,
): Promise<Pick<Ran, 'startedMs' | 'tookMs' | 'cpuMs' | 'memory'> & { readonly code: number | null; said: string }> {
  const [cpuBefore, startedMs, begin] = [childrenCpuMs(), Date.now(), performance.now()];
  const memory: Memory[] = [];
  return new Promise((resolve, reject) => {
    const stdin = input === undefined ? 'ignore' : 'pipe';
    const child = spawn(command, args, { cwd: directory, env, stdio: [stdin, 'pipe', 'pipe'] });
    child.stdin?.on('error', () => {}).end(input);
    let said = '';
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on('data', data => {
        said += data;
      });
    }
    const look = (): void => {
      const seen = memoryOf(child.pid!);
      if (seen !== undefined && seen.peakMb > 0) memory.push(seen);
    };
    const watch = isWatched ? setInterval(look, 100) : undefined;
    child.on('error', reject);
    child.on('close', code => {
      clearInterval(watch);
      const tookMs = performance.now() - begin;
      resolve({ code, said, startedMs, tookMs, cpuMs: childrenCpuMs() - cpuBefore, memory });
    });
  });
}

export function agentsIn(log: string): Ran['agents'] {
  const lines = readFileSync(log, 'utf8').trim().split('\n');
  return lines.map(line => {
    const [begun, ended] = line.split(' ').map(word => Number(word) * 1_000);
    return { begun: begun!, ended: ended! };
  });
}

/** From one agent's last instruction to the next one's first; without the first ones: both sides warm up. */
export function gapsOf(agents: Ran['agents'], warmUp: number): readonly number[] {
  return agents.slice(1).flatMap(({ begun }, at) => (at < warmUp ? [] : [begun - agents[at]!.ended]));
}
