// Loops: the one door to look at loops and to steer them, for every surface and for programs.
import { type Command, isCommand } from '../../core/input.ts';
import { LedgerFold } from '../../engine/ledger-fold.ts';
import type { Replayed } from '../../engine/replay.ts';
import type { FollowFrom, LeaseState, Ledger, LoopFilter, LoopRow, Recorded } from '../../ledger/ledger.ts';
import { UsageError } from '../../text/errors.ts';
import type { LoopFold } from '../../views/fold.ts';
import { fullLoopView, type LoopView, loopView } from '../../views/loop.ts';
import { type Environment, ledgerEvents } from '../app.ts';
import type { RestoreOptions, RestoreView } from '../restore.ts';
import type { Sent } from './commands.ts';
import type { LoopDiff } from './diff.ts';
import { findLoop, ofThisFolder } from './find.ts';
import type { Output, OutputOf } from './output.ts';

/** Whose loop it is when nobody names one; `toChange`: to look at, the newest of all would do. */
export interface Near {
  readonly directory: string;
  readonly toChange?: boolean;
}

export interface Loops {
  /** Newest first, without their tasks one by one. */
  list(filter?: LoopFilter): Promise<readonly LoopView[]>;
  /** A loop by name, id or the start of either; without one, that of a folder. Throws a UsageError where none is meant. */
  find(ref: string | undefined, near: Near): Promise<LoopRow>;
  /** `history`: with every iteration and check, for which each event must be read once. */
  view(loop: string, more?: { readonly history?: boolean }): Promise<LoopView>;
  /** Where the ledger ends now: taken before `list`, nothing is missed by `follow` from there. */
  cursor(): Promise<number>;
  /** Events of one loop (or all) after a cursor, then new ones as they come, until `stop`. Reads no event twice. */
  follow(from: FollowFrom, stop: AbortSignal): AsyncIterable<Recorded>;
  /** One page of events after `after`, oldest first; at most 1,000 unless told. */
  events(loop: string, after?: number, most?: number): Promise<readonly Recorded[]>;
  /** What an iteration printed; with `stop` it goes on until the iteration has ended. */
  output(of: OutputOf, stop?: AbortSignal): AsyncIterable<Output>;
  /** What it has changed since it began, or in one iteration. Throws a UsageError where it keeps no checkpoints. */
  diff(loop: string, of?: { readonly iteration?: number | undefined }): Promise<LoopDiff>;
  /** What a restore would change, and the commands for `send` that do it. Throws a UsageError where it cannot be. */
  preview(loop: string, options?: RestoreOptions): Promise<RestoreView>;
  /** All or none of the commands are refused; who sends learns what became of them. */
  send(loop: string, commands: Command | readonly Command[], by: string): Promise<Sent>;
  close(): Promise<void>;
}

/** A loop as the ledger has it: for surfaces of Ralph itself, which know its state. */
export interface Look extends Replayed {
  readonly row: LoopRow;
  readonly held: LeaseState | undefined;
}

export interface LoopsNeeds {
  readonly ledger: Ledger;
  readonly home: string;
  readonly env: Environment;
  readonly warn: (sentence: string) => void;
  /** Its owner closes the ledger. */
  readonly isBorrowed?: boolean;
}

/** States that are kept, so that looking again reads only what is new. */
const keptMax = 200;

/** Loops over one ledger. What was replayed once is kept: looking again costs the new events only. */
export class LedgerLoops implements Loops {
  readonly #needs: LoopsNeeds;
  readonly #kept = new Map<string, LedgerFold>();

  constructor(needs: LoopsNeeds) {
    this.#needs = needs;
  }

