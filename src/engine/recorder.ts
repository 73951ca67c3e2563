// Recorder of a loop: what an input means is stored in one durable append, then told to whoever listens.
import type { Event } from '../core/event.ts';
import type { Input, InputOf, Question } from '../core/input.ts';
import type { State } from '../core/state.ts';
import type { TaskSpec } from '../core/task.ts';
import type { Lease, StoreFailure, StoreFailureKind } from '../ledger/ledger.ts';
import { decide } from '../modes/decide.ts';
import { evolve } from '../modes/evolve.ts';
import { type Redact, redactDeep } from '../secrets/redactor.ts';
import type { Engine } from './engine.ts';
import { type Replayed, saveSnapshot, snapshotEvery } from './replay.ts';

const renewEveryMs = 15_000;
/** What is held back for a process that takes longer to be made is stored without it. */
const heldMsMax = 1_000;
/** Fewer events are read as fast as a snapshot, which holds every task, is written and read. */
const snapshotAtEndFrom = 500;
const fenced: StoreFailure = {
  kind: 'fenced',
  detail: 'another process took this loop over',
  hint: 'See who: ralph status',
};

/**
 * What may wait for the next append (ADR 37): how something ended that a new start would find or do again, and that an
 * iteration begins whose process waits for that append.
 */
const deferrable: ReadonlySet<Input['type']> = new Set(['performed', 'saved', 'committed', 'begin']);

type RecorderNeeds = Pick<Engine, 'ledger' | 'clock' | 'redact' | 'notifiers' | 'publish' | 'freeReserve'>;

interface Held {
  readonly event: Event;
  readonly after: State;
}

export class Recorder {
  /** What is held back is in it already. */
  state: State;
  seq: number;
  hash: string;
  private snapshotSeq: number;
  private lastWordSaid = false;
  /** Folded, but neither stored nor told yet. */
  private held: readonly Held[] = [];
  /** What is held back is to be stored by then. */
  heldTill = Number.POSITIVE_INFINITY;
  private stored: State;
  private readonly engine: RecorderNeeds;
  private readonly redacted: <Given extends Input>(input: Given) => Given;
  private readonly lease: Lease;
  private readonly fail: (failure: StoreFailure) => void;

  constructor(engine: RecorderNeeds, lease: Lease, from: Replayed, fail: (failure: StoreFailure) => void) {
    this.engine = engine;
    this.redacted = inputRedactor(engine.redact);
    this.lease = lease;
    this.fail = fail;
    this.state = from.state;
    this.stored = from.state;
    this.seq = from.seq;
    this.hash = from.hash;
    this.snapshotSeq = from.seq - from.folded;
  }

  /** True when it meant something and that is stored, or held back until the next append. */
  async record(raw: Input, takes?: number): Promise<boolean> {
    const input = this.redacted(raw);
    const decided = decide(this.state, input, this.engine.clock.now());
    const events = decided.map(event => redactedReport(event, this.engine.redact));
    if (events.length === 0 && takes === undefined) return false;
    if (!this.holds && events.length > 0) this.heldTill = this.engine.clock.now() + heldMsMax;
    for (const event of events) {
      this.state = evolve(this.state, event);
      this.held = [...this.held, { event, after: this.state }];
    }
    if (takes === undefined && deferrable.has(raw.type)) return true;
    return (await this.append(takes)) && events.length > 0;
  }

  get holds(): boolean {
    return this.held.length > 0;
  }

  /** All that is held back says that what is done was written down, in the document or in git. */
  get holdsMarksOnly(): boolean {
    return this.held.every(({ event: { type } }) => type === 'tasks.saved' || type === 'work.committed');
  }

  get holdsStart(): boolean {
    return this.held.some(({ event: { type } }) => type === 'iteration.started');
  }

  /** Stores what is held back: before anything is done that a new start would not do again. */
  async flush(): Promise<void> {
    if (this.holds) await this.append();
  }

  private async append(takes?: number): Promise<boolean> {
    const { ledger, notifiers, publish } = this.engine;
    const { held } = this;
    this.held = [];
    this.heldTill = Number.POSITIVE_INFINITY;
    const options = { token: this.lease.token, takes };
    const events = held.map(({ event }) => event);
    const appended = await ledger.store.append(this.lease.loop, this.seq, events, options);
    if (!appended.ok) {
      this.state = this.stored;
      this.fail(appended.failure);
      return false;
    }
    this.seq = appended.seq;
    this.hash = appended.hash;
    this.stored = this.state;
    for (const { event, after } of held) for (const notifier of notifiers) notifier.tell(event, after);
    publish?.changed();
    if (this.seq - this.snapshotSeq >= snapshotEvery && this.state.live.length > 0) {
      this.snapshotSeq = this.seq;
      await saveSnapshot(ledger, this.lease.loop, this);
    }
    return true;
  }

  /** At the end of a run: so that who lists many loops replays few events. */
  async keepSnapshot(): Promise<void> {
    if (this.seq - this.snapshotSeq < snapshotAtEndFrom) return;
    this.snapshotSeq = this.seq;
    await saveSnapshot(this.engine.ledger, this.lease.loop, this);
  }

