// One process of ralph that may die at any moment: nothing that it does after its death reaches the world.
import type { Event, EventType } from '../../src/core/event.ts';
import type { Ledger, Store } from '../../src/ledger/ledger.ts';
import { withAppend } from './other-append.ts';
import type { Random } from './random.ts';

/** Where an action may be when its process dies. */
const moments = [
  'called',
  'before the intent',
  'intent stored',
  'sent',
  'effect over',
  'reply heard',
  'before the spool',
  'after the spool',
  'before the document',
  'after the document',
] as const;
export type Moment = (typeof moments)[number];

const cutEvents: readonly EventType[] = ['action.intended', 'action.intended', 'iteration.started', 'iteration.ended'];

/** `stored`: the append in which it dies is durable all the same. `fails`: it does not die, the store says that it failed. */
type Doom =
  | {
      readonly type: 'append';
      readonly event: EventType | undefined;
      readonly stored: boolean;
      readonly fails: boolean;
    }
  | { readonly type: 'moment'; readonly moment: Moment }
  | { readonly type: 'step' };

const never = (): Promise<never> => new Promise(() => {});

export interface Call {
  /** It has left us: from now on it may happen, whoever dies. */
  happens(): void;
}

export class Life {
  isDead = false;
  /** How it died, for the figures. */
  end = '';
  onDeath: () => void = () => {};
  readonly ledger: Ledger;
  /** Calls that are out and whose effect has not happened. */
  readonly calls = new Set<Call>();
  private left: number;
  private readonly doom: Doom | undefined;
  private readonly chances: Random;

  constructor(ledger: Ledger, chances: Random, stored: (events: readonly Event[]) => void, isSafe: boolean) {
    this.chances = chances;
    this.doom = isSafe || chances.is(0.2) ? undefined : this.randomDoom();
    const isNear = this.doom?.type === 'append' ? this.doom.event !== undefined : this.doom?.type === 'moment';
    this.left = chances.whole(1, isNear ? 3 : 25);
    this.ledger = this.guarded(ledger, stored);
  }

  private randomDoom(): Doom {
    const { chances } = this;
    const what = chances.whole(1, 10);
    if (what <= 5) return { type: 'moment', moment: chances.pick(moments) };
    if (what === 6) return { type: 'step' };
    const event = chances.is(0.7) ? chances.pick(cutEvents) : undefined;
    return { type: 'append', event, stored: chances.is(0.5), fails: chances.is(0.2) };
  }

  private guarded(ledger: Ledger, stored: (events: readonly Event[]) => void): Ledger {
    const { store } = ledger;
    const append: Store['append'] = async (...call) => {
      if (this.isDead) return never();
      const [, , events] = call;
      const through = async (): ReturnType<Store['append']> => {
        const appended = await store.append(...call);
        if (appended.ok) stored(events);
        return appended;
      };
      const { doom } = this;
      if (doom?.type !== 'append') return through();
      const isMeant = doom.event === undefined || events.some(one => one.type === doom.event);
      if (!isMeant || !this.comesDue()) return through();
      // In flight: others may act meanwhile, as they may while a disk works.
      await new Promise(done => setImmediate(done));
      if (doom.stored) await through();
      const how = `${doom.event ?? 'any'} ${doom.stored ? 'stored' : 'not stored'}`;
      if (!doom.fails) return this.die(`in the append of ${how}`);
      this.end = `the append failed: ${how}`;
      return { ok: false, failure: { kind: 'io', detail: 'the disk reported an error', hint: '' } };
    };
    const guarded = withAppend(ledger, append);
    const release: Store['release'] = lease => (this.isDead ? never() : store.release(lease));
    return { ...guarded, store: { ...guarded.store, release } };
  }

  private comesDue(): boolean {
    this.left -= 1;
    return this.left === 0;
  }

  /** A dead process does not come back from here. */
  async at(moment: Moment): Promise<void> {
    if (this.isDead) return never();
    if (this.doom?.type === 'moment' && this.doom.moment === moment && this.comesDue()) return this.die(moment);
  }

  /** Between any two turns of the world. */
  step(): void {
    if (!this.isDead && this.doom?.type === 'step' && this.comesDue()) void this.die('between two turns');
  }

  /** What is out may still happen: the server does not know that nobody listens any more. */
  private die(how: string): Promise<never> {
    this.isDead = true;
    this.end = how;
    for (const call of this.calls) if (this.chances.is(0.5)) call.happens();
    this.calls.clear();
    this.onDeath();
    return never();
  }

  /** For the ports of a dead process: they do nothing and never answer. */
  async alive<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.isDead) return never();
    const value = await work();
    return this.isDead ? never() : value;
  }
}
