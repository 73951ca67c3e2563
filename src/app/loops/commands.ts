// Commands to loops: refused, decided here when no process holds the loop, or put into its holder's mailbox.
import { sessionOf } from '../../core/event.ts';
import type { Command, Input } from '../../core/input.ts';
import type { State } from '../../core/state.ts';
import { findTask, type Task } from '../../core/task.ts';
import type { LedgerFold } from '../../engine/ledger-fold.ts';
import type { Lease, Ledger, LoopRow, StoreFailure } from '../../ledger/ledger.ts';
import { makeRedactor, redactDeep, secretValues } from '../../secrets/redactor.ts';
import {
  buildEngine,
  type Engine,
  type EnginePlace,
  type Environment,
  freshHolder,
  loopFolder,
  shownBy,
  stateOf,
  storeError,
} from '../app.ts';

export interface Sender {
  readonly home: string;
  readonly env: Environment;
  readonly by: string;
  readonly warn: (sentence: string) => void;
}

/** Why a command would have no effect. */
export type Refusal = 'no-loop' | 'ended' | 'no-question' | 'no-task' | 'task-over' | 'not-restored';

/** `decided`: here and now, as no process holds the loop; `taken`, `waiting`: whether its holder has read it yet. */
export type Sent =
  | { readonly became: 'decided' | 'taken' | 'waiting' }
  | { readonly became: 'refused'; readonly why: Refusal }
  | { readonly became: 'failed'; readonly failure: StoreFailure };

const needsOpenLoop: readonly Command['type'][] = ['tell', 'pause', 'stop'];

/** The task that a command is about, as the loop has it; null: about none. */
const taskOf = ({ tasks }: State, command: Command): Task | undefined | null =>
  'task' in command && command.task !== undefined ? findTask(tasks, command.task) : null;

/** Ordered: the first row that holds is the reason. */
const refusals: readonly (readonly [Refusal, (state: State, command: Command) => boolean])[] = [
  ['ended', ({ control: { ended } }, { type }) => ended !== undefined && needsOpenLoop.includes(type)],
  [
    'no-question',
    ({ questions: { open: escalations } }, command) =>
      command.type === 'answer' && !escalations.some(one => one.id === command.escalation),
  ],
  ['no-task', (state, command) => taskOf(state, command) === undefined],
  [
    'task-over',
    (state, command) => command.type === 'tell' && ['done', 'skipped'].includes(taskOf(state, command)?.status ?? ''),
  ],
];

/** Why the loop, as it stands, cannot take one of these commands. */
export const refusalOf = (state: State, commands: readonly Command[]): Refusal | undefined =>
  refusals.find(([, holds]) => commands.some(command => holds(state, command)))?.[0];

export type CommandOrder = Pick<EnginePlace, 'home' | 'env' | 'loop' | 'warn'> & {
  readonly ledger: Ledger;
  readonly by: string;
  /** What the loop needs to do the command itself, such as its checkpoints. */
  readonly parts?: Partial<Engine>;
  readonly row: LoopRow;
  /** What the sender has folded already. */
  readonly events?: LedgerFold;
};

type Delivered = Exclude<Sent, { became: 'refused' }>;

/** Decided here when nobody holds the loop, else put into its holder's mailbox. */
export async function deliver(order: CommandOrder, commands: readonly Command[]): Promise<Delivered> {
  if (commands.some(({ type }) => type === 'stop')) await takeFromSession(order);
  const light = order.parts === undefined ? await decideHere(order, commands) : { type: 'unsettled' as const };
  const result = light.type === 'unsettled' ? await settle(order, commands) : light;
  if (result.type === 'failed') return { became: 'failed', failure: result.failure };
  return result.type === 'held' ? mailed(order, commands) : { became: 'decided' };
}

/** As its lease is called while the hook of a session is at work. */
export const hookLease = (session: string): string => `hook:${session}`;

/** The lease of a session's loop between two of its turns, when no process reads its mail. */
export async function restingLease({
  ledger: { store },
  loop,
}: Pick<CommandOrder, 'ledger' | 'loop'>): Promise<Lease | undefined> {
  const held = await store.holder(loop);
  const session = held && sessionOf(held.lease.holder.id);
  if (held === undefined || session === undefined) return undefined;
  return (await store.holder(hookLease(session)))?.alive === true ? undefined : held.lease;
}

