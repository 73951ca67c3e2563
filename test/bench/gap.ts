// Measures what the loop itself costs: the time from one agent's last instruction to the next agent's first.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contained, containment } from '../../src/processes/contain.ts';
import { type BenchRow, median } from './row.ts';

const bundle = join(import.meta.dirname, '..', '..', 'dist', 'ralph.cjs');
const floor = join(import.meta.dirname, 'floor.mjs');
const headlineLimit = 4; // issue 2
const growthLimit = 2; // issue 2
const rereadLimit = 0.1;
const warmUp = 15;

/** The fake agent. Bash reads its clock without starting a program; its own start counts in every gap, also the floors'. */
const stub = (words: string): string =>
  `begun=$EPOCHREALTIME\n${words}\necho "$begun $EPOCHREALTIME" >>"$1"\nexit 0 # whatever comes after the clock is gap\n`;
const stubs = {
  idle: stub('echo "looked at it, nothing claimed"'),
  claims: stub('echo "Task $RALPH_TASK complete"'),
  claimsAfterWork: stub('echo "Task $RALPH_TASK complete"; read -t 0.1 <> <(:)'),
  touches: stub('echo "looked at it"; printf " " >>PRD.json'),
};

interface Case {
  readonly agent: keyof typeof stubs;
  readonly tasks: number;
  readonly flags?: readonly string[];
}

class Ground {
  readonly folder = mkdtempSync(join(tmpdir(), 'ralph-bench-gap-'));
  #runs = 0;

  constructor() {
    for (const [name, text] of Object.entries(stubs)) writeFileSync(join(this.folder, name), text);
  }

  /** A new project folder each time: a loop that ran before must not be gone on with. */
  project(tasks: number): { readonly directory: string; readonly log: string } {
    this.#runs += 1;
    const directory = join(this.folder, `project-${this.#runs}`);
    mkdirSync(directory);
    const userStories = Array.from({ length: tasks }, (_, at) => ({
      id: `US-${String(at + 1).padStart(5, '0')}`,
      title: `Story ${at + 1}`,
      description: 'A short one.',
      criteria: ['it is there'],
      passes: false,
    }));
    const text = JSON.stringify({ project: 'bench', description: 'Gaps.', userStories }, null, 2);
    writeFileSync(join(directory, 'PRD.json'), `${text}\n`);
    return { directory, log: join(directory, 'times') };
  }

  command(agent: keyof typeof stubs, log: string): string {
    return `exec bash --norc '${join(this.folder, agent)}' '${log}'`;
  }
}

/** In milliseconds, without the first ones: both sides compile themselves while they run. */
function gapsIn(log: string): readonly number[] {
  const times = readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .map(line => line.split(' ').map(Number));
  return times.slice(1).flatMap(([begun], at) => (at < warmUp ? [] : [(begun! - times[at]![1]!) * 1_000]));
}

/** The real thing: the bundle, SQLite, the command agent. */
function runRalph(ground: Ground, { agent, tasks, flags = [] }: Case, iterations: number): readonly number[] {
  const { directory, log } = ground.project(tasks);
  const words = ['run', 'PRD.json', '--yes', '--no-input', '--quiet', '--no-progress', '1000000'];
  const limits = ['--max-attempts', '1000000', '--max-iterations', String(iterations)];
  const ran = spawnSync(
    process.execPath,
    [bundle, ...words, ...limits, ...flags, '--agent-command', ground.command(agent, log)],
    {
      cwd: directory,
      env: { PATH: process.env['PATH'], HOME: join(ground.folder, 'nobody'), RALPH_HOME: join(directory, 'home') },
      encoding: 'utf8',
    },
  );
  const usedUp = 3; // --max-iterations
  if (ran.status !== usedUp) throw new Error(`ralph run exited with ${ran.status}: ${ran.stdout}${ran.stderr}`);
  return gapsIn(log);
}

/** The least that any durable loop does, bare or through the wrapper that Ralph puts round every agent. */
function runFloor(ground: Ground, iterations: number, isContained: boolean): readonly number[] {
  const { directory, log } = ground.project(1);
  const plain = { command: 'sh', args: ['-c', ground.command('idle', log)] };
  const { command, args } = isContained ? contained(plain.command, plain.args) : plain;
  const ran = spawnSync(process.execPath, [floor, String(iterations), command, ...args], {
    cwd: directory,
    env: { PATH: process.env['PATH'], FLOOR_CONTROL: isContained ? '1' : '0' },
    encoding: 'utf8',
  });
  if (ran.status !== 0) throw new Error(`the floor exited with ${ran.status}: ${ran.stderr}`);
  return gapsIn(log);
}

const ms = (value: number): string => `${value.toFixed(2)} ms`;

