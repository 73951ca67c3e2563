// The only loop: ask `next`, start what is new, abort what is no longer wanted, record what comes back, ask again.

import type { StopReason } from '../agents/performer.ts';
import type { Input, Performed } from '../core/input.ts';
import { type Effect, next, type Plan, waitingFor } from '../core/next.ts';
import { isBusy, liveIteration, type State } from '../core/state.ts';
import { findTask } from '../core/task.ts';
import { hardStop } from '../core/termination.ts';
import type { Problem } from '../documents/document.ts';
import type { Lease, Mail, StoreFailure } from '../ledger/ledger.ts';
import { commandIn } from './command.ts';
import { documentInput } from './document.ts';
import { performEffect } from './effects.ts';
import type { Engine, RunResult } from './engine.ts';
import { failureIn, Recorder, storageFailure } from './recorder.ts';
import { type Replayed, replay } from './replay.ts';
import { NoteBoard } from './steering.ts';
import { endOutside } from './supervise.ts';

export interface RunOptions {
  /** Fires on Ctrl-C or a signal: live work is stopped and recorded, the loop stays open. */
  readonly interrupt: AbortSignal;
  /** Only finish what needs no performer: for commands that arrive while no process holds the loop. */
  readonly settleOnly?: boolean;
  /** Decided first, under the lease. */
  readonly first?: readonly Input[];
  /** Whoever runs this is only here for a moment and comes again, as a hook of a session does (ADR 9). */
  readonly visit?: Visit;
}

export interface Visit {
  /** How the work ended that goes on outside this process; absent: it was not begun, or nobody knows. */
  readonly outcome?: Performed | undefined;
  /** False: what is at work is brought to its end, and nothing new begins. */
  readonly begins: boolean;
}

class LoopRun {
  private readonly book: Recorder;
  private readonly waiters = new Map<Input, (stored: boolean) => void>();
  private readonly running = new Map<string, AbortController>();
  private readonly inbox: Input[] = [];
  private readonly board = new NoteBoard();
  private readonly proven = new Set<number>();
  private mailWaiting = true;
  private isLeft = false;
  private failure: StoreFailure | undefined;
  private refused: readonly Problem[] | undefined;
  private crash: unknown;
  private wake: () => void = () => {};
  private readonly engine: Engine;
  private readonly lease: Lease;
  private readonly options: RunOptions;

  constructor(engine: Engine, lease: Lease, options: RunOptions, from: Replayed) {
    this.engine = engine;
    this.lease = lease;
    this.options = options;
    this.book = new Recorder(engine, lease, from, failure => this.fail(failure));
  }

  private get state(): State {
    return this.book.state;
  }

  private readonly post = (input: Input): void => {
    this.inbox.push(input);
    this.wake();
  };

  async go(): Promise<RunResult> {
    const { interrupt, first } = this.options;
    const cancels = [this.engine.ledger.mailbox.watch(() => this.mailCame()), this.book.keepLease()];
    const onInterrupt = (): void => this.wake();
    interrupt.addEventListener('abort', onInterrupt);
    try {
      this.inbox.push(...(first ?? []));
      const result = await this.turn();
      if (result.type !== 'failed') await this.book.keepSnapshot();
      return result;
    } finally {
      interrupt.removeEventListener('abort', onInterrupt);
      for (const cancel of cancels) cancel();
    }
  }

  private async turn(): Promise<RunResult> {
    for (;;) {
      await this.recordAll();
      if (this.failure !== undefined) await this.lastWord(this.failure);
      const plan = this.plan();
      if (this.book.holds && !this.mayDefer(plan)) {
        await this.book.flush();
        continue; // time has passed: an interrupt or an input may have come
      }
      this.reconcile(plan);
      if (this.inbox.length > 0) continue;
      const result = this.result(plan);
      if (result !== undefined) return result;
      const due = this.answerDueAt();
      const patience = due > this.engine.clock.now() ? due : Number.POSITIVE_INFINITY;
      await this.rest(Math.min(plan.wakeAt ?? Number.POSITIVE_INFINITY, patience, this.book.heldTill));
    }
  }

  private async lastWord(failure: StoreFailure): Promise<void> {
    await this.book.flush();
    await this.book.lastWord(failure);
  }

