// Identity of tasks: which one an item of a document is, by its id, and where ids are made from titles, by what it says and where it stands.
import { similarity } from '../text/similarity.ts';
import { allTasks, positionOf, sameText, type Task, type TaskSpec, type TaskTable, taskAt } from './task.ts';

/** What was known before: from the ledger, or from an earlier reading. */
export interface KnownItem extends Pick<TaskSpec, 'id' | 'title' | 'description' | 'criteria' | 'section'> {
  /** Done or skipped. */
  readonly isOver: boolean;
  /** The reading before did not find it either. */
  readonly isAbsent: boolean;
}

export interface Identified {
  /** Under the ids by which they are known. */
  readonly specs: readonly TaskSpec[];
  /** Those that none of them is any more. */
  readonly missing: readonly KnownItem[];
  /** How many of them nobody knew. */
  readonly added: number;
}

const isOver = ({ done, skipped }: TaskSpec): boolean => done || skipped;

export const knownSpecs = (specs: readonly TaskSpec[]): readonly KnownItem[] =>
  specs.map(spec => ({ ...spec, isOver: isOver(spec), isAbsent: false }));

/** Rounds of an interview or a review stand in no document. */
export const knownTasks = (table: TaskTable): readonly KnownItem[] =>
  [...allTasks(table)].filter(task => task.spec.round === undefined).map(knownTask);

const knownTask = ({ spec, status, missing }: Task): KnownItem => ({
  ...spec,
  isOver: ['done', 'skipped'].includes(status),
  isAbsent: missing === true,
});

type Alike = (item: KnownItem, spec: TaskSpec) => boolean;

const sameId: Alike = (item, spec) => item.id === spec.id;
const samePlace: Alike = (item, spec) => item.section !== undefined && item.section === spec.section;
const sameStatus: Alike = (item, spec) => item.isOver === isOver(spec);
const sameBody: Alike = (item, spec) =>
  item.description === spec.description && item.criteria.join('\n') === spec.criteria.join('\n');
/** What is over and stood elsewhere was cleaned up: an open item with its title is another one. */
const couldBe: Alike = (item, spec) => !item.isOver || isOver(spec);

/** Items with one title, from the surest sign to the weakest. */
const signs: readonly (readonly Alike[])[] = [
  [sameId, samePlace, sameBody, sameStatus],
  [samePlace, sameBody, sameStatus],
  [samePlace, sameBody],
  [samePlace, sameStatus],
  [samePlace],
  [sameBody, sameStatus],
  [sameStatus],
  [couldBe],
];
/** Who was gone already comes back only where it stood, and as it was. */
const isSure = (sign: readonly Alike[]): boolean => sign.includes(samePlace) && sign.includes(sameStatus);

