// Side effects of plans happen at most once: by the thousand in a simulated world, by the dozen with real processes.
import { sentenceOf } from '../../src/views/timeline.ts';
import { simulatePlan } from '../simulate/plan-simulate.ts';
import { killPlan } from './plans-killed.ts';

const realPlans = 60;
const failuresMax = 5;

function told(name: string, seed: number, error: unknown, isWhole: boolean): void {
  const words = error instanceof Error ? (isWhole ? error.stack : error.message) : String(error);
  console.error(`seed ${seed} failed: ${words}`);
  console.error(`replay it: npm run prove -- ${name} --count 1 --seed ${seed}`);
}

async function simulated(first: number, count: number): Promise<number> {
  const [outcomes, deaths] = [new Map<string, number>(), new Map<string, number>()];
  const add = (to: Map<string, number>, name: string): void => void to.set(name, (to.get(name) ?? 0) + 1);
  let [events, effects, lost, failed] = [0, 0, 0, 0];
  for (let seed = first; seed < first + count && failed < failuresMax; seed += 1) {
    try {
      const run = await simulatePlan(seed, event => {
        if (count === 1) console.log(`${event.at} ${sentenceOf(event)}`);
      });
      add(outcomes, run.outcome);
      for (const death of run.deaths) add(deaths, death);
      events += run.events;
      effects += run.effects;
      lost += run.lostReplies;
    } catch (error) {
      failed += 1;
      told('plans', seed, error, count === 1);
    }
    if ((seed - first + 1) % 2_000 === 0) console.log(`${seed - first + 1} plans`);
  }
  const died = [...deaths.values()].reduce((sum, times) => sum + times, 0);
  const ends = [...outcomes].sort((a, b) => b[1] - a[1]).map(([outcome, times]) => `${outcome} ${times}`);
  const verdict =
    failed === 0 ? `${count} simulated plans kept every law, no effect happened twice` : `${failed} failed`;
  console.log(`${verdict}: ${effects} effects, ${lost} lost replies asked about, ${events} events`);
  console.log(`  ${died} processes died or lost their disk, in ${deaths.size} ways; endings: ${ends.join(', ')}`);
  return failed;
}

/** Real processes: `ralph plan run` is killed while a real MCP server over stdio counts its calls. */
export async function proveKilledPlans(first: number, count: number): Promise<number> {
  const moments = new Map<string, number>();
  let [kills, questions, effects, failed] = [0, 0, 0, 0];
  for (let seed = first; seed < first + count; seed += 1) {
    try {
      const killed = await killPlan(seed);
      kills += killed.kills;
      questions += killed.questions;
      effects += killed.effects;
      for (const moment of killed.moments) moments.set(moment, (moments.get(moment) ?? 0) + 1);
    } catch (error) {
      failed += 1;
      told('plan-kills', seed, error, count === 1);
    }
    if ((seed - first + 1) % 10 === 0) console.log(`${seed - first + 1} plans with real processes`);
  }
  const seen = [...moments].map(([moment, times]) => `${times} at ${moment}`).join(', ');
  console.log(
    `${count - failed} of ${count} plans did everything once (real MCP server over stdio): ${kills} kills -9 (${seen}), ${effects} effects, ${questions} questions answered by looking`,
  );
  return failed;
}

/** One seed alone is a replay of a simulated plan. */
export async function provePlans(first: number, count: number): Promise<number> {
  const failed = await simulated(first, count);
  if (count === 1) return failed;
  return failed + (await proveKilledPlans(first, Math.min(realPlans, Math.max(3, Math.floor(count / 100)))));
}