  private plan(): Plan {
    if (this.failure || this.refused || this.isLeft) return { effects: [] };
    const plan = next(this.state, this.engine.clock.now(), this.engine.holder.id);
    if (this.options.interrupt.aborted) return lastSaved(plan);
    if (this.options.visit !== undefined) return forSession(plan, this.state, this.options.visit);
    if (!this.options.settleOnly) return this.engine.interactive ? oneAtTheTerminal(plan) : plan;
    return settled(plan, this.state, this.engine.checkpoints !== undefined);
  }

  /**
   * What is held back joins the next append (ADR 37): while the next iteration is only chosen, and its process made that
   * waits for that append, and, when it is no more than a saved document, while that is committed. Anything else that is to
   * be started needs it on the disk first.
   */
  private mayDefer({ effects }: Plan): boolean {
    if (this.engine.clock.now() >= this.book.heldTill) return false;
    const isHarmless = (effect: Effect): boolean =>
      (effect.type === 'begin' && !this.book.holdsStart) ||
      (effect.type === 'perform' && this.waitsForRecord(effect.iteration)) ||
      (effect.type === 'commit' && this.book.holdsMarksOnly);
    return effects.some(isHarmless) && effects.every(effect => isHarmless(effect) || this.running.has(effect.key));
  }

  /** What it starts does nothing yet, and nothing has to be made for it. */
  private waitsForRecord(iteration: number): boolean {
    const { engine, state } = this;
    const live = liveIteration(state, iteration);
    if (live === undefined || live.process !== undefined || state.settings.worktreePerTask) return false;
    const isInteractive = engine.interactive === true || findTask(state.tasks, live.task)?.spec.interactive === true;
    return !isInteractive && engine.performers[live.performer]?.holds?.() === true;
  }

  private reconcile(plan: Plan): void {
    const wanted = new Set(plan.effects.map(effect => effect.key));
    for (const [key, controller] of this.running) {
      if (!wanted.has(key) && !controller.signal.aborted) controller.abort(this.whyAborted(key));
    }
    for (const effect of plan.effects) {
      const stopping = effect.type === 'cancel' && this.running.has(`perform:${effect.iteration}`);
      if (!this.running.has(effect.key) && !stopping) this.start(effect);
    }
  }

  private whyAborted(key: string): StopReason {
    const { interrupt } = this.options;
    if (interrupt.aborted) {
      // Whoever interrupts may say why in words of their own.
      const because = typeof interrupt.reason === 'string' ? interrupt.reason : 'interrupted';
      return { kind: 'interrupt', because };
    }
    if (this.failure) return { kind: 'ledger', because: `the ledger failed: ${this.failure.detail}` };
    const hard = hardStop(this.state, this.engine.clock.now());
    if (hard) return { kind: 'limit', because: hard.because };
    if (this.state.control.paused?.now) return { kind: 'pause', because: `paused by ${this.state.control.paused.by}` };
    const handoff = this.state.live.find(live => key === `perform:${live.iteration}`)?.handoff;
    if (handoff === undefined) return { kind: 'unwanted', because: 'no longer wanted' };
    return { kind: 'handoff', because: `handed off (${handoff.trigger}), but it did not stop` };
  }

  private start(effect: Effect): void {
    const controller = new AbortController();
    this.running.set(effect.key, controller);
    const place = {
      engine: this.engine,
      state: this.state,
      post: this.post,
      board: this.board,
      stored: this.stored,
      stateNow: () => this.state,
      anchor: { sequence: this.book.seq, hash: this.book.hash },
      proven: this.proven,
      refuse: (problems: readonly Problem[]): void => {
        this.refused = problems;
      },
      leave: (): void => {
        this.isLeft = true;
      },
    };
    // A port that throws has broken its contract: that is our bug, and crash-only means the process ends (F15).
    performEffect(effect, place, controller.signal).then(
      () => {
        this.running.delete(effect.key);
        this.wake();
      },
      (error: unknown) => {
        this.running.delete(effect.key);
        const failure = storageFailure(error);
        if (failure === undefined) this.crash = error ?? new Error('unknown');
        else this.fail(failure);
        this.wake();
      },
    );
  }

