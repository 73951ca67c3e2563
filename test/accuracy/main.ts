// `npm run accuracy`: what the detectors read rightly and wrongly, of our own sets and of hold-outs, into docs/accuracy.md.
// `-- --misses claims` names the rows of our own set and of opened hold-outs that go wrong; those of the hold-out are counted, never shown.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { claims } from './claims.ts';
import { failures } from './failures.ts';
import { type Detector, type Figure, folders, isReached, readRows, type SetName } from './figure.ts';
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
  const lines = readFileSync(join(folders.holdout, 'sha256'), 'utf8').trim().split('\n');
  return lines
    .map(line => line.split(/\s+/) as [string, string])
    .filter(
      ([hash, name]) =>
        createHash('sha256')
          .update(readFileSync(join(folders.holdout, name)))
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

const [own, first, second] = [await figuresOf('own'), await figuresOf('first'), await figuresOf('second')];
if (values.misses !== undefined) {
  for (const set of [own, first, second])
    for (const { measure, misses } of set.get(values.misses) ?? []) console.log(`${measure}: ${misses.join('\n  ')}`);
  process.exit(0);
}
const holdout = await figuresOf('holdout');

/** What the rules had never seen, as it came out the first time; written once for each measure, and never again. */
function unseenOf(set: 'first' | 'second' | 'holdout'): Counts {
  const path = join(folders[set], 'unseen.json');
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

const unseen = { first: unseenOf('first'), second: unseenOf('second'), holdout: unseenOf('holdout') };

/** Of both hold-outs that have been read since. */
function readSince(name: string, at: number): Figure | undefined {
  const [one, other] = [first.get(name)?.[at], second.get(name)?.[at]];
  if (one === undefined || other === undefined) return one ?? other;
  return { ...one, count: one.count + other.count, of: one.of + other.of };
}

const rows = [...own].flatMap(([name, figures]) =>
  figures.map((figure, at) => {
    const [read, now] = [readSince(name, at), holdout.get(name)?.[at]];
    const key = `${name}: ${figure.measure}`;
    const cells = [
      ...[name, figure.measure, wantedWords(figure), told(figure)],
      ...[told(unseen.first[key]), told(unseen.second[key]), told(read)],
      ...[told(unseen.holdout[key]), told(now)],
    ];
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
* two hold-outs, each written by fresh readers who had not seen the rules. How they came out then, unseen, stands in their columns.
  They have been read since, so "now, read" shows no more than our own set;
* the third hold-out, written by other fresh readers. Its hashes (\`holdout/sha256\`) were committed before the rules changed
  again, its rows are counted and never looked at. "Unseen" is its first run, with the rules as they were then.

A secret counts as leaked when eight characters in a row of it are left, one of them drawn at random: the prefix and the host of an
address are public (the rows of the columns "unseen" were counted with the host).

| detector | measure | wanted | own set | first hold-out, unseen | second, unseen | both now, read | third hold-out, unseen | now |
|---|---|---|---|---|---|---|---|---|
${rows.map(row => row.line).join('\n')}
`;
writeFileSync(page, text);
console.log(text);
process.exitCode = rows.every(row => row.isReached) ? 0 : 1;
