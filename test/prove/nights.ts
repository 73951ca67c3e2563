// Nights with nobody there: seeded backlogs whose attempts fail, crash, lie or stay silent, in real repositories. What ends done
// is what a model of the script says, nobody's work is lost, and the user's bytes stay.
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Activity, Assignment } from '../../src/agents/performer.ts';
import type { CheckOutcome, Input } from '../../src/core/input.ts';
import type { Settings } from '../../src/core/settings.ts';
import { allTasks } from '../../src/core/task.ts';
import { systemClock } from '../../src/engine/clock.ts';
import { runLoop } from '../../src/engine/run.ts';
import { gitCommits } from '../../src/git/progress/git-commits.ts';
import { defaultSettings } from '../../src/modes/registry.ts';
import { eventsIn, loop, makeEngine, makeWorld, type World } from '../engine/world.ts';
import { makeRepo, type Repo } from '../git/repo.ts';
import { type Random, random } from '../simulate/random.ts';
import { LawBroken, ofType } from './verdict.ts';

/** What an attempt does: the first does its task; `breaks` adds a failing test and claims; `lies` claims and does nothing. */
type Deed = 'good' | 'breaks' | 'crashes' | 'lies' | 'silent' | 'asks';

interface Part {
  readonly id: string;
  readonly dependsOn: readonly string[];
  /** Attempt by attempt; the last one again and again. */
  readonly deeds: readonly Deed[];
  /** Doing it turns the test green that was red at the start. */
  readonly mendsRed: boolean;
}

interface Script {
  readonly parts: readonly Part[];
  readonly isRed: boolean;
  readonly attemptsMax: number;
  /** After so many attempts the user stops Ralph, edits, and starts it again. */
  readonly stops: readonly number[];
}

const wrong: readonly Deed[] = ['breaks', 'crashes', 'lies', 'silent', 'asks'];

function scriptOf(chances: Random): Script {
  const count = chances.whole(4, 9);
  const isRed = chances.is(0.2);
  const mender = chances.whole(1, Math.min(3, count));
  const parts = Array.from({ length: count }, (_, at): Part => {
    const before = Array.from({ length: at }, (_none, one) => `T${one + 1}`);
    const dependsOn = chances.is(0.3) && before.length > 0 ? [chances.pick(before)] : [];
    const isHopeless = chances.is(0.12);
    const deeds = Array.from({ length: 4 }, () => (isHopeless || chances.is(0.3) ? chances.pick(wrong) : 'good'));
    return { id: `T${at + 1}`, dependsOn, deeds, mendsRed: isRed && at + 1 === mender };
  });
  const stops = chances.is(0.5) ? [chances.whole(1, 4), chances.whole(5, 9)] : [];
  return { parts, isRed, attemptsMax: chances.whole(2, 3), stops };
}

const blockedMax = 3;

/** What can be done within the limits, from the script alone: no tree, no git, no engine. */
function doable({ parts, isRed, attemptsMax }: Script): ReadonlySet<string> {
  const [done, over] = [new Set<string>(), new Set<string>()];
  let [red, inRow] = [isRed, 0];
  for (;;) {
    const part = parts.find(({ id, dependsOn }) => !over.has(id) && dependsOn.every(one => done.has(one)));
    if (part === undefined || inRow >= blockedMax) return done;
    over.add(part.id);
    const end = attempted(part, attemptsMax, red);
    if (end === 'asked') continue;
    inRow = end === 'done' ? 0 : inRow + 1;
    if (end === 'done') {
      done.add(part.id);
      red = red && !part.mendsRed;
    }
  }
}

/** One task in its own files: what it left stays for its next attempt. */
function attempted({ deeds, mendsRed }: Part, attemptsMax: number, isRed: boolean): 'done' | 'asked' | 'set-aside' {
  const here = { isThere: false, isBroken: false, isRed };
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const deed = deeds[Math.min(attempt, deeds.length) - 1];
    if (deed === 'asks') return 'asked';
    if (deed === 'breaks') here.isBroken = true;
    if (deed === 'good') Object.assign(here, { isThere: true, isBroken: false, isRed: here.isRed && !mendsRed });
    const isClaimed = deed === 'good' || deed === 'breaks' || deed === 'lies';
    if (isClaimed && here.isThere && !here.isBroken && !here.isRed) return 'done';
  }
  return 'set-aside';
}

const question = [
  ...['<escalate type="stuck">', '<summary>Which?</summary>', '<context>c</context>'],
  ...['<options>', '1. one', '</options>', '<question>Which?</question>', '</escalate>'],
].join('\n');

/** A repository, a script, and the user who stops and edits. */
class Night {
  readonly repo: Repo;
  readonly script: Script;
  readonly world: World;
  private readonly attempts = new Map<string, number>();
  private attemptsMade = 0;
  private stops: readonly number[];
  private interrupt = new AbortController();
  /** As the user left it last. */
  mine = 'mine, not committed\n';
  private lastLine = 'the end';