  /** Renews the lease, and notices when it is lost: then nothing more may be written. Returns how to stop. */
  keepLease(): () => void {
    const { clock, ledger } = this.engine;
    let cancel: () => void = () => {};
    let stopped = false;
    const arm = (): void => {
      cancel = clock.at(clock.now() + renewEveryMs, async () => {
        const failure = await ledger.store.renew(this.lease).then(ours => (ours ? undefined : fenced), failureIn);
        if (stopped) return;
        if (failure === undefined) arm();
        else this.fail(failure);
      });
    };
    arm();
    return () => {
      stopped = true;
      cancel();
    };
  }

  /** A full disk: the reserve file makes room for one question, so that the next start knows (F38). */
  async lastWord(failure: StoreFailure): Promise<void> {
    if (failure.kind !== 'disk-full' || this.lastWordSaid) return;
    this.lastWordSaid = true;
    this.engine.freeReserve?.();
    const because = 'the ledger could not be written';
    const input: Input = { type: 'escalate', question: diskFull(failure.detail), because };
    const events = decide(this.state, this.redacted(input), this.engine.clock.now());
    const { token, loop } = this.lease;
    const appended = await this.engine.ledger.store.append(loop, this.seq, events, { token });
    if (!appended.ok) return;
    this.seq = appended.seq;
    for (const event of events) this.state = evolve(this.state, event);
    this.stored = this.state;
  }
}

/** Recorded in the room that the reserve file gives back (F38). */
function diskFull(detail: string): Question {
  return {
    kind: 'storage',
    summary: 'The disk is full',
    context: detail,
    options: [{ id: 'go-on', text: 'There is room again: go on' }],
    question: 'Make room on the disk, then run the same command again.',
  };
}

// The funnel: no input reaches the core, and so the ledger, a view or a prompt, with a secret that we can recognise.

/** Names, places and hashes must stay what they are: what was rewritten could not be found again. */
const exact: { readonly [Type in Input['type']]?: readonly (keyof InputOf<Type>)[] } = {
  checkpointed: ['mark', 'ref', 'sha256'],
  start: ['loop', 'name', 'document', 'directory'],
};

/** Tasks of a document that were not read again are not looked through again, and stay the same objects. */
function inputRedactor(redact: Redact) {
  const known = new WeakMap<TaskSpec, TaskSpec>();
  const task = (spec: TaskSpec): TaskSpec => {
    const clean = known.get(spec) ?? redactDeep(spec, redact);
    known.set(spec, clean);
    return clean;
  };
  return <Given extends Input>(input: Given): Given => {
    if (input.type === 'document')
      return { ...redactDeep({ ...input, tasks: [] }, redact), tasks: input.tasks.map(task) };
    const clean = redactDeep(input, redact);
    const names = exact[input.type] as readonly (keyof Given)[] | undefined;
    return names === undefined ? clean : { ...clean, ...Object.fromEntries(names.map(name => [name, input[name]])) };
  };
}

/** A report is JSON: what was escaped in the message is decoded by the core (B66). */
function redactedReport(event: Event, redact: Redact): Event {
  if (event.type === 'review.answered') return { ...event, answer: redactDeep(event.answer, redact) };
  if (event.type !== 'iteration.ended' || event.report === undefined) return event;
  return { ...event, report: redactDeep(event.report, redact) };
}

// Tells a disk that failed under an iteration's record from a bug of ours: the first ends the run with its own words.

interface Row {
  readonly kind: StoreFailureKind;
  readonly what: string;
  readonly hint: string;
}

const full: Row = {
  kind: 'disk-full',
  what: 'the disk is full',
  hint: 'Free some space on the disk of RALPH_HOME and run the same command again.',
};
const gone: Row = {
  kind: 'gone',
  what: 'the folder of this loop was deleted or replaced while it was in use',
  hint: 'Put RALPH_HOME back, or start again to make a new ledger.',
};
const locked: Row = {
  kind: 'readonly',
  what: 'the folder of this loop cannot be written any more',
  hint: 'Make RALPH_HOME writable by you (chown, chmod, mount) and run the same command again.',
};
const broken: Row = {
  kind: 'io',
  what: 'the disk reported an error',
  hint: 'Check the disk of RALPH_HOME, then run the same command again.',
};

const rows: Readonly<Record<string, Row>> = {
  ENOSPC: full,
  EDQUOT: full,
  ENOENT: gone,
  EROFS: locked,
  EACCES: locked,
  EPERM: locked,
  EIO: broken,
};

/** Undefined for whatever the file system did not say: that is a bug, and crash-only means the process ends (F15). */
export function storageFailure(error: unknown): StoreFailure | undefined {
  const { failure, code, syscall, message } = (error ?? {}) as NodeJS.ErrnoException & { failure?: StoreFailure };
  if (failure !== undefined) return failure;
  const row = typeof syscall === 'string' ? rows[code ?? ''] : undefined;
  return row && { kind: row.kind, detail: `${row.what}: ${message}`, hint: row.hint };
}

/** Store methods without room for a failure reject with an error that carries it. */
export function failureIn(error: unknown): StoreFailure {
  const failure = storageFailure(error);
  if (failure === undefined) throw error;
  return failure;
}
