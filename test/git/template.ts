// Repositories that tests begin with are made once and copied: git is not started for a copy.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openRepository, type Repository } from '../../src/git/repository.ts';

/** For git that a test calls: after a commit it would look whether to tidy up. */
export const untidied = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'maintenance.auto',
  GIT_CONFIG_VALUE_0: 'false',
} as const;

/** By their files, for as long as this worker lives. */
const templates = new Map<string, string>();

/** A branch `main` with one commit of these files, by a user whom the repository knows; those that begin with `#!` are programs. */
export function startFrom(files: Readonly<Record<string, string>>, to: string): void {
  const key = JSON.stringify(files);
  const template = templates.get(key) ?? templateOf(files);
  templates.set(key, template);
  copyRepository(template, to);
}

function templateOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-template-'));
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, ...untidied };
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: folder, env });
  git('init', '-q', '--template=', '-b', 'main'); // without a dozen examples of hooks to copy
  for (const one of ['hooks', 'info']) mkdirSync(join(folder, '.git', one));
  appendFileSync(join(folder, '.git/config'), '[user]\n\tname = Ada\n\temail = ada@example.org\n');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
  }
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  return folder;
}

/** Its files are new ones: the index learns of them as `git update-index --refresh` would tell it. */
export function copyRepository(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
  const path = join(to, '.git/index');
  const index = readFileSync(path);
  const count = index.readUInt32BE(8);
  const low = (value: bigint): number => Number(value & 0xffffffffn);
  for (let at = 12, entry = 0; entry < count; entry += 1) {
    const end = index.indexOf(0, at + 62);
    const { ctimeNs, mtimeNs, dev, ino, mode, uid, gid, size } = lstatSync(
      Buffer.concat([Buffer.from(`${to}/`), index.subarray(at + 62, end)]),
      { bigint: true },
    );
    const [second, executable] = [1_000_000_000n, (mode & 0o100n) !== 0n];
    if (executable !== (index.readUInt32BE(at + 24) === 0o100755))
      throw new Error('a link or a mode that was not copied');
    const known = [ctimeNs / second, ctimeNs % second, mtimeNs / second, mtimeNs % second, dev, ino];
    for (const [field, value] of known.entries()) index.writeUInt32BE(low(value), at + 4 * field);
    for (const [field, value] of [uid, gid, size].entries()) index.writeUInt32BE(low(value), at + 28 + 4 * field);
    at += Math.floor((end - at) / 8) * 8 + 8;
  }
  createHash('sha1')
    .update(index.subarray(0, -20))
    .digest()
    .copy(index, index.length - 20);
  writeFileSync(path, index);
}

const opened = new Map<string, Repository>();

/** As `openRepository` does; where the settings are those of another that was opened, git is not asked again. */
export async function openOnce(directory: string, environment: Readonly<Record<string, string>>): Promise<Repository> {
  const gitDirectory = join(directory, '.git');
  const home = environment['HOME']!;
  const settings = [join(gitDirectory, 'config'), join(home, '.gitconfig')].map(path => textOf(path));
  const key = JSON.stringify([settings, { ...environment, HOME: '' }]);
  const isAsked = settings[0] === '' || /include|~|worktreeConfig/.test(key) || existsSync(join(home, '.config'));
  const known = isAsked ? undefined : opened.get(key);
  if (known !== undefined) return { ...known, directory, gitDirectory, commonDirectory: gitDirectory, environment };
  const result = await openRepository({ directory, environment });
  if (!result.ok) throw new Error(result.problem);
  if (!isAsked) opened.set(key, result.repository);
  return result.repository;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
