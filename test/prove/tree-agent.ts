// The agent of the trees proof: works on whatever it finds, well or badly, as its seed says.
import { spawnSync } from 'node:child_process';
import { chmodSync, lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { Repo } from '../git/repo.ts';
import type { Random } from '../simulate/random.ts';
import {
  fileBytesMax,
  listed,
  oddContent,
  oddPath,
  onDisk,
  putFile,
  putLink,
  type Snapshot,
  snapshot,
  statsOf,
} from './repositories.ts';

export interface Ground {
  readonly repo: Repo;
  /** What no checkpoint holds: ignored now or at the start, too large, a pipe, in a repository of its own. */
  uncovered(now: Snapshot): ReadonlySet<string>;
}

/** What the rules ignore of these and the index does not name. */
function ignoredOf(repo: Repo, paths: readonly string[]): ReadonlySet<string> {
  const input = Buffer.from(paths.map(path => `${path}\0`).join(''), 'latin1');
  const words = ['check-ignore', '--no-index', '-z', '--stdin'];
  const asked = spawnSync('git', words, { cwd: repo.top, env: repo.environment, input });
  if (asked.status !== 0 && asked.status !== 1) throw new Error(`git check-ignore: ${asked.stderr}`);
  const tracked = new Set(listed(repo));
  return new Set(
    asked.stdout
      .toString('latin1')
      .split('\0')
      .filter(path => !tracked.has(path)),
  );
}

/** Git is asked only what is ignored. */
export function groundOf(repo: Repo): Ground {
  const files = [...snapshot(repo).keys()];
  const folders = new Set(
    files.flatMap(path => path.split('/').map((_, count, names) => names.slice(0, count).join('/'))),
  );
  folders.delete('');
  const atStart = [...ignoredOf(repo, [...files, ...folders])];
  const wasIgnored = (path: string): boolean => atStart.some(one => path === one || path.startsWith(`${one}/`));
  return {
    repo,
    uncovered(now) {
      const ignored = ignoredOf(repo, [...now.keys()]);
      const isUncovered = (path: string): boolean => {
        const stats = statsOf(repo, path);
        const isOdd = stats?.isSymbolicLink() === false && (!stats.isFile() || stats.size > fileBytesMax);
        return isOdd || path.startsWith('inner/') || ignored.has(path) || wasIgnored(path);
      };
      return new Set([...now.keys()].filter(isUncovered));
    },
  };
}

interface Work {
  readonly repo: Repo;
  readonly chances: Random;
  /** Files that it may touch. */
  readonly open: readonly string[];
  /** Never in the way of, or below, what no checkpoint holds. */
  isFree(path: string): boolean;
}

function workOf({ repo, uncovered }: Ground, now: Snapshot, chances: Random): Work {
  const closed = uncovered(now);
  const around = [...closed];
  const isFree = (path: string): boolean =>
    !closed.has(path) && !around.some(one => one.startsWith(`${path}/`) || path.startsWith(`${one}/`));
  const open = [...now.keys()].filter(path => isFree(path) && !path.split('/').includes('.git'));
  return { repo, chances, open, isFree };
}

type Deed = (work: Work, path: string) => void;

const isFile = (repo: Repo, path: string): boolean => statsOf(repo, path)?.isFile() === true;

const deeds: Readonly<Record<string, Deed>> = {
  rewrites: ({ repo, chances }, path) => putFile(repo, path, oddContent(chances)),
  appends({ repo }, path) {
    if (isFile(repo, path)) writeFileSync(onDisk(repo, path), 'more\n', { flag: 'a' });
  },
  /** In the same moment: git must look at more than size and time. */
  'same size'({ repo }, path) {
    if (isFile(repo, path))
      writeFileSync(
        onDisk(repo, path),
        readFileSync(onDisk(repo, path)).map(byte => byte ^ 1),
      );
  },
  deletes: ({ repo }, path) => rmSync(onDisk(repo, path)),
  'deletes the folder'({ repo, isFree }, path) {
    const folder = path.slice(0, path.indexOf('/'));
    if (path.includes('/') && isFree(folder)) rmSync(onDisk(repo, folder), { recursive: true, force: true });
  },
  renames({ repo, chances }, path) {
    renameSync(onDisk(repo, path), onDisk(repo, `by-agent-${chances.whole(1, 999)}`));
  },
  'exec bit'({ repo }, path) {
    if (isFile(repo, path)) chmodSync(onDisk(repo, path), (lstatSync(onDisk(repo, path)).mode & 0o777) ^ 0o111);
  },
  'a link': ({ repo, chances }, path) => putLink(repo, path, chances),
  'a folder': ({ repo, chances }, path) => putFile(repo, `${path}/by-agent`, oddContent(chances)),
  'a file for the folder'({ repo, chances, isFree }, path) {
    const folder = path.slice(0, path.lastIndexOf('/'));
    if (path.includes('/') && isFree(folder)) putFile(repo, folder, oddContent(chances));
  },
  creates({ repo, chances, isFree }) {
    const path = `made ${oddPath(chances)}`;
    if (isFree(path)) putFile(repo, path, oddContent(chances), chances.pick([0o644, 0o755]));
  },
  'creates beside'({ repo, chances, isFree }) {
    const path = oddPath(chances);
    if (isFree(path)) putFile(repo, path, oddContent(chances));
  },
  'creates a big one': ({ repo, isFree }) =>
    isFree('huge') ? putFile(repo, 'huge', Buffer.alloc(fileBytesMax + 9, 'z')) : undefined,
  ignores: ({ repo }) => putFile(repo, '.gitignore', Buffer.from('by-agent*\n*.md\n')),
  'ignores nothing': ({ repo }) => rmSync(onDisk(repo, '.gitignore'), { recursive: true, force: true }),
};

const rare = new Set(['creates a big one', 'ignores', 'ignores nothing']);
const usual = Object.keys(deeds).filter(name => !rare.has(name));

/** A few deeds. */
export function meddle(ground: Ground, now: Snapshot, chances: Random): void {
  const work = workOf(ground, now, chances);
  for (let count = chances.whole(1, 6); count > 0; count -= 1) {
    const name = chances.is(0.05) ? chances.pick([...rare]) : chances.pick(usual);
    const path = work.open.length === 0 ? 'README.md' : chances.pick(work.open);
    const isThere = statsOf(ground.repo, path)?.isDirectory() === false;
    if (isThere || name.startsWith('creates')) deeds[name]!(work, path);
  }
}
