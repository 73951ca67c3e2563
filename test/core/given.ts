// The kit of the core's tests: given these events, when this input comes, then these events follow.
import { expect } from 'vitest';
import type { Event, EventOf, EventType, Usage } from '../../src/core/event.ts';
import type { FailureKind } from '../../src/core/failure.ts';
import type { Command, Input, Performed } from '../../src/core/input.ts';
import { type Effect, next } from '../../src/core/next.ts';
import type { Limits, Settings } from '../../src/core/settings.ts';
import { initialState, noUsage, type State } from '../../src/core/state.ts';
import { findTask, type Task, type TaskSpec } from '../../src/core/task.ts';
import { decide } from '../../src/modes/decide.ts';
import { evolve } from '../../src/modes/evolve.ts';
import { defaultSettings, type ModeWord } from '../../src/modes/registry.ts';

export const t0 = 1_800_000_000_000;
export const second = 1_000;
export const minute = 60_000;
export const hour = 60 * minute;
export const self = 'holder-1';

export type SettingsPart = Partial<Omit<Settings, 'limits' | 'mode'>> & {
  readonly mode?: Settings['mode'] | ModeWord;
  readonly limits?: Partial<Limits>;
};

export function settings(part: SettingsPart = {}): Settings {
  const base = defaultSettings('prd');
  const { policy, mode } = defaultSettings(part.mode ?? base.mode);
  return { ...base, policy, performers: ['agent'], ...part, mode, limits: { ...base.limits, ...part.limits } };
}

/** Some fields of some groups of a state. */
export type StateParts = { readonly [Group in keyof State]?: Partial<State[Group]> };

/** The state with these fields instead of its own, group by group. */
export function withParts(state: State, ...parts: readonly StateParts[]): State {
  const changed: Record<string, unknown> = { ...state };
  for (const part of parts)
    for (const [group, fields] of Object.entries(part))
      changed[group] = Array.isArray(fields) ? fields : { ...(changed[group] as object), ...fields };
  return changed as unknown as State;
}

export const spec = (id: string, part: Partial<TaskSpec> = {}): TaskSpec => ({
  id,
  title: `Title of ${id}`,
  description: `What ${id} is about`,
  criteria: [`${id} works`],
  dependsOn: [],
  done: false,
  skipped: false,
  ...part,
});

export const startInput = (part: SettingsPart = {}): Input => ({
  type: 'start',
  loop: 'loop-0001',
  name: 'shop',
  goal: 'a shop',
  document: '/somewhere/PRD.json',
  directory: '/somewhere',
  projectId: 'PILOT',
  taskId: 'H.8',
  settings: settings(part),
  by: 'ada',
});

export const usd = (dollars: number, part: Partial<Usage> = {}): Usage => ({
  ...noUsage,
  costUsdMicros: Math.round(dollars * 1_000_000),
  ...part,
});

export const failed = (kind: FailureKind, detail = `${kind} happened`): Performed => ({
  message: '',
  failure: { kind, detail },
});

export const says = (message: string, part: Partial<Performed> = {}): Performed => ({ message, ...part });
export const claims = (id: string): Performed => says(`All criteria hold.\n\nTask ${id} complete`);

/** A loop under test: every step goes through decide and evolve, and time moves only when told. */
export class Story {
  state: State = initialState;
  now = t0;
  readonly events: Event[] = [];

  constructor(part: SettingsPart = {}, specs: readonly TaskSpec[] = [spec('A'), spec('B')]) {
    this.when(startInput(part));
    this.when({ type: 'document', tasks: specs, hash: 'h1' });
    if (this.state.checkpoints.due.length > 0) this.checkpointed('cp-0');
  }

  /** The next checkpoint that is due is made. */
  checkpointed(checkpoint: string, tree = `tree of ${checkpoint}`): readonly Event[] {
    const mark = { checkpoint, number: this.state.checkpoints.made + 1, commit: `commit of ${checkpoint}`, tree };
    return this.when({ type: 'checkpointed', mark, ref: 'refs/x', sha256: 'sha', skipped: [] });
  }

  after(ms: number): this {
    this.now += ms;
    return this;
  }

  given(...events: readonly Event[]): this {
    for (const event of events) {
      this.state = evolve(this.state, event);
      this.events.push(event);
    }
    return this;
  }

  when(input: Input): readonly Event[] {
    const events = decide(this.state, input, this.now);
    this.given(...events);
    return events;
  }

  command(command: Command, by = 'ada'): readonly Event[] {
    return this.when({ type: 'command', command, by });
  }

  /** The unfinished work of a task is taken out of the files, and they are saved as they are then. */
  setAside(task: string, kept: readonly string[] = [], isToReturn = false): readonly Event[] {
    const { number: checkpoint = 0, commit = '' } = this.state.checkpoints.latest ?? {};
    const returns = isToReturn || undefined;
    const facts = { checkpoint, commit, paths: ['a.txt'], count: 1, kept, reverted: '', returns };
    const events = this.when({ type: 'set-aside', task, ...facts });
    return [...events, ...this.checkpointed(`without ${task}`)];
  }

  begin(task: string, performer = 'agent', holder = self): readonly Event[] {
    return this.when({ type: 'begin', task, performer, holder });
  }

  performed(performed: Performed, iteration = this.state.iterations.begun, chance = 0.5): readonly Event[] {
    return this.when({ type: 'performed', iteration, performed, chance });
  }

  /** One whole iteration that takes a second: begun, performed. */
  iteration(task: string, performed: Performed, performer = 'agent'): readonly Event[] {
    const { unfinished = task } = this.state.checkpoints;
    if (unfinished !== task) this.setAside(unfinished);
    const begun = this.begin(task, performer);
    expect(begun.map(one => one.type)).toEqual(['iteration.started']);
    this.after(second);
    return this.performed(performed);
  }

  checked(passed: boolean, iteration = this.state.iterations.begun): readonly Event[] {
    const name = this.state.settings.checks[0] ?? 'npm test';
    const outcome = { name, passed, detail: passed ? 'ok' : '2 tests failed', durationMs: 10 };
    return this.when({ type: 'checked', iteration, outcomes: [outcome] });
  }

  /** What stands unsaved is written into the document. */
  saved(): readonly Event[] {
    const marks = this.state.document.unsaved.map(id => {
      const status = findTask(this.state.tasks, id)?.status;
      return { id, done: status === 'done', skipped: status === 'skipped' };
    });
    // The document of a review shows no task: it is as it was.
    const hash =
      this.state.settings.policy.achievedBy === 'tasks' ? `h-${this.events.length}` : this.state.document.hash;
    return this.when({ type: 'saved', marks, hash });
  }

  effects(holder = self): readonly Effect[] {
    return next(this.state, this.now, holder).effects;
  }

  effectKeys(holder = self): readonly string[] {
    return this.effects(holder).map(effect => effect.key);
  }

  wakeAt(): number | undefined {
    return next(this.state, this.now, self).wakeAt;
  }

  task(id: string): Task {
    return findTask(this.state.tasks, id)!;
  }
}

export const types = (events: readonly Event[]): readonly EventType[] => events.map(event => event.type);

/** The one event of this type. */
export function only<Type extends EventType>(events: readonly Event[], type: Type): EventOf<Type> {
  const found = events.filter(event => event.type === type);
  expect(found).toHaveLength(1);
  return found[0] as EventOf<Type>;
}
