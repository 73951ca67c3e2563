// `npm run accuracy`: what the detectors read rightly and wrongly, of our own sets and of hold-outs, into docs/accuracy.md.
// `-- --misses claims` names the rows of our own set and of the opened hold-out that go wrong; those of the hold-out are counted, never shown.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { claims } from './claims.ts';
import { failures } from './failures.ts';
import { type Detector, type Figure, isReached, readRows, type SetName } from './figure.ts';
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
  const lines = readFileSync(join(import.meta.dirname, 'holdout.sha256'), 'utf8')
    .trim()
    .split('\n');
  return lines
    .map(line => line.split(/\s+/) as [string, string])
    .filter(([hash, name]) => {
      const path = join(import.meta.dirname, 'holdout', name);
      return existsSync(path) && createHash('sha256').update(readFileSync(path)).digest('hex') !== hash;
    })
    .map(([, name]) => name);
}

async function figuresOf(set: SetName): Promise<ReadonlyMap<string, readonly Figure[]>> {
  const found = new Map<string, readonly Figure[]>();
  for (const { name, measure } of detectors) found.set(name, await measure(readRows(set)));
  return found;
}

const changed = changedFiles();
if (changed.length > 0) throw new Error(`The hold-out was changed: ${changed.join(', ')}`);

const [own, opened] = [await figuresOf('own'), await figuresOf('opened')];
if (values.misses !== undefined) {
  const figures = [...(own.get(values.misses) ?? []), ...(opened.get(values.misses) ?? [])];
  for (const { measure, misses } of figures) console.log(`${measure}: ${misses.join('\n  ')}`);
  process.exit(0);
}
const holdout = await figuresOf('holdout');

const read = (path: string): Counts => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {});

/** What the rules had never seen, as it came out the first time; written once for each measure, and never again. */
function firstRun(): Counts {
  const path = join(import.meta.dirname, 'holdout-first-run.json');
  const earlier = read(path);
  const unseen = [...holdout].flatMap(([name, figures]) =>
    figures
      .filter(({ of, measure }) => of > 0 && earlier[`${name}: ${measure}`] === undefined)
      .map(({ measure, count, of }) => [`${name}: ${measure}`, { count, of }] as const),
  );
  const all: Counts = { ...earlier, ...Object.fromEntries(unseen) };
  if (unseen.length > 0) writeFileSync(path, `${JSON.stringify(all, null, 2)}\n`);
  return all;
}

const unseen = { opened: read(join(import.meta.dirname, 'opened-first-run.json')), holdout: firstRun() };

const rows = [...own].flatMap(([name, figures]) =>
  figures.map((figure, at) => {
    const [before, now] = [opened.get(name)?.[at], holdout.get(name)?.[at]];
    const key = `${name}: ${figure.measure}`;
    const earlier = [told(unseen.opened[key]), told(before)];
    const cells = [
      name,
      figure.measure,
      wantedWords(figure),
      told(figure),
      ...earlier,
      told(unseen.holdout[key]),
      told(now),
    ];
    return {
      line: `| ${cells.join(' | ')} |`,
      isReached: [figure, before, now].every(one => one === undefined || isReached(one)),
    };
  }),
);
const text = `# Accuracy of the detectors

Made by \`npm run accuracy\`. What decides "done", "failed", "stuck", "tampered" and "secret" is measured on three sets of rows in
\`test/accuracy\`:

* our own set, which the rules were made with;
* the first hold-out, written by fresh readers who had not seen the rules. How it came out then, unseen, stands in its first column.
  It has been read since, so it shows no more than our own set;
* the second hold-out, written by other fresh readers before the rules changed again. Its hashes (\`holdout.sha256\`) were committed
  before that, its rows are counted and never looked at. "Unseen" is its first run, with the rules as they were then.

| detector | measure | wanted | own set | first hold-out, unseen | now, read | second hold-out, unseen | now |
|---|---|---|---|---|---|---|---|
${rows.map(row => row.line).join('\n')}
`;
writeFileSync(page, text);
console.log(text);
process.exitCode = rows.every(row => row.isReached) ? 0 : 1;
