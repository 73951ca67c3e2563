// Folders of Ralph's data and of the user's configuration, by the XDG rules (B15).
import { userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';

type Variables = Readonly<Record<string, string | undefined>>;

export type Directory = { readonly path: string; readonly notice?: string } | { readonly problem: string };

/** The home that the system keeps for this account; throws when it keeps none. */
const accountHome = (): string => userInfo().homedir;

/** Where the database and the loop folders lie. */
export function homeDirectory(env: Variables, account: () => string = accountHome): Directory {
  const chosen = env['RALPH_HOME'];
  if (chosen === undefined || chosen === '')
    return xdgDirectory(env, 'XDG_DATA_HOME', join('.local', 'share'), account);
  if (isAbsolute(chosen)) return { path: chosen };
  return { problem: 'RALPH_HOME is a relative path; give an absolute one, so that every folder sees the same loops.' };
}

/** Where the user's config.json lies. */
export function userConfigDirectory(env: Variables, account: () => string = accountHome): Directory {
  return xdgDirectory(env, 'XDG_CONFIG_HOME', '.config', account);
}

function xdgDirectory(env: Variables, name: string, fallback: string, account: () => string): Directory {
  const base = env[name];
  if (base !== undefined && isAbsolute(base)) return { path: join(base, 'ralph') };
  const home = homeOf(env, account);
  if (home === undefined)
    return { problem: 'No home folder is known for this user; set HOME or RALPH_HOME to an absolute path.' };
  const path = join(home, fallback, 'ralph');
  if (base === undefined || base === '') return { path };
  return { path, notice: `${name} is a relative path and is ignored, as the XDG rules say; using ${path}.` };
}

function homeOf(env: Variables, account: () => string): string | undefined {
  const home = env['HOME'];
  if (home !== undefined && isAbsolute(home)) return home;
  try {
    const known = account();
    return isAbsolute(known) ? known : undefined;
  } catch {
    return undefined;
  }
}
