// Real loops with failures and rollbacks in random dirty repositories: nothing of the user's changes, every checkpoint comes back.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Activity, Assignment } from '../../src/agents/performer.ts';
import type { Event } from '../../src/core/event.ts';
import type { Input } from '../../src/core/input.ts';
import type { Settings } from '../../src/core/settings.ts';
import { systemClock } from '../../src/engine/clock.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { runLoop } from '../../src/engine/run.ts';
import type { Checkpoints, Restored, RestoreOrder, RestorePlan, Saved, SaveOrder } from '../../src/git/checkpoints.ts';
import type { Commits } from '../../src/git/commits.ts';
import { gitCommits } from '../../src/git/progress/git-commits.ts';
import { defaultSettings } from '../../src/modes/registry.ts';
import { eventsIn, loop, makeEngine, makeWorld } from '../engine/world.ts';
import type { Repo } from '../git/repo.ts';
import { type Random, random } from '../simulate/random.ts';
import {
  type DirtyRepo,
  fileBytesMax,
  makeDirtyRepo,
  putFile,
  removeRepo,
  type Snapshot,
  snapshot,
  unlike,
} from './repositories.ts';
import { type Ground, groundOf, meddle } from './tree-agent.ts';
import { LawBroken } from './verdict.ts';

export interface Figures {
  readonly checkpoints: number;
  readonly restores: number;
  readonly rollbacks: number;
  readonly commits: number;
  /** How often one file was held against what it should be. */
  readonly compared: number;
}

interface Kept {
  readonly commit: string;
  readonly files: Snapshot;
  /** What the checkpoint says that it holds. */
  readonly held: ReadonlySet<string>;
}

const parts = (text: string): string[] => text.split('\0').filter(one => one !== '');
const asText = (path: string): string => Buffer.from(path, 'latin1').toString('utf8');

/** One repository, and everything that we saw of it with our own eyes. */
class Trial {
  readonly repo: Repo;
  readonly chances: Random;
  readonly checkpoints: Checkpoints;
  readonly commits: Commits;
  readonly start: Snapshot;
  readonly kept = new Map<number, Kept>();
  /** By an agent, a check or a person, since the start. */
  readonly touched = new Set<string>();
  private readonly ground: Ground;
  private readonly hasModes: boolean;
  newest = 0;
  restores = 0;
  /** A person edited these while nobody worked: a restore may keep them. */
  readonly theirs = new Set<string>();
  compared = 0;

  constructor({ repo, traits }: DirtyRepo, checkpoints: Checkpoints, commits: Commits, chances: Random) {
    this.repo = repo;
    this.checkpoints = checkpoints;
    this.commits = commits;
    this.chances = chances;
    this.hasModes = !traits.includes('no file modes');
    this.ground = groundOf(repo);
    this.start = this.look();
  }

  /** Where git is told that there are no modes, they are nobody's promise. */
  look(): Snapshot {
    const seen = snapshot(this.repo);
    if (this.hasModes) return seen;
    return new Map([...seen].map(([path, one]) => [path, { ...one, content: one.content.replace('program', 'file') }]));
  }

  /** An agent, or a person, does this and that; whatever it changes counts as touched. */
  meddle(): void {
    const before = this.look();
    this.touching(() => meddle(this.ground, this.look(), this.chances));
    const after = this.look();
    for (const path of new Set([...before.keys(), ...after.keys()]))
      if (contentAt(before, path) !== contentAt(after, path)) this.theirs.add(path);
  }

  touching(work: () => void): void {
    const before = this.look();
    work();
    const after = this.look();
    for (const path of new Set([...before.keys(), ...after.keys()])) {
      const [one, other] = [before.get(path), after.get(path)];
      if (one?.content !== other?.content || one?.stamp !== other?.stamp) this.touched.add(path);
    }
  }

  async save(order: SaveOrder): Promise<Saved> {
    const files = this.look();
    const uncovered = this.ground.uncovered(files);
    const saved = await this.checkpoints.save(order);
    if (!saved.ok) throw new LawBroken(`checkpoint ${order.number}: ${saved.problem}`);
    this.hold(`checkpoint ${order.number} changes no file`, unlike(files, this.look()));
    const held = new Set(parts(this.repo.git('ls-tree', '-r', '-z', '--name-only', '--full-tree', saved.commit)));
    const missing = [...files.keys()].filter(path => !held.has(path) && !uncovered.has(path));
    const invented = [...held].filter(path => !files.has(path) && path !== 'inner');
    this.hold(`checkpoint ${order.number} holds every file`, missing.map(quoted));
    this.hold(`checkpoint ${order.number} holds nothing else`, invented.map(quoted));
    this.kept.set(order.number, { commit: saved.commit, files, held });
    this.newest = order.number;
    return saved;
  }