const plainTitle = (title: string): string =>
  title
    .replace(/[*_~`]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();

/** One goes on where the other ends: "Greet the world" and "Greet the world (done in greet.sh)". */
function isExtended(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return short.length >= 3 && long.startsWith(short) && !/[\p{L}\p{N}]/u.test(long.charAt(short.length));
}

const pairsMax = 10_000;
/** Nobody means thousands of equal items one by one: then their order tells. */
const equalsMax = 1_000_000;
const alikeMin = 0.6;

class Matching {
  readonly ids = new Map<TaskSpec, string>();
  readonly free: Map<string, KnownItem>;

  constructor(known: readonly KnownItem[]) {
    this.free = new Map(known.map(item => [item.id, item]));
  }

  take(item: KnownItem, spec: TaskSpec): void {
    this.ids.set(spec, item.id);
    this.free.delete(item.id);
  }

  left(read: readonly TaskSpec[]): readonly TaskSpec[] {
    return read.filter(spec => !this.ids.has(spec));
  }

  /** Made from a title, and there at the last reading. */
  gone(): readonly KnownItem[] {
    return [...this.free.values()].filter(item => item.section !== undefined && !item.isAbsent);
  }

  byOwnId(read: readonly TaskSpec[]): void {
    for (const spec of read) {
      const item = this.free.get(spec.id);
      if (item !== undefined && (spec.section === undefined || item.section === undefined)) this.take(item, spec);
    }
  }

  byTitle(read: readonly TaskSpec[]): void {
    const made = [...this.free.values()].filter(item => item.section !== undefined);
    const items = Map.groupBy(made, item => plainTitle(item.title));
    for (const [title, specs] of Map.groupBy(this.left(read), spec => plainTitle(spec.title)))
      this.group(items.get(title) ?? [], specs);
  }

  private group(items: readonly KnownItem[], specs: readonly TaskSpec[]): void {
    if (items.length * specs.length > equalsMax) {
      for (const spec of specs) {
        const item = this.free.get(spec.id);
        if (item?.section !== undefined) this.take(item, spec);
      }
      return;
    }
    for (const sign of signs)
      for (const spec of this.left(specs)) {
        const found = items.find(
          item =>
            this.free.has(item.id) && (!item.isAbsent || isSure(sign)) && sign.every(isAlike => isAlike(item, spec)),
        );
        if (found !== undefined) this.take(found, spec);
      }
  }

  /** Whoever adds a word behind an item, or takes one away, means the same item. */
  byBeginning(read: readonly TaskSpec[]): void {
    const [gone, fresh] = [this.gone(), this.left(read)];
    if (gone.length * fresh.length > pairsMax) return;
    const titles = new Map([...gone, ...fresh].map(one => [one, plainTitle(one.title)]));
    const isMeant = (item: KnownItem, spec: TaskSpec): boolean =>
      couldBe(item, spec) && isExtended(titles.get(item) ?? '', titles.get(spec) ?? '');
    for (const item of gone) {
      const found = fresh.filter(spec => isMeant(item, spec));
      const [spec] = found;
      if (spec === undefined || found.length > 1 || gone.filter(other => isMeant(other, spec)).length > 1) continue;
      this.take(item, spec);
    }
  }

  /** The task that was worked on is the one that was ticked; one that went for one that is much like it is that one. */
  byElimination(read: readonly TaskSpec[], own: string | undefined): void {
    const worked = own === undefined ? undefined : this.free.get(own);
    const ticked = this.left(read).filter(spec => spec.done);
    if (worked?.section !== undefined && ticked.length === 1 && ticked[0] !== undefined) this.take(worked, ticked[0]);
    const [[item, another], [spec, more]] = [this.gone(), this.left(read)];
    if (item === undefined || spec === undefined || another !== undefined || more !== undefined) return;
    if (couldBe(item, spec) && similarity(plainTitle(item.title), plainTitle(spec.title), alikeMin) >= alikeMin)
      this.take(item, spec);
  }
}

/** `own`: the task that was worked on meanwhile. */
export function identify(known: readonly KnownItem[], read: readonly TaskSpec[], own?: string): Identified {
  const matching = new Matching(known);
  matching.byOwnId(read);
  if (known.some(item => item.section !== undefined)) {
    matching.byTitle(read);
    matching.byBeginning(read);
    matching.byElimination(read, own);
  }
  const taken = new Set([...known, ...read].map(one => one.id));
  const knownIds = new Set(known.map(item => item.id));
  const names = new Map(read.map(spec => [spec.id, matching.ids.get(spec) ?? spec.id]));
  for (const spec of matching.left(read)) if (knownIds.has(spec.id)) names.set(spec.id, freshId(spec.id, taken));
  const specs = read.map(spec => {
    const id = names.get(spec.id) ?? spec.id;
    const dependsOn = spec.dependsOn.map(one => names.get(one) ?? one);
    return { ...spec, id, dependsOn, documentId: id === spec.id ? spec.documentId : spec.id };
  });
  return { specs, missing: [...matching.free.values()], added: matching.left(read).length };
}

/**
 * The same for the tasks of a loop, where most are as they were: those that the document shows just as the ledger has them
 * are themselves, and are left out of the answer unless another one changed its name.
 */
export function identifyChanged(table: TaskTable, read: readonly TaskSpec[], own?: string): Identified {
  const isSame = new Uint8Array(table.size);
  const changed = read.filter((spec, row) => {
    // Most stand where they stood.
    const position = taskAt(table, row)?.id === spec.id ? row : positionOf(table, spec.id);
    const task = position === undefined ? undefined : taskAt(table, position);
    if (position === undefined || task === undefined || spec.id === own || !isAsKnown(task, spec)) return true;
    isSame[position] = 1;
    return false;
  });
  const known: KnownItem[] = [];
  for (let position = isSame.indexOf(0); position !== -1; position = isSame.indexOf(0, position + 1)) {
    const task = taskAt(table, position);
    if (task !== undefined && task.spec.round === undefined) known.push(knownTask(task));
  }
  const found = identify(known, changed, own);
  const isNamed = changed.every(({ id }, at) => found.specs[at]?.id === id);
  return isNamed ? found : identify(knownTasks(table), read, own);
}

const isAsKnown = ({ spec: known, status, missing }: Task, spec: TaskSpec): boolean =>
  missing !== true &&
  spec.done === (status === 'done') &&
  spec.skipped === (status === 'skipped') &&
  known.round === undefined &&
  (known === spec || sameText(known, spec));

/** Its title was another task's before. */
function freshId(id: string, taken: Set<string>): string {
  let number = 2;
  while (taken.has(`${id}-${number}`)) number += 1;
  taken.add(`${id}-${number}`);
  return `${id}-${number}`;
}

/** Open tasks that an iteration took out of the document; of items without an id only where nothing new stands there. */
export function takenOut(before: readonly TaskSpec[], now: readonly TaskSpec[]): readonly string[] {
  // What was not read again is itself; most stand where they stood.
  const [were, are] = [
    before.filter((spec, row) => spec !== now[row]),
    now.filter((spec, row) => spec !== before[row]),
  ];
  const [gone, fresh] = [new Set(were), new Set(are)];
  const { missing, added } = identify(
    knownSpecs(were.filter(spec => !fresh.has(spec))),
    are.filter(spec => !gone.has(spec)),
  );
  return missing.filter(item => !item.isOver && (item.section === undefined || added === 0)).map(item => item.id);
}
