// Repositories of one seed: whatever a person may have lying about, in every state that git knows, with names as bad as names get.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { makeRepo, type Repo } from '../git/repo.ts';
import type { Random } from '../simulate/random.ts';

/** Larger files are left out of the checkpoints of these repositories. */
export const fileBytesMax = 60_000;

export interface DirtyRepo {
  readonly repo: Repo;
  /** What was done to it, for whoever replays it. */
  readonly traits: readonly string[];
}

/** Paths have one character per byte. */
export const onDisk = ({ top }: Pick<Repo, 'top'>, path: string): Buffer =>
  Buffer.concat([Buffer.from(`${top}/`), Buffer.from(path, 'latin1')]);

/** Undefined where nothing is, also below what is no folder. */
export function statsOf(repo: Pick<Repo, 'top'>, path: string): Stats | undefined {
  try {
    return lstatSync(onDisk(repo, path));
  } catch {
    return undefined;
  }
}

const folders = ['', '', '', 'src/', 'src/deep/er/', 'a folder/', '-f/', 'caf\xc3\xa9/', '\xff/'] as const;
const names = [
  ...['plain.txt', 'code.js', 'test.spec.js', 'Makefile', 'data.bin', '.hidden', 'new\nline', 'it\'s "quoted"', '-rf'],
  ...['--force', '\xf0\x9f\xa6\x8a.md', '\xff\xfe\x80', 'l'.repeat(200), ' spaces ', 'tab\there', 'back\\slash', '*'],
  ...[':(top)x', '#hash', '!bang', '[x].md', '~', 'HEAD', 'index.lock', 'Icon\r', '\x01\x7f', 'e\xcc\x81', '$(id)'],
] as const;

export const oddPath = (chances: Random): string =>
  `${chances.pick(folders)}${chances.is(0.3) ? `${chances.whole(1, 99)}-` : ''}${chances.pick(names)}`;

const line = (chances: Random): string => `line ${chances.whole(1, 999_999)}`;

export function oddContent(chances: Random): Buffer {
  const lines = Array.from({ length: chances.whole(1, 30) }, () => line(chances));
  const kind = chances.whole(1, 8);
  if (kind <= 3) return Buffer.from(`${lines.join('\n')}\n`);
  if (kind === 4) return Buffer.from(`${lines.join('\r\n')}\r\n`);
  if (kind === 5) return Buffer.from(lines.map((one, at) => `${one}${at % 2 === 0 ? '\r\n' : '\n'}`).join(''));
  if (kind === 6) return Buffer.from(Array.from({ length: chances.whole(1, 3_000) }, () => chances.whole(0, 255)));
  return kind === 7 ? Buffer.alloc(0) : Buffer.from(lines.join('\n')); // without a last line end
}

const targets = ['plain.txt', '../..', '/nowhere', 'src', 'gone\nfor ever', '.git/config', '.'] as const;

/** Whatever is in the way of a path goes, links in the place of its folders too. */
function clearFor(repo: Repo, path: string): void {
  const parts = path.split('/');
  for (let count = 1; count < parts.length; count += 1) {
    const folder = onDisk(repo, parts.slice(0, count).join('/'));
    const stats = lstatSync(folder, { throwIfNoEntry: false });
    if (stats !== undefined && !stats.isDirectory()) rmSync(folder);
    if (stats?.isDirectory() !== true) mkdirSync(folder);
  }
  rmSync(onDisk(repo, path), { recursive: true, force: true });
}

export function putFile(repo: Repo, path: string, content: Buffer, mode = 0o644): void {
  clearFor(repo, path);
  writeFileSync(onDisk(repo, path), content);
  chmodSync(onDisk(repo, path), mode);
}

export function putLink(repo: Repo, path: string, chances: Random): void {
  clearFor(repo, path);
  symlinkSync(chances.pick(targets), onDisk(repo, path));
}

