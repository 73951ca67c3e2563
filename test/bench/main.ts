// `npm run bench`: one table of ratios, each against a floor that was measured in the same run. Exit 1 when one is over.
import { availableParallelism, loadavg } from 'node:os';
import { benchCheckpoint } from './checkpoint.ts';
import { benchDocuments } from './documents.ts';
import { benchFold } from './fold.ts';
import { benchGap } from './gap.ts';
import { benchParser } from './parser.ts';
import { benchRedact } from './redact.ts';
import { type BenchRow, isOver } from './row.ts';
import { benchSignals } from './signal.ts';
import { benchSimilarity } from './similarity.ts';
import { benchStart } from './start.ts';
import { benchStore } from './store.ts';

type Bench = (quick: boolean) => Promise<readonly BenchRow[]>;

/** Of many inputs of one kind only the worst decides. */
const worstOf =
  (bench: Bench): Bench =>
  async quick => {
    const rows = await bench(quick);
    const worst = [...rows].sort((one, other) => other.ratio - one.ratio)[0]!;
    return [{ ...worst, name: `${worst.name} (the worst of ${rows.length})` }];
  };

const benches: Readonly<Record<string, Bench>> = {
  gap: benchGap,
  start: benchStart,
  store: benchStore,
  checkpoint: benchCheckpoint,
  fold: benchFold,
  signal: worstOf(benchSignals),
  parser: benchParser,
  redact: benchRedact,
  documents: benchDocuments,
  similarity: benchSimilarity,
};

const words = process.argv.slice(2);
const quick = words.includes('--quick');
const names = words.filter(word => word !== '--quick');
const unknown = names.filter(name => !Object.hasOwn(benches, name));
if (unknown.length > 0) {
  process.stderr.write(`No bench is called ${unknown.join(', ')}. There are: ${Object.keys(benches).join(', ')}.\n`);
  process.exit(2);
}

function line(row: BenchRow): string {
  const bound = row.limit === undefined ? '' : `${row.higherIsBetter ? '>=' : '<='} ${row.limit}`;
  const verdict = row.limit === undefined ? 'cost' : isOver(row) ? 'OVER' : 'pass';
  return `${verdict}  ${row.ratio.toFixed(2).padStart(8)}  ${bound.padEnd(7)}  ${row.name}\n${' '.repeat(25)}${row.detail}\n`;
}

const load = (): string => `${loadavg()[0]!.toFixed(1)} on ${availableParallelism()} cores`;
const begin = performance.now();
process.stdout.write(
  `Ratios to floors of the same run, on Node ${process.versions.node}. All agents are fake: a few lines of shell, no model, no key.\n` +
    `Load of the machine ${load()}; with more work than cores the gaps tell about the other work.\n\n` +
    `         ratio  limit    measured / floor\n`,
);
let over = 0;
for (const [name, bench] of Object.entries(benches)) {
  if (names.length > 0 && !names.includes(name)) continue;
  for (const row of await bench(quick)) {
    if (isOver(row)) over += 1;
    process.stdout.write(line(row));
  }
}
const took = `${((performance.now() - begin) / 1_000).toFixed(0)} s`;
process.stdout.write(
  `\n${over === 0 ? 'Every row is within its limit' : `${over} over their limits`}; ${took}, load ${load()}.\n`,
);
process.exitCode = over === 0 ? 0 : 1;
