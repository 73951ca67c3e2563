// SIGKILLs checkpoints and restores at any moment: the tree is the old or the new one, and running again completes it (F07).
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { makeRepo, type Repo, repoAt, saved } from '../git/repo.ts';
import { whyNoTracing } from '../ledger/run-program.ts';
import { random } from '../simulate/random.ts';
import { removeRepo, type Snapshot, snapshot, unlike } from './repositories.ts';
import type { ChildOrder, Said } from './restore-child.ts';
import { living, until } from './stage.ts';
import { LawBroken } from './verdict.ts';

/** A repository with two checkpoints whose trees differ in every way; each trial works on a copy. */
export interface Template {
  readonly repo: Repo;
  readonly commits: readonly string[];
  readonly trees: readonly Snapshot[];
}

const odd = ['plain', 'new\nline', '-rf', '\xff\xfe', "it's", ' '];

/** `files` in each tree, about; the second tree has other contents, modes, kinds and folders. */
export async function makeTemplate(files: number): Promise<Template> {
  const repo = makeRepo();
  const path = (at: number): string => `folder-${at % 9}/sub-${at % 4}/${odd[at % odd.length]}-${at}`;
  for (let at = 0; at < files; at += 1) repo.write(path(at), `old ${at}\n`.repeat(1 + (at % 50)));
  repo.link('link', 'README.md');
  repo.link('other-link', 'nowhere');
  repo.write('becomes-a-folder', 'old');
  repo.write('becomes-a-file/inside', 'old');
  repo.write('only-before/deep/file', 'old');
  const checkpoints = await repo.checkpoints();
  const first = await saved(checkpoints, 1);
  const trees = [snapshot(repo)];
  for (let at = 0; at < files; at += 1) {
    const how = at % 6;
    if (how === 0) repo.remove(Buffer.from(path(at), 'latin1').toString('latin1'));
    else if (how === 1) chmodSync(Buffer.concat([Buffer.from(`${repo.top}/`), Buffer.from(path(at), 'latin1')]), 0o755);
    else if (how < 5) repo.write(path(at), `new ${at}\n`);
  }
  for (const name of ['becomes-a-folder', 'becomes-a-file', 'only-before', 'link', 'other-link']) repo.remove(name);
  repo.write('becomes-a-folder/inside/deep', 'new');
  repo.write('becomes-a-file', 'new', 0o755);
  repo.write('link', 'a file now');
  repo.link('other-link', 'somewhere');
  for (let at = 0; at < files / 10; at += 1) repo.write(`only-after-${at % 3}/${at}`, 'new');
  const second = await saved(checkpoints, 2);
  return { repo, commits: [first.commit, second.commit], trees: [...trees, snapshot(repo)] };
}

function copyOf({ repo }: Template): Repo {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-restore-')));
  execFileSync('cp', ['-a', `${repo.root}/.`, root]); // names may be any bytes
  return repoAt(root, join(root, 'project'), { ...repo.environment, HOME: join(root, 'home') });
}

type Victim = 'the process' | 'its group' | 'its group and the switch';

/** How a kill ended, before anything was run again. */
export type End = 'old' | 'new' | 'finished by the process that outlives us' | 'finished by the journal';

interface Running {
  readonly child: ChildProcess;
  readonly said: Said[];
  readonly gone: Promise<unknown>;
  errors(): string;
}

function start(repo: Repo, template: Template, rounds: number, before: readonly string[] = []): Running {
  const { top, folder, environment } = repo;
  const order: ChildOrder = { top, folder, environment, commits: template.commits, newest: 2, rounds };
  const words = [...before, process.execPath, join(import.meta.dirname, 'restore-child.ts'), JSON.stringify(order)];
  const child = spawn(words[0]!, words.slice(1), {
    env: { ...environment, NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const said: Said[] = [];
  let [rest, errors] = ['', ''];
  child.stdout!.on('data', data => {
    const lines = `${rest}${data}`.split('\n');
    rest = lines.pop() ?? '';
    said.push(...lines.map(line => JSON.parse(line) as Said));
  });
  child.stderr!.on('data', data => {
    errors += data;
  });
  const gone = new Promise(done => child.once('exit', () => setImmediate(done)));
  return { child, said, gone, errors: () => errors };
}

const journalOf = ({ folder }: Repo): string => join(folder, 'restore.json');

/** Processes of ours that put a restore of this repository into its tree: they were given its journal. */
function switchers(repo: Repo): readonly number[] {
  return readdirSync('/proc').flatMap(pid => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`${journalOf(repo)}\0`) ? [Number(pid)] : [];
    } catch {
      return [];
    }
  });
}

