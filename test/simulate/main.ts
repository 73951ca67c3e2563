// `npm run simulate -- --seed N [--count M]`: many seeded loops; a failure prints its seed and how to replay it.
import { parseArgs } from 'node:util';
import { sentenceOf } from '../../src/views/timeline.ts';
import { simulate } from './simulate.ts';

const { values } = parseArgs({
  options: { seed: { type: 'string' }, count: { type: 'string' } },
  allowPositionals: true,
});
const first = Number(values.seed ?? 1);
const count = Number(values.count ?? (values.seed === undefined ? 100_000 : 1));

const outcomes = new Map<string, number>();
let events = 0;
let crashes = 0;
let failed = 0;
for (let seed = first; seed < first + count; seed += 1) {
  try {
    const result = await simulate(seed, event => {
      if (count === 1) console.log(`${event.at} ${sentenceOf(event)}`);
    });
    outcomes.set(result.outcome, (outcomes.get(result.outcome) ?? 0) + 1);
    events += result.events;
    crashes += result.crashes;
  } catch (error) {
    failed += 1;
    console.error(
      `seed ${seed} failed: ${error instanceof Error ? (count === 1 ? error.stack : error.message) : String(error)}`,
    );
    console.error(`replay it: npm run simulate -- --seed ${seed}`);
    if (failed >= 5) break;
  }
  if (count > 1_000 && (seed - first + 1) % 10_000 === 0) console.log(`${seed - first + 1} loops`);
}
console.log(`${count - failed} loops settled (scripted agents), ${events} events, ${crashes} crashes; endings:`);
for (const [outcome, times] of [...outcomes].sort((a, b) => b[1] - a[1])) console.log(`  ${outcome}: ${times}`);
if (failed > 0) process.exitCode = 1;
