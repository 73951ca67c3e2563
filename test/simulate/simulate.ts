// One seeded loop through the real engine: random agents, commands and limits, crashes between any two effects.
import type { Answer, Event } from '../../src/core/event.ts';
import type { FailureKind } from '../../src/core/failure.ts';
import type { Limits, Settings } from '../../src/core/settings.ts';
import { initialState, type State } from '../../src/core/state.ts';
import type { Engine, RunResult } from '../../src/engine/engine.ts';
import { eventsOf } from '../../src/engine/replay.ts';
import { runLoop } from '../../src/engine/run.ts';
import type { Holder, Ledger } from '../../src/ledger/ledger.ts';
import { memoryLedger } from '../../src/ledger/memory.ts';
import type { SpoolEnd } from '../../src/ledger/spool.ts';

import { evolve } from '../../src/modes/evolve.ts';
import { defaultSettings } from '../../src/modes/registry.ts';

import { type Behaviour, failureKinds, simulatedAgent } from './agent.ts';
import { VirtualClock } from './clock.ts';
import { backlog, SimulatedDocument } from './document.ts';
import { type SimulatedGit, simulatedGit } from './git.ts';
import { checkEnd, checkLaws, checkNothingLost, LawBroken } from './laws.ts';
import { withAppend } from './other-append.ts';
import { type Random, random } from './random.ts';
import { checkMsMax, junk, type Trouble, trouble } from './trouble.ts';

export interface Simulated {
  readonly seed: number;
  readonly outcome: string;
  readonly events: number;
  readonly crashes: number;
  readonly parallelSeen: boolean;
}

const loop = 'loop-1';
const stepsMax = 20_000;

function randomSettings(chances: Random): Settings {
  const mode = defaultSettings(chances.is(0.8) ? 'prd' : 'goal');
  // The simulated document shows results, also where the rules are those of a goal.
  const base: Settings = { ...mode, policy: { ...mode.policy, documentShows: 'results' } };
  const limits: Limits = {
    ...base.limits,
    iterationsMax: chances.is(0.9) ? chances.whole(1, 25) : null,
    costUsdMicrosMax: chances.is(0.5) ? chances.whole(1, 8_000_000) : null,
    durationMsMax: chances.is(0.3) ? chances.whole(60_000, 7_200_000) : null,
    tokensMax: chances.is(0.1) ? chances.whole(1_000, 50_000) : 1_000_000,
    noProgressIterations: chances.pick([3, 5, 8]),
    attemptsPerTaskMax: chances.pick([2, 5]),
  };
  const parallel = chances.pick([1, 1, 2, 3]);
  return {
    ...base,
    limits,
    breaker: { ...base.breaker, openingsMax: 3 }, // a night of simulated outages is short
    parallel,
    performers: chances.pick([['one'], ['one', 'two'], ['one', 'two', 'three']]),
    checks: chances.is(0.7) ? ['proof'] : [],
    worktreePerTask: parallel > 1,
    sameErrorsToEscalate: chances.pick([null, 3]),
    ...keeping(chances),
  };
}

function keeping(chances: Random): Partial<Settings> {
  if (chances.is(0.5)) return {};
  return {
    checkpoints: true,
    commits: chances.is(0.5),
    tamperScreen: chances.is(0.5),
    rollbackAfter: chances.pick([null, 2, 3]),
  };
}

/** Some tasks, or a phase, have their own performer. */
function named(performers: readonly string[], chances: Random): Partial<Settings> {
  const someone = (): string => chances.pick([...performers]);
  return {
    ...(chances.is(0.2) ? { performersByTask: { T1: someone(), T3: someone() } } : {}),
    ...(chances.is(0.1) ? { performersByPhase: { testing: someone() } } : {}),
  };
}

/** A process that may die inside any append: before it is durable, or after it but before anyone knows. */
class Crashing {
  crashed = false;
  onCrash: () => void = () => {};
  private left: number;
  private readonly chances: Random;
  readonly ledger: Ledger;

  constructor(ledger: Ledger, chances: Random) {
    this.chances = chances;
    this.left = chances.is(0.6) ? chances.whole(1, 40) : Number.POSITIVE_INFINITY;
    this.ledger = withAppend(ledger, this.appendTo(ledger.store));
  }

  private appendTo(store: Ledger['store']): Ledger['store']['append'] {
    return async (...call) => {
      if (this.crashed) return await new Promise<never>(() => {});
      this.left -= 1;
      if (this.left > 0) return store.append(...call);
      if (this.chances.is(0.5)) await store.append(...call);
      this.crashed = true;
      this.onCrash();
      return await new Promise<never>(() => {});
    };
  }
}

const doubt = {
  kind: 'test-deleted',
  path: 'a.test.ts',
  detail: 'gone',
  severity: 'refuse',
  fingerprint: 'f',
} as const;

/** What is there now, and what ever was. */
class Work extends Set<string> {
  readonly ever = new Set<string>();
  override add(task: string): this {
    this.ever?.add(task);
    return super.add(task);
  }
}