function kill({ child }: Running, repo: Repo, victim: Victim): void {
  try {
    process.kill(victim === 'the process' ? child.pid! : -child.pid!, 'SIGKILL');
    if (victim === 'its group and the switch') for (const pid of switchers(repo)) process.kill(pid, 'SIGKILL');
  } catch {
    // It was faster.
  }
}

/** Whoever still works on this repository is given the time to end. */
const allGone = (repo: Repo): Promise<void> =>
  until('nobody works any more', () => switchers(repo).length === 0 && living(repo.root).length === 0);

const whichTree = ({ trees }: Template, is: Snapshot): number => trees.findIndex(tree => unlike(tree, is).length === 0);

/** While somebody may still be at work on it. */
function hastyLook(repo: Repo, template: Template): number {
  try {
    return whichTree(template, snapshot(repo));
  } catch {
    return -1;
  }
}

function hold(isSo: boolean, law: string, detail = ''): void {
  if (!isSo) throw new LawBroken(detail === '' ? law : `${law}: ${detail}`);
}

/** After everybody has ended: one of the two trees, or a mix that the journal knows; refs whole; nothing promised is lost. */
function lookAfterKill(repo: Repo, template: Template, { said }: Pick<Running, 'said'>): number {
  const tree = whichTree(template, snapshot(repo));
  const hasJournal = existsSync(journalOf(repo));
  const how = unlike(template.trees[0]!, snapshot(repo)).slice(0, 3).join('; ');
  hold(
    tree !== -1 || hasJournal,
    'the tree is the old or the new one, or the journal says that it is neither yet',
    how,
  );
  const refs = repo
    .git('for-each-ref', '--format=%(refname) %(objecttype) %(objectname)', 'refs/ralph')
    .trim()
    .split('\n');
  for (const ref of refs) hold(ref.includes(' commit '), 'no half ref', ref);
  for (const one of said) {
    if ('number' in one)
      hold(
        refs.some(ref => ref.endsWith(one.commit)),
        `checkpoint ${one.number} has its ref`,
      );
  }
  repo.git('rev-list', '--objects', '--quiet', '--glob=refs/ralph'); // every object of theirs is there
  const restores = said.filter(one => 'restored' in one).length;
  // The tree of an even number of restores is the second; where it is not, one was begun, so its checkpoint must exist.
  const expected = restores % 2 === 0 ? 1 : 0;
  const made = refs.filter(ref => Number(/(\d+) commit/.exec(ref)?.[1]) > 2).length;
  if (tree !== expected || hasJournal) hold(made > restores, 'the checkpoint before the restore exists', refs.join());
  return tree;
}

/** The next process: repairs, makes a checkpoint, restores the first tree and the second again. Which tree the repair made. */
async function runAgain(repo: Repo, template: Template, { said }: Pick<Running, 'said'>): Promise<number> {
  const checkpoints = await repo.checkpoints();
  const known = said.flatMap(one => ('number' in one ? [one] : []));
  const hadJournal = existsSync(journalOf(repo));
  const { did, missing } = await checkpoints.repair(known);
  hold(missing.length === 0, 'no checkpoint is lost', missing.join());
  hold(hadJournal === did.some(one => one.startsWith('finished a restore')), 'the journal is worked off', did.join());
  const repaired = whichTree(template, snapshot(repo));
  hold(repaired !== -1, 'after the repair the tree is the old or the new one');
  let number = Math.max(2, ...known.map(one => one.number));
  for (const [at, to] of template.commits.entries()) {
    number += 1;
    const { commit } = await saved(checkpoints, number, 'before a restore');
    const restored = await checkpoints.restore({ to, base: commit, now: commit });
    hold(restored.ok, 'running again completes it', restored.ok ? '' : restored.problem);
    const wrong = unlike(template.trees[at]!, snapshot(repo));
    hold(wrong.length === 0, 'running again makes the tree', wrong.slice(0, 3).join('; '));
  }
  const litter = readdirSync(repo.folder).filter(name => name.startsWith('restore') || name.endsWith('.lock'));
  hold(litter.length === 0, 'nothing is left lying about', litter.join());
  return repaired;
}

const roundsMax = 4;