/** With paths as bytes, which no argument of a program could be. */
function gitPaths(repo: Repo, args: readonly string[], paths: readonly string[]): void {
  const env = { ...repo.environment, GIT_CONFIG_NOSYSTEM: '1', GIT_LITERAL_PATHSPECS: '1' };
  const input = Buffer.from(paths.map(path => `${path}\0`).join(''), 'latin1');
  const words = [...args, '--pathspec-from-file=-', '--pathspec-file-nul'];
  execFileSync('git', words, { cwd: repo.top, env, input, stdio: ['pipe', 'pipe', 'pipe'] });
}

export const listed = (repo: Repo, ...args: readonly string[]): string[] =>
  repo
    .git('ls-files', '-z', ...args)
    .split('\0')
    .filter(path => path !== '');

const add = (repo: Repo, paths: readonly string[]): void => gitPaths(repo, ['add', '-f', '-A'], paths);

type Deed = (repo: Repo, path: string, chances: Random) => void;

const edited: Deed = (repo, path, chances) => putFile(repo, path, oddContent(chances), modeOf(repo, path));

function modeOf(repo: Repo, path: string): number {
  const stats = statsOf(repo, path);
  return stats?.isFile() ? stats.mode & 0o777 : 0o644;
}

/** What people do to a tracked file between two commits; each is one state that `git status` can show. */
const deeds: Readonly<Record<string, Deed>> = {
  unstaged: edited,
  staged(repo, path, chances) {
    edited(repo, path, chances);
    add(repo, [path]);
  },
  both(repo, path, chances) {
    edited(repo, path, chances);
    add(repo, [path]);
    edited(repo, path, chances);
  },
  'deleted unstaged': (repo, path) => rmSync(onDisk(repo, path), { force: true }),
  'deleted staged': (repo, path) => gitPaths(repo, ['rm', '-q', '-f'], [path]),
  'deleted staged, still there': (repo, path) => gitPaths(repo, ['rm', '-q', '--cached', '-f'], [path]),
  'renamed staged'(repo, path, chances) {
    const to = `renamed-${chances.whole(1, 999)}`;
    renameSync(onDisk(repo, path), onDisk(repo, to));
    add(repo, [path, to]);
  },
  'renamed unstaged': (repo, path, chances) =>
    renameSync(onDisk(repo, path), onDisk(repo, `moved-${chances.whole(1, 999)}`)),
  'exec bit': (repo, path) => chmodSync(onDisk(repo, path), modeOf(repo, path) ^ 0o111),
  'exec bit staged'(repo, path) {
    chmodSync(onDisk(repo, path), modeOf(repo, path) ^ 0o111);
    add(repo, [path]);
  },
  'a link now': (repo, path, chances) => putLink(repo, path, chances),
  'a folder now'(repo, path, chances) {
    putFile(repo, `${path}/inside`, oddContent(chances));
  },
  'private mode': (repo, path) => chmodSync(onDisk(repo, path), 0o600),
  'assumed unchanged'(repo, path, chances) {
    if (!/^[\x20-\x7e]+$/.test(path) || repo.git('ls-files', '-u', '--', path) !== '') return;
    repo.git('update-index', '--assume-unchanged', '--', path);
    edited(repo, path, chances);
  },
};

