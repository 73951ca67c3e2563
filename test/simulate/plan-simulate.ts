// One seeded plan through the real engine: lost replies, crashes anywhere, people who answer, and every law checked.

import type { Performer } from '../../src/agents/performer.ts';
import type { Event } from '../../src/core/event.ts';
import type { Input } from '../../src/core/input.ts';
import type { Settings } from '../../src/core/settings.ts';
import type { Engine, RunResult } from '../../src/engine/engine.ts';
import { eventsOf } from '../../src/engine/replay.ts';
import { runLoop } from '../../src/engine/run.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { memoryLedger } from '../../src/ledger/memory.ts';
import type { SpoolEnd } from '../../src/ledger/spool.ts';
import { defaultSettings } from '../../src/modes/registry.ts';
import { VirtualClock } from './clock.ts';
import { checkEnd, checkLaws, LawBroken } from './laws.ts';
import { simulatedAction } from './plan-action.ts';
import { deedOf, randomSteps, SimulatedPlan } from './plan-document.ts';
import { Truth } from './plan-laws.ts';
import { Life } from './plan-life.ts';
import { answers, meddling, type People } from './plan-person.ts';
import { type Random, random } from './random.ts';

export interface SimulatedPlanRun {
  readonly seed: number;
  readonly outcome: string;
  readonly events: number;
  readonly effects: number;
  readonly lostReplies: number;
  /** How each process that did not live to its end died. */
  readonly deaths: readonly string[];
}

const loop = 'plan-1';
const stepsMax = 20_000;
const processesMax = 200;
/** After so many processes nothing more goes wrong, so that the plan must settle. */
const calmAfter = 60;

function randomSettings(chances: Random): Settings {
  const base = defaultSettings('plan');
  const iterationsMax = chances.pick([1, 3, 10, 10, 10, 30]);
  return {
    ...base,
    limits: { ...base.limits, iterationsMax, attemptsPerTaskMax: chances.pick([2, 4, 4]) },
    parallel: chances.pick([1, 1, 1, 2, 3]),
    performers: ['agent'],
    approval: chances.is(0.5),
  };
}

class PlanWorld {
  readonly chances: Random;
  readonly clock: VirtualClock;
  readonly plan: SimulatedPlan;
  readonly truth: Truth;
  readonly people: People;
  readonly settings: Settings;
  readonly ledger: Ledger;
  readonly deaths: string[] = [];
  private readonly spooled = new Map<number, SpoolEnd>();
  private readonly luck: number;
  private readonly watch: (event: Event) => void;
  private living = '';
  private holders = 0;
  private steps = 0;

  constructor(seed: number, watch: (event: Event) => void) {
    this.watch = watch;
    this.chances = random(seed);
    this.clock = new VirtualClock(this.chances);
    this.plan = new SimulatedPlan(randomSteps(this.chances));
    this.truth = new Truth(this.plan);
    this.settings = randomSettings(this.chances);
    this.luck = this.chances.pick([0.3, 0.6, 0.9]);
    this.people = { chances: this.chances, plan: this.plan, truth: this.truth, isCalm: false };
    this.ledger = memoryLedger({ hash: false, isAlive: ({ id }) => id === this.living, now: () => this.clock.now() });
  }

  private life(): Life {
    const stored = (events: readonly Event[]): void => {
      for (const event of events) {
        this.truth.stored(event);
        this.watch(event);
      }
    };
    return new Life(this.ledger, this.chances, stored, this.people.isCalm);
  }

  private engine(life: Life): Engine {
    const { clock, chances, plan, truth, luck } = this;
    this.holders += 1;
    this.living = `process-${this.holders}`;
    plan.restart();
    const world = {
      clock,
      chances,
      life,
      luck: this.people.isCalm ? 1 : luck,
      called: truth.called.bind(truth),
      happens: truth.happens.bind(truth),
    };
    const names = ['mail', 'posts'].map(name => `mcp:${name}`);
    const performers = Object.fromEntries(
      ['agent', ...names].map((name): [string, Performer] => [name, simulatedAction(name, world)]),
    );
    return {
      ledger: life.ledger,
      clock,
      source: {
        load: () => life.alive(() => plan.load()),
        instructions: () => life.alive(() => plan.instructions()),
        save: async marks => {
          await life.at('before the document');
          const saved = await life.alive(() => plan.save(marks));
          await life.at('after the document');
          return saved;
        },
        // The nearest place behind the spool at which a process may die.
        tidy: () => life.at('after the spool'),
      },
      performers,
      checks: [],
      spool: this.spool(life),
      notifiers: [],
      redact: text => text,
      prompt: () => ({ text: 'work' }),
      onEscalation: chances.pick(['wait', 'exit', 'exit', 'exit', 'skip']),
      holder: { id: this.living, pid: this.holders, startTime: '1', host: 'sim', boot: 'sim', version: 'sim' },
      by: 'sim',
      environment: {},
    };
  }

  private spool(life: Life): Engine['spool'] {
    const { spooled } = this;
    return {
      open: iteration => {
        if (!life.isDead) spooled.delete(iteration);
        return {
          write: () => {},
          end: end => {
            void life.at('before the spool');
            if (!life.isDead) spooled.set(iteration, end!);
          },
        };
      },
      found: iteration => spooled.get(iteration),
    };
  }

