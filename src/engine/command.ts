// Commands to a loop that nobody runs: decided and recorded under its lease, with neither performers nor a document.
import { type Command, commandVersion, type Input, isCommand } from '../core/input.ts';
import { isBusy, type State } from '../core/state.ts';
import type { Lease, Mail, StoreFailure } from '../ledger/ledger.ts';
import { decide } from '../modes/decide.ts';
import { evolve } from '../modes/evolve.ts';
import type { Engine } from './engine.ts';
import type { LedgerFold } from './ledger-fold.ts';
import { failureIn, Recorder } from './recorder.ts';

export interface CommandNeeds extends Pick<Engine, 'ledger' | 'clock' | 'redact' | 'holder' | 'by' | 'freeReserve'> {
  readonly events: LedgerFold;
  /** Shows what was decided in the loop's folder. */
  readonly publish: (state: State) => Promise<void>;
}

export type Decided =
  | { readonly type: 'decided' }
  /** Somebody runs it: send mail. */
  | { readonly type: 'held' }
  /** It is stopped by this: what was begun must be settled first, by an engine. Nothing is recorded. */
  | { readonly type: 'unsettled' }
  | { readonly type: 'failed'; readonly failure: StoreFailure };

/** Mail of a newer version stays for a holder that understands it (F16). */
export const commandIn = ({ version, body }: Mail): Command | undefined =>
  version <= commandVersion && isCommand(body) ? body : undefined;

interface Posted {
  readonly input: Input;
  /** Its id, when it came by mail. */
  readonly mail?: number;
}

/** What this process says, then what others sent. */
async function posted(
  { ledger, by }: CommandNeeds,
  loop: string,
  state: State,
  commands: readonly Command[],
): Promise<readonly Posted[]> {
  // A command to a loop that a process left in the middle of work must not count the time since as work.
  const opening: readonly Posted[] = isBusy(state) ? [{ input: { type: 'taken-over', by } }] : [];
  const theirs = (await ledger.mailbox.waiting(loop)).flatMap<Posted>(mail => {
    const command = commandIn(mail);
    return command === undefined ? [] : [{ input: { type: 'command', command, by: mail.by }, mail: mail.id }];
  });
  return [...opening, ...commands.map<Posted>(command => ({ input: { type: 'command', command, by } })), ...theirs];
}

/** What the state would be: nothing is stored. */
const trial = (state: State, all: readonly Posted[], now: number): State =>
  all.reduce((one, { input }) => decide(one, input, now).reduce(evolve, one), state);

export async function decideCommands(
  needs: CommandNeeds,
  loop: string,
  commands: readonly Command[],
): Promise<Decided> {
  const { store } = needs.ledger;
  try {
    const leased = await store.lease(loop, needs.holder);
    if (!leased.ok) return { type: 'held' };
    try {
      return await underLease(needs, leased.lease, commands);
    } finally {
      await store.release(leased.lease);
    }
  } catch (error) {
    return { type: 'failed', failure: failureIn(error) };
  }
}

async function underLease(needs: CommandNeeds, lease: Lease, commands: readonly Command[]): Promise<Decided> {
  const from = await needs.events.catchUp();
  const all = await posted(needs, lease.loop, from.state, commands);
  if (trial(from.state, all, needs.clock.now()).control.stop !== undefined) return { type: 'unsettled' };
  const failures: StoreFailure[] = [];
  const told = { ...needs, notifiers: [], publish: undefined };
  const book = new Recorder(told, lease, from, failure => void failures.push(failure));
  for (const { input, mail } of all) if (failures.length === 0) await book.record(input, mail);
  const [failure] = failures;
  if (failure !== undefined) {
    await book.lastWord(failure);
    return { type: 'failed', failure };
  }
  await needs.publish(book.state);
  return { type: 'decided' };
}
