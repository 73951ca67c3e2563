// Runs an agent CLI's adapter through both contracts, with a program that plays its recorded streams.
//
// An agent needs, in `fixtures/streams/NAME`: `greets` (says `hello` in one piece and ends well), `works` (says `working`, no
// end), `lies-done`, `rate-limited` and `overloaded`; where the agent can have them, `two-results` and `cost-goes-down`.
// A plain-text agent has the same files, with plain text in them. What a fault means is written in `faults.ts`.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AgentCli, PriceBook } from '../../src/agents/agent.ts';
import { type CliAgentOptions, cliAgent } from '../../src/agents/driver.ts';
import type { Performer } from '../../src/agents/performer.ts';
import { cliNames, loadCli } from '../../src/agents/registry.ts';
import type { Timers } from '../../src/processes/timers.ts';
import { agentPath, plainEnvironment, scratchDirectory } from '../processes/fixture.ts';
import { type Fault, type FaultSubject, faultContract } from './faults.ts';
import { type Behaviour, performerContract } from './performer.ts';

/** The day on which the streams were played. */
export const playedAtMs = Date.parse('2026-11-15T12:00:00Z');

/** All of them. */
export const clis = await Promise.all(cliNames.map(loadCli));

type Expected = Pick<FaultSubject, 'notHere' | 'reset' | 'twoResults'>;

const notTwice = (why: string): Expected['notHere'] => ({ 'two-results': why, 'cost-goes-down': why });
export const oneTurn = notTwice('it has one turn and one result');
export const addedUp = notTwice('its messages are counted one by one and added up');
export const plainText: Expected['notHere'] = {
  'result-then-hangs': 'its end is its exit',
  'exits-1-after-result': 'its end is its exit',
  'cut-at-eof': 'its text has no end that could be missing',
  'garbage-lines': 'it is all text',
  'cost-goes-down': 'it counts nothing',
  'two-results': 'its end is its exit',
};

export const streamsOf = (name: string): string => join(import.meta.dirname, '../fixtures/streams', name);

/** One micro-dollar per token, so that estimates can be told by looking. */
export const plainPrices: PriceBook = {
  costUsdMicros: ({ input, output, cacheRead, cacheWrite }) => input + output + cacheRead + cacheWrite,
  windowTokens: () => undefined,
  knows: () => true,
};

/** They come to the driver before any reader sees them: one agent with a stream and those of plain text play them for all. */
const ofDriver: ReadonlySet<Fault> = new Set([
  'hangs',
  'never-first-byte',
  'floods',
  'one-long-line',
  'spawns-orphan',
  'holds-pipe',
]);

const momentMs = 300;
/** Only what is meant to fire is short: a busy machine must not make a good agent look bad. */
const shortTimers: Readonly<Partial<Record<string, Timers>>> = {
  hangs: { silenceMs: momentMs, busySilenceMs: momentMs, nudgedMs: momentMs },
  'never-first-byte': { firstByteMs: momentMs },
  'result-then-hangs': { afterResultMs: momentMs },
  'result-then-babbles': { afterResultMs: momentMs },
};
const streamFaults: ReadonlySet<string> = new Set(['lies-done', 'rate-limited', 'cost-goes-down', 'two-results']);

/** A performer whose program plays: a fault of `plays-stream`, or a stream by its name. */
export function playing(cli: AgentCli, fault: string, more: Partial<CliAgentOptions> = {}): Performer {
  const isStream = existsSync(join(streamsOf(cli.name), `${fault}.jsonl`));
  return cliAgent(cli, {
    name: cli.name,
    program: agentPath('plays-stream'),
    environment: {
      ...plainEnvironment,
      PLAYS_FOLDER: streamsOf(cli.name),
      PLAYS_FAULT: isStream ? 'plays' : fault,
      PLAYS_STREAM: isStream ? fault : 'greets',
    },
    args: [],
    prices: plainPrices,
    timers: shortTimers[fault] ?? {},
    graceMs: 200,
    interruptMs: 100,
    now: () => playedAtMs,
    ...more,
  });
}

const behaviours: Readonly<Record<Behaviour, string>> = {
  greets: 'greets',
  hangs: 'works-on',
  fails: 'fails-at-once',
  'measures-prompt': 'measures-prompt',
};

export function cliAgentContract(cli: AgentCli, expected: Expected): void {
  const { name } = cli;

  const driverIsShown = name === 'claude' || expected.notHere === plainText ? undefined : true;
  performerContract({
    name,
    driverIsShown,
    make: behaviour => playing(cli, behaviours[behaviour]),
    directory: scratchDirectory,
    spawns: true,
    readsPrompt: true,
  });

  const clock = expected.reset === 'soon' ? { now: Date.now } : {};
  const make = (fault: Fault): Performer => playing(cli, fault, clock);
  const elsewhere = driverIsShown ? ofDriver : new Set<Fault>();
  faultContract({ name, make, directory: scratchDirectory, elsewhere, ...expected });

  describe(`the adapter ${name}`, () => {
    it('can be steered exactly when it says how', () => {
      expect(cli.steering !== undefined).toBe(cli.can.steer);
    });

    it('skips no fault that its streams could play', () => {
      const stale = Object.keys(expected.notHere).filter(
        fault => streamFaults.has(fault) && existsSync(join(streamsOf(name), `${fault}.jsonl`)),
      );
      expect(stale).toEqual([]);
    });

    it('never has the prompt among its arguments (F78)', () => {
      const prompt = 'a prompt that must not be seen in a list of processes';
      const order = { prompt, args: ['--more'], folder: '/private', isRoot: false };
      const { args, files = {}, input } = cli.launch(order);
      expect(args.join(' ')).not.toContain(prompt);
      expect([input, ...Object.values(files)].join(' ')).toContain(prompt);
      expect(args).toContain('--more');
    });

    it('is pointed to its prompt when it gets the terminal', () => {
      const prompt = 'a prompt that must not be seen in a list of processes';
      const openingPrompt = 'Read /private/prompt.md and do what it says.';
      const order = { prompt, args: ['--more'], folder: '/private', isRoot: false, openingPrompt };
      const { args, input } = cli.launch(order);
      expect(args.join(' ')).not.toContain(prompt);
      expect(args.join(' ')).toContain('/private/prompt.md');
      expect(args).toContain('--more');
      expect(input).toBe('');
    });
  });
}
