// A progress commit holds the work of a task and nothing of the user's; everything else of theirs stays as it was.
import { existsSync, readFileSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { changesAtStart, recordChangesAtStart } from '../../src/git/checkpoints/user-edits.ts';
import type { Committed } from '../../src/git/commits.ts';
import type { LockRules } from '../../src/git/locks.ts';
import { openPrivate } from '../../src/git/private.ts';
import { commitProgress, gitCommits } from '../../src/git/progress/git-commits.ts';
import { commitsContract } from '../contracts/commits.ts';
import { type Scratch, scratch } from './scratch.ts';

/** A held lock is waited for only a moment here. */
vi.mock('../../src/git/locks.ts', async importOriginal => {
  const real = (await importOriginal()) as { userLock(places: readonly string[]): LockRules };
  return { ...real, userLock: (places: readonly string[]) => ({ ...real.userLock(places), waitMsMax: 100 }) };
});

const orderOf = (from: string, to: string, document = '/nowhere/PRD.json') => ({
  loop: 'loop-1',
  task: 'T-1',
  title: 'Add the parser',
  iteration: 3,
  spans: [{ from, to }],
  document,
});

/** Commits what `work` does, as one iteration. */
async function commitWork(one: Scratch, work: () => void, document?: string): Promise<Committed> {
  const before = one.tree();
  work();
  const order = orderOf(before, one.tree(), document);
  return commitProgress(await one.open(), { folder: one.folder }, order);
}

const committed = (result: Committed) => {
  if (!result.ok) throw new Error(result.problem);
  return result;
};

commitsContract('git', async () => {
  const one = scratch();
  const lines = (...args: readonly string[]) =>
    one
      .git(...args)
      .split('\n')
      .filter(Boolean);
  one.write('c.txt', 'unfinished\n');
  one.dirty('c.txt');
  return {
    commits: gitCommits(await one.open(), { folder: one.folder }),
    theirs: 'c.txt',
    write: one.write,
    tree: one.tree,
    log: () => lines('log', '--format=%s'),
    newest: () => lines('show', '--format=', '--name-only', 'HEAD'),
    uncommitted: () => lines('diff', '--name-only', 'HEAD'),
    cleanUp: () => rmSync(one.root, { recursive: true, force: true }),
  };
});

describe('a progress commit', () => {
  it('holds what the work changed, added and deleted, and leaves a clean status', async () => {
    const one = scratch();
    one.dirty();
    const result = committed(
      await commitWork(one, () => {
        one.write('a.txt', 'a by the agent\n');
        one.write('new/deep.txt', 'new\n');
        rmSync(join(one.top, 'b.txt'));
        symlinkSync('a.txt', join(one.top, 'link'));
      }),
    );
    expect(result.paths).toEqual(['a.txt', 'b.txt', 'link', 'new/deep.txt']);
    expect(result.left).toEqual([]);
    expect(one.git('rev-parse', 'HEAD').trim()).toBe(result.commit);
    expect(one.git('show', 'HEAD:new/deep.txt')).toBe('new\n');
    expect(one.git('diff-files', '--raw')).toBe(''); // the index knows the files' times too
    expect(one.git('status', '--porcelain')).toBe('');
  });

  it('says which work it is, under the name of the user', async () => {
    const one = scratch();
    one.dirty();
    await commitWork(one, () => one.write('a.txt', 'x\n'));
    expect(one.git('log', '-1', '--format=%an <%ae> %cn%n%s')).toBe('Ada <ada@example.org> Ada\nT-1: Add the parser\n');
    const trailers = one.git('log', '-1', '--format=%(trailers)').trim().split('\n');
    expect(trailers).toEqual(['Ralph-Loop: loop-1', 'Ralph-Task: T-1', 'Ralph-Iteration: 3']);
  });

  it('B93: is made beside files that are called like its branch, its commit and its tree', async () => {
    const one = scratch();
    one.dirty();
    const names = ['HEAD', 'main', ...one.git('rev-parse', 'HEAD', 'HEAD^{tree}').trim().split('\n')];
    for (const content of ['first\n', 'again\n']) {
      committed(await commitWork(one, () => void names.map(name => one.write(name, content))));
      expect(one.git('status', '--porcelain')).toBe('');
    }
  });

  it('is by Ralph where git knows no name', async () => {
    const one = scratch();
    one.git('config', '--remove-section', 'user');
    one.dirty();
    committed(await commitWork(one, () => one.write('a.txt', 'x\n')));
    expect(one.git('log', '-1', '--format=%an <%ae>').trim()).toBe('Ralph <ralph@localhost>');
  });

  it('is by Ralph where git knows only half of who it is', async () => {
    const one = scratch();
    one.git('config', 'user.email', '');
    one.dirty();
    committed(await commitWork(one, () => one.write('a.txt', 'x\n')));
    expect(one.git('log', '-1', '--format=%an <%ae> %cn <%ce>').trim()).toBe(
      'Ralph <ralph@localhost> Ralph <ralph@localhost>',
    );
  });

  it('leaves alone what was dirty when the loop began, and lists it', async () => {
    const one = scratch();
    one.write('a.txt', 'mine\n');
    one.write('untracked.txt', 'mine\n');
    one.dirty('a.txt', 'untracked.txt');
    const result = committed(
      await commitWork(one, () => {
        one.write('a.txt', 'mine and the agent\n');
        one.write('untracked.txt', 'mine and the agent\n');
        one.write('b.txt', 'b by the agent\n');
      }),
    );
    expect(result).toMatchObject({ paths: ['b.txt'], left: ['a.txt', 'untracked.txt'] });
    expect(one.git('show', 'HEAD:a.txt')).toBe('a\n');
    expect(one.git('status', '--porcelain')).toBe(' M a.txt\n?? untracked.txt\n');
  });

  it("is not made while another branch than the loop's is checked out", async () => {
    const one = scratch();
    one.dirty();
    const order = { ...orderOf(one.tree(), one.tree()), branch: 'ralph/x' };
    const options = { folder: one.folder };
    expect(await commitProgress(await one.open(), options, order)).toMatchObject({
      ok: false,
      problem: "Nothing was committed: HEAD is not on the loop's branch ralph/x.",
    });
    one.git('checkout', '-q', '-b', 'ralph/x');
    expect(await commitProgress(await one.open(), options, order)).toMatchObject({ ok: true });
  });

  it('holds nothing of our own folders, by whatever path they are named', async () => {
    const one = scratch();
    one.dirty();
    symlinkSync(one.top, join(one.root, 'link'));
    const before = one.tree();
    one.write('.rh/ledger', 'x');
    one.write('b.txt', 'work\n');
    const options = { folder: one.folder, excluded: [join(one.root, 'link', '.rh')] };
    const result = committed(await commitProgress(await one.open(), options, orderOf(before, one.tree())));
    expect(result).toMatchObject({ paths: ['b.txt'], left: [] });
  });

  it('holds no deletion of a file that the user told git not to have on disk', async () => {
    const one = scratch();
    one.dirty();
    const result = await commitWork(one, () => {
      one.git('update-index', '--skip-worktree', 'b.txt');
      rmSync(join(one.top, 'b.txt'));
      rmSync(join(one.top, 'c.txt'));
    });
    expect(committed(result).paths).toEqual(['c.txt']);
  });

  it('leaves alone a folder that the agent put where a dirty file was', async () => {
    const one = scratch();
    one.write('a.txt', 'mine\n');
    one.dirty('a.txt');
    const result = committed(
      await commitWork(one, () => {
        rmSync(join(one.top, 'a.txt'));
        one.write('a.txt/inside', 'x\n');
      }),
    );
    expect(result).toMatchObject({ commit: '', left: ['a.txt', 'a.txt/inside'] });
  });

  it('never looks through a link that the agent put where a folder was', async () => {
    const one = scratch();
    one.write('folder/file', 'x\n');
    one.git('add', '.');
    one.git('commit', '-q', '-m', 'folder');
    one.dirty();
    const result = committed(
      await commitWork(one, () => {
        renameSync(join(one.top, 'folder'), join(one.top, 'other'));
        symlinkSync('other', join(one.top, 'folder'));
      }),
    );
    expect(result.paths).toEqual(['folder', 'folder/file', 'other/file']);
    expect(one.git('status', '--porcelain')).toBe('');
  });

  it('keeps what a person staged, hunk by hunk, and what they announced', async () => {
    const one = scratch();
    one.write('a.txt', 'staged\n');
    one.git('add', 'a.txt');
    one.write('a.txt', 'staged\nand not staged\n');
    one.git('stash', 'store', '-m', 'kept', one.git('stash', 'create').trim());
    one.write('announced.txt', 'mine\n');
    one.git('add', '-N', 'announced.txt');
    one.dirty('a.txt', 'announced.txt');
    const entries = () => one.git('ls-files', '-s', 'a.txt', 'announced.txt', 'c.txt');
    const before = { entries: entries(), stash: one.git('stash', 'list') };
    committed(await commitWork(one, () => one.write('b.txt', 'work\n')));
    expect({ entries: entries(), stash: one.git('stash', 'list') }).toEqual(before);
    expect(one.git('status', '--porcelain')).toBe('MM a.txt\n A announced.txt\n');
  });

  it('leaves the index clean at its paths, whatever was staged there during the work', async () => {
    const one = scratch();
    one.dirty();
    const result = await commitWork(one, () => {
      one.write('b.txt', 'staged on the way\n');
      one.git('add', 'b.txt');
      one.write('b.txt', 'the work\n');
    });
    committed(result);
    expect(one.git('status', '--porcelain')).toBe('');
    expect(one.git('show', 'HEAD:b.txt')).toBe('the work\n');
  });

  it('takes what the agent staged or announced for new', async () => {
    const one = scratch();
    one.dirty();
    committed(
      await commitWork(one, () => {
        one.write('staged.txt', 'x\n');
        one.git('add', 'staged.txt');
        one.write('announced.txt', 'y\n');
        one.git('add', '-N', 'announced.txt');
        one.git('rm', '-q', 'c.txt');
      }),
    );
    expect(one.git('status', '--porcelain')).toBe('');
  });

  it('is none when the agent committed by itself, and only the rest when it committed a part', async () => {
    const one = scratch();
    one.dirty();
    const commitAll = () => one.git('commit', '-q', '-a', '-m', 'by the agent');
    const nothing = await commitWork(one, () => {
      one.write('a.txt', '1\n');
      commitAll();
    });
    expect(nothing).toMatchObject({ ok: true, commit: '', paths: [] });
    const rest = await commitWork(one, () => {
      one.write('a.txt', '2\n');
      commitAll();
      one.write('b.txt', '2\n');
    });
    expect(rest).toMatchObject({ ok: true, paths: ['b.txt'] });
  });

  it('takes the document along when it was clean, lies in the tree, and is not ignored', async () => {
    const one = scratch();
    one.dirty();
    const path = join(one.top, 'c.txt');
    const before = one.tree();
    one.write('a.txt', 'work\n');
    const order = orderOf(before, one.tree(), path);
    one.write('c.txt', 'ticked by us\n');
    expect(await commitProgress(await one.open(), { folder: one.folder }, order)).toMatchObject({
      paths: ['a.txt', 'c.txt'],
    });
    one.dirty('c.txt');
    one.write('c.txt', 'ticked again\n');
    expect(await commitProgress(await one.open(), { folder: one.folder }, order)).toMatchObject({ commit: '' });
    one.dirty();
    one.write('.git/info/exclude', 'tasks.json\n');
    one.write('tasks.json', '{}');
    const ignored = { ...order, document: join(one.top, 'tasks.json') };
    expect(await commitProgress(await one.open(), { folder: one.folder }, ignored)).toMatchObject({ commit: '' });
  });

  it('does not hold a file that the agent made and then ignored', async () => {
    const one = scratch();
    one.dirty();
    const start = one.tree();
    one.write('cache.bin', 'x');
    const middle = one.tree();
    one.write('.gitignore', 'cache.bin\n');
    const spans = [
      { from: start, to: middle },
      { from: middle, to: one.tree() },
    ];
    const order = { ...orderOf('', ''), spans };
    expect(await commitProgress(await one.open(), { folder: one.folder }, order)).toMatchObject({
      paths: ['.gitignore'],
      left: [],
    });
  });

  it('is a normal commit: line ends as the settings of the user say', async () => {
    const one = scratch();
    one.git('config', 'core.autocrlf', 'true');
    one.git('config', 'core.safecrlf', 'true');
    one.dirty();
    committed(
      await commitWork(one, () => {
        one.write('a.txt', 'one\r\ntwo\r\n');
        one.write('b.txt', 'git would warn of this\n');
      }),
    );
    expect(one.git('cat-file', 'blob', 'HEAD:a.txt')).toBe('one\ntwo\n');
    expect(one.read('a.txt')).toBe('one\r\ntwo\r\n');
    expect(one.git('status', '--porcelain')).toBe('');
  });

  it('runs the filter that the user configured, as git add does, and no hook', async () => {
    const one = scratch();
    const ran = join(one.root, 'ran');
    one.write('.gitattributes', '*.bin filter=upper\n*.raw filter=unknown\n');
    one.git('config', 'filter.upper.clean', 'tr a-z A-Z');
    one.git('config', 'filter.upper.smudge', 'tr A-Z a-z');
    one.git('config', 'filter.upper.required', 'true');
    one.write('old.bin', 'old');
    one.git('add', '-A');
    one.git('commit', '-qm', 'filtered');
    utimesSync(join(one.top, 'old.bin'), 1, 1); // git must look at its content again
    const repository = await one.open();
    const own = await openPrivate(repository, one.folder);
    const start = await recordChangesAtStart(own);
    if (typeof start === 'object') await start.recorded;
    expect(await changesAtStart(one.folder)).toEqual(new Set());
    const before = one.tree();
    one.write('new.bin', 'payload');
    one.write('old.bin', 'older');
    one.write('as-is.raw', 'bytes');
    const order = orderOf(before, one.tree());
    for (const hook of ['pre-commit', 'post-commit', 'reference-transaction', 'post-index-change']) {
      writeFileSync(join(one.top, '.git/hooks', hook), `#!/bin/sh\ntouch '${ran}'\n`, { mode: 0o755 });
    }
    const result = await commitProgress(repository, { folder: one.folder }, order);
    expect(existsSync(ran)).toBe(false);
    expect(result).toMatchObject({ ok: true, paths: ['as-is.raw', 'new.bin', 'old.bin'], left: [] });
    const stored = (path: string) => one.git('cat-file', 'blob', `HEAD:${path}`);
    expect([stored('new.bin'), stored('old.bin'), stored('as-is.raw')]).toEqual(['PAYLOAD', 'OLDER', 'bytes']);
    expect([one.read('new.bin'), one.git('status', '--porcelain')]).toEqual(['payload', '']);
  });

  it('is not made while a required filter fails, as git would not, and says so', async () => {
    const one = scratch();
    one.dirty();
    const [head, before] = [one.git('rev-parse', 'HEAD'), one.tree()];
    one.write('.gitattributes', '*.bin filter=broken\n');
    one.write('big.bin', 'payload');
    const order = orderOf(before, one.tree());
    one.git('config', 'filter.broken.clean', 'false');
    one.git('config', 'filter.broken.required', 'true');
    const result = await commitProgress(await one.open(), { folder: one.folder }, order);
    expect(result).toMatchObject({
      ok: false,
      problem: expect.stringMatching(/^Nothing was committed: git update-index failed: external filter 'false' failed/),
    });
    expect(one.git('rev-parse', 'HEAD')).toBe(head);
  });

  it('takes names of any bytes', async () => {
    const one = scratch();
    one.dirty('mine\n.txt');
    const odd = ['-rf', 'line\nbreak', ' "quoted" ', ':(glob)*', 'mine\n.txt'];
    const bytes = Buffer.concat([Buffer.from(`${one.top}/`), Buffer.from('latin-\xe9', 'latin1')]);
    const result = committed(
      await commitWork(one, () => {
        for (const name of odd) one.write(name, 'x\n');
        writeFileSync(bytes, 'x\n');
      }),
    );
    expect(result.left).toEqual(['mine\n.txt']);
    expect(result.paths).toHaveLength(5);
    expect(one.git('status', '--porcelain', '-z')).toBe('?? mine\n.txt\0');
  });
});

describe('commits one after the other', () => {
  /** As a loop makes them, in one process. */
  async function commitsOf(one: Scratch) {
    const commits = gitCommits(await one.open(), { folder: one.folder });
    return async (work: () => void): Promise<Committed> => {
      const before = one.tree();
      work();
      return commits.commit(orderOf(before, one.tree()));
    };
  }

  it.each(['true', 'false'])('see a change of the same length at once, with core.ignoreStat %s', async value => {
    const one = scratch();
    one.git('config', 'core.ignoreStat', value);
    one.dirty();
    const commit = await commitsOf(one);
    for (const text of ['one', 'two', 'six']) {
      expect(committed(await commit(() => one.write('a.txt', text))).paths).toEqual(['a.txt']);
      expect(one.git('show', 'HEAD:a.txt')).toBe(text);
    }
  });

  it('begin anew where a person committed, went back or changed branches between them', async () => {
    const one = scratch();
    one.dirty();
    const commit = await commitsOf(one);
    committed(await commit(() => one.write('a.txt', 'one\n')));
    one.write('mine.txt', 'mine\n');
    one.git('add', 'mine.txt');
    one.git('commit', '-q', '-m', 'by a person');
    committed(await commit(() => one.write('a.txt', 'two\n')));
    expect(one.git('show', 'HEAD:mine.txt')).toBe('mine\n');
    one.git('reset', '-q', '--hard', 'HEAD~2');
    committed(await commit(() => one.write('b.txt', 'three\n')));
    expect(one.git('show', '--format=', '--name-only', 'HEAD').trim()).toBe('b.txt');
    expect(one.git('show', 'HEAD:a.txt')).toBe('one\n');
    expect(one.git('status', '--porcelain')).toBe('');
  });
});

describe('where HEAD is', () => {
  it('makes the first commit of a branch without commits, of what the agent made', async () => {
    const one = scratch({ isUnborn: true });
    one.write('mine.txt', 'mine\n');
    one.dirty('mine.txt');
    const result = committed(await commitWork(one, () => one.write('made.txt', 'x\n')));
    expect(one.git('log', '--format=%H %P').trim()).toBe(result.commit);
    expect(one.git('ls-tree', '--name-only', 'main')).toBe('made.txt\n');
    expect(one.git('status', '--porcelain')).toBe('?? mine.txt\n');
  });

  it('moves a detached HEAD and no branch', async () => {
    const one = scratch();
    one.git('checkout', '-q', '--detach');
    one.dirty();
    const main = one.git('rev-parse', 'main');
    const result = committed(await commitWork(one, () => one.write('a.txt', 'x\n')));
    expect(one.git('rev-parse', 'main')).toBe(main);
    expect(one.git('rev-parse', 'HEAD').trim()).toBe(result.commit);
  });

  it.each([
    ['MERGE_HEAD', 'merge'],
    ['rebase-merge', 'rebase'],
    ['CHERRY_PICK_HEAD', 'cherry-pick'],
    ['BISECT_LOG', 'bisect'],
  ])('refuses while %s says that a %s is under way', async (file, name) => {
    const one = scratch();
    one.dirty();
    one.write(`.git/${file}`, one.git('rev-parse', 'HEAD'));
    const before = one.theirs();
    const result = await commitWork(one, () => {});
    expect(result).toMatchObject({ ok: false, problem: `Nothing was committed: a ${name} is under way.` });
    expect(one.theirs()).toEqual(before);
  });

  it('refuses when HEAD names no branch', async () => {
    const one = scratch();
    one.dirty();
    one.git('update-ref', 'refs/odd/place', 'HEAD');
    one.git('symbolic-ref', 'HEAD', 'refs/odd/place');
    const result = await commitWork(one, () => one.write('a.txt', 'x\n'));
    expect(result).toMatchObject({ ok: false, problem: expect.stringContaining('not on a branch') });
  });

  it('refuses when nobody knows what was dirty', async () => {
    const one = scratch();
    const result = await commitWork(one, () => one.write('a.txt', 'x\n'));
    expect(result).toMatchObject({ ok: false, problem: expect.stringContaining('not known') });
    expect(one.git('status', '--porcelain')).toBe(' M a.txt\n');
  });
});

describe("the lock of the user's index (F71)", () => {
  it('is waited for, and nothing is committed while it is held', async () => {
    const one = scratch();
    one.dirty();
    one.write('.git/index.lock', '');
    const head = one.git('rev-parse', 'HEAD');
    const result = await commitWork(one, () => one.write('a.txt', 'x\n'));
    expect(result).toMatchObject({ ok: false, problem: expect.stringContaining('Another git works') });
    expect(one.git('rev-parse', 'HEAD')).toBe(head);
    expect(readFileSync(join(one.top, '.git/index.lock'), 'utf8')).toBe('');
  });

  it('is taken away when it is old and nobody holds it', async () => {
    const one = scratch();
    one.dirty();
    one.write('.git/index.lock', '');
    const longAgo = Date.now() / 1_000 - 3_600;
    one.write('.git/refs/heads/main.lock', '');
    for (const lock of ['index.lock', 'refs/heads/main.lock'])
      utimesSync(join(one.top, '.git', lock), longAgo, longAgo);
    committed(await commitWork(one, () => one.write('a.txt', 'x\n')));
    expect(one.git('status', '--porcelain')).toBe('');
  });
});