  constructor(repo: Repo, script: Script) {
    this.repo = repo;
    this.script = script;
    this.stops = script.stops;
    this.world = makeWorld(script.parts.length);
    this.world.document.tasks = this.world.document.tasks.map((task, at) => ({
      ...task,
      dependsOn: script.parts[at]!.dependsOn,
    }));
    repo.write('shared.txt', this.shared(new Set()));
    repo.write('test/base', 'need shared.txt\n');
    if (script.isRed) repo.write('test/red', 'fail red\n');
    repo.git('add', '-A');
    repo.git('commit', '-qm', 'a start');
    repo.write('mine.txt', this.mine);
  }

  /** A line for each task that is written into it, and one of the user's. */
  shared(by: ReadonlySet<string>): string {
    const lines = this.script.parts.map(({ id }) => `${id}: ${by.has(id) ? 'done' : 'open'}\n\n\n`);
    return `${lines.join('')}${this.lastLine}\n`;
  }

  private edit(): void {
    this.mine += 'more of mine\n';
    this.lastLine += ', and more';
    this.repo.write('mine.txt', this.mine);
    this.repo.write('shared.txt', this.repo.read('shared.txt').replace(/[^\n]*\n$/, `${this.lastLine}\n`));
  }

  async *play({ task }: Assignment, stop: AbortSignal): AsyncGenerator<Activity> {
    if (this.stops.length > 0 && this.attemptsMade >= this.stops[0]!) {
      this.stops = this.stops.slice(1);
      this.interrupt.abort();
      if (!stop.aborted) await new Promise(resolve => stop.addEventListener('abort', resolve, { once: true }));
      yield { type: 'ended', message: '', failure: { kind: 'stopped', detail: 'Ctrl-C' } };
      return;
    }
    this.attemptsMade += 1;
    const attempt = (this.attempts.get(task) ?? 0) + 1;
    this.attempts.set(task, attempt);
    const { deeds, mendsRed } = this.script.parts.find(one => one.id === task)!;
    yield this.act(deeds[Math.min(attempt, deeds.length) - 1]!, task, attempt, mendsRed);
  }

  private act(deed: Deed, task: string, attempt: number, mendsRed: boolean): Activity {
    const { repo } = this;
    const claim: Activity = { type: 'ended', message: `Task ${task} complete` };
    const detail = `it fell over in ${['a', 'b', 'c', 'd'][attempt % 4]} way at ${task}`;
    if (deed === 'asks') return { type: 'ended', message: question };
    if (deed === 'lies') return claim;
    if (deed === 'silent') repo.write(`notes/${task}-${attempt}`, 'thinking\n');
    if (deed === 'silent') return { type: 'ended', message: `thinking about ${task}, ${attempt}` };
    if (deed === 'crashes') repo.write(`half/${task}-${attempt}`, 'half\n');
    if (deed === 'crashes') return { type: 'ended', message: '', failure: { kind: 'process', detail } };
    repo.write(`test/${task}`, deed === 'breaks' ? `fail ${attempt}\n` : `need src/${task}\n`);
    if (deed === 'breaks') return claim;
    repo.write(`src/${task}`, `${task}\n`);
    if (mendsRed) repo.write('test/red', 'need shared.txt\n');
    repo.write('shared.txt', repo.read('shared.txt').replace(`${task}: open`, `${task}: done`));
    return claim;
  }

  /** Every test, and that the task's own file is there. */
  check(task: string): CheckOutcome {
    const { top } = this.repo;
    const red = readdirSync(join(top, 'test')).find(name => {
      const [word, path = ''] = readFileSync(join(top, 'test', name), 'utf8')
        .trim()
        .split(' ');
      return word === 'fail' || !existsSync(join(top, path));
    });
    const passed = red === undefined && existsSync(join(top, 'src', task));
    return { name: 'tests', passed, detail: `red: ${red ?? (passed ? 'none' : task)}`, durationMs: 1 };
  }

  /** Run after run, until nobody stops it any more. */
  async run(settings: Settings): Promise<void> {
    const { repo, world } = this;
    const facts = { name: loop, goal: 'proof', document: '/nowhere/PRD.json', projectId: '', taskId: '' };
    const start: Input = { type: 'start', loop, ...facts, directory: repo.top, settings, by: 'proof' };
    for (let first: readonly Input[] = [start]; ; first = [{ type: 'taken-over', by: 'proof' }]) {
      this.interrupt = new AbortController();
      const engine = makeEngine(world, (assignment, stop) => this.play(assignment, stop), {
        clock: systemClock(randomUUID),
        checkpoints: await repo.checkpoints({ loop }),
        commits: gitCommits(await repo.open(), { folder: repo.folder }),
        checks: [{ name: 'tests', run: async (_directory, _stop, task) => this.check(task?.id ?? '') }],
      });
      const result = await runLoop(engine, loop, { interrupt: this.interrupt.signal, first });
      if (result.type === 'failed') throw new LawBroken(`the ledger failed: ${result.failure.detail}`);
      if (result.type === 'held' || !this.interrupt.signal.aborted) return this.judge(result);
      this.edit();
    }
  }

