// `npm run accuracy`: what the detectors read rightly and wrongly, of our own sets and of hold-outs, into docs/accuracy.md.
// `-- --misses claims` names the rows of our own set and of opened hold-outs that go wrong; those of the hold-out are counted, never shown.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { claims } from './claims.ts';
import { failures } from './failures.ts';
import {
  type Detector,
  type Figure,
  folderOf,
  isReached,
  type OpenedSet,
  openedSets,
  readRows,
  type SetName,
} from './figure.ts';
import { secrets } from './secrets.ts';
import { stuckDetector } from './stuck.ts';
import { tamper } from './tamper.ts';

const detectors: readonly Detector[] = [claims, failures, stuckDetector, tamper, secrets];

const { values } = parseArgs({ options: { misses: { type: 'string' } } });
const page = join(import.meta.dirname, '..', '..', 'docs', 'accuracy.md');
type Counts = Readonly<Record<string, { readonly count: number; readonly of: number }>>;

const percent = (count: number, of: number): string => (of === 0 ? '-' : `${((100 * count) / of).toFixed(1)} %`);
const told = (one?: { readonly count: number; readonly of: number }): string =>
  one === undefined || one.of === 0 ? '-' : `${one.count} of ${one.of} (${percent(one.count, one.of)})`;
const wantedWords = ({ wanted }: Figure): string =>
  'atLeast' in wanted ? `>= ${wanted.atLeast * 100} %` : `<= ${wanted.atMost * 100} %`;

/** The hold-out is what its hashes say, or the figures are of something else. */
function changedFiles(): readonly string[] {
  const lines = readFileSync(join(folderOf('holdout'), 'sha256'), 'utf8')
    .trim()
    .split('\n');
  return lines
    .map(line => line.split(/\s+/) as [string, string])
    .filter(
      ([hash, name]) =>
        createHash('sha256')
          .update(readFileSync(join(folderOf('holdout'), name)))
          .digest('hex') !== hash,
    )
    .map(([, name]) => name);
}

async function figuresOf(set: SetName): Promise<ReadonlyMap<string, readonly Figure[]>> {
  const found = new Map<string, readonly Figure[]>();
  for (const { name, measure } of detectors) found.set(name, await measure(readRows(set)));
  return found;
}

const changed = changedFiles();
if (changed.length > 0) throw new Error(`The hold-out was changed: ${changed.join(', ')}`);

const own = await figuresOf('own');
const opened = await Promise.all(openedSets.map(figuresOf));
if (values.misses !== undefined) {
  for (const set of [own, ...opened])
    for (const { measure, misses } of set.get(values.misses) ?? []) console.log(`${measure}: ${misses.join('\n  ')}`);
  process.exit(0);
}
const holdout = await figuresOf('holdout');

/** What the rules had never seen, as it came out the first time; written once for each measure, and never again. */
function unseenOf(set: OpenedSet | 'holdout'): Counts {
  const path = join(folderOf(set), 'unseen.json');
  const earlier: Counts = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
  if (set !== 'holdout') return earlier;
  const unseen = [...holdout].flatMap(([name, figures]) =>
    figures
      .filter(({ of, measure }) => of > 0 && earlier[`${name}: ${measure}`] === undefined)
      .map(({ measure, count, of }) => [`${name}: ${measure}`, { count, of }] as const),
  );
  const all: Counts = { ...earlier, ...Object.fromEntries(unseen) };
  if (unseen.length > 0) writeFileSync(path, `${JSON.stringify(all, null, 2)}\n`);
  return all;
}

const unseen = [...openedSets, 'holdout' as const].map(unseenOf);

/** Of all hold-outs that have been read since. */
function readSince(name: string, figure: Figure, at: number): Figure {
  const all = opened.flatMap(set => set.get(name)?.[at] ?? []);
  const sum = (key: 'count' | 'of'): number => all.reduce((total, one) => total + one[key], 0);
  return { ...figure, count: sum('count'), of: sum('of') };
}

const rows = [...own].flatMap(([name, figures]) =>
  figures.map((figure, at) => {
    const [read, now] = [readSince(name, figure, at), holdout.get(name)?.[at]];
    const firstRuns = unseen.map(set => told(set[`${name}: ${figure.measure}`]));
    const cells = [name, figure.measure, wantedWords(figure), told(figure), told(read), ...firstRuns, told(now)];
    return {
      line: `| ${cells.join(' | ')} |`,
      isReached: [figure, read, now].every(one => one === undefined || isReached(one)),
    };
  }),
);
const text = `# Accuracy of the detectors

Made by \`npm run accuracy\`. What decides "done", "failed", "stuck", "tampered" and "secret" is measured on sets of rows in
\`test/accuracy\`:

* our own set, which the rules were made with;
* three earlier hold-outs, each written by fresh readers who had not seen the rules. How they came out then, unseen, stands in
  their columns. They have been read since, so "opened, now" shows no more than our own set;
* the fourth hold-out, written by other fresh readers. Its hashes (\`holdout/sha256\`) were committed before the rules changed
  again, its rows are counted and never looked at. "Unseen" is its first run, with the rules as they were then.

A secret counts as leaked when eight characters in a row of it are left, one of them drawn at random: the prefix and the host of an
address are public (the rows of the columns "unseen" were counted with the host).

How rows are counted was mended where it was wrong, and "unseen" stays as it was counted then. Since the fourth hold-out a question or
a wish for a fresh context is heard when it is read as such (by meaning: 68 of 70 with the rules of the first run, instead of 55), and
a near miss of a report, a question or a handoff may simply be read. Since the third one a provider's or the network's trouble is no
step of a task in sequences, as in the core, and a check with 0 failures refuses nothing.

| detector | measure | wanted | own set | opened, now | first hold-out, unseen | second, unseen | third, unseen | fourth, unseen | now |
|---|---|---|---|---|---|---|---|---|---|
${rows.map(row => row.line).join('\n')}
`;
writeFileSync(page, text);
console.log(text);
process.exitCode = rows.every(row => row.isReached) ? 0 : 1;
