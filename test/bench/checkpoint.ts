// Measures what a checkpoint costs: against `git add -A && git commit` by hand, in a copy with the same changes.
import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type GitCheckpoints, gitCheckpoints } from '../../src/git/git-checkpoints.ts';
import { openRepository } from '../../src/git/repository.ts';
import { type BenchRow, median } from './row.ts';

const ratioLimit = 1.5; // issue 4
const p99MsMax = 100; // seed 000
const changedPerRound = 5;

interface Side {
  readonly top: string;
  readonly ms: number[];
}

const pathOf = (at: number): string => `folder-${at % 40}/sub-${at % 7}/file-${at}.txt`;

function environmentIn(root: string): Readonly<Record<string, string>> {
  const HOME = join(root, 'home');
  mkdirSync(HOME);
  writeFileSync(join(HOME, '.gitconfig'), '[user]\n\tname = Ann\n\temail = ann@localhost\n[gc]\n\tauto = 0\n');
  return { PATH: process.env['PATH'] ?? '', HOME };
}

function makeRepository(top: string, env: Readonly<Record<string, string>>, files: number): void {
  for (let at = 0; at < files; at += 1) {
    const path = join(top, pathOf(at));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `line of file ${at}\n`.repeat(20));
  }
  run(['git init -q', 'git add -A', 'git commit -qm first'].join(' && '), top, env);
}

function run(script: string, cwd: string, env: Readonly<Record<string, string>>): void {
  const ran = spawnSync('sh', ['-c', script], { cwd, env, encoding: 'utf8' });
  if (ran.status !== 0) throw new Error(`${script}: ${ran.stderr}`);
}

/** The work of an iteration: a few files edited, one made, one deleted. */
function change(top: string, round: number, files: number): void {
  for (let count = 0; count < changedPerRound; count += 1) {
    appendFileSync(join(top, pathOf((round * 131 + count * 17) % files)), `round ${round}\n`);
  }
  writeFileSync(join(top, `new-${round}.txt`), `made in round ${round}\n`);
  if (round > 1) rmSync(join(top, `new-${round - 1}.txt`));
}

async function timed(work: () => unknown): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

async function save(checkpoints: GitCheckpoints, number: number): Promise<void> {
  const saved = await checkpoints.save({
    number,
    iteration: number,
    kind: 'iteration',
    label: 'after an iteration',
    anchor: `${number} ab`,
  });
  if (!saved.ok) throw new Error(saved.problem);
}

interface Measured {
  readonly firstMs: number;
  readonly ours: readonly number[];
  readonly theirs: readonly number[];
}

/** Both take turns, and the order changes, so that a busy machine slows both alike. */
async function measure(files: number, rounds: number): Promise<Measured> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-bench-checkpoint-')));
  try {
    const environment = environmentIn(root);
    const [ours, theirs]: [Side, Side] = [
      { top: join(root, 'ours'), ms: [] },
      { top: join(root, 'theirs'), ms: [] },
    ];
    makeRepository(ours.top, environment, files);
    cpSync(ours.top, theirs.top, { recursive: true, preserveTimestamps: true });
    run('git status', theirs.top, environment); // the copy's index knows its files too
    const opened = await openRepository({ directory: ours.top, environment });
    if (!opened.ok) throw new Error(opened.problem);
    const { repository } = opened;
    const folder = join(root, 'loop');
    const checkpoints = gitCheckpoints({ loop: 'bench', repository, folder });
    const firstMs = await timed(() => save(checkpoints, 1));
    const mine = async (round: number): Promise<void> => {
      change(ours.top, round, files);
      ours.ms.push(await timed(() => save(checkpoints, round + 1)));
    };
    const hand = async (round: number): Promise<void> => {
      change(theirs.top, round, files);
      theirs.ms.push(await timed(() => run(`git add -A && git commit -q -m ${round}`, theirs.top, environment)));
    };
    for (let round = 1; round <= rounds; round += 1) {
      for (const turn of round % 2 === 0 ? [mine, hand] : [hand, mine]) await turn(round);
    }
    return { firstMs, ours: ours.ms.slice(2), theirs: theirs.ms.slice(2) }; // without the warm-up
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

const p99Of = (values: readonly number[]): number =>
  [...values].sort((one, other) => one - other)[Math.ceil(values.length * 0.99) - 1]!;

const load = (): string => `load ${loadavg()[0]!.toFixed(1)}`;

export async function benchCheckpoint(quick: boolean): Promise<readonly BenchRow[]> {
  const rows: BenchRow[] = [];
  const ratioRow = (files: number, { ours, theirs, firstMs }: Measured): BenchRow => ({
    name: `checkpoint of ${files} files / git add -A && git commit -q`,
    ratio: median(ours) / median(theirs),
    limit: ratioLimit,
    detail:
      `${median(ours).toFixed(1)} ms, by hand ${median(theirs).toFixed(1)} ms (medians of ${ours.length} in turn); ` +
      `the first one ${firstMs.toFixed(0)} ms`,
  });
  const small = await measure(1_000, quick ? 30 : 122);
  rows.push(ratioRow(1_000, small));
  const [p99, p99ByHand] = [p99Of(small.ours), p99Of(small.theirs)];
  rows.push({
    name: 'checkpoint of 1000 files: p99 in ms',
    ratio: p99,
    limit: p99MsMax,
    detail: `of ${small.ours.length}, by hand ${p99ByHand.toFixed(1)} ms; ${load()}: an absolute figure of this machine now`,
  });
  rows.push(ratioRow(10_000, await measure(10_000, quick ? 10 : 32)));
  return rows;
}
