// `npm run prove -- NAME [--count N] [--seed N]`: long proofs with real processes; a failure prints how to replay it.
import { parseArgs } from 'node:util';
import { whyNoTracing } from '../ledger/run-program.ts';
import { flood } from '../processes/flood.ts';
import { proveAdapters } from './adapters.ts';
import { proveCheats } from './cheats.ts';
import { crash, undisturbed } from './crashes.ts';
import { proveFloods } from './floods.ts';
import { proveNights } from './nights.ts';
import { nodes } from './nodes.ts';
import { killAndLook, trialOf } from './orphans.ts';
import { proveKilledPlans, provePlans } from './plans.ts';
import { proveRestore } from './restore.ts';
import { proveSmall } from './small.ts';
import { crashAt, crashPoints } from './syscalls.ts';
import { proveTrees } from './trees.ts';
import { proveUpgrade } from './upgrade.ts';

interface Proof {
  readonly what: string;
  readonly count: number;
  /** Resolves to the number of failures. */
  run(first: number, count: number): Promise<number>;
}

async function crashes(first: number, count: number): Promise<number> {
  const like = await undisturbed(5);
  console.log(
    `undisturbed: ${like.stories} stories in ${Math.round(like.durationMs)} ms, ${like.changes} changes of the ledger`,
  );
  let [kills, iterations, failed] = [0, 0, 0];
  for (let seed = first; seed < first + count; seed += 1) {
    try {
      const crashed = await crash(seed, like);
      kills += crashed.kills;
      iterations += crashed.iterations;
    } catch (error) {
      failed += 1;
      console.error(`seed ${seed} failed: ${error instanceof Error ? error.message : String(error)}`);
      console.error(`replay it: npm run prove -- crashes --count 1 --seed ${seed}`);
    }
    if ((seed - first + 1) % 10 === 0) console.log(`${seed - first + 1} loops`);
  }
  console.log(
    `${count - failed} of ${count} loops reached the same end (command agent, SQLite): ${kills} kills, ${iterations} iterations`,
  );
  return failed;
}

/** `first` is where to begin in the list of points, so that one point can be replayed. */
async function syscalls(first: number, count: number): Promise<number> {
  const skipped = whyNoTracing();
  if (skipped !== undefined) {
    console.log(`not proven here: ${skipped}`);
    return 1;
  }
  const like = await undisturbed(2);
  const points = await crashPoints(2);
  const stride = Math.max(1, Math.floor((points.length - first + 1) / count));
  console.log(`${points.length} crash points in a run of ${like.stories} stories, every ${stride}. from ${first}`);
  let [tried, hit, failed] = [0, 0, 0];
  for (let number = first; number <= points.length && tried < count; number += stride) {
    const point = points[number - 1]!;
    tried += 1;
    try {
      if (await crashAt(point, like)) hit += 1;
    } catch (error) {
      failed += 1;
      const where = `${point.call} ${point.count}${point.threads ? ' of a thread' : ''}`;
      console.error(`point ${number} (${where}) failed: ${error instanceof Error ? error.message : String(error)}`);
      console.error(`replay it: npm run prove -- syscalls --count 1 --seed ${number}`);
    }
  }
  console.log(
    `${tried - failed} of ${tried} crash points reached the same end (command agent, SQLite): ${hit} kills hit`,
  );
  return failed;
}

async function orphans(first: number, count: number): Promise<number> {
  const tried = new Map<string, number>();
  let failed = 0;
  for (let seed = first; seed < first + count; seed += 1) {
    const trial = trialOf(seed);
    tried.set(trial.victim, (tried.get(trial.victim) ?? 0) + 1);
    try {
      await killAndLook(trial);
    } catch (error) {
      failed += 1;
      console.error(`trial ${seed} failed: ${error instanceof Error ? error.message : String(error)}`);
      console.error(`replay it: npm run prove -- orphans --count 1 --seed ${seed}`);
    }
    if ((seed - first + 1) % 40 === 0) console.log(`${seed - first + 1} kills`);
  }
  const victims = [...tried].map(([victim, times]) => `${times} ${victim}`).join(', ');
  console.log(`${count - failed} of ${count} kills -9 left nobody behind (${victims})`);
  return failed;
}

async function endlessLine(_first: number, megabytes: number): Promise<number> {
  const { growthBytes, chars, isMarked, code } = flood(megabytes * 1_000_000);
  const grown = `${(growthBytes / 1_000_000).toFixed(0)} MB`;
  console.log(`${megabytes} MB in one line: our memory grew by ${grown} (64 MB allowed), ${chars} characters kept`);
  return growthBytes < 64_000_000 && isMarked && code === 0 ? 0 : 1;
}

const proofs: Readonly<Record<string, Proof>> = {
  crashes: { what: 'SIGKILL at random moments, then the same end', count: 100, run: crashes },
  syscalls: { what: 'SIGKILL at the k-th write, sync and rename, all of them', count: 1_000, run: syscalls },
  orphans: { what: 'SIGKILL over eight shapes of process trees, nobody left', count: 200, run: orphans },
  nights: {
    what: 'backlogs whose attempts fail, crash, lie or stay silent: what can be done is done, and nothing is lost',
    count: 500,
    run: proveNights,
  },
  trees: {
    what: "loops with rollbacks in random dirty repositories: nothing of the user's changes, every checkpoint comes back",
    count: 500,
    run: proveTrees,
  },
  restore: {
    what: 'SIGKILL at random moments and chosen system calls of checkpoints and restores: old or new tree, never a mix',
    count: 200,
    run: proveRestore,
  },
  small: {
    what: 'as many checkpoints and commits, with a gc in between: few refs, loose objects and packs, and every checkpoint is there',
    count: 1_000,
    run: async (_first, count) => proveSmall(count),
  },
  plans: {
    what: 'simulated plans with lost replies and crashes, then real ones killed: every side effect at most once',
    count: 10_000,
    run: provePlans,
  },
  'plan-kills': {
    what: 'SIGKILL of ralph while a real MCP server counts the calls: every side effect at most once',
    count: 60,
    run: proveKilledPlans,
  },
  line: { what: 'as many MB in one line of output, our memory flat (F28)', count: 1_000, run: endlessLine },
  adapters: {
    what: 'as many MB of short lines, and ten times that in one line, through every agent CLI adapter: good and small',
    count: 100,
    run: async (_first, megabytes) => proveAdapters(megabytes),
  },
  floods: {
    what: 'output faster than anybody reads through the real binary: small, live, whole (F28, F29)',
    count: 1,
    run: async () => proveFloods(),
  },
  upgrade: {
    what: 'loops of 0.4.0 that run or were killed while Ralph is upgraded: each ends well',
    count: 5,
    run: async (_first, count) => proveUpgrade(count),
  },
  cheats: {
    what: 'every cheat of the tables by the real binary, with bubblewrap and without: caught, or a limit of the guide',
    count: 1_000,
    run: proveCheats,
  },
  nodes: {
    what: 'the demo on the oldest Node that we promise and on the pinned one',
    count: 1,
    run: async () => nodes(),
  },
};

const { values, positionals } = parseArgs({
  options: { seed: { type: 'string' }, count: { type: 'string' } },
  allowPositionals: true,
});
const proof = proofs[positionals[0] ?? ''];
if (proof === undefined) {
  for (const [name, { what, count }] of Object.entries(proofs)) console.log(`${name.padEnd(10)} ${what} (${count})`);
  process.exitCode = 2;
} else {
  const failed = await proof.run(Number(values.seed ?? 1), Number(values.count ?? proof.count));
  process.exitCode = failed > 0 ? 1 : 0;
}
