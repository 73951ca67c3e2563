// Remembered probes: which recipe this host lets work, tried out once since the machine was started instead of at each start.
import { readFileSync, readlinkSync, renameSync, statSync, writeFileSync } from 'node:fs';

/** `key`: all that the answer depends on. */
interface Remembered {
  readonly key: string;
  readonly recipe: number;
}

let file: string | undefined;

/** From now on answers are kept in this file, or nowhere. Agents must not be able to write it: it says how they are confined. */
export function rememberProbes(path: string | undefined): void {
  file = path;
}

/** The first recipe that works. Only what works is remembered: what does not may have been mended since. */
export function firstWorking(
  name: string,
  programs: readonly string[],
  recipes: readonly (readonly string[])[],
  works: (recipe: readonly string[]) => boolean,
): readonly string[] | undefined {
  const key = file === undefined ? '' : JSON.stringify([hostKey(), ...programs.map(programKey), recipes]);
  const known = remembered();
  const before = known[name]?.key === key ? recipes[known[name].recipe] : undefined;
  if (before !== undefined) return before;
  const recipe = recipes.findIndex(works);
  if (recipe >= 0) keep({ ...known, [name]: { key, recipe } });
  return recipes[recipe];
}

/** What may allow a namespace here and forbid it there: the boot, the namespaces and rights of this process, switches. */
function hostKey(): string {
  const rights = textOf('/proc/self/status').match(/^(Uid|Gid|Cap\w+|NoNewPrivs|Seccomp\w*):.*$/gm) ?? [];
  const switches = [
    'kernel/random/boot_id',
    'kernel/unprivileged_userns_clone',
    'kernel/apparmor_restrict_unprivileged_userns',
    'user/max_user_namespaces',
    'user/max_pid_namespaces',
    'user/max_mnt_namespaces',
  ].map(name => textOf(`/proc/sys/${name}`));
  const spaces = ['mnt', 'pid', 'user'].map(name => linkOf(`/proc/self/ns/${name}`));
  return [...rights, ...switches, ...spaces, textOf('/proc/self/attr/current')].join(' ');
}

function programKey(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return `${path} ${stat?.ino} ${stat?.size} ${stat?.ctimeMs} ${stat?.mode}`;
}

function remembered(): Readonly<Record<string, Remembered>> {
  try {
    return file === undefined ? {} : (JSON.parse(readFileSync(file, 'utf8')) ?? {});
  } catch {
    return {};
  }
}

/** Where it cannot be kept, the next start tries again. */
function keep(all: Readonly<Record<string, Remembered>>): void {
  if (file === undefined) return;
  const draft = `${file}.${process.pid}`;
  try {
    writeFileSync(draft, JSON.stringify(all), { mode: 0o600 });
    renameSync(draft, file);
  } catch {
    // the home is not there yet, or is read-only
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
