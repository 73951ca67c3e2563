// The programs that a default iteration starts and the times that it waits for the disk, counted by strace: work, not speed.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

export interface Iteration {
  /** Command lines of git, whoever started them. */
  readonly git: readonly string[];
  /** Of other programs that Ralph needs; the agent and the check count once each, however they are wrapped. */
  readonly other: readonly string[];
  readonly fsyncs: number;
}

const syncs = ['fsync', 'fdatasync', 'sync', 'syncfs', 'sync_file_range', 'msync'];
const forks = ['clone', 'clone3', 'fork', 'vfork'];

/** The start of a command line whose programs and syncs go to `log`. */
export const counting = (log: string): readonly string[] => [
  ...['strace', '-f', '-qq', '--seccomp-bpf', '-s', '200', '-e', 'signal=none', '-o', log],
  ...['-e', `trace=execve,${[...forks, ...syncs].join()}`],
];

interface Call {
  readonly pid: string;
  readonly name: string;
  /** From the parenthesis to the result. */
  readonly rest: string;
}

/** Whole calls, in the order of their ends. */
function callsIn(log: string): readonly Call[] {
  const begun = new Map<string, string>();
  return readFileSync(log, 'latin1')
    .split('\n')
    .flatMap(line => {
      const [, pid = '', said = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
      const [, first] = /^(.*)<unfinished \.\.\.>$/.exec(said) ?? [];
      if (first !== undefined) begun.set(pid, first);
      const whole = said.replace(/^<\.\.\. \w+ resumed>/, () => begun.get(pid) ?? '');
      const [, name, rest] = /^(\w+)(\(.*)$/.exec(whole) ?? [];
      return first !== undefined || name === undefined ? [] : [{ pid, name, rest: rest ?? '' }];
    });
}

/** The child of Ralph that a process belongs to, by its id; none for one that a namespace hides. */
function childOf(calls: readonly Call[]): (pid: string) => string | undefined {
  const ralph = new Set([calls[0]?.pid]);
  const parents = new Map<string, string>();
  for (const { pid, name, rest } of calls) {
    const child = / = (\d+)$/.exec(rest)?.[1];
    if (!forks.includes(name) || child === undefined) continue;
    if (rest.includes('CLONE_THREAD') && ralph.has(pid)) ralph.add(child);
    else if (!parents.has(child)) parents.set(child, pid);
  }
  const climb = (pid: string, depth = 0): string | undefined => {
    const parent = parents.get(pid);
    if (parent === undefined || depth > 50) return undefined;
    return ralph.has(parent) ? pid : climb(parent, depth + 1);
  };
  return climb;
}

/** A program that was started, or a sync. */
interface Moment {
  readonly child: string | undefined;
  readonly program: string | undefined;
  readonly words: string;
}

/** What happened between the starts of two agents, for every two; an agent is known by a word of its command line. */
export function iterationsIn(log: string, agent: string): readonly Iteration[] {
  const calls = callsIn(log);
  const child = childOf(calls);
  const programs = calls.flatMap(({ pid, name, rest }): readonly Moment[] => {
    const [, path, words] = (name === 'execve' && /^\("([^"]*)", \[(.*)\], .*= 0$/.exec(rest)) || [];
    if (path === undefined) return syncs.includes(name) ? [{ child: undefined, program: undefined, words: '' }] : [];
    return [{ child: child(pid), program: basename(path), words: words ?? '' }];
  });
  const isGit = (program: string): boolean => /^git(-|$)/.test(program);
  const runGit = new Set(programs.flatMap(one => (one.program && isGit(one.program) ? [one.child] : [])));
  const found: { git: string[]; other: string[]; fsyncs: number }[] = [];
  const counted = new Set<string>();
  for (const { child: of, program, words } of programs) {
    if (program === 'bash' && words.includes(agent)) found.push({ git: [], other: [], fsyncs: 0 });
    const isTheirs = of === undefined || (!runGit.has(of) && counted.has(of)); // what an agent or a check starts
    if (of !== undefined) counted.add(of);
    const last = found.at(-1);
    if (last === undefined) continue;
    if (program === undefined) last.fsyncs += 1;
    else if (isGit(program)) last.git.push(words);
    else if (!isTheirs) last.other.push(words);
  }
  return found.slice(0, -1);
}