/** Things that are nobody's entry in the index. */
const extras: Readonly<Record<string, (repo: Repo, chances: Random) => void>> = {
  untracked(repo, chances) {
    for (let count = chances.whole(1, 5); count > 0; count -= 1)
      putFile(repo, `new ${oddPath(chances)}`, oddContent(chances));
  },
  'untracked folder'(repo, chances) {
    for (const name of ['a', 'b/c', 'b/d/e']) putFile(repo, `fresh/${name}`, oddContent(chances));
  },
  'untracked link': (repo, chances) => putLink(repo, 'new-link', chances),
  'untracked, for running': (repo, chances) => putFile(repo, 'run.sh', oddContent(chances), 0o755),
  'intent to add'(repo, chances) {
    putFile(repo, 'announced', oddContent(chances));
    repo.git('add', '-N', 'announced');
  },
  'staged new'(repo, chances) {
    const path = `staged ${oddPath(chances)}`;
    putFile(repo, path, oddContent(chances));
    add(repo, [path]);
  },
  'staged new, gone again'(repo, chances) {
    putFile(repo, 'was-here', oddContent(chances));
    add(repo, ['was-here']);
    rmSync(onDisk(repo, 'was-here'));
  },
  ignored(repo, chances) {
    putFile(repo, 'ignored/secret.env', oddContent(chances), 0o600);
    putFile(repo, 'noise.log', oddContent(chances));
    putFile(repo, 'src/deep/noise.log', oddContent(chances));
  },
  'tracked but ignored'(repo, chances) {
    putFile(repo, 'tracked.log', oddContent(chances));
    add(repo, ['tracked.log']);
    if (chances.is(0.5)) putFile(repo, 'tracked.log', oddContent(chances));
  },
  big: repo => putFile(repo, 'big.dat', Buffer.alloc(fileBytesMax + 1, 'x')),
  'big and tracked'(repo) {
    putFile(repo, 'big tracked', Buffer.alloc(fileBytesMax * 2, 'y'));
    add(repo, ['big tracked']);
  },
  pipe: repo => void execFileSync('mkfifo', [`${repo.top}/pipe`]),
  'a repository of its own'(repo) {
    putFile(repo, 'inner/file', Buffer.from('theirs\n'));
    execFileSync('git', ['init', '-q', 'inner'], { cwd: repo.top, env: { ...repo.environment } });
  },
  'excluded in .git'(repo, chances) {
    writeFileSync(`${repo.top}/.git/info/exclude`, '/local-only\n');
    putFile(repo, 'local-only', oddContent(chances));
  },
};

function settle(repo: Repo, chances: Random, trait: (name: string) => void): void {
  const crlf = chances.pick(['', '', 'true', 'input']);
  if (crlf !== '') {
    trait(`autocrlf ${crlf}`);
    repo.git('config', 'core.autocrlf', crlf);
    repo.git('config', 'core.safecrlf', 'false');
  }
  if (chances.is(0.3)) {
    trait('attributes');
    repo.write('.gitattributes', chances.pick(['* text=auto\n', '*.txt text eol=crlf\n*.bin binary\n', '* -text\n']));
  }
  if (chances.is(0.04)) {
    trait('no file modes');
    repo.git('config', 'core.fileMode', 'false');
  }
  if (chances.is(0.7)) repo.write('.gitignore', 'ignored/\n*.log\n');
}

function firstCommits(repo: Repo, chances: Random, trait: (name: string) => void): void {
  for (let count = chances.whole(4, 14); count > 0; count -= 1) {
    const path = oddPath(chances);
    if (chances.is(0.12)) putLink(repo, path, chances);
    else putFile(repo, path, oddContent(chances), chances.is(0.2) ? 0o755 : 0o644);
  }
  repo.write('README.md', 'one\ntwo\nthree\n');
  repo.git('add', '-A');
  repo.git('commit', '-qm', 'first');
  if (chances.is(0.2)) {
    trait('a stash');
    repo.write('README.md', 'stashed\n');
    repo.git('stash', 'push', '-q', '-u');
  }
  if (chances.is(0.15)) {
    trait('detached');
    repo.git('checkout', '-q', '--detach');
  }
  if (chances.is(0.06)) conflicted(repo, trait);
}

