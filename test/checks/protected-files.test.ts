// The files that are a check come back as they were, whatever was done to them, and our copies of them prove themselves (F33).
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
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileGuard, protectFiles } from '../../src/checks/protected-files.ts';
import { scratchDirectory } from '../processes/fixture.ts';

const script = '#!/bin/sh\nexec npm test\n';
const path = 'scripts/verify.sh';

async function given(candidates: readonly string[] = [path], wanted: readonly string[] = []) {
  const [directory, folder] = [scratchDirectory(), join(scratchDirectory(), 'loop/protected')];
  const at = (name: string): string => join(directory, name);
  mkdirSync(at('scripts'));
  mkdirSync(at('tools'));
  writeFileSync(at(path), script, { mode: 0o755 });
  writeFileSync(at('tools/check.mjs'), 'run();');
  symlinkSync('tools/check.mjs', at('check'));
  symlinkSync('tools', at('bin'));
  symlinkSync('/etc/passwd', at('away'));
  symlinkSync(`/${path}`, at('absolute'));
  const protection = await protectFiles({ directory, folder, candidates, wanted });
  if (!protection.ok) throw new Error(protection.problem);
  const restore = () => fileGuard(folder, protection.hash).restore(directory);
  return { directory, folder, at, restore, ...protection };
}

describe('given a protected script', () => {
  it('when nothing was done to it, then nothing is restored and not even its inode changes', async () => {
    const { at, restore } = await given();
    const before = statSync(at(path)).ino;
    expect(await restore()).toEqual({ restored: [] });
    expect(statSync(at(path)).ino).toBe(before);
  });

  const attacks: Readonly<Record<string, readonly [string, (at: (name: string) => string) => void]>> = {
    'it is edited': ['edited', at => writeFileSync(at(path), 'exit 0')],
    'it is edited to the same length': ['edited', at => writeFileSync(at(path), script.replace('test', 'tset'))],
    'it is emptied': ['edited', at => writeFileSync(at(path), '')],
    'it is deleted': ['deleted', at => unlinkSync(at(path))],
    'its folder is deleted': ['deleted', at => rmSync(at('scripts'), { recursive: true })],
    'it cannot be executed any more': ['mode changed', at => chmodSync(at(path), 0o644)],
    'it becomes a link to another script': [
      'replaced by a link',
      at => {
        writeFileSync(at('evil.sh'), 'exit 0');
        unlinkSync(at(path));
        symlinkSync('../evil.sh', at(path));
      },
    ],
    'it becomes a dangling link': [
      'replaced by a link',
      at => {
        unlinkSync(at(path));
        symlinkSync('nowhere', at(path));
      },
    ],
    'it becomes an empty folder': [
      'replaced by a folder',
      at => {
        unlinkSync(at(path));
        mkdirSync(at(path));
      },
    ],
    'its folder becomes a link': [
      'its folder was replaced',
      at => {
        renameSync(at('scripts'), at('moved'));
        writeFileSync(at('moved/verify.sh'), 'exit 0');
        symlinkSync('moved', at('scripts'));
      },
    ],
    'its folder becomes a file': [
      'its folder was replaced',
      at => {
        rmSync(at('scripts'), { recursive: true });
        writeFileSync(at('scripts'), 'a file');
      },
    ],
  };

  it.each(Object.entries(attacks))('when %s, then it is put back and that is told', async (_, [how, attack]) => {
    const { at, restore } = await given();
    attack(at);
    expect(await restore()).toEqual({ restored: [`${path} (${how})`] });
    expect(readFileSync(at(path), 'utf8')).toBe(script);
    const stats = lstatSync(at(path));
    expect([stats.isFile(), stats.mode & 0o777]).toEqual([true, 0o755]);
    expect(lstatSync(at('scripts')).isDirectory()).toBe(true);
    expect(await restore()).toEqual({ restored: [] });
  });

  it('when a link leads out, then what it points to is never written', async () => {
    const { at, restore } = await given();
    const outside = join(scratchDirectory(), 'verify.sh');
    writeFileSync(outside, 'mine');
    rmSync(at('scripts'), { recursive: true });
    symlinkSync(join(outside, '..'), at('scripts'));
    expect(await restore()).toEqual({ restored: [`${path} (its folder was replaced)`] });
    expect(readFileSync(outside, 'utf8')).toBe('mine');
    expect(readFileSync(at(path), 'utf8')).toBe(script);
  });

  it('when a folder with work in it takes its place, then the work is set aside, not lost', async () => {
    const { at, restore } = await given();
    unlinkSync(at(path));
    mkdirSync(at(path));
    writeFileSync(join(at(path), 'work.txt'), 'a day of work');
    expect(await restore()).toEqual({ restored: [`${path} (replaced by a folder)`] });
    const aside = readdirSync(at('scripts')).find(name => name.startsWith('verify.sh.set-aside-'));
    expect(readFileSync(join(at('scripts'), aside ?? '', 'work.txt'), 'utf8')).toBe('a day of work');
  });

  it('when it is put back, then no temporary file stays', async () => {
    const { at, restore } = await given();
    writeFileSync(at(path), 'exit 0');
    await restore();
    expect(readdirSync(at('scripts'))).toEqual(['verify.sh']);
  });

  it('when the same files are in another folder, a fork, then they are put back there', async () => {
    const { folder, hash } = await given();
    const fork = scratchDirectory();
    expect(await fileGuard(folder, hash).restore(fork)).toEqual({ restored: [`${path} (deleted)`] });
    expect(readFileSync(join(fork, path), 'utf8')).toBe(script);
  });
});