  async restore(order: RestoreOrder): Promise<Restored> {
    const find = (commit: string): Kept => {
      const found = [...this.kept.values()].findLast(one => one.commit === commit);
      if (found === undefined) throw new LawBroken(`nobody made the checkpoint ${commit}`);
      return found;
    };
    const [to, base, now] = [find(order.to), find(order.base), find(order.now)];
    const restored = await this.checkpoints.restore(order);
    const after = this.look();
    this.restores += 1;
    if (!restored.ok) {
      if (restored.conflicts.length === 0) throw new LawBroken(`a restore failed: ${restored.problem}`);
      this.hold('a refused restore changes nothing', unlike(now.files, after));
      return restored;
    }
    const wrong: string[] = [];
    for (const path of new Set([...to.files.keys(), ...now.files.keys(), ...after.keys()])) {
      const expected = this.expected(path, { to, base, now }, restored);
      const is = contentAt(after, path);
      this.compared += 1;
      if (expected !== undefined && !expected.includes(is))
        wrong.push(`${quoted(path)} is ${is}, not ${expected.join(' or ')}`);
    }
    this.hold('a restore brings back what was there', wrong);
    this.untouchedStays('after a restore');
    return restored;
  }

  /** Undefined: nobody can know. */
  private expected(
    path: string,
    { to, base, now }: Readonly<Record<'to' | 'base' | 'now', Kept>>,
    { merged, kept }: RestorePlan,
  ): readonly string[] | undefined {
    const [was, is, shall] = [base.files, now.files, to.files].map(files => contentAt(files, path)) as [
      string,
      string,
      string,
    ];
    const isTheirs = was !== is;
    if (isTheirs && merged.includes(asText(path))) return undefined;
    if (isTheirs) return was === shall ? [is] : [is, shall];
    if (this.theirs.has(path) && kept.includes(asText(path))) return [is, shall];
    if (to.held.has(path)) return kept.includes(asText(path)) && isBlocked(path, now) ? [is] : [shall];
    if (!now.held.has(path)) return [is];
    return to.files.has(path) ? undefined : ['absent'];
  }

  untouchedStays(when: string): void {
    const now = this.look();
    const wrong: string[] = [];
    for (const [path, { content, stamp }] of this.start) {
      if (this.touched.has(path)) continue;
      this.compared += 1;
      const is = now.get(path);
      if (is?.content !== content || is.stamp !== stamp)
        wrong.push(`${quoted(path)} was ${content} ${stamp}, is ${is?.content ?? 'absent'} ${is?.stamp ?? ''}`);
    }
    this.hold(`what no agent touched stays as it was, ${when}`, wrong);
  }

  /** Touched, and at some moment in no checkpoint, or blocked by such a file: nobody can bring that back. */
  readonly isLoose = (path: string): boolean =>
    this.touched.has(path) &&
    [...this.kept.values()].some(one => (one.files.has(path) && !one.held.has(path)) || isBlocked(path, one));

  hold(law: string, wrong: readonly string[]): void {
    if (wrong.length > 0)
      throw new LawBroken(`${law}: ${wrong.slice(0, 5).join('; ')}${wrong.length > 5 ? ' ...' : ''}`);
  }
}

const quoted = (path: string): string => JSON.stringify(path);
const contentAt = (files: Snapshot, path: string): string => files.get(path)?.content ?? 'absent';

/** Something that no checkpoint holds lies there, below it, or in the place of its folder. */
const isBlocked = (path: string, { files, held }: Kept): boolean =>
  [...files.keys()].some(
    one => !held.has(one) && (one === path || one.startsWith(`${path}/`) || path.startsWith(`${one}/`)),
  );

/** The checkpoints of the engine, watched; a person may edit just before a rollback. */
function watched(trial: Trial, personChance: number): Checkpoints {
  const { checkpoints, chances } = trial;
  return {
    ...checkpoints,
    save(order) {
      if (order.kind === 'before-restore' && chances.is(personChance)) trial.meddle();
      return trial.save(order);
    },
    restore: order => trial.restore(order),
  };
}

async function* play(trial: Trial, { task, iteration }: Assignment): AsyncGenerator<Activity> {
  const { chances } = trial;
  if (chances.is(0.85)) trial.meddle();
  const end = chances.chance();
  if (end < 0.4) yield { type: 'ended', message: `Task ${task} complete` };
  else if (end < 0.85)
    yield { type: 'ended', message: 'no', failure: { kind: 'process', detail: `it fell over ${iteration}` } };
  else yield { type: 'ended', message: `still thinking about ${iteration}` };
}

