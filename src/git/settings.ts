// Finds settings of a repository that make git run programs: content filters are switched off, all of them are named (B88).
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type GitPlace, git, listOf } from './call.ts';

/** What runs a program, as patterns over the names of settings; those that matter to a person who did not write them. */
const running: readonly RegExp[] = [
  /^core\.(fsmonitor|hookspath|sshcommand|gitproxy|editor|pager|askpass|alternaterefscommand)$/,
  /^filter\..*\.(clean|smudge|process)$/,
  /^diff\.(external|.*\.(command|textconv))$/,
  /^merge\..*\.driver$/,
  /^credential\..*helper$/,
  /^gpg\.(.*\.)?program$/,
  /^sequence\.editor$/,
  /^remote\..*\.(uploadpack|receivepack|vcs)$/,
  /^submodule\..*\.update$/,
  /^uploadpack\.packobjectshook$/,
  /^include(if\..*)?\.path$/,
];

/** An empty program is none; `required` would make that an error. */
export async function filtersOff(place: GitPlace): Promise<readonly (readonly [string, string])[]> {
  const named = await git(place, ['config', '--list', '--name-only', '-z']);
  const drivers = new Set(listOf(named).flatMap(name => /^filter\.(.*)\.[^.]+$/s.exec(name)?.[1] ?? []));
  return [...drivers].flatMap(driver => [
    [`filter.${driver}.clean`, ''] as const,
    [`filter.${driver}.smudge`, ''] as const,
    [`filter.${driver}.process`, ''] as const,
    [`filter.${driver}.required`, 'false'] as const,
  ]);
}

/** Names alone: a value may hold a secret. The user's own settings are not the repository's doing. */
export async function programsOf(place: GitPlace, commonDirectory: string): Promise<readonly string[]> {
  const scopes = [['--local'], ['--worktree']];
  const lists = await Promise.all(
    scopes.map(scope => git(place, ['config', ...scope, '--includes', '--list', '--name-only', '-z'])),
  );
  const names = new Set(lists.flatMap(listOf).filter(name => running.some(pattern => pattern.test(name))));
  const hooks = await readdir(join(commonDirectory, 'hooks')).catch(() => []);
  const live = hooks.filter(name => !name.endsWith('.sample')).map(name => `hooks/${name}`);
  return [...names, ...live].sort();
}
