// A plan as the simulated world has it: steps with effects, edited by people, each text known by its hash.
import type { TaskMark, TaskSpec } from '../../src/core/task.ts';
import type { Loaded, Saved, TaskSource } from '../../src/documents/document.ts';
import { sha256Of } from '../../src/engine/checkpoints.ts';
import type { Random } from './random.ts';

/** `once`: doing it twice does harm. `again`: declared idempotent. `keyed`: its server takes our key. */
type StepKind = 'once' | 'again' | 'keyed' | 'agent';

export interface Deed {
  readonly kind: StepKind;
  readonly version: number;
}

export function deedOf({ order }: Pick<TaskSpec, 'order'>): Deed {
  if (order?.type !== 'mcp') return { kind: 'agent', version: 0 };
  return { kind: order.tool as StepKind, version: Number(order.params['version']) };
}

export class SimulatedPlan implements TaskSource {
  steps: readonly TaskSpec[];
  /** What every text that ever was says that each step does. */
  readonly texts = new Map<string, ReadonlyMap<string, number>>();
  private version = 1;
  private seen = 0;

  constructor(steps: readonly TaskSpec[]) {
    this.steps = steps;
    this.remember();
  }

  /** A new process has read nothing yet. */
  restart(): void {
    this.seen = 0;
  }

  private get substance(): string {
    return JSON.stringify(this.steps.map(({ id, order, dependsOn }) => ({ id, order, dependsOn })));
  }

  /** What a person approves who reads it now. */
  get hash(): string {
    return sha256Of(this.substance);
  }

  private remember(): void {
    this.texts.set(this.hash, new Map(this.steps.map(step => [step.id, deedOf(step).version])));
  }

  async load(): Promise<Loaded> {
    if (this.seen === this.version) return { type: 'unchanged' };
    this.seen = this.version;
    const approval = { required: true, substance: this.substance };
    const document = { project: 'sim', goal: 'sim', tasks: this.steps, notices: [], approval };
    return { type: 'loaded', document, hash: `v${this.version}` };
  }

  async save(marks: readonly TaskMark[]): Promise<Saved> {
    const known = this.seen === this.version;
    this.steps = this.steps.map(step => {
      const mark = marks.find(one => one.id === step.id);
      return mark === undefined ? step : { ...step, done: mark.done, skipped: mark.skipped };
    });
    this.version += 1;
    if (known) this.seen = this.version;
    return { type: 'saved', hash: `v${this.version}` };
  }

  async instructions(): Promise<string> {
    return '';
  }

  /** A person changes what one step does. */
  edit(chances: Random): void {
    const one = chances.pick(this.steps);
    const { order } = one;
    if (order?.type !== 'mcp') return;
    const params = { version: Number(order.params['version']) + 1 };
    this.steps = this.steps.map(step => (step === one ? { ...one, order: { ...order, params } } : step));
    this.version += 1;
    this.remember();
  }

  /** A person flips a box, which means nothing: the ledger knows better. */
  flip(chances: Random): void {
    const one = chances.pick(this.steps);
    this.steps = this.steps.map(step => (step === one ? { ...one, done: !one.done, skipped: false } : step));
    this.version += 1;
  }
}

/** One to eight steps; what a step waits for lies before it, so that there is no cycle. */
export function randomSteps(chances: Random): readonly TaskSpec[] {
  const count = chances.whole(1, 8);
  const density = chances.pick([0, 0.2, 0.5]);
  return Array.from({ length: count }, (_, at): TaskSpec => {
    const id = `step_${at + 1}`;
    const kind = chances.pick<StepKind>(['once', 'once', 'once', 'once', 'again', 'keyed', 'agent']);
    const server = chances.pick(['mail', 'posts']);
    const before = Array.from({ length: at }, (_each, number) => `step_${number + 1}`);
    const facts = { title: id, description: '', criteria: [], done: false, skipped: false };
    const dependsOn = before.filter(() => chances.is(density));
    if (kind === 'agent') return { id, ...facts, dependsOn };
    const order = { type: 'mcp' as const, server, tool: kind, params: { version: 1 } };
    return { id, ...facts, dependsOn, performer: `mcp:${server}`, order, completion: 'result' };
  });
}