/** A merge that is not finished, with unmerged entries. */
function conflicted(repo: Repo, trait: (name: string) => void): void {
  trait('in a merge');
  repo.git('checkout', '-q', '-b', 'other');
  repo.write('README.md', 'theirs\n');
  repo.git('commit', '-qam', 'theirs');
  repo.git('checkout', '-q', '-b', 'ours', 'HEAD~1');
  repo.write('README.md', 'ours\n');
  repo.git('commit', '-qam', 'ours');
  try {
    repo.git('merge', 'other');
  } catch {
    // It says 1: that is the conflict.
  }
}

function dirty(repo: Repo, chances: Random, trait: (name: string) => void): void {
  const tracked = [...new Set(listed(repo))].filter(path => !path.startsWith('.git'));
  for (const path of tracked) {
    if (!chances.is(0.35)) continue;
    const stats = statsOf(repo, path);
    if (stats === undefined || stats.isDirectory()) continue;
    const name = chances.pick(Object.keys(deeds));
    if (!stats.isFile() && /exec|mode|folder/.test(name)) continue;
    trait(name);
    deeds[name]!(repo, path, chances);
  }
  for (const [name, deed] of Object.entries(extras)) {
    if (!chances.is(name === 'untracked' || name === 'ignored' ? 0.7 : 0.2)) continue;
    trait(name);
    deed(repo, chances);
  }
}

export function makeDirtyRepo(chances: Random): DirtyRepo {
  const traits = new Set<string>();
  const trait = (name: string): void => void traits.add(name);
  const isSha256 = chances.is(0.05);
  if (isSha256) trait('sha256');
  const repo = makeRepo(isSha256 ? ['--object-format=sha256'] : [], false);
  settle(repo, chances, trait);
  if (chances.is(0.08)) {
    trait('no commits yet');
    for (const path of ['one', 'two/three']) putFile(repo, path, oddContent(chances));
    if (chances.is(0.5)) add(repo, ['one']);
  } else firstCommits(repo, chances, trait);
  dirty(repo, chances, trait);
  return { repo, traits: [...traits] };
}

interface Seen {
  /** Kind, exec bit, content: what a checkpoint must bring back. */
  readonly content: string;
  /** Which file it is, its whole mode, and when it was written: what must stay when nobody touches it. */
  readonly stamp: string;
}

export type Snapshot = ReadonlyMap<string, Seen>;

/** Everything but git's own folder, read by ourselves. */
export function snapshot(repo: Pick<Repo, 'top'>): Snapshot {
  const found = new Map<string, Seen>();
  const waiting = [''];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of readdirSync(onDisk(repo, folder), { encoding: 'latin1', withFileTypes: true })) {
      const path = `${folder}${entry.name}`;
      if (entry.isDirectory() && path !== '.git') waiting.push(`${path}/`);
      else if (!entry.isDirectory()) found.set(path, seen(onDisk(repo, path)));
    }
  }
  return found;
}

function seen(file: Buffer): Seen {
  const stats = lstatSync(file, { bigint: true });
  const stamp = [stats.ino, stats.mode, stats.size, stats.mtimeNs].join(':');
  if (stats.isSymbolicLink()) return { content: `link ${readlinkSync(file, 'latin1')}`, stamp };
  if (!stats.isFile()) return { content: 'special', stamp };
  const bits = (stats.mode & 0o100n) === 0n ? 'file' : 'program';
  return { content: `${bits} ${createHash('sha256').update(readFileSync(file)).digest('hex')}`, stamp };
}

/** Paths that differ, and how; readable. */
export function unlike(was: Snapshot, is: Snapshot, except: (path: string) => boolean = () => false): string[] {
  const wrong: string[] = [];
  for (const path of new Set([...was.keys(), ...is.keys()])) {
    const [before, after] = [was.get(path)?.content, is.get(path)?.content];
    if (before !== after && !except(path))
      wrong.push(`${JSON.stringify(path)}: ${before ?? 'absent'} -> ${after ?? 'absent'}`);
  }
  return wrong;
}

export const removeRepo = (repo: Repo): void => {
  if (existsSync(repo.root)) repo.cleanUp();
};