  private async judge(result: Awaited<ReturnType<typeof runLoop>>): Promise<void> {
    if (!('state' in result)) throw new LawBroken('somebody else holds the loop');
    const { tasks, checkpoints } = result.state;
    const done = new Set([...allTasks(tasks)].filter(one => one.status === 'done').map(one => one.id));
    const wanted = doable(this.script);
    const ids = this.script.parts.map(({ id }) => id);
    const differ = ids.filter(id => wanted.has(id) !== done.has(id));
    hold(
      'what ends done is what can be done',
      differ.map(id => `${id} is ${done.has(id) ? '' : 'not '}done`),
    );
    const there = new Set([...done, checkpoints.unfinished ?? '']);
    this.judgeFiles(there);
    this.judgeCommits();
    for (const { commit, paths } of ofType(await eventsIn(this.world.ledger), 'work.set-aside'))
      hold(
        'work that was set aside is in its checkpoint',
        paths.filter(path => !isIn(this.repo, commit, path)),
      );
  }

  private judgeFiles(there: ReadonlySet<string>): void {
    const { repo, script } = this;
    const [expected, found] = [this.shared(there), repo.read('shared.txt')];
    hold("the user's file is as they left it", repo.read('mine.txt') === this.mine ? [] : ['mine.txt']);
    const isSame = expected === found || this.shared(new Set([...there].filter(id => this.hasFile(id)))) === found;
    hold('a shared file has the lines of what is done, and of the user', isSame ? [] : [found, expected]);
    const strangers = script.parts.filter(({ id }) => !there.has(id) && (this.hasFile(id) || this.hasTest(id)));
    hold(
      'nothing of what is not done lies around',
      strangers.map(({ id }) => id),
    );
  }

  private readonly hasFile = (id: string): boolean => existsSync(join(this.repo.top, 'src', id));
  private readonly hasTest = (id: string): boolean => existsSync(join(this.repo.top, 'test', id));

  /** Each commit holds files of its own task alone, and nothing that only a crash left. */
  private judgeCommits(): void {
    const log = this.repo.git('log', '--format=%x00%(trailers:key=Ralph-Task,valueonly)', '--name-only');
    for (const text of log.split('\0').slice(1)) {
      const [task = '', ...paths] = text.split(/\n+/).filter(line => line !== '');
      if (!/^T\d+$/.test(task)) continue;
      const own = new Set([`src/${task}`, `test/${task}`, 'test/red', 'shared.txt']);
      const others = paths.filter(path => !own.has(path) && !path.startsWith(`notes/${task}-`));
      hold(`the commit of ${task} holds nothing of others`, others);
    }
  }
}

function isIn(repo: Repo, commit: string, path: string): boolean {
  try {
    execFileSync('git', ['cat-file', '-e', `${commit}:${path}`], {
      cwd: repo.top,
      stdio: 'ignore',
      env: repo.environment,
    });
    return true;
  } catch {
    return false;
  }
}

function hold(law: string, wrongs: readonly string[]): void {
  if (wrongs.length > 0) throw new LawBroken(`${law}: ${wrongs.slice(0, 5).join('; ')}`);
}

function settingsFor({ attemptsMax }: Script): Settings {
  const base = defaultSettings('prd');
  return {
    ...base,
    ...{ performers: ['one'], checks: ['tests'], checkpoints: true, commits: true, sameErrorsToEscalate: null },
    ...{ backoffBaseMs: 1, backoffMsMax: 1, breaker: { ...base.breaker, failuresToOpen: 1_000 } },
    limits: { ...base.limits, iterationsMax: 200, attemptsPerTaskMax: attemptsMax, blockedMax },
  };
}

/** Throws when a law is broken. Gives how many tasks there were, and how many of them could be done. */
export async function proveNight(seed: number): Promise<{ readonly tasks: number; readonly done: number }> {
  const script = scriptOf(random(seed));
  const repo = makeRepo();
  try {
    await new Night(repo, script).run(settingsFor(script));
    return { tasks: script.parts.length, done: doable(script).size };
  } finally {
    repo.cleanUp();
  }
}

/** Resolves to the number of failures. */
export async function proveNights(first: number, count: number): Promise<number> {
  let [tasks, done, failed] = [0, 0, 0];
  for (let seed = first; seed < first + count; seed += 1) {
    try {
      const night = await proveNight(seed);
      tasks += night.tasks;
      done += night.done;
    } catch (error) {
      failed += 1;
      console.error(`seed ${seed} failed: ${error instanceof Error ? error.message : String(error)}`);
      console.error(`replay it: npm run prove -- nights --count 1 --seed ${seed}`);
    }
    if ((seed - first + 1) % 50 === 0) console.log(`${seed - first + 1} nights`);
  }
  console.log(
    `${count - failed} of ${count} nights (real git, fake agents): ${done} of ${tasks} tasks could be done, and were; ` +
      `no work that was set aside was lost, and the user's bytes stayed`,
  );
  return failed;
}