/** Whoever ends it need not wait for the next turn. */
async function takeFromSession(order: CommandOrder): Promise<void> {
  const lease = await restingLease(order);
  if (lease !== undefined) await order.ledger.store.release(lease);
}

/** As `deliver`; a failure of the ledger is thrown. */
export async function command(order: CommandOrder, commands: readonly Command[]): Promise<Delivered['became']> {
  const delivered = await deliver(order, commands);
  if (delivered.became === 'failed') throw storeError(delivered.failure);
  return delivered.became;
}

const takenMsMax = 5_000;

async function mailed(order: CommandOrder, commands: readonly Command[]): Promise<Delivered> {
  const { env, ledger, loop, by } = order;
  const redact = makeRedactor(secretValues(env));
  let last = 0;
  for (const one of commands) last = await ledger.mailbox.send(loop, by, redactDeep(one, redact), Date.now());
  if ((await restingLease(order)) !== undefined) return { became: 'waiting' };
  const taken = await eventually(takenMsMax, async () =>
    (await ledger.mailbox.waiting(loop)).some(mail => mail.id === last) ? undefined : ('taken' as const),
  );
  return { became: taken ?? 'waiting' };
}

/** Needs no engine: the events are recorded, and the loop's views are written anew. */
async function decideHere(order: CommandOrder, commands: readonly Command[]) {
  const { home, env, ledger, loop, row, by, warn } = order;
  const { decideCommands } = await import('../../engine/command.ts');
  const { systemClock } = await import('../../engine/clock.ts');
  const { freeReserve } = await import('../../ledger/spool.ts');
  const { v7 } = await import('uuid');
  const clock = systemClock(v7);
  const holder = await freshHolder();
  const { LedgerFold } = await import('../../engine/ledger-fold.ts');
  const events = order.events ?? new LedgerFold(ledger, loop);
  const publish = async ({ settings }: State): Promise<void> => {
    const { publisher } = await import('../../engine/publish.ts');
    const { openMode } = await import('../../modes/registry.ts');
    const folder = loopFolder(home, loop);
    const place = { directory: row.directory, document: row.document, folder };
    const mode = shownBy(await openMode(settings.mode), place);
    await publisher({ ledger, clock, holder, loop, folder, warn, mode, events }).close();
  };
  const redact = makeRedactor(secretValues(env));
  const needs = { ledger, clock, redact, holder, by, events, publish, freeReserve: () => freeReserve(home) };
  return decideCommands(needs, loop, commands);
}

/** With an engine: what was begun is brought to its end, files are saved or restored. */
async function settle(order: CommandOrder, commands: readonly Command[]) {
  const { runLoop } = await import('../../engine/run.ts');
  const { documentSource } = await import('../documents.ts');
  const { openMode, openModeSession } = await import('../../modes/registry.ts');
  const { home, env, ledger, loop, row, by } = order;
  const { directory, document } = row;
  const { state } = await (order.events?.catchUp() ?? stateOf(ledger, loop));
  const { mode: name } = state.settings;
  const place = { mode: await openMode(name), path: document, directory, folder: loopFolder(home, loop) };
  const source = await documentSource(env, { ...place, modeSession: await openModeSession(name) });
  const engine = await buildEngine({ ...order, ...place }, { ...order.parts, ledger, source, by });
  const first = commands.map<Input>(one => ({ type: 'command', command: one, by }));
  return runLoop(engine, loop, { interrupt: new AbortController().signal, settleOnly: true, first });
}

const lookEveryMs = 50;

/** What `look` finds: it looks again and again until there is something, or the time is over. */
export async function eventually<Found>(
  msMax: number,
  look: () => Promise<Found | undefined>,
): Promise<Found | undefined> {
  const until = Date.now() + msMax;
  for (;;) {
    const found = await look();
    if (found !== undefined || Date.now() >= until) return found;
    await new Promise(done => setTimeout(done, lookEveryMs));
  }
}
