// Objects through one open git: differences are those that git itself tells, and whoever ends that git changes nothing.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Difference } from '../../src/git/call.ts';
import { diffTrees, readObject } from '../../src/git/objects.ts';
import { makeRepo, type Repo } from './repo.ts';

const odd = ['a', 'a.b', 'a-b', 'b/c', 'b/c.d', 'b/d/e', 'line\nbreak', 'tab\there', 'ü/ÿ', ' lead', '"q"', 'z/z/z/z'];

/** Paths in turn as files, programs, links, folders or nothing: another mix for each seed. */
function fill(repo: Repo, seed: number): string {
  execFileSync('find', [repo.top, '-mindepth', '1', '-not', '-path', '*/.git*', '-delete']);
  for (const [at, path] of odd.entries()) {
    const kind = (seed * (at + 3) + at) % 6;
    if (kind === 0) repo.write(path, `content ${seed % 2}\n`);
    if (kind === 1) repo.write(path, `content ${seed % 2}\n`, 0o755);
    if (kind === 2) repo.link(path, 'README.md');
    if (kind === 3) repo.write(`${path}/inside`, `content ${seed}\n`);
  }
  repo.git('add', '-A');
  const commit = repo.git('rev-parse', 'HEAD').trim();
  if (seed % 2 === 0) repo.git('update-index', '--add', '--cacheinfo', `160000,${commit},module`);
  return repo.git('write-tree').trim();
}

const asGitSays = (one: Difference): string => {
  const zeros = '0'.repeat((one.from ?? one.to)!.object.length);
  const { from = { mode: '000000', object: zeros }, to = { mode: '000000', object: zeros }, path } = one;
  return `:${from.mode} ${to.mode} ${from.object} ${to.object} ${path}`;
};

/** Without the letter of each row. */
const gitSays = (repo: Repo, from: string, to: string): readonly string[] =>
  repo
    .git('diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', from, to)
    .split('\0')
    .flatMap((field, at, all) => (at % 2 === 1 ? [`${all[at - 1]!.replace(/.$/, '')}${field}`] : []));

/** Those who read objects of this repository. */
const readersOf = (repo: Repo): readonly number[] =>
  readdirSync('/proc')
    .filter(pid => /^\d+$/.test(pid))
    .flatMap(pid => {
      try {
        const isOne = readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`GIT_DIR=${repo.top}/.git\0`);
        return isOne && readFileSync(`/proc/${pid}/comm`, 'latin1') === 'git\n' ? [Number(pid)] : [];
      } catch {
        return [];
      }
    });

describe('objects of a repository', () => {
  it.each(['sha1', 'sha256'])('differ as git itself says, in a repository of %s', async format => {
    const repo = makeRepo([`--object-format=${format}`]);
    const place = await repo.open();
    const trees = Array.from({ length: 5 }, (_, seed) => fill(repo, seed));
    for (const from of trees) {
      for (const to of ['HEAD', ...trees]) {
        const found = await diffTrees(place, { from, to });
        expect(found.ok && found.all.map(asGitSays)).toEqual(gitSays(repo, from, to));
      }
    }
    repo.cleanUp();
  });

  it.runIf(process.platform === 'linux')(
    'are read by one git, outside of the tree, and by a new one when it was ended',
    async () => {
      const repo = makeRepo();
      const place = await repo.open();
      const head = () => readObject(place, 'HEAD^{commit}');
      const first = await head();
      const [reader = 0, ...others] = readersOf(repo);
      expect(others).toEqual([]);
      expect(readlinkSync(`/proc/${reader}/cwd`)).toBe('/');
      repo.git('commit', '-q', '--allow-empty', '-m', 'by a person');
      const second = await head();
      expect(second).toMatchObject({ ok: true, name: repo.git('rev-parse', 'HEAD').trim() });
      expect(second).not.toEqual(first);
      process.kill(reader, 'SIGKILL');
      expect(await Promise.all([head(), head(), head()])).toEqual([second, second, second]);
      expect(readersOf(repo).filter(pid => pid !== reader)).toHaveLength(1);
      repo.cleanUp();
    },
  );

  it('that are not there, or too large, are a value', async () => {
    const repo = makeRepo();
    const place = await repo.open();
    expect(await readObject(place, '0'.repeat(40))).toMatchObject({ ok: false, isMissing: true });
    expect(await readObject(place, 'HEAD^{tree}', 3)).toMatchObject({ ok: true, type: 'tree', content: undefined });
    expect(await diffTrees(place, { from: '0'.repeat(40), to: 'HEAD' })).toMatchObject({ ok: false });
    expect(await diffTrees(place, { from: 'HEAD', to: 'HEAD' })).toEqual({ ok: true, all: [] });
    repo.cleanUp();
  });
});
