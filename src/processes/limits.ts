// Limits of a child: how many processes and how much memory it may take, and which variables it sees.
import { readFileSync } from 'node:fs';
import type { ProcessSet } from './process-set.ts';
import type { RecordedProcess } from './tree.ts';

const lookMs = process.platform === 'linux' ? 1_000 : 5_000; // elsewhere a look starts `ps`

/** Of the command and all that it started, together. Absent: no limit. */
export interface ResourceLimits {
  readonly processesMax?: number;
  /** Sum of the resident sizes: pages that two of them share count twice. */
  readonly memoryBytesMax?: number;
}

export type ResourceCause = 'processes' | 'memory';

/** `end` is called once, with how many processes were seen. Returns how to stop looking. */
export function watchResources(
  limits: ResourceLimits | undefined,
  set: ProcessSet,
  end: (cause: ResourceCause, seen: number) => void,
): () => void {
  const { processesMax = Number.POSITIVE_INFINITY, memoryBytesMax = Number.POSITIVE_INFINITY } = limits ?? {};
  if (processesMax === Number.POSITIVE_INFINITY && memoryBytesMax === Number.POSITIVE_INFINITY) return () => {};
  const looking = setInterval(() => {
    const workers = set.workers(processesMax);
    const isStorm = workers.length > processesMax;
    if (!isStorm && (memoryBytesMax === Number.POSITIVE_INFINITY || residentBytes(workers) <= memoryBytesMax)) return;
    clearInterval(looking);
    end(isStorm ? 'processes' : 'memory', workers.length);
  }, lookMs);
  return () => clearInterval(looking);
}

/** How many files one process may have open; undefined where nobody says. */
export function openFilesMax(): number | undefined {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}

/** 0 where there is no /proc: then only the number of processes is watched. */
function residentBytes(workers: readonly RecordedProcess[]): number {
  return workers.reduce((sum, { pid }) => sum + residentPages(String(pid)), 0) * pageBytes();
}

function residentPages(pid: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]);
  } catch {
    return 0; // it ended while we looked
  }
}

let knownPageBytes: number | undefined;

/** Node does not tell the size of a page, but our own size in bytes and in pages does. */
function pageBytes(): number {
  const pages = residentPages('self');
  knownPageBytes ??= pages === 0 ? 0 : 2 ** Math.round(Math.log2(process.memoryUsage.rss() / pages));
  return knownPageBytes;
}

const harmless = new Set(['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'TZ', 'TERM', 'TMPDIR']);

/** The environment that a child may see: a short list of harmless names and what the user allowed, nothing else. */
export function minimalEnvironment(source: NodeJS.ProcessEnv, allowed: readonly string[]): Record<string, string> {
  const isSeen = (name: string): boolean => harmless.has(name) || name.startsWith('LC_') || allowed.includes(name);
  const entries = Object.entries(source).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(entries.filter(([name]) => isSeen(name)));
}

/** Names of credentials, by how they end; a folder called PWD is none. */
const credentialEnd = /(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|APIKEY|CREDENTIALS?|_(?:KEY|PAT|AUTH|PASS|PWD))$/i;

/** What opens a cloud without being called so. */
const cloudCredentials = new Set([
  'AWS_ACCESS_KEY_ID',
  'AWS_PROFILE',
  'AWS_SHARED_CREDENTIALS_FILE',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AZURE_CLIENT_CERTIFICATE_PATH',
  'AZURE_FEDERATED_TOKEN_FILE',
  'CLOUDSDK_AUTH_ACCESS_TOKEN_FILE',
  'KUBECONFIG',
]);

const isCredential = (name: string): boolean => credentialEnd.test(name) || cloudCredentials.has(name);

/** A check runs in the user's own environment, all but its credentials; `withheld` names those. */
export function openEnvironment(
  source: NodeJS.ProcessEnv,
  allowed: readonly string[],
): { readonly environment: Record<string, string>; readonly withheld: readonly string[] } {
  const entries = Object.entries(source).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const withheld = entries.map(([name]) => name).filter(name => isCredential(name) && !allowed.includes(name));
  return {
    environment: Object.fromEntries(entries.filter(([name]) => !withheld.includes(name))),
    withheld: withheld.sort(),
  };
}
