// What must hold in every simulated plan, whatever happens: above all that no effect happens twice.

import type { Assignment } from '../../src/agents/performer.ts';
import type { Event } from '../../src/core/event.ts';
import { initialState, type State } from '../../src/core/state.ts';
import { allTasks } from '../../src/core/task.ts';
import { evolve } from '../../src/modes/evolve.ts';
import { LawBroken } from './laws.ts';
import { deedOf, type SimulatedPlan } from './plan-document.ts';

const law = (holds: boolean, sentence: string): void => {
  if (!holds) throw new LawBroken(sentence);
};

/** The truth about one plan: what was asked of the servers, what happened there, what the ledger holds for good. */
export class Truth {
  durable: State = initialState;
  /** How often each step's effect has happened. */
  readonly counts = new Map<string, number>();
  /** Broken laws inside a performer would be caught by the engine as bugs of it: they are kept here. */
  broken: unknown;
  effects = 0;
  private readonly keys = new Map<string, string>();
  private readonly approved = new Map<number, readonly string[]>();
  private readonly calls = new Map<number, number>();
  private readonly begun = new Map<number, number>();
  private readonly plan: SimulatedPlan;

  constructor(plan: SimulatedPlan) {
    this.plan = plan;
  }

  /** Of every durable append, in order. */
  stored(event: Event): void {
    this.durable = evolve(this.durable, event);
    if (event.type !== 'iteration.started' && event.type !== 'action.intended') return;
    const { iteration } = event;
    const hash = this.durable.document.approval?.hash;
    this.approved.set(iteration, [...(this.approved.get(iteration) ?? []), ...(hash === undefined ? [] : [hash])]);
    if (event.type === 'iteration.started') this.begun.set(iteration, (this.begun.get(iteration) ?? 0) + 1);
  }

  private keep(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.broken ??= error;
    }
  }

  /** Every attempt has its own number in the ledger, or the ledger says that it is the same one again. */
  called({ iteration, task, key }: Assignment): void {
    this.keep(() => {
      const times = (this.calls.get(iteration) ?? 0) + 1;
      this.calls.set(iteration, times);
      law(times <= (this.begun.get(iteration) ?? 0), `iteration ${iteration} was performed without being counted`);
      law(this.durable.iterations.begun >= iteration, `iteration ${iteration} is not counted`);
      law(key !== undefined && (this.keys.get(key) ?? task) === task, `two steps share the key ${key}`);
      this.keys.set(key ?? '', task);
    });
  }

  happens({ iteration, task, order, key = '' }: Assignment): void {
    this.keep(() => {
      const { kind, version } = deedOf(order === undefined ? {} : { order });
      const live = this.durable.live.find(one => one.iteration === iteration && one.task === task);
      law(live?.intended !== undefined, `${task} acts before its intent is stored`);
      law(live?.intended?.repeatable === (kind !== 'once'), `the intent of ${task} says something else`);
      law(live?.intended?.key === key, `${task} acts with another key than its intent has`);
      const count = this.counts.get(task) ?? 0;
      this.effects += 1;
      // A server that takes the key does the work once.
      this.counts.set(task, kind === 'keyed' ? 1 : count + 1);
      law(kind !== 'once' || count === 0, `the effect of ${task} happened twice`);
      if (!this.durable.settings.approval) return;
      const versions = (this.approved.get(iteration) ?? []).map(hash => this.plan.texts.get(hash)?.get(task));
      law(versions.includes(version), `${task} did what nobody approved: version ${version}, not ${versions}`);
    });
  }

  happened(task: string): boolean {
    return (this.counts.get(task) ?? 0) > 0;
  }

  /** After every process. */
  check(): void {
    if (this.broken !== undefined) throw this.broken;
    const { iterationsMax } = this.durable.settings.limits;
    law(iterationsMax === null || this.durable.iterations.begun <= iterationsMax, 'more iterations than allowed');
    for (const task of allTasks(this.durable.tasks)) {
      if (task.spec.order === undefined || task.status !== 'done') continue;
      law(this.happened(task.id), `${task.id} is called done, and nothing happened`);
    }
  }
}