function settingsOf(chances: Random, isMidway: boolean): Settings {
  const base = defaultSettings('prd');
  return {
    ...base,
    performers: ['one'],
    checks: chances.is(0.6) ? ['proof'] : [],
    checkpoints: true,
    commits: !isMidway && chances.is(0.5),
    rollbackAfter: chances.pick([1, 2, 3]),
    sameErrorsToEscalate: null,
    backoffBaseMs: 1,
    backoffMsMax: 1,
    breaker: { ...base.breaker, failuresToOpen: 1_000 },
    limits: {
      ...base.limits,
      iterationsMax: chances.whole(3, 7),
      consecutiveErrorsMax: 100,
      noProgressIterations: 100,
      attemptsPerTaskMax: 100,
    },
  };
}

/** Checks leave things behind, as test runs do. */
function engineOf(trial: Trial, world: ReturnType<typeof makeWorld>, settings: Settings, personChance: number): Engine {
  const { chances, repo } = trial;
  const run = async () => {
    if (chances.is(0.2)) trial.touching(() => putFile(repo, 'coverage', Buffer.from(`${chances.chance()}`)));
    return { name: 'proof', passed: chances.is(0.5), detail: 'looked', durationMs: 1 };
  };
  return makeEngine(world, assignment => play(trial, assignment), {
    clock: systemClock(randomUUID),
    checkpoints: watched(trial, personChance),
    commits: trial.commits,
    checks: settings.checks.map(name => ({ name, run })),
  });
}

/** One loop through the real engine, with the real git; its events. */
async function loopIn(trial: Trial, settings: Settings): Promise<readonly Event[]> {
  const world = makeWorld(trial.chances.whole(2, 4));
  const engine = engineOf(trial, world, settings, trial.chances.pick([0, 0, 0.5]));
  const facts = { name: loop, goal: 'proof', document: '/nowhere/PRD.json', projectId: '', taskId: '' };
  const start: Input = { type: 'start', loop, ...facts, directory: trial.repo.top, settings, by: 'proof' };
  const result = await runLoop(engine, loop, { interrupt: new AbortController().signal, first: [start] });
  if (result.type === 'failed') throw new LawBroken(`the ledger failed: ${result.failure.detail}`);
  const events = await eventsIn(world.ledger);
  const raised = events.flatMap(event => (event.type === 'escalation.raised' ? [event.escalation.context] : []));
  trial.hold('nothing stops the loop', raised);
  return events;
}

async function saveNext(trial: Trial): Promise<Kept> {
  const number = trial.newest + 1;
  await trial.save({ number, iteration: 0, kind: 'by-hand', label: 'by the proof', anchor: `${number} ab` });
  return trial.kept.get(number)!;
}

/** Every checkpoint of the loop once, in any order; some undone again at once; the first one last. */
async function restoreAll(trial: Trial): Promise<void> {
  const { chances, kept } = trial;
  const targets = [...kept.values()];
  const [first, ...others] = targets.map(one => ({ one, order: chances.chance() }));
  others.sort((one, other) => one.order - other.order);
  for (const { one } of [...others, first!]) {
    if (chances.is(0.2)) trial.meddle();
    const now = await saveNext(trial);
    await trial.restore({ to: one.commit, base: now.commit, now: now.commit, overwrite: true });
    if (one === first!.one || !chances.is(0.2)) continue;
    const after = await saveNext(trial);
    await trial.restore({ to: now.commit, base: after.commit, now: after.commit, overwrite: true });
    trial.hold('an undo that is undone is as before', unlike(now.files, trial.look(), trial.isLoose));
  }
  trial.hold('checkpoint 1 is the start', unlike(trial.start, trial.look(), trial.isLoose));
}

/** What belongs to the user in git, seen before a loop. */
interface Theirs {
  readonly all: Readonly<Record<string, string>>;
  readonly head: string;
  readonly entries: ReadonlyMap<string, string>;
  readonly dirty: ReadonlySet<string>;
}

const isDetached = ({ top }: Repo): boolean => !readFileSync(`${top}/.git/HEAD`, 'utf8').startsWith('ref: ');

function headOf(repo: Repo): string {
  try {
    return repo.git('rev-parse', '--verify', '-q', 'HEAD').trim();
  } catch {
    return '';
  }
}

/** Mode, object, stage and flags of every entry; of a conflict all its stages. */
function entriesOf(repo: Repo): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const line of parts(repo.git('ls-files', '-s', '-t', '-v', '-z'))) {
    const [entry = '', path = ''] = [line.slice(0, line.indexOf('\t')), line.slice(line.indexOf('\t') + 1)];
    found.set(path, `${found.get(path) ?? ''}${entry}\n`);
  }
  return found;
}

function theirsOf(repo: Repo): Theirs {
  const status = parts(repo.git('status', '--porcelain', '-z', '--no-renames', '--untracked-files=all'));
  const { status: _status, ...all } = repo.theirs();
  return { all, head: headOf(repo), entries: entriesOf(repo), dirty: new Set(status.map(line => line.slice(3))) };
}