describe('given links on the way to a protected script', () => {
  it('when it is reached through links inside the folder, then file and links are protected', async () => {
    const { files, at, restore } = await given(['check', 'bin/check.mjs']);
    expect(files).toEqual(['bin', 'check', 'tools/check.mjs']);
    unlinkSync(at('check'));
    writeFileSync(at('check'), 'exit 0');
    unlinkSync(at('bin'));
    mkdirSync(at('bin'));
    writeFileSync(at('bin/check.mjs'), 'pass();');
    expect(await restore()).toEqual({ restored: ['bin (replaced by a folder)', 'check (replaced by something else)'] });
    expect([readlinkSync(at('bin')), readlinkSync(at('check'))]).toEqual(['tools', 'tools/check.mjs']);
    expect(readFileSync(at('bin/check.mjs'), 'utf8')).toBe('run();');
  });

  it('when a path leaves the folder, is missing or is a folder, then a command line’s word is passed over', async () => {
    const { files } = await given(['away', 'absolute', '../x', '/etc/passwd', 'none.sh', 'scripts', '.', '']);
    expect(files).toEqual([]);
  });
});

describe('given what a person wants protected', () => {
  it('when it is a folder, then all its files are', async () => {
    const { files, at, restore } = await given([], ['scripts', `tools/check.mjs`]);
    expect(files).toEqual([path, 'tools/check.mjs']);
    writeFileSync(at('tools/check.mjs'), 'pass();');
    expect(await restore()).toEqual({ restored: ['tools/check.mjs (edited)'] });
  });

  it.each(['none.sh', 'away', '../x', '/etc/passwd', '.git'])(
    'when it is %s, then it is refused in one sentence',
    async name => {
      await expect(given([], [name])).rejects.toThrow('is not a file or folder inside the folder of the work');
    },
  );
});

describe('given that our own copies were touched', () => {
  const copies = (folder: string): readonly string[] =>
    readdirSync(folder)
      .filter(name => name !== 'manifest.json')
      .map(name => join(folder, name));

  it.each<readonly [string, (folder: string) => void]>([
    ['a copy is changed', folder => writeFileSync(copies(folder)[0] ?? '', 'exit 0')],
    ['a copy is gone', folder => unlinkSync(copies(folder)[0] ?? '')],
    ['the list is changed', folder => writeFileSync(join(folder, 'manifest.json'), '{"files":[],"version":1}')],
    ['the list is gone', folder => unlinkSync(join(folder, 'manifest.json'))],
    ['everything is gone', folder => rmSync(folder, { recursive: true })],
  ])('when %s, then nothing is put back and it is said', async (_, damage) => {
    const { at, folder, restore } = await given();
    writeFileSync(at(path), 'exit 0');
    damage(folder);
    expect(await restore()).toEqual({ restored: [], damaged: expect.any(String) });
    expect(readFileSync(at(path), 'utf8')).toBe('exit 0');
  });

  it('when there is nothing to protect, then there is nothing to restore', async () => {
    const { files, restore, folder } = await given([]);
    expect(files).toEqual([]);
    expect(existsSync(join(folder, 'manifest.json'))).toBe(true);
    expect(await restore()).toEqual({ restored: [] });
  });
});

it('a path that leaves the folder of the work is no file of the check, and refused when a person gives it', async () => {
  const directory = scratchDirectory();
  const outside = scratchDirectory();
  writeFileSync(join(outside, 'verify.sh'), script);
  mkdirSync(join(directory, 'scripts'));
  const away = `scripts/../../${basename(outside)}/verify.sh`;
  expect(existsSync(join(directory, away))).toBe(true);
  const order = { directory, folder: join(scratchDirectory(), 'protected') };
  expect(await protectFiles({ ...order, candidates: [away], wanted: [] })).toMatchObject({ ok: true, files: [] });
  expect(await protectFiles({ ...order, candidates: [], wanted: [away] })).toMatchObject({ ok: false });
});

describe('given a check that names its scripts by a pattern (B95)', () => {
  it('when one of those that fit is edited or deleted, then it comes back; a new one is left alone', async () => {
    const { at, restore, files } = await given(['scripts/*.sh', 'tools/{check,other}.mjs', 'none/*.sh']);
    expect(files).toEqual([path, 'tools/check.mjs']);
    rmSync(at(path));
    writeFileSync(at('tools/check.mjs'), 'pass();');
    writeFileSync(at('scripts/new.sh'), 'exit 1\n');
    expect(await restore()).toEqual({ restored: [`${path} (deleted)`, 'tools/check.mjs (edited)'] });
    expect(readFileSync(at('scripts/new.sh'), 'utf8')).toBe('exit 1\n');
  });
});
