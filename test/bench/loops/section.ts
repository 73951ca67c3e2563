// Rows as data: a section names what is measured, of which builds, in how many rounds, and which figures make a row.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchRow, median, type Told } from '../row.ts';

/** A built Ralph: `dist` and `bin` below `root`. */
export interface Build {
  readonly name: string;
  readonly root: string;
}

/** Until 0.4 the bundle was a module. */
export const bundleOf = (root: string): string | undefined =>
  ['ralph.cjs', 'ralph.js'].map(name => join(root, 'dist', name)).find(path => existsSync(path));

/** Samples of one round by name; only their median counts. */
export type Figures = Readonly<Record<string, readonly number[]>>;

export interface RowOrder {
  readonly name: string;
  /** The ratio is (`of` - `minus`) / `per`; without `per` it is the figure itself. */
  readonly of: string;
  readonly minus?: string;
  readonly per?: string;
  readonly limit?: number | undefined;
  readonly higherIsBetter?: boolean;
  readonly unit?: string;
  /** Said behind the figures. */
  readonly note?: string;
}

export interface Section {
  readonly rounds: number;
  /** Measured once a round, for all builds. */
  readonly floors?: readonly (() => Promise<Figures>)[];
  /** Measured in each round for each build in turn. */
  readonly probes: readonly ((build: Build) => Promise<Figures>)[];
  readonly rows: readonly RowOrder[];
}

/** The rounds of one build. */
class Rounds {
  readonly #medians = new Map<string, number[]>();

  add(figures: Figures): void {
    for (const [name, samples] of Object.entries(figures)) {
      this.#medians.set(name, [...(this.#medians.get(name) ?? []), median(samples)]);
    }
  }

  of(name: string): readonly number[] {
    const found = this.#medians.get(name);
    if (found === undefined) throw new Error(`nothing measured ${name}`);
    return found;
  }

  /** Of the quietest round: other work on the machine only adds. */
  least(name: string | undefined, otherwise: number): number {
    return name === undefined ? otherwise : Math.min(...this.of(name));
  }
}

function told(rounds: Rounds, { of, minus, per, unit = 'ms', note }: RowOrder): Told {
  const [own, base, floor] = [rounds.least(of, 0), rounds.least(minus, 0), rounds.least(per, 1)];
  const show = (value: number): string => value.toFixed(Math.abs(value) < 10 ? 2 : value < 1_000 ? 1 : 0);
  const all = rounds.of(of);
  const spread = `${show(median(all))} in the middle, ${show(Math.max(...all))} at worst`;
  const parts = [
    `${show(own)} ${unit}`,
    minus === undefined ? '' : `without ${show(base)} ${unit}`,
    per === undefined ? '' : `floor ${show(floor)} ${unit}`,
    all.length === 1 ? '' : `rounds ${all.length > 8 ? spread : all.map(show).join(' ')}`,
    note ?? '',
  ];
  return { ratio: (own - base) / floor, detail: parts.filter(part => part !== '').join('; ') };
}

/** Builds take turns in every round, and so do their places: a busy machine slows all alike. */
export async function measure(section: Section, builds: readonly Build[]): Promise<readonly BenchRow[]> {
  const all = new Map(builds.map(build => [build, new Rounds()]));
  for (let round = 0; round < section.rounds; round += 1) {
    for (const floor of section.floors ?? []) {
      const figures = await floor();
      for (const rounds of all.values()) rounds.add(figures);
    }
    for (const probe of section.probes) {
      for (const build of round % 2 === 0 ? builds : [...builds].reverse()) all.get(build)!.add(await probe(build));
    }
  }
  const [own, other] = builds.map(build => all.get(build)!);
  return section.rows.map(order => ({
    name: order.name,
    limit: order.limit,
    higherIsBetter: order.higherIsBetter,
    ...told(own!, order),
    other: other === undefined ? undefined : told(other, order),
  }));
}