class World {
  readonly chances: Random;
  readonly clock: VirtualClock;
  readonly document: SimulatedDocument;
  readonly worked = new Work();
  readonly git: SimulatedGit;
  /** A person restored files: what was proven may be gone. */
  undone = false;
  readonly spawns: number[] = [];
  readonly settings: Settings;
  readonly trouble: Trouble;
  readonly spooled = new Map<number, SpoolEnd>();
  readonly ledger: Ledger;
  private readonly skill: number;
  private readonly habit: Behaviour | undefined;
  private readonly failing: readonly FailureKind[];
  private holders = 0;
  state: State | undefined;
  living = '';
  crashes = 0;
  steps = 0;

  constructor(seed: number) {
    this.chances = random(seed);
    this.clock = new VirtualClock(this.chances);
    this.document = new SimulatedDocument(backlog(this.chances));
    this.trouble = trouble(seed);
    const settings = randomSettings(this.chances);
    this.settings = { ...settings, ...named(settings.performers, this.trouble.chances) };
    const { chances, unwritable: probability } = this.trouble;
    if (probability > 0) this.document.unwritable = { chances, probability };
    const place = { chances: this.trouble.chances, present: this.worked, saved: new Map(), landed: new Set<number>() };
    this.git = simulatedGit(place);
    this.skill = this.chances.pick([0, 0.2, 0.5, 0.8, 0.95]);
    this.habit = this.chances.pick([undefined, undefined, 'fail', 'hang', 'lie', 'idle', 'edit']);
    this.failing = this.chances.is(0.5) ? [this.chances.pick(failureKinds)] : failureKinds;
    this.ledger = memoryLedger({
      hash: false,
      isAlive: holder => holder.id === this.living,
      now: () => this.clock.now(),
    });
  }

  engine(ledger: Ledger): Engine {
    const { chances, clock, document, worked } = this;
    this.holders += 1;
    const holder: Holder = {
      id: `process-${this.holders}`,
      pid: this.holders,
      startTime: '1',
      host: 'sim',
      boot: 'sim',
      version: 'sim',
    };
    this.living = holder.id;
    document.restart();
    const agentWorld = {
      clock,
      chances,
      worked,
      skill: this.skill,
      habit: this.habit,
      failing: this.failing,
      spawns: this.spawns,
      listening: this.trouble,
      edit: (task: string) => document.edit(task, chances),
    };
    const names = this.settings.performers;
    return {
      ledger,
      clock,
      source: document,
      performers: Object.fromEntries(names.map(name => [name, simulatedAgent(name, agentWorld)])),
      checks: this.settings.checks.map(name => ({
        name,
        run: async (directory, stop) => {
          if (this.trouble.slowChecks) await this.pass(this.trouble.chances.whole(1, checkMsMax), stop);
          return { name, passed: !stop.aborted && this.proven(directory), detail: 'looked', durationMs: 1 };
        },
      })),
      ...this.git,
      screen: async () => (chances.is(0.15) ? [doubt] : []),
      spool: {
        open: iteration => {
          this.spooled.delete(iteration);
          return { write: () => {}, end: end => void this.spooled.set(iteration, end!) };
        },
        found: iteration => this.spooled.get(iteration),
      },
      notifiers: [],
      redact: text => text,
      prompt: () => ({ text: 'work' }),
      onEscalation: chances.pick(['wait', 'skip', 'exit']),
      holder,
      by: 'sim',
      environment: {},
    };
  }

  private pass(ms: number, stop: AbortSignal): Promise<void> {
    return new Promise(done => {
      const cancel = this.clock.at(this.clock.now() + ms, done);
      stop.addEventListener('abort', () => {
        cancel();
        done();
      });
    });
  }

  /** The simulated proof looks at the world, not at words. */
  private proven(task: string): boolean {
    return this.worked.has(task);
  }
}

const drained = (): Promise<void> => new Promise(done => setImmediate(done));

/** A person may send a command at any moment; true when one did. */
function meddle(world: World): boolean {
  const { chances, ledger, clock } = world;
  let sent = false;
  const send = (body: unknown): void => {
    sent = true;
    void ledger.mailbox.send(loop, 'human', body, clock.now());
  };
  const { edits, clockSteps, junkMail, chances: ill } = world.trouble;
  if (edits && ill.is(0.02)) world.document.meddle(ill);
  if (clockSteps && ill.is(0.02)) clock.skip(-ill.pick([60_000, 3_600_000, 86_400_000]));
  if (junkMail && ill.is(0.02)) send(ill.pick(junk));
  const what = chances.whole(1, 400);
  if (what === 1) send({ type: 'stop' });
  else if (what <= 4) send({ type: 'pause', now: chances.is(0.3) });
  else if (what <= 8) send({ type: 'resume' });
  else if (what <= 10) send({ type: 'tell', text: 'be careful' });
  else if (what === 15) send({ type: 'checkpoint', label: 'by hand' });
  else if (what === 16 && world.state?.checkpoints.latest) {
    world.undone = true;
    send({
      type: 'restore',
      to: chances.pick([
        world.state.checkpoints.latest,
        world.state.checkpoints.lastGood ?? world.state.checkpoints.latest,
      ]),
      because: 'undo',
    });
  } else if (what <= 14) send({ type: 'answer', escalation: `E${chances.whole(1, 3)}`, answer: randomAnswer(chances) });
  return sent;
}

