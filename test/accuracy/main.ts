// `npm run accuracy`: what the detectors read rightly and wrongly, of our own sets and of the hold-out, into docs/accuracy.md.
// `-- --misses claims` names the rows of our own set that go wrong; those of the hold-out are counted, never shown.
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
const firstRunPath = join(import.meta.dirname, 'first-run.json');

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

const own = await figuresOf('own');
if (values.misses !== undefined) {
  for (const { measure, misses } of own.get(values.misses) ?? []) console.log(`${measure}: ${misses.join('\n  ')}`);
  process.exit(0);
}
const holdout = await figuresOf('holdout');
const counts: Counts = Object.fromEntries(
  [...holdout].flatMap(([name, figures]) =>
    figures.map(({ measure, count, of }) => [`${name}: ${measure}`, { count, of }] as const),
  ),
);
// What the rules had never seen, as it came out the first time; written once, and never again.
const earlier: Counts = existsSync(firstRunPath) ? JSON.parse(readFileSync(firstRunPath, 'utf8')) : {};
const unseen = Object.entries(counts).filter(([key, { of }]) => of > 0 && earlier[key] === undefined);
const firstRun: Counts = { ...earlier, ...Object.fromEntries(unseen) };
if (unseen.length > 0) writeFileSync(firstRunPath, `${JSON.stringify(firstRun, null, 2)}\n`);

const rows = [...own].flatMap(([name, figures]) =>
  figures.map((figure, at) => {
    const held = holdout.get(name)?.[at];
    const key = `${name}: ${figure.measure}`;
    const cells = [name, figure.measure, wantedWords(figure), told(figure), told(firstRun[key]), told(held)];
    return {
      line: `| ${cells.join(' | ')} |`,
      isReached: isReached(figure) && (held === undefined || isReached(held)),
    };
  }),
);
const text = `# Accuracy of the detectors

Made by \`npm run accuracy\`. What decides "done", "failed", "stuck", "tampered" and "secret" is measured on two sets of rows in
\`test/accuracy\`: our own, which the rules were made with, and a hold-out, written by a fresh reader who had not seen the rules. Its
hashes were committed before the rules changed (\`holdout.sha256\`); the column "first run" is how it came out when the rules met it
for the first time.

| detector | measure | wanted | own set | hold-out, first run | hold-out now |
|---|---|---|---|---|---|
${rows.map(row => row.line).join('\n')}
`;
writeFileSync(page, text);
console.log(text);
process.exitCode = rows.every(row => row.isReached) ? 0 : 1;