/** Undefined: it had ended before the kill. Throws when a law is broken. */
export async function killKeeping(seed: number, template: Template, roundMs: number): Promise<End | undefined> {
  const chances = random(seed);
  const victim = chances.pick<Victim>(['the process', 'its group', 'its group', 'its group and the switch']);
  const repo = copyOf(template);
  try {
    const running = start(repo, template, roundsMax);
    await until('it is ready', () => running.said.length > 0 || running.child.exitCode !== null);
    await setTimeout(chances.chance() * roundMs * roundsMax);
    const wasRunning = running.child.exitCode === null;
    kill(running, repo, victim);
    await running.gone;
    const atOnce = hastyLook(repo, template);
    await allGone(repo);
    const tree = lookAfterKill(repo, template, running);
    const repaired = await runAgain(repo, template, running);
    if (!wasRunning) return undefined;
    if (repaired !== tree) return 'finished by the journal';
    if (atOnce !== tree) return 'finished by the process that outlives us';
    const isOld = running.said.filter(one => 'restored' in one).length % 2 === (tree === 1 ? 0 : 1);
    return isOld ? 'old' : 'new';
  } catch (error) {
    throw new LawBroken(`${victim}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  } finally {
    removeRepo(repo);
  }
}

/** How long one checkpoint and one restore take here. */
async function roundMsOf(template: Template): Promise<number> {
  const repo = copyOf(template);
  try {
    const running = start(repo, template, roundsMax);
    await until('it is ready', () => running.said.length > 0);
    const begin = performance.now();
    await running.gone;
    hold(running.child.exitCode === 0, 'the undisturbed one ends well', running.errors());
    return (performance.now() - begin) / roundsMax;
  } finally {
    removeRepo(repo);
  }
}

/** Calls by which a restore changes anything, and by which it reads; the latter are many, so not each of them. */
const calls: readonly { readonly call: string; readonly stride: number }[] = [
  ...['rename', 'unlink', 'unlinkat', 'rmdir', 'mkdir', 'symlink', 'link', 'fsync', 'fdatasync'].map(call => ({
    call,
    stride: 1,
  })),
  { call: 'openat', stride: 9 },
];

/** Every process and thread of one restore dies at its k-th such call; how many did. */
export async function killAtCall(call: string, count: number, template: Template): Promise<number> {
  const repo = copyOf(template);
  try {
    const log = join(repo.root, 'trace');
    const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:signal=SIGKILL:when=${count}`];
    const running = start(repo, template, 1, ['strace', '-f', '-qq', '-o', log, ...inject]);
    await running.gone;
    await allGone(repo);
    const killed = readFileSync(log, 'latin1').split('killed by SIGKILL').length - 1;
    rmSync(log);
    lookAfterKill(repo, template, running);
    await runAgain(repo, template, running);
    return killed;
  } finally {
    removeRepo(repo);
  }
}

async function proveCalls(): Promise<number> {
  const skipped = whyNoTracing();
  if (skipped !== undefined) {
    console.log(`kills at chosen system calls are not proven here: ${skipped}`);
    return 0;
  }
  const template = await makeTemplate(18);
  let [points, failed] = [0, 0];
  try {
    for (const { call, stride } of calls) {
      for (let [count, killed] = [1, 1]; killed > 0; count += stride) {
        points += 1;
        killed = await killAtCall(call, count, template).catch(error => {
          failed += 1;
          console.error(`${call} ${count} failed: ${error instanceof Error ? error.message : String(error)}`);
          return 1;
        });
      }
    }
  } finally {
    removeRepo(template.repo);
  }
  const names = calls.map(({ call }) => call).join(', ');
  console.log(`${points - failed} of ${points} chosen calls (${names}): old or new, or finished by the journal`);
  return failed;
}

/** Resolves to the number of failures. */
export async function proveRestore(first: number, count: number): Promise<number> {
  const template = await makeTemplate(150);
  const ends = new Map<End | 'too late', number>();
  let failed = 0;
  try {
    const roundMs = await roundMsOf(template);
    console.log(`undisturbed: a checkpoint and a restore of about 150 files in ${Math.round(roundMs)} ms`);
    for (let seed = first; seed < first + count; seed += 1) {
      try {
        const end = (await killKeeping(seed, template, roundMs)) ?? 'too late';
        ends.set(end, (ends.get(end) ?? 0) + 1);
      } catch (error) {
        failed += 1;
        console.error(`seed ${seed} failed: ${error instanceof Error ? error.message : String(error)}`);
        console.error(`replay it: npm run prove -- restore --count 1 --seed ${seed}`);
      }
      if ((seed - first + 1) % 50 === 0) console.log(`${seed - first + 1} kills`);
    }
  } finally {
    removeRepo(template.repo);
  }
  const how = [...ends].map(([end, times]) => `${times} ${end}`).join(', ');
  console.log(
    `${count - failed} of ${count} kills -9 left the old or the new tree (${how}); each completed when run again`,
  );
  return failed + (count > 1 ? await proveCalls() : 0);
}
