// Identity of a process: a pid means nothing without its start time and host, because numbers are given away again.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Holder } from '../ledger/ledger.ts';

/** What /proc says about a process that we may have to end. */
export interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  readonly startTime: string;
  /** Dead already, its parent has not looked yet. */
  readonly zombie: boolean;
}

const hasProc = process.platform === 'linux';

/** The name in field 2 may hold spaces and parentheses, so fields are counted from the last parenthesis. */
export function parseStat(text: string): ProcessStat | undefined {
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  if (open < 1 || close < open) return undefined;
  const fields = text.slice(close + 2).split(' ');
  const [state, parent, , session] = fields;
  const startTime = fields[19];
  if (state === undefined || startTime === undefined) return undefined;
  return {
    pid: Number(text.slice(0, open)),
    parent: Number(parent),
    session: Number(session),
    startTime,
    zombie: state === 'Z' || state === 'X',
  };
}

export function statOf(pid: number): ProcessStat | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  if (!hasProc) return listed(['-p', String(pid)])[0];
  try {
    // Our own number may be another one in the /proc that is mounted here; `self` is always us.
    const stat = parseStat(readFileSync(`/proc/${pid === process.pid ? 'self' : pid}/stat`, 'latin1'));
    return stat && { ...stat, pid };
  } catch {
    return undefined;
  }
}

/** Every process that can be seen. Slow: for stopping and sweeping, never on the way to an agent's start. */
export function allProcesses(): readonly ProcessStat[] {
  if (!hasProc) return listed(['-A']);
  return readdirSync('/proc').flatMap(name => (/^\d+$/.test(name) ? (statOf(Number(name)) ?? []) : []));
}

function listed(which: readonly string[]): readonly ProcessStat[] {
  const ps = spawnSync('ps', ['-o', 'pid=,ppid=,pgid=,stat=,lstart=', ...which], {
    encoding: 'utf8',
    env: { PATH: '/bin:/usr/bin', LC_ALL: 'C' },
  });
  return (ps.stdout ?? '').split('\n').flatMap(line => {
    const [pid, parent, group, state, ...started] = line.trim().split(/\s+/);
    if (!pid || state === undefined || started.length === 0) return [];
    const numbers = { pid: Number(pid), parent: Number(parent), session: Number(group) };
    return [{ ...numbers, startTime: started.join(' '), zombie: state.startsWith('Z') }];
  });
}

/** Undefined when there is no such process. */
export function startTimeOf(pid: number): string | undefined {
  return statOf(pid)?.startTime;
}

export function isAlive(pid: number, startTime: string): boolean {
  const stat = statOf(pid);
  return stat !== undefined && !stat.zombie && stat.startTime === startTime;
}

let known: { readonly host: string; readonly boot: string } | undefined;

/** `boot` changes with every start of the machine and differs in every pid namespace. */
export function thisHost(): { readonly host: string; readonly boot: string } {
  known ??= { host: hostname(), boot: `${bootOf()} ${pidNamespaceOf()}` };
  return known;
}

function bootOf(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    const asked = spawnSync('sysctl', ['-n', 'kern.boottime'], { encoding: 'utf8', env: { PATH: '/usr/sbin:/sbin' } });
    return /sec = (\d+)/.exec(asked.stdout ?? '')?.[1] ?? 'unknown-boot';
  }
}

function pidNamespaceOf(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return 'pid:[only]';
  }
}

/** Who this process is to the ledger: enough for others to tell whether it still lives. */
export function thisHolder(id: string, version: string): Holder {
  const { host, boot } = thisHost();
  return { id, pid: process.pid, startTime: startTimeOf(process.pid) ?? '', host, boot, version };
}
