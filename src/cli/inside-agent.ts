// An agent may look at its loop but never command one: answers, stops and new loops are a person's (F34).
//
// This tells honest mistakes and simple tricks; the wall against a hostile agent is the sandbox, which hides the ledger.
// A loop inside a loop is refused too: its limits are its own, so it would spend money that the outer one never sees.
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { openLedger, stateOf } from '../app/app.ts';
import { loopAbove } from '../app/inside-agent.ts';
import type { LiveIteration } from '../core/state.ts';
import type { Ledger, LoopRow } from '../ledger/ledger.ts';
import { UsageError } from '../text/errors.ts';
import { takeCharacters } from '../text/text.ts';
import { type Context, sendCommand, type Words } from './context.ts';

interface Inside {
  /** Undefined where the ledger is out of reach. */
  readonly row?: LoopRow | undefined;
  readonly by: string;
}

const byIteration = ({ iteration, performer }: LiveIteration): string => `iteration ${iteration} (${performer})`;

/** What the agent's environment says, as far as the ledger knows it. */
async function byVariables({ env }: Context, ledger: Ledger | undefined): Promise<Inside | undefined> {
  const { RALPH_LOOP: loop = '', RALPH_ITERATION: number = '' } = env;
  if (loop === '' && number === '') return undefined;
  const iteration = /^\d{1,9}$/.test(number) ? Number(number) : undefined;
  const row = (await ledger?.store.loops())?.find(one => one.loop === loop);
  const state = ledger === undefined || row === undefined ? undefined : (await stateOf(ledger, row.loop)).state;
  const known = state?.live.find(one => one.iteration === iteration);
  const by = known === undefined ? `iteration ${iteration ?? '?'}` : byIteration(known);
  return { row, by };
}

async function byAncestors(ledger: Ledger | undefined): Promise<Inside | undefined> {
  const origin = ledger === undefined ? undefined : await loopAbove(ledger);
  if (origin === undefined) return undefined;
  return { row: origin.row, by: origin.live === undefined ? 'a process of the loop' : byIteration(origin.live) };
}

/** A ledger that cannot be read is the command's own to complain about. */
async function quietly<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await work();
  } catch {
    return undefined;
  }
}

async function whereWeAre(context: Context): Promise<Inside | undefined> {
  const ledger = await quietly(async () =>
    context.hasLedger()
      ? openLedger({ home: context.home(), env: context.env, warn: () => {}, readOnly: true })
      : undefined,
  );
  try {
    // Ancestors first: they cannot be made up.
    const above = await quietly(() => byAncestors(ledger));
    return above ?? (await quietly(() => byVariables(context, ledger))) ?? (await byVariables(context, undefined));
  } finally {
    await ledger?.store.close();
  }
}

/** Another document, and somebody has said that loops may be nested. */
function isAllowedNested({ env, directory }: Context, name: string, file: string | undefined, row?: LoopRow): boolean {
  if (name !== 'run' || env['RALPH_ALLOW_NESTED'] !== '1') return false;
  try {
    return realpathSync(resolve(directory, file ?? 'PRD.json')) !== row?.document;
  } catch {
    return true; // there is no such file, which `run` says better
  }
}

const commandCharsMax = 200;

/** Throws, and leaves an entry in the ledger where it can, when an agent or a check of a loop gives this command. */
export async function refuseInsideAgent(context: Context, name: string, words: Words) {
  const inside = await whereWeAre(context);
  if (inside === undefined) return;
  const { row, by } = inside;
  if (isAllowedNested(context, name, words[0], row)) {
    context.say(`note: a loop inside ${by} of another: its limits are its own, and nobody adds up the two.`);
    return;
  }
  if (row !== undefined) {
    const command = takeCharacters(process.argv.slice(2).join(' '), commandCharsMax);
    await quietly(() => sendCommand({ ...context, by }, row, [{ type: 'refused', command }]));
  }
  const loop = row === undefined ? 'a loop' : `loop ${row.name}`;
  throw new UsageError(
    `ralph ${name} was refused: it comes from inside ${loop} (${by}), and only a person may command or start a loop.`,
    'End the iteration with an escalation to ask a person. Looking is allowed: ralph status, task list, logs, diff, report.',
  );
}
