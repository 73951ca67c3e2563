// Options of a program: typed values hold as they are, texts as on the command line, and a bad one is refused in its words.
import { describe, expect, it } from 'vitest';
import { type LoopOptions, runLoop, UsageError } from '../../../src/index.ts';
import { player, stage } from './stage.ts';

const agent = player('mine', () => 'DONE');

async function outcome(part: Partial<LoopOptions>) {
  const { directory } = stage();
  return runLoop({ goal: 'make a page', directory, memory: true, agent, ...part });
}

async function refusal(part: Partial<LoopOptions>): Promise<string> {
  const error = await outcome(part).catch((thrown: unknown) => thrown);
  return error instanceof UsageError ? [error.message, error.hint].filter(Boolean).join(' | ') : 'not refused';
}

describe('a value that bounds nothing is refused, said as on the command line', () => {
  const whole = 'is not a whole number from 1 to 1,000,000; write it in plain digits';
  const money = 'is not an amount in dollars above 0 and up to $1,000,000; write it like 5, $5 or 0.50';
  const time =
    'is not a duration above 0 and up to 30d; write it with units d, h, m, s or ms, largest first, like 2h30m or 90s';
  const unlimited = ', or the word unlimited.';
  it.each<[Partial<LoopOptions>, string]>([
    [{ limits: { iterations: 0 } }, `--max-iterations: "0" ${whole}${unlimited}`],
    [{ limits: { iterations: 1.5 } }, `--max-iterations: "1.5" ${whole}${unlimited}`],
    [{ limits: { iterations: Number.NaN } }, `--max-iterations: "NaN" ${whole}${unlimited}`],
    [{ limits: { iterations: 1_000_001 } }, `--max-iterations: "1000001" ${whole}${unlimited}`],
    [{ limits: { errorsInRow: 0 } }, `--max-errors: "0" ${whole}, or the word unlimited.`],
    [{ limits: { costUsd: 0 } }, `--max-cost: "0" ${money}${unlimited}`],
    [{ limits: { costUsd: -1 } }, `--max-cost: "-1" ${money}${unlimited}`],
    [{ limits: { costUsd: 1e-7 } }, `--max-cost: "1e-7" ${money}${unlimited}`],
    [{ limits: { costUsd: 1.0000001 } }, `--max-cost: "1.0000001" ${money}${unlimited}`],
    [{ limits: { costUsd: 1_000_001 } }, `--max-cost: "1000001" ${money}${unlimited}`],
    [{ limits: { minutes: 0 } }, `--max-duration: "0ms" ${time}${unlimited}`],
    [{ limits: { minutes: 43_201 } }, `--max-duration: "2592060000ms" ${time}${unlimited}`],
    [{ limits: { iterationMinutes: -1 } }, `--iteration-timeout: "-60000ms" ${time}.`],
    [
      { limits: { deadline: new Date('2020-01-01') } },
      '--deadline: "2020-01-01T00:00:00.000Z" is not in the future; give a later time.',
    ],
    [{ settings: { maxErrors: 0 } }, `--max-errors: "0" ${whole}, or the word unlimited.`],
    [{ settings: { maxCost: 0 } }, `--max-cost: "0" ${money}${unlimited}`],
    [{ settings: { maxDuration: 5 } }, `--max-duration: "5" ${time}${unlimited}`],
    [{ settings: { maxDuration: true } }, `--max-duration: "true" ${time}${unlimited}`],
    [{ settings: { noCommit: 'yes' } }, '--no-commit: "yes" is neither true nor false; write true or false.'],
    [{ settings: { promise: ['A', 'B'] } }, '--promise: it is given 2 times; give it once.'],
    [{ settings: { sandbox: 'x' } }, '--sandbox: "x" is not a known choice; use one of auto, bwrap, none.'],
    [
      { settings: { protect: ['a', '//b'] } },
      '--protect: "//b" is a network or device path; give a path on this machine.',
    ],
    [
      { limits: { iterations: null, costUsd: null, minutes: null } },
      'Nothing bounds this loop: unlimited is allowed only with another limit set. Set one of --max-iterations, --max-cost, --max-tokens, --max-duration or --deadline.',
    ],
    [
      { settings: { retries: 2 } },
      '--retries has no effect in the mode goal. | Leave it out: it belongs to the mode plan.',
    ],
    [{ limits: { attemptsPerTask: 2 } }, '--max-attempts has no effect in the mode goal. | Leave it out.'],
  ])('%j: %s', async (part, words) => {
    expect(await refusal(part)).toBe(words);
  });
});

describe('a value that bounds is held', () => {
  it('given limits in plain units, then the loop has them in its own', async () => {
    const deadline = new Date(Date.now() + 3_600_000);
    const { state } = await outcome({
      limits: {
        iterations: null,
        costUsd: 0.1 + 0.2,
        tokens: 5_000,
        minutes: 1.5,
        deadline,
        iterationMinutes: 2,
        errorsInRow: 4,
        iterationsWithoutProgress: 6,
        averageIterationMinutes: 0.5,
      },
    });
    expect(state.settings.limits).toMatchObject({
      iterationsMax: null,
      costUsdMicrosMax: 300_000,
      tokensMax: 5_000,
      durationMsMax: 90_000,
      deadlineAt: deadline.getTime(),
      iterationMsMax: 120_000,
      consecutiveErrorsMax: 4,
      noProgressIterations: 6,
      averageIterationMsMax: 30_000,
    });
  });

  it('given settings as numbers, truths, lists and texts, then each is read as it would be on the command line', async () => {
    const { state } = await outcome({
      settings: {
        maxCost: 2.5,
        maxTokens: null,
        maxDuration: '2m',
        noCommit: true,
        noCheckpoints: '1',
        project: 12,
        contextChars: '700',
        agentEnv: ['LANG'],
      },
    });
    expect(state.loop.projectId).toBe('12');
    expect(state.settings).toMatchObject({
      limits: { costUsdMicrosMax: 2_500_000, tokensMax: null, durationMsMax: 120_000 },
      commits: false,
      checkpoints: false,
      contextCharsMax: 700,
    });
  });
});
