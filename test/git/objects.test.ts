// Objects through one open git: differences are those that git itself tells, and whoever ends that git changes nothing.
import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Difference } from '../../src/git/call.ts';
import { diffTrees, readObject } from '../../src/git/objects.ts';
import { plainTree } from '../../src/git/progress/plain-tree.ts';
import { descendants } from '../../src/processes/tree.ts';
import { makeRepo, type Repo } from './repo.ts';

const odd = ['a', 'a.b', 'a-b', 'b/c', 'b/c.d', 'b/d/e', 'line\nbreak', 'tab\there', 'ü/ÿ', ' lead', '"q"', 'z/z/z/z'];

/** Paths in turn as files, programs, links, folders or nothing: another mix for each seed. */
function fill(repo: Repo, seed: number, isPlain = false): string {
  execFileSync('find', [repo.top, '-mindepth', '1', '-not', '-path', '*/.git*', '-delete']);
  for (const [at, path] of odd.entries()) {
    const kind = (seed * (at + 3) + at) % 6;
    if (kind === 0) repo.write(path, `content ${seed % 2}\n`);
    if (kind === 1) repo.write(path, `content ${seed % 2}\n`, 0o755);
    if (kind === 2 && !isPlain) repo.link(path, 'README.md');
    if (kind === 3) repo.write(`${path}/inside`, `content ${seed}\n`);
  }
  repo.git('add', '-A');
  const commit = repo.git('rev-parse', 'HEAD').trim();
  if (seed % 2 === 0 && !isPlain) repo.git('update-index', '--add', '--cacheinfo', `160000,${commit},module`);
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

/** Our own gits that read objects. */
const readers = (): readonly number[] =>
  descendants(process.pid).flatMap(({ pid }) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1') === 'git\0cat-file\0--batch\0' ? [pid] : [];
    } catch {
      return []; // it ended just now
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

  it.each(['sha1', 'sha256'])('make the tree that git makes of its index, in a repository of %s', async format => {
    const repo = makeRepo([`--object-format=${format}`]);
    const place = await repo.open();
    let from = fill(repo, 0, true);
    for (let seed = 1; seed < 12; seed += 1) {
      const to = fill(repo, seed, true);
      const changed = await diffTrees(place, { from, to });
      if (!changed.ok) throw new Error(changed.problem);
      const paths = (isThere: boolean) =>
        changed.all.flatMap(one => ((one.to !== undefined) === isThere ? [one.path] : []));
      const selected = { ok: true, written: paths(true), deleted: paths(false), left: [], isPlain: true } as const;
      const hasBreak = selected.written.some(path => path.includes('\n')); // git takes paths line by line there
      expect(await plainTree(place, from, selected)).toBe(hasBreak ? undefined : to);
      from = to;
    }
    repo.cleanUp();
  });

  it.runIf(process.platform === 'linux')(
    'are read by one git, outside of the tree, and by a new one when it was ended',
    async () => {
      const repo = makeRepo();
      const place = await repo.open();
      const head = () => readObject(place, 'HEAD^{commit}');
      const earlier = new Set(readers());
      const ours = () => readers().filter(pid => !earlier.has(pid));
      const first = await head();
      const [reader = 0, ...others] = ours();
      expect(others).toEqual([]);
      expect(readlinkSync(`/proc/${reader}/cwd`)).toBe('/');
      repo.git('commit', '-q', '--allow-empty', '-m', 'by a person');
      const second = await head();
      expect(second).toMatchObject({ ok: true, name: repo.git('rev-parse', 'HEAD').trim() });
      expect(second).not.toEqual(first);
      process.kill(reader, 'SIGKILL');
      expect(await Promise.all([head(), head(), head()])).toEqual([second, second, second]);
      expect(ours().filter(pid => pid !== reader)).toHaveLength(1);
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
