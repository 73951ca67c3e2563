// Time that passes only when nothing else can happen.
import type { Clock } from '../../src/engine/clock.ts';
import type { Random } from './random.ts';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly due: () => void;
}

export class VirtualClock implements Clock {
  private time = 1_750_000_000_000;
  private order = 0;
  private ids = 0;
  private timers: Timer[] = [];
  private readonly chances: Random;

  constructor(chances: Random) {
    this.chances = chances;
  }

  now(): number {
    return this.time;
  }

  at(at: number, due: () => void): () => void {
    this.order += 1;
    const timer = { at, order: this.order, due };
    this.timers.push(timer);
    return () => {
      const place = this.timers.indexOf(timer);
      if (place >= 0) this.timers.splice(place, 1);
    };
  }

  id(): string {
    this.ids += 1;
    return `id-${this.ids}`;
  }

  random(): number {
    return this.chances.chance();
  }

  /** A crashed process takes its timers along. */
  forget(): void {
    this.timers = [];
  }

  get waiting(): number {
    return this.timers.length;
  }

  /** Time passes while no process of ours is alive. */
  skip(ms: number): void {
    this.time += ms;
  }

  /** Jumps to the earliest timer and calls it; false when there is none. */
  advance(): boolean {
    let first: Timer | undefined;
    for (const timer of this.timers) {
      if (first === undefined || timer.at < first.at || (timer.at === first.at && timer.order < first.order))
        first = timer;
    }
    if (first === undefined) return false;
    this.timers.splice(this.timers.indexOf(first), 1);
    this.time = Math.max(this.time, first.at);
    first.due();
    return true;
  }
}
