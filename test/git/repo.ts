// Scratch repositories for tests: a home of their own, no settings of this machine, and eyes for what must not change.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Saved } from '../../src/git/checkpoints.ts';
import { type GitCheckpointOptions, type GitCheckpoints, gitCheckpoints } from '../../src/git/git-checkpoints.ts';
import type { Repository } from '../../src/git/repository.ts';
import { copyRepository, openOnce, untidied } from './template.ts';

export interface Repo {
  readonly root: string;
  /** The working tree. */
  readonly top: string;
  /** The loop's own folder. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  git(...args: readonly string[]): string;
  /** Paths have one character per byte. */
  write(path: string, content: string | Buffer, mode?: number): void;
  link(path: string, target: string): void;
  remove(path: string): void;
  read(path: string): string;
  /** Everything in the tree but `.git`: kind, exec bit, content. */
  tree(): Readonly<Record<string, string>>;
  /** What belongs to the user in `.git`, and what git tells them. */
  theirs(): Readonly<Record<string, string>>;
  open(): Promise<Repository>;
  checkpoints(more?: Partial<GitCheckpointOptions>): Promise<GitCheckpoints>;
  cleanUp(): void;
}

const at = (top: string, path: string): Buffer => Buffer.concat([Buffer.from(`${top}/`), Buffer.from(path, 'latin1')]);

/** With its one commit, for as long as this process lives; it is copied. */
let model: Repo | undefined;

export function makeRepo(init: readonly string[] = [], commit = true): Repo {
  const isUsual = init.length === 0 && commit;
  const repo = newRepo();
  if (isUsual && model !== undefined) {
    copyRepository(model.top, repo.top);
    return repo;
  }
  repo.git('init', '-q', '--template=', ...init); // without a dozen examples of hooks to copy
  for (const name of ['hooks', 'info']) mkdirSync(join(repo.top, '.git', name));
  if (commit) {
    repo.write('README.md', 'one\ntwo\nthree\n');
    repo.git('add', '-A');
    repo.git('commit', '-qm', 'first');
  }
  if (!isUsual) return repo;
  model = repo;
  process.once('exit', repo.cleanUp);
  return makeRepo();
}

function newRepo(): Repo {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-repo-')));
  const [top, home] = [join(root, 'project'), join(root, 'home')];
  const environment = { PATH: process.env['PATH'] ?? '', HOME: home };
  mkdirSync(top);
  mkdirSync(home);
  writeFileSync(
    join(home, '.gitconfig'),
    '[user]\n\tname = Ann\n\temail = ann@localhost\n[init]\n\tdefaultBranch = main\n',
  );
  return repoAt(root, top, environment);
}

export function repoAt(root: string, top: string, environment: Readonly<Record<string, string>>): Repo {
  const folder = join(root, 'ralph', 'loop', 'git');
  const env = { ...environment, ...untidied, GIT_OPTIONAL_LOCKS: '0' };
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, { cwd: top, env, encoding: 'latin1', stdio: 'pipe' });
  const open = () => openOnce(top, environment);
  return {
    root,
    top,
    folder,
    environment,
    git,
    open,
    write(path, content, mode) {
      const file = at(top, path);
      if (path.includes('/')) mkdirSync(at(top, path.slice(0, path.lastIndexOf('/'))), { recursive: true });
      writeFileSync(file, content);
      if (mode !== undefined) chmodSync(file, mode);
    },
    link(path, target) {
      if (path.includes('/')) mkdirSync(at(top, dirname(path)), { recursive: true });
      symlinkSync(target, at(top, path));
    },
    remove: path => rmSync(join(top, path), { recursive: true }),
    read: path => readFileSync(at(top, path), 'latin1'),
    tree: () => Object.fromEntries(walk(top, '')),
    theirs: () => theirsOf(top, git),
    async checkpoints(more = {}) {
      return gitCheckpoints({ loop: 'loop-1', repository: await open(), folder, ...more });
    },
    cleanUp: () => rmSync(root, { recursive: true, force: true }),
  };
}

function* walk(top: string, folder: string): Generator<[string, string]> {
  const entries = readdirSync(at(top, folder), { encoding: 'latin1', withFileTypes: true });
  for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    const path = `${folder}${entry.name}`;
    if (path === '.git') continue;
    if (entry.isDirectory()) yield* walk(top, `${path}/`);
    else if (entry.isSymbolicLink()) yield [path, `link ${readlinkSync(at(top, path), 'latin1')}`];
    else if (entry.isFile()) yield [path, fileAsText(at(top, path))];
    else yield [path, 'special'];
  }
}

function fileAsText(file: Buffer): string {
  const bytes = readFileSync(file);
  const mode = (lstatSync(file).mode & 0o777).toString(8);
  const short = bytes.length < 100 ? JSON.stringify(bytes.toString('latin1')) : '';
  return `${mode} ${createHash('sha256').update(bytes).digest('hex').slice(0, 16)} ${short}`;
}

function theirsOf(top: string, git: Repo['git']): Readonly<Record<string, string>> {
  const asked = lstatSync(join(top, '.git')).isFile() ? git('rev-parse', '--absolute-git-dir', '--git-common-dir') : '';
  const [folder = '', shared = ''] = asked === '' ? [join(top, '.git'), '.git'] : asked.split('\n');
  const common = join(top, shared);
  const bytes = (path: string) => {
    try {
      return createHash('sha256').update(readFileSync(path)).digest('hex');
    } catch {
      return 'none';
    }
  };
  return {
    index: bytes(join(folder, 'index')),
    head: bytes(join(folder, 'HEAD')),
    config: bytes(join(common, 'config')),
    exclude: bytes(join(common, 'info', 'exclude')),
    logs: bytes(join(folder, 'logs', 'HEAD')),
    refs: git('for-each-ref', 'refs/heads', 'refs/tags', 'refs/stash', 'refs/remotes'),
    stashes: bytes(join(common, 'logs', 'refs', 'stash')), // what `git stash list` reads
    status: git('status', '--porcelain=v2', '--branch', '--untracked-files=all', '-z'),
  };
}

let anchors = 0;

export async function saved(checkpoints: GitCheckpoints, number: number, label = 'after an iteration'): Promise<Saved> {
  anchors += 1;
  const made = await checkpoints.save({
    number,
    iteration: number - 1,
    kind: 'iteration',
    label,
    anchor: `${anchors} ab`,
  });
  if (!made.ok) throw new Error(`${made.problem} ${made.fix ?? ''}`);
  return made;
}