  private result(plan: Plan): RunResult | undefined {
    if (this.crash !== undefined) throw this.crash;
    const { state } = this;
    if (this.running.size === 0) {
      const over = this.over();
      if (over !== undefined) return over;
    }
    const isIdle = [...this.running.keys()].every(key => key.startsWith('ask:'));
    if (!isIdle || this.failure || state.control.ended || this.options.interrupt.aborted) return undefined;
    if (this.options.visit !== undefined && !this.isLeft) return { type: 'waiting', state };
    const waits = waitingFor(state, this.engine.clock.now());
    const patience = this.engine.onEscalation === 'wait' ? this.answerDueAt() : 0;
    if (waits?.kind === 'human' && patience <= this.engine.clock.now()) return { type: 'waiting', state };
    const stuck = plan.wakeAt === undefined && this.running.size === 0 && state.control.paused === undefined;
    return stuck ? { type: 'waiting', state } : undefined;
  }

  /** Nothing runs any more: is that the end of this run? */
  private over(): RunResult | undefined {
    const { state, failure, refused, options } = this;
    if (failure) return { type: 'failed', state, failure };
    if (refused) return { type: 'refused', state, problems: refused };
    if (state.control.ended) return { type: 'ended', state };
    if (this.isLeft) return { type: 'left', state };
    if (options.interrupt.aborted) return { type: 'interrupted', state };
    return options.settleOnly ? { type: 'waiting', state } : undefined;
  }

  /** When the newest question has waited long enough for its answer (--answer-timeout). */
  private answerDueAt(): number {
    const { answerMsMax } = this.engine;
    const asked = this.state.questions.open.map(one => one.raisedAt);
    return answerMsMax === undefined || asked.length === 0
      ? Number.POSITIVE_INFINITY
      : Math.max(...asked) + answerMsMax;
  }

  /** Until something is posted, an effect ends, mail comes, or the time that `next` named. */
  private rest(wakeAt: number): Promise<void> {
    return new Promise(done => {
      let cancel: () => void = () => {};
      this.wake = () => {
        this.wake = () => {};
        cancel();
        done();
      };
      if (Number.isFinite(wakeAt)) cancel = this.engine.clock.at(wakeAt, () => this.wake());
      if (this.inbox.length > 0 || this.mailWaiting) this.wake();
    });
  }

  private mailCame(): void {
    this.mailWaiting = true;
    this.wake();
  }

  private fail(failure: StoreFailure): void {
    this.failure ??= failure;
    this.wake();
  }

  /** What we know ourselves first (that we took over, above all), then what others sent. */
  private async recordAll(): Promise<void> {
    for (let input = this.inbox.shift(); input !== undefined; input = this.inbox.shift()) await this.record(input);
    const look = this.mailWaiting && !this.failure;
    this.mailWaiting = false; // also when we may not look: a flag left up would never let the loop rest
    if (look) {
      for (const mail of await this.mail()) {
        const command = commandIn(mail);
        if (command !== undefined) await this.record({ type: 'command', command, by: mail.by }, mail.id);
      }
    }
  }

  private async mail(): Promise<readonly Mail[]> {
    try {
      return await this.engine.ledger.mailbox.waiting(this.lease.loop);
    } catch (error) {
      this.fail(failureIn(error));
      return [];
    }
  }

  private async record(raw: Input, takes?: number): Promise<void> {
    const stored = !this.failure && (await this.book.record(raw, takes));
    this.waiters.get(raw)?.(stored);
    this.waiters.delete(raw);
  }

  /** An action waits here until its intent is durable: false means that it must not act. So does a report of an agent. */
  private readonly stored = (input: Input): Promise<boolean> =>
    new Promise(done => {
      this.waiters.set(input, done);
      this.post(input);
    });
}