function randomAnswer(chances: Random): Answer {
  return chances.pick<Answer>([
    { kind: 'option', option: 1 },
    { kind: 'option', option: 2 },
    { kind: 'text', text: 'go left' },
    { kind: 'skip' },
    { kind: 'retry' },
    { kind: 'abort' },
  ]);
}

/** Runs one process to its end or its crash. */
async function oneProcess(world: World, engine: Engine, crashing: Crashing): Promise<RunResult | 'crashed'> {
  let settled: RunResult | 'crashed' | undefined;
  let error: unknown;
  const interrupt = new AbortController();
  crashing.onCrash = () => {
    settled = 'crashed';
  };
  const start = {
    type: 'start' as const,
    loop,
    name: loop,
    goal: 'sim',
    document: 'PRD.json',
    directory: '.',
    projectId: '',
    taskId: '',
    settings: world.settings,
    by: 'sim',
  };
  runLoop(engine, loop, { interrupt: interrupt.signal, first: [start] }).then(
    result => {
      settled ??= result;
    },
    (reason: unknown) => {
      error = reason;
    },
  );
  for (;;) {
    await drained();
    if (error !== undefined) throw error;
    if (settled !== undefined) return settled;
    world.steps += 1;
    if (world.steps > stepsMax) throw new LawBroken(`does not settle: ${stepsMax} steps`);
    if (meddle(world)) continue;
    if (world.chances.is(0.002)) {
      interrupt.abort('Ctrl-C');
      continue;
    }
    if (!world.clock.advance()) await nudgeHuman(world);
  }
}

/** Nothing can happen but a human: answer a question or resume a pause. */
async function nudgeHuman(world: World): Promise<void> {
  await drained();
  if (world.clock.waiting > 0) return;
  const { mailbox } = world.ledger;
  await mailbox.send(loop, 'human', { type: 'resume' }, world.clock.now());
  await mailbox.send(
    loop,
    'human',
    { type: 'answer', escalation: `E${world.chances.whole(1, 12)}`, answer: randomAnswer(world.chances) },
    world.clock.now(),
  );
}

async function ledgerEvents(ledger: Ledger): Promise<Event[]> {
  const events: Event[] = [];
  for await (const page of eventsOf(ledger, loop)) for (const recorded of page) events.push(recorded.event);
  return events;
}

/** `watch` is told every event as it becomes durable, to look into a failure. */
export async function simulate(seed: number, watch: (event: Event) => void = () => {}): Promise<Simulated> {
  const world = new World(seed);
  for (let runs = 0; ; runs += 1) {
    if (runs > 300) throw new LawBroken('300 processes did not settle the loop');
    const crashing = new Crashing(world.ledger, world.chances);
    const engine = world.engine(crashing.ledger);
    const tell = (event: Event, state: State): void => {
      world.state = state;
      watch(event);
    };
    const watched: Engine = { ...engine, notifiers: [{ tell }] };
    const result = await oneProcess(world, watched, crashing);
    world.clock.forget();
    if (result === 'crashed') {
      world.crashes += 1;
      world.living = '';
      world.clock.skip(world.chances.whole(0, 100_000_000));
      continue;
    }
    if (result.type === 'held' || result.type === 'failed' || result.type === 'refused')
      throw new LawBroken(`the run came back ${result.type}`);
    if (result.type === 'interrupted') continue;
    const events = await ledgerEvents(world.ledger);
    const replayed = checkLaws(events, world.worked.ever);
    if (!world.undone && !world.settings.worktreePerTask) checkNothingLost(replayed, world.worked);
    if (result.type === 'ended') {
      // Every claim that was made or accepted is still checked, and once more in each process.
      const accepted = events.filter(event => event.type === 'work.accepted').length;
      const claims = (2 * world.settings.parallel + accepted) * (1 + runs); // before a merge, and after it
      const overrunMs = world.trouble.slowChecks ? checkMsMax * claims : 0;
      checkEnd(result.state, replayed, world.document.tasks, world.clock.now(), overrunMs);
      const parallelSeen = liveAtOnce(events) > 1;
      return {
        seed,
        outcome: result.state.control.ended!.reason,
        events: events.length,
        crashes: world.crashes,
        parallelSeen,
      };
    }
    await answerAll(world, result.state);
  }
}

/** The most iterations that were live at the same time. */
function liveAtOnce(events: readonly Event[]): number {
  let state = initialState;
  let most = 0;
  for (const event of events) {
    state = evolve(state, event);
    most = Math.max(most, state.live.length);
  }
  return most;
}

/** `--on-escalation exit` left questions open: answer them while no process is alive. */
async function answerAll(world: World, state: State): Promise<void> {
  for (const escalation of state.questions.open) {
    const command = { type: 'answer', escalation: escalation.id, answer: randomAnswer(world.chances) };
    await world.ledger.mailbox.send(loop, 'human', command, world.clock.now());
  }
  if (state.control.paused) await world.ledger.mailbox.send(loop, 'human', { type: 'resume' }, world.clock.now());
}