  get #store() {
    return this.#needs.ledger.store;
  }

  async list(filter?: LoopFilter): Promise<readonly LoopView[]> {
    const views: LoopView[] = [];
    for await (const look of this.looks(filter)) views.push(loopView(look, Date.now()));
    return views;
  }

  find(ref: string | undefined, { directory, toChange = false }: Near): Promise<LoopRow> {
    return findLoop(this.#needs.ledger, ref, directory, toChange);
  }

  async view(loop: string, { history = false } = {}): Promise<LoopView> {
    const fold = history ? await this.fold(loop) : undefined;
    return { ...fullLoopView(await this.look(await this.#row(loop)), Date.now()), history: fold?.history() };
  }

  cursor(): Promise<number> {
    return this.#store.cursor();
  }

  async *follow(from: FollowFrom, stop: AbortSignal): AsyncGenerator<Recorded> {
    const awake = setInterval(() => {}, 60_000); // the ledger's own timers let a process end
    try {
      yield* this.#store.follow(from, stop);
    } finally {
      clearInterval(awake);
    }
  }

  events(loop: string, after?: number, most?: number): Promise<readonly Recorded[]> {
    return this.#store.read(loop, after, most);
  }

  async *output(of: OutputOf, stop?: AbortSignal): AsyncGenerator<Output> {
    const { outputOf } = await import('./output.ts');
    /** Also while its process was killed an iteration has no end in the ledger: then nothing more will come. */
    const isLive = async (): Promise<boolean> =>
      (await (await this.#folded(of.loop)).catchUp()).state.live.some(one => one.iteration === of.iteration) &&
      (await this.#store.holder(of.loop))?.alive === true;
    yield* outputOf(this.#needs.home, of, isLive, stop);
  }

  async diff(loop: string, { iteration }: { readonly iteration?: number | undefined } = {}): Promise<LoopDiff> {
    const { diffOf } = await import('./diff.ts');
    return diffOf({ ...this.#needs, row: await this.#row(loop) }, iteration);
  }

  async preview(loop: string, options: RestoreOptions = {}): Promise<RestoreView> {
    const { viewRestore } = await import('../restore.ts');
    return viewRestore({ ...this.#needs, row: await this.#row(loop) }, options);
  }

  async send(loop: string, commands: Command | readonly Command[], by: string): Promise<Sent> {
    const { deliver, refusalOf } = await import('./commands.ts');
    const row = await this.#rowIfAny(loop);
    if (row === undefined) return { became: 'refused', why: 'no-loop' };
    const all = 'type' in commands ? [commands] : commands;
    if (!all.every(isCommand)) throw new UsageError('That is no command to a loop.');
    const restore = all.find(one => one.type === 'restore');
    if (restore !== undefined && all.length > 1)
      throw new UsageError('A restore is sent alone.', 'Send the other commands after it.');
    const events = await this.#folded(loop);
    const { state } = await events.catchUp();
    // Nothing more is to be said where a restore was cut: it is only carried on.
    const isCarriedOn = all.length === 0 && state.checkpoints.restoreDue !== undefined;
    if (restore !== undefined || isCarriedOn) {
      const { sendRestore } = await import('../restore.ts');
      return sendRestore({ ...this.#needs, row }, { ...this.#needs, by }, restore);
    }
    if (all.length === 0) return { became: 'decided' };
    const why = refusalOf(state, all);
    if (why !== undefined) return { became: 'refused', why };
    return deliver({ ...this.#needs, loop, row, by, events }, all);
  }

  async close(): Promise<void> {
    if (this.#needs.isBorrowed !== true) await this.#store.close();
  }

  /** One loop with its state. */
  async look(row: LoopRow): Promise<Look> {
    const events = await this.#folded(row.loop);
    return { row, ...(await events.catchUp()), held: await this.#store.holder(row.loop) };
  }

  /** Every event of one loop, folded: its state and its history. */
  async fold(loop: string): Promise<LoopFold> {
    const events = await this.#folded(loop, true);
    await events.catchUp();
    return events.fold;
  }

  /** Each loop with its state, newest first. */
  async *looks(filter?: LoopFilter): AsyncGenerator<Look> {
    for (const row of await this.#store.loops(filter)) yield await this.look(row);
  }

  /** What the ledger knows of loops without replaying any. */
  async rows(): Promise<readonly LoopRow[]> {
    return this.#store.loops();
  }

  /** The loops of a folder, newest first: those that are nearest to it. */
  isOfFolder(row: LoopRow, directory: string): boolean {
    return ofThisFolder([row], directory).length > 0;
  }

  async ofFolder(directory: string): Promise<readonly LoopRow[]> {
    return ofThisFolder(await this.rows(), directory);
  }

  /** Every event of a loop, in order, page by page. */
  history(loop: string): AsyncGenerator<readonly Recorded[]> {
    return ledgerEvents(this.#needs.ledger, loop);
  }

  async #rowIfAny(loop: string): Promise<LoopRow | undefined> {
    return (await this.#store.loops()).find(row => row.loop === loop);
  }

  async #row(loop: string): Promise<LoopRow> {
    const row = await this.#rowIfAny(loop);
    if (row === undefined) throw new UsageError(`No loop has the id ${JSON.stringify(loop)}.`);
    return row;
  }

  /** `isWhole`: with its history, for which a snapshot is not enough. */
  async #folded(loop: string, isWhole = false): Promise<LedgerFold> {
    const { ledger } = this.#needs;
    const kept = this.#kept.get(loop);
    const isEnough = kept !== undefined && (kept.isWhole || !isWhole);
    const events = isEnough ? kept : isWhole ? new LedgerFold(ledger, loop) : await LedgerFold.nearest(ledger, loop);
    this.#kept.delete(loop);
    this.#kept.set(loop, events);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > keptMax && oldest !== undefined) this.#kept.delete(oldest);
    return events;
  }
}
