// `npm run bench`: one table of ratios, each against a floor that was measured in the same run. Exit 1 when one is over.
import { availableParallelism, loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { benchCheckpoint } from './checkpoint.ts';
import { benchDocuments } from './documents.ts';
import { benchFold } from './fold.ts';
import { benchGap } from './loops/gap.ts';
import { benchBallast, benchGit, benchSizes } from './loops/git.ts';
import { Ground } from './loops/ground.ts';
import { benchHistory } from './loops/history.ts';
import { benchHook } from './loops/hook.ts';
import { benchLoad } from './loops/load.ts';
import { benchMemory } from './loops/memory.ts';
import { benchPeers } from './loops/peers.ts';
import { benchPrograms } from './loops/programs.ts';
import { benchProof } from './loops/proof.ts';
import { type Build, bundleOf } from './loops/section.ts';
import { benchStart } from './loops/start.ts';
import { benchParser } from './parser.ts';
import { benchRedact } from './redact.ts';
import { type BenchRow, isOver } from './row.ts';
import { benchSignals } from './signal.ts';
import { benchSimilarity } from './similarity.ts';
import { benchStore } from './store.ts';

type Bench = (isQuick: boolean, against?: string) => Promise<readonly BenchRow[]>;
type LoopBench = (isQuick: boolean, builds: readonly Build[], ground: Ground) => Promise<readonly BenchRow[]>;

/** Of many inputs of one kind only the worst decides. */
const worstOf =
  (bench: Bench): Bench =>
  async isQuick => {
    const rows = await bench(isQuick);
    const worst = [...rows].sort((one, other) => other.ratio - one.ratio)[0]!;
    return [{ ...worst, name: `${worst.name} (the worst of ${rows.length})` }];
  };

/** Whole loops of a built Ralph: what users get. Any build can be measured. */
const loopBenches: Readonly<Record<string, LoopBench>> = {
  git: benchGit,
  sizes: benchSizes,
  ballast: benchBallast,
  programs: benchPrograms,
  gap: benchGap,
  start: benchStart,
  hook: benchHook,
  memory: benchMemory,
  history: benchHistory,
  load: benchLoad,
  proof: benchProof,
  peers: benchPeers,
};
/** Parts of this source; `redact` also beside another source. */
const partBenches: Readonly<Record<string, Bench>> = {
  store: benchStore,
  checkpoint: benchCheckpoint,
  fold: benchFold,
  signal: worstOf(benchSignals),
  parser: benchParser,
  redact: benchRedact,
  documents: benchDocuments,
  similarity: benchSimilarity,
};
const benches = [...Object.keys(loopBenches), ...Object.keys(partBenches)];

const options = { quick: { type: 'boolean' }, against: { type: 'string' } } as const;
const { values, positionals } = parseArgs({ options, allowPositionals: true });
const isQuick = values.quick === true;
const root = join(import.meta.dirname, '..', '..');
const builds: readonly Build[] = [
  { name: 'this', root },
  ...(values.against === undefined ? [] : [{ name: 'other', root: resolve(values.against) }]),
];
const unknown = positionals.filter(name => !benches.includes(name));
const needsBuild = positionals.length === 0 || positionals.some(name => name in loopBenches);
const unbuilt = needsBuild ? builds.find(build => bundleOf(build.root) === undefined) : undefined;
const refusal =
  unknown.length > 0
    ? `No bench is called ${unknown.join(', ')}. There are: ${benches.join(', ')}.`
    : unbuilt === undefined
      ? undefined
      : `There is no bundle in dist of ${unbuilt.root}: build it first.`;
if (refusal !== undefined) {
  process.stderr.write(`${refusal}\n`);
  process.exit(2);
}

function lines(row: BenchRow): string {
  const bound = row.limit === undefined ? '' : `${row.higherIsBetter ? '>=' : '<='} ${row.limit}`;
  const verdict = row.skipped !== undefined ? 'skip' : row.limit === undefined ? 'cost' : isOver(row) ? 'OVER' : 'pass';
  const figure = (ratio: number): string => (Number.isNaN(ratio) ? '-' : ratio.toFixed(2)).padStart(8);
  const other = builds.length === 1 ? '' : `  ${figure(row.other?.ratio ?? Number.NaN)}`;
  const details = row.other === undefined ? [row.detail] : [`this: ${row.detail}`, `other: ${row.other.detail}`];
  const indent = ' '.repeat(25 + other.length);
  const told = row.skipped === undefined ? details : [`not measured: ${row.skipped}`];
  return `${verdict}  ${figure(row.ratio)}${other}  ${bound.padEnd(7)}  ${row.name}\n${told.map(one => `${indent}${one}\n`).join('')}`;
}

const load = (): string => `${loadavg()[0]!.toFixed(1)} on ${availableParallelism()} cores`;
const begin = performance.now();
process.stdout.write(
  `Ratios to floors of the same run, on Node ${process.versions.node}. All agents are fake: a few lines of shell, no model, no key.\n` +
    `Load of the machine ${load()}; with more work than cores the gaps tell about the other work.\n\n` +
    `         ratio  ${builds.length === 1 ? '' : '   other  '}limit    measured / floor\n`,
);
let over = 0;
const isAsked = (name: string): boolean => positionals.length === 0 || positionals.includes(name);
function print(rows: readonly BenchRow[]): void {
  over += rows.filter(isOver).length;
  process.stdout.write(rows.map(lines).join(''));
}
for (const [name, bench] of Object.entries(loopBenches).filter(([name]) => isAsked(name))) {
  const ground = new Ground();
  try {
    print(await bench(isQuick, builds, ground));
  } finally {
    ground.remove();
  }
  if (builds.length > 1) process.stdout.write(`${' '.repeat(35)}(${name}: load ${load()})\n`);
}
for (const [name, bench] of Object.entries(partBenches)) {
  const isOurs = builds.length === 1 || name === 'redact';
  if (isOurs && isAsked(name)) print(await bench(isQuick, builds[1]?.root));
}
const took = `${((performance.now() - begin) / 1_000).toFixed(0)} s`;
process.stdout.write(
  `\n${over === 0 ? 'Every row is within its limit' : `${over} over their limits`}; ${took}, load ${load()}.\n`,
);
process.exitCode = over === 0 ? 0 : 1;