/** Rounds take turns. A ratio compares the medians of each side's quietest round: other work on the machine only adds. */
class Rounds {
  readonly #gaps = new Map<string, (readonly number[])[]>();

  add(name: string, gaps: readonly number[]): void {
    this.#gaps.set(name, [...(this.#gaps.get(name) ?? []), gaps]);
  }

  row(label: string, name: string, base: string, limit?: number): BenchRow {
    const [own, least] = [this.#gaps.get(name)!, this.#gaps.get(base)!];
    const [ownMs, leastMs] = [own, least].map(rounds => Math.min(...rounds.map(median)));
    const all = median(own.flat()) / median(least.flat());
    const rounds = own.map((gaps, round) => `${median(gaps).toFixed(1)}/${median(least[round]!).toFixed(1)}`);
    const detail = `${ms(ownMs!)} to ${ms(leastMs!)}; all rounds together ${all.toFixed(2)}: ${rounds.join(' ')}`;
    return { name: label, ratio: ownMs! / leastMs!, ...(limit === undefined ? {} : { limit }), detail };
  }
}

/** All that this process and its finished descendants ever read, as Linux counts it. */
function bytesRead(): number {
  return Number(/^rchar: (\d+)/m.exec(readFileSync('/proc/self/io', 'latin1'))?.[1]);
}

function readPerIteration(ground: Ground, one: Case): number {
  const [few, many] = [warmUp + 5, warmUp + 25].map(iterations => {
    const before = bytesRead();
    runRalph(ground, one, iterations);
    return bytesRead() - before;
  });
  return (many! - few!) / 20;
}

function rereadRow(ground: Ground): BenchRow | undefined {
  if (process.platform !== 'linux') return undefined;
  const tasks = 10_000;
  const size = statSync(join(ground.project(tasks).directory, 'PRD.json')).size;
  const untouched = readPerIteration(ground, { agent: 'idle', tasks });
  const touched = readPerIteration(ground, { agent: 'touches', tasks });
  const kb = (bytes: number): string => `${(bytes / 1_000).toFixed(1)} kB`;
  return {
    name: 'gap: bytes read per iteration while the document is unchanged / size of the document',
    ratio: untouched / size,
    limit: rereadLimit,
    detail: `${kb(untouched)} by Ralph and its agent together, document ${kb(size)}; ${kb(touched)} when the agent writes to it`,
  };
}

export async function benchGap(quick: boolean): Promise<readonly BenchRow[]> {
  const ground = new Ground();
  const iterations = warmUp + 25;
  const room = iterations + 10; // more tasks than iterations: nothing ends before the last gap
  const rounds = new Rounds();
  const cases: Readonly<Record<string, Case>> = {
    ralph: { agent: 'idle', tasks: 10 },
    many: { agent: 'idle', tasks: 10_000 },
    saves: { agent: 'claims', tasks: room },
    checks: { agent: 'claims', tasks: room, flags: ['--verify', 'true'] },
  };
  const worked: Readonly<Record<string, Case>> = {
    savesWorked: { agent: 'claimsAfterWork', tasks: room },
    manySaves: { agent: 'claimsAfterWork', tasks: 10_000 },
  };
  try {
    for (let round = 0; round < (quick ? 3 : 8); round += 1) {
      rounds.add('contained', runFloor(ground, iterations, true));
      rounds.add('floor', runFloor(ground, iterations, false));
      for (const [name, one] of Object.entries(cases)) rounds.add(name, runRalph(ground, one, iterations));
    }
    for (let round = 0; round < (quick ? 1 : 4); round += 1)
      for (const [name, one] of Object.entries(worked)) rounds.add(name, runRalph(ground, one, iterations));
    const reread = rereadRow(ground);
    return [
      rounds.row('gap: ralph run / bare loop, one durable row', 'ralph', 'floor', headlineLimit),
      rounds.row(`gap: the same / bare loop with our containment (${containment()})`, 'ralph', 'contained'),
      rounds.row('gap: containment alone, bare loop with it / without', 'contained', 'floor'),
      rounds.row('gap: a task closed and the document saved / neither', 'saves', 'ralph'),
      rounds.row('gap: that and one check (`true`) / closed and saved unchecked', 'checks', 'saves'),
      rounds.row('gap: 10,000 tasks / 10 tasks', 'many', 'ralph', growthLimit),
      rounds.row(
        `gap: 10,000 tasks / ${room}, each closed, saved by agents of 0.1 s`,
        'manySaves',
        'savesWorked',
        growthLimit,
      ),
      ...(reread === undefined ? [] : [reread]),
    ];
  } finally {
    rmSync(ground.folder, { recursive: true, force: true });
  }
}