/** Without commits nothing of the user's git moves; with them only the branch, and entries of what was committed. */
function compareTheirs(trial: Trial, before: Theirs): number {
  const { repo } = trial;
  const after = theirsOf(repo);
  const range = before.head === '' ? 'HEAD' : `${before.head}..HEAD`;
  const commits = after.head === before.head ? [] : repo.git('rev-list', range).trim().split('\n');
  const moving = commits.length === 0 ? [] : ['index', 'refs', 'logs', ...(isDetached(repo) ? ['head'] : [])];
  for (const [name, value] of Object.entries(before.all))
    if (!moving.includes(name))
      trial.hold(`${name} stays`, after.all[name] === value ? [] : [value, after.all[name] ?? '']);
  const committed = new Set<string>();
  for (const commit of commits) {
    trial.hold(
      'progress commits name their loop',
      repo.git('log', '-1', '--format=%B', commit).includes('Ralph-Loop: ') ? [] : [commit],
    );
    const changed = parts(repo.git('diff-tree', '-r', '-z', '--root', '--no-commit-id', '--name-only', commit));
    for (const path of changed) committed.add(path);
  }
  trial.hold(
    'what was dirty is never committed',
    [...committed].filter(path => before.dirty.has(path)),
  );
  const wrong = [...new Set([...before.entries.keys(), ...after.entries.keys()])].filter(
    path => !committed.has(path) && before.entries.get(path) !== after.entries.get(path),
  );
  trial.hold(
    'entries of what was not committed stay',
    wrong.map(path => JSON.stringify(path)),
  );
  return commits.length;
}

/** Behind their own refs, or behind the one of old checkpoints. */
const heldIn = (repo: Repo): string[] => repo.git('rev-list', '--glob=refs/ralph').trim().split('\n');

/** Throws when a law is broken; the traits of the repository are in the message. */
export async function proveTree(seed: number): Promise<Figures> {
  const chances = random(seed);
  const dirtyRepo = makeDirtyRepo(chances);
  const { repo, traits } = dirtyRepo;
  try {
    const commits = gitCommits(await repo.open(), { folder: repo.folder });
    const trial = new Trial(dirtyRepo, await repo.checkpoints({ loop, fileBytesMax }), commits, chances);
    const theirs = theirsOf(repo);
    const events = await loopIn(trial, settingsOf(chances, traits.includes('in a merge')));
    trial.untouchedStays('after the loop');
    const committed = compareTheirs(trial, theirs);
    const rollbacks = events.filter(event => event.type === 'checkpoint.restored').length;
    const head = theirsOf(repo).all;
    await restoreAll(trial);
    trial.untouchedStays('in the end');
    trial.hold(
      'restores move nothing of git',
      JSON.stringify(theirsOf(repo).all) === JSON.stringify(head) ? [] : ['moved'],
    );
    const commitsKept = new Set(heldIn(repo));
    trial.hold(
      'every checkpoint is held by a ref',
      [...trial.kept.values()].map(one => one.commit).filter(one => !commitsKept.has(one)),
    );
    return {
      checkpoints: trial.kept.size,
      restores: trial.restores,
      rollbacks,
      commits: committed,
      compared: trial.compared,
    };
  } catch (error) {
    throw new LawBroken(`${error instanceof Error ? error.message : String(error)} [${traits.join(', ')}]`, {
      cause: error,
    });
  } finally {
    removeRepo(repo);
  }
}

const atOnce = 3; // most of the time is git's own

/** Resolves to the number of failures. */
export async function proveTrees(first: number, count: number): Promise<number> {
  const sum = { checkpoints: 0, restores: 0, rollbacks: 0, commits: 0, compared: 0 };
  let [seed, done, failed] = [first, 0, 0];
  const work = async (): Promise<void> => {
    while (seed < first + count) {
      const mine = seed;
      seed += 1;
      try {
        const figures = await proveTree(mine);
        for (const name of Object.keys(sum) as (keyof Figures)[]) sum[name] += figures[name];
      } catch (error) {
        failed += 1;
        console.error(`seed ${mine} failed: ${error instanceof Error ? error.message : String(error)}`);
        console.error(`replay it: npm run prove -- trees --count 1 --seed ${mine}`);
      }
      done += 1;
      if (done % 50 === 0) console.log(`${done} repositories`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  const { checkpoints, restores, rollbacks, commits, compared } = sum;
  console.log(
    `${count - failed} of ${count} dirty repositories (real git, fake agents): nothing of the user's changed; ` +
      `${checkpoints} checkpoints, ${restores} restores all alike (${rollbacks} rollbacks by loops), ` +
      `${commits} progress commits, ${compared} files compared`,
  );
  return failed;
}