  private async turn(life: Life, interrupt: AbortController): Promise<void> {
    this.steps += 1;
    if (this.steps > stepsMax) throw new LawBroken(`does not settle: ${stepsMax} turns`);
    life.step();
    if (life.isDead) return;
    const command = meddling(this.people);
    if (command !== undefined) return void (await this.ledger.mailbox.send(loop, 'human', command, this.clock.now()));
    if (!this.people.isCalm && this.chances.is(0.005)) return interrupt.abort('Ctrl-C');
    if (this.clock.advance()) return;
    await drained();
    if (this.clock.waiting > 0) return;
    // Nothing can happen any more but by people.
    await this.mail([{ type: 'resume' }, ...answers(this.people)]);
  }

  private async mail(commands: readonly unknown[]): Promise<void> {
    for (const command of commands) await this.ledger.mailbox.send(loop, 'human', command, this.clock.now());
  }

  /** One process, to its end or its death. */
  async process(first: readonly Input[], settleOnly = false): Promise<RunResult | 'dead'> {
    const life = this.life();
    const interrupt = new AbortController();
    let settled: RunResult | 'dead' | undefined;
    let error: unknown;
    life.onDeath = () => {
      settled = 'dead';
    };
    runLoop(this.engine(life), loop, { interrupt: interrupt.signal, first, settleOnly }).then(
      result => {
        settled ??= result;
      },
      (reason: unknown) => {
        error = reason;
      },
    );
    while (settled === undefined && error === undefined) {
      await drained();
      if (settled === undefined && error === undefined) await this.turn(life, interrupt);
    }
    await drained();
    this.clock.forget();
    this.living = '';
    if (life.end !== '') this.deaths.push(life.end);
    if (error !== undefined) throw error;
    this.truth.check();
    if (settled === 'dead') this.clock.skip(this.chances.whole(0, 10_000_000));
    return settled!;
  }

  /** People answer while no process is alive: by mail for the next one, or by a command that takes the loop for a moment. */
  async answered(): Promise<void> {
    const commands = answers(this.people);
    if (this.chances.is(0.5)) return this.mail(commands);
    for (const command of commands) await this.process([{ type: 'command', command, by: 'human' }], true);
  }
}

const drained = (): Promise<void> => new Promise(done => setImmediate(done));

const start = (settings: Settings): Input => ({
  type: 'start',
  loop,
  name: loop,
  goal: 'sim',
  document: 'Plan.md',
  directory: '.',
  projectId: '',
  taskId: '',
  settings,
  by: 'sim',
});

/** True when it is over for good; a loop that a limit or a person ended may be taken up again. */
async function isOver(world: PlanWorld, result: RunResult, processes: number): Promise<boolean> {
  const { chances, truth, people } = world;
  if (result.type !== 'ended') return result.type === 'waiting' && !people.isCalm && chances.is(0.05);
  if (truth.durable.control.ended?.reason === 'goal_achieved' || processes > calmAfter || chances.is(0.5)) return true;
  const limits = { iterationsMax: truth.durable.iterations.begun + 10 };
  await world.process([{ type: 'command', command: { type: 'limits', limits }, by: 'human' }], true);
  await world.process([{ type: 'command', command: { type: 'resume' }, by: 'human' }], true);
  return false;
}

/** `watch` is told every event as it becomes durable, to look into a failure. */
export async function simulatePlan(seed: number, watch: (event: Event) => void = () => {}): Promise<SimulatedPlanRun> {
  const world = new PlanWorld(seed, watch);
  for (let processes = 0; ; processes += 1) {
    if (processes > processesMax) throw new LawBroken(`${processesMax} processes did not settle the plan`);
    world.people.isCalm = processes > calmAfter;
    const result = await world.process([start(world.settings)]);
    if (result === 'dead' || result.type === 'interrupted' || result.type === 'failed') continue;
    if (result.type === 'held' || result.type === 'refused') throw new LawBroken(`the run came back ${result.type}`);
    if (result.type === 'waiting' && answers(world.people).length === 0)
      throw new LawBroken('it waits, and nobody was asked');
    if (await isOver(world, result, processes)) return await judged(world, seed, result);
    if (world.truth.durable.control.ended === undefined) await world.answered();
  }
}

async function judged(world: PlanWorld, seed: number, result: RunResult): Promise<SimulatedPlanRun> {
  const { truth, plan, clock, ledger } = world;
  const events: Event[] = [];
  for await (const page of eventsOf(ledger, loop)) for (const recorded of page) events.push(recorded.event);
  const worked = new Set(plan.steps.filter(step => truth.happened(step.id) || deedOf(step).kind === 'agent'));
  const replayed = checkLaws(events, new Set([...worked].map(step => step.id)));
  if (result.type !== 'ended' && result.type !== 'waiting') throw new LawBroken(`it came back ${result.type}`);
  checkEnd(result.state, replayed, plan.steps, clock.now(), 0);
  return {
    seed,
    outcome: result.type === 'ended' ? (result.state.control.ended?.reason ?? '') : 'waits for you',
    events: events.length,
    effects: truth.effects,
    lostReplies: events.filter(one => one.type === 'escalation.raised' && one.escalation.kind === 'effect').length,
    deaths: world.deaths,
  };
}
