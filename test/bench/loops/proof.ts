// What proof costs: how much of the time between two agents, and of the CPU, checks, the look at the work and checkpoints take.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { BenchRow } from '../row.ts';
import { checked } from './git.ts';
import { type Ground, gapsOf, type LoopOrder, type Project } from './ground.ts';
import { type Build, type Figures, measure, type RowOrder } from './section.ts';

const judgeUsd = 0.007695;
const wall = 'of the time between two agents';
const rows: readonly RowOrder[] = [
  ...['check', 'look', 'checkpoint'].map(of => ({ name: `proof: ${of}, share ${wall}`, of, per: 'gap' })),
  { name: 'proof: check, share of CPU', of: 'cpu', minus: 'cpu unchecked', per: 'cpu' },
  { name: 'proof: checkpoint and look, share of CPU', of: 'cpu uncommitted', minus: 'cpu without', per: 'cpu' },
  {
    name: 'proof: all of it, ms an iteration',
    of: 'proof',
    note: 'whatever the agent takes: of five minutes it is this / 300,000',
  },
  {
    name: 'proof: a judge, dollars of each claim / of one call of it',
    ...{ of: 'judge', per: 'call', unit: 'dollars', note: 'a fake claude that reports its cost' },
  },
];

interface Fact {
  readonly type: string;
  readonly at: number;
  readonly durationMs?: number;
  readonly usage?: { readonly costUsdMicros?: number };
}

function factsOf({ env }: Project): readonly Fact[] {
  const database = new DatabaseSync(join(env['RALPH_HOME']!, 'ralph.db'), { readOnly: true });
  const found = database.prepare('SELECT body FROM events ORDER BY seq').all() as { readonly body: string }[];
  database.close();
  return found.map(({ body }) => JSON.parse(body) as Fact);
}

/** By the times in the ledger: each fact is recorded when its work is over. The check tells its own time; the rest is look. */
function partsOf(facts: readonly Fact[], warmUp: number): Figures {
  const mean = (values: readonly number[]): readonly number[] => [
    values.slice(warmUp).reduce((sum, value) => sum + value, 0) / (values.length - warmUp),
  ];
  const since = (type: string, before: string): readonly number[] => {
    let last = 0;
    return facts.flatMap(fact => {
      if (fact.type === before) last = fact.at;
      return fact.type === type && last > 0 ? [fact.at - last] : [];
    });
  };
  const check = facts.filter(fact => fact.type === 'check.ended').map(fact => fact.durationMs ?? 0);
  const [checkpoint, proven] = [since('checkpoint.made', 'iteration.ended'), since('check.ended', 'checkpoint.made')];
  return {
    check: mean(check),
    checkpoint: mean(checkpoint),
    look: mean(proven.map((ms, at) => ms - check[at]!)),
    proof: mean(proven.map((ms, at) => ms + checkpoint[at]!)),
  };
}

/** A `claude` on PATH that finds every criterion met, and says what it cost. */
function fakeJudge(folder: string): string {
  const verdict = { criteria: [{ criterion: 1, verdict: 'pass', evidence: 'the diff' }], summary: 'good' };
  const result = JSON.stringify(verdict);
  const modelUsage = { fake: { inputTokens: 1_230, outputTokens: 130, costUSD: judgeUsd } };
  const said = {
    type: 'result',
    subtype: 'success',
    is_error: false,
    result,
    total_cost_usd: judgeUsd,
    session_id: 's',
  };
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'claude'),
    `#!/bin/sh\ncase "$*" in *--version*) echo '9.8.7 (Fake Code)'; exit;; esac\nread -r prompt\necho '${JSON.stringify({ ...said, modelUsage })}'\n`,
  );
  chmodSync(join(folder, 'claude'), 0o755);
  return folder;
}

export async function benchProof(
  isQuick: boolean,
  builds: readonly Build[],
  ground: Ground,
): Promise<readonly BenchRow[]> {
  const warmUp = isQuick ? 6 : 15;
  const iterations = warmUp + (isQuick ? 12 : 25);
  const order = { agent: 'works', tasks: 50, files: 1_000, flags: checked } as const;
  const cpu = async (build: Build, one: Omit<LoopOrder, 'iterations'>): Promise<readonly number[]> => [
    await ground.cpuMsPerIteration(build, one, iterations),
  ];
  const probe = async (build: Build): Promise<Figures> => {
    const { agents, project } = await ground.ralph(build, { ...order, iterations });
    return {
      ...partsOf(factsOf(project), warmUp),
      gap: gapsOf(agents, warmUp),
      cpu: await cpu(build, order),
      'cpu unchecked': await cpu(build, { ...order, flags: ['--detect-checks', 'none'] }),
      'cpu uncommitted': await cpu(build, { ...order, flags: [...checked, '--no-commit'] }),
      'cpu without': await cpu(build, { ...order, flags: [...checked, '--no-checkpoints'] }),
    };
  };
  const judged = async (build: Build): Promise<Figures> => {
    const path = `${fakeJudge(join(ground.folder, 'bin'))}:${process.env['PATH']}`;
    const flags = [...checked, '--judge', 'claude', '--max-cost', '100'];
    const { project } = await ground.ralph(build, { ...order, flags, iterations: 3, path });
    const facts = factsOf(project);
    const spent = facts.reduce(
      (sum, fact) => sum + (fact.type === 'usage.recorded' ? fact.usage!.costUsdMicros! : 0),
      0,
    );
    const claims = facts.filter(fact => fact.type === 'task.closed').length;
    return { judge: [spent / 1_000_000 / claims], call: [judgeUsd] };
  };
  return measure({ rounds: isQuick ? 1 : 4, probes: [probe, judged], rows }, builds);
}