/** Runs a loop until it ends, waits for a human, is interrupted, or cannot go on. Run and resume are this one path. */
export async function runLoop(engine: Engine, loop: string, options: RunOptions): Promise<RunResult> {
  const leased = await engine.ledger.store.lease(loop, engine.holder);
  if (!leased.ok) return { type: 'held', held: leased.held };
  let isLeft = false;
  try {
    const from = await replay(engine.ledger, loop);
    const opening = await openingInputs(engine, from.state, from.seq > 0, options);
    if ('problems' in opening) return { type: 'refused', state: from.state, problems: opening.problems };
    const first = [...opening.inputs, ...(options.first ?? [])];
    const result = await new LoopRun(engine, leased.lease, { ...options, first }, from).go();
    await engine.publish?.close();
    isLeft = result.type === 'left';
    return result;
  } finally {
    await Promise.all([engine.checkpoints?.close?.(), engine.forks?.close?.()]);
    if (!isLeft) await engine.ledger.store.release(leased.lease);
  }
}

/** What a process says first when it takes a loop up: that it did, what the document holds now, that old trouble is over. */
type Opening = { readonly inputs: readonly Input[] } | { readonly problems: readonly Problem[] };

async function openingInputs(
  engine: Engine,
  state: State,
  hasBegun: boolean,
  { settleOnly = false, visit }: RunOptions,
): Promise<Opening> {
  const own = visit && state.live.find(live => live.holder === engine.holder.id);
  const inputs: Input[] = [];
  if (hasBegun)
    await engine.checkpoints?.repair(
      [state.checkpoints.latest, state.checkpoints.lastGood].filter(mark => mark !== undefined),
    );
  // The time since was work, and what the document says by now is the word of who did it.
  if (own !== undefined && visit?.outcome !== undefined) {
    await endOutside({ engine, state, post: input => void inputs.push(input) }, own, visit.outcome);
    return { inputs };
  }
  // A command to a loop that a process left in the middle of work must not count the time since as work.
  const goesOn = !settleOnly && visit === undefined;
  if (hasBegun && own === undefined && (goesOn || isBusy(state))) inputs.push({ type: 'taken-over', by: engine.by });
  const loaded = state.document.isLoaded && !settleOnly && own === undefined ? await engine.source.load() : undefined;
  if (loaded?.type === 'failed') return { problems: loaded.problems };
  if (loaded?.type === 'loaded') inputs.push(documentInput(loaded));
  return { inputs: settleOnly ? inputs : [...inputs, ...triedAgain(state)] };
}

/** Old trouble with the disk or the branch may be over. */
const triedAgain = ({ questions }: State): readonly Input[] =>
  questions.open
    .filter(({ kind }) => kind === 'storage' || kind === 'branch')
    .map(({ id }) => ({
      type: 'command',
      by: 'ralph',
      command: { type: 'answer', escalation: id, answer: { kind: 'retry' } },
    }));

/** A terminal serves one at a time, and a question comes before an agent. */
function oneAtTheTerminal(plan: Plan): Plan {
  const asks = plan.effects.some(effect => effect.type === 'ask');
  return asks ? { ...plan, effects: plan.effects.filter(effect => effect.type !== 'begin') } : plan;
}

/** A session does one thing at a time, or nothing new. */
function forSession(plan: Plan, { live }: State, { begins }: Visit): Plan {
  const first = plan.effects.find(({ type }) => type === (live.length === 0 ? 'begin' : 'perform'));
  const isOther = (effect: Effect): boolean =>
    (effect.type === 'begin' || effect.type === 'perform') && !(begins && effect === first);
  return { ...plan, effects: plan.effects.filter(effect => !isOther(effect)) };
}

// Effect filters: what may still be done for a loop that nobody runs, or that is interrupted.

const settling: readonly Effect['type'][] = ['cancel', 'recover', 'save', 'end'];
const keeping: readonly Effect['type'][] = ['recover', 'checkpoint', 'restore', 'save'];

/** An asked stop is brought to its end; so are files to be saved or restored, by a command that came with checkpoints. */
function settled(plan: Plan, state: State, hasCheckpoints: boolean): Plan {
  const wanted = [...(state.control.stop ? settling : []), ...(hasCheckpoints ? keeping : [])];
  return { effects: plan.effects.filter(effect => wanted.includes(effect.type)) };
}

const lasting: readonly Effect['type'][] = ['checkpoint', 'save'];

/** On Ctrl-C the work that was cut is still saved, and shown: what a person edits afterwards is not the loop's. */
const lastSaved = (plan: Plan): Plan => ({
  effects: plan.effects.filter(effect => lasting.includes(effect.type)),
});
