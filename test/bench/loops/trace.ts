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

/** A process and those that it comes from, the child of Ralph first; none for one that a namespace hides. */
function linesOf(calls: readonly Call[]): (pid: string) => readonly string[] {
  const ralph = new Set([calls[0]?.pid]);
  const parents = new Map<string, string>();
  for (const { pid, name, rest } of calls) {
    const child = / = (\d+)$/.exec(rest)?.[1];
    if (!forks.includes(name) || child === undefined) continue;
    if (rest.includes('CLONE_THREAD') && ralph.has(pid)) ralph.add(child);
    else if (!parents.has(child)) parents.set(child, pid);
  }
  const climb = (pid: string, below: readonly string[] = []): readonly string[] => {
    const parent = parents.get(pid);
    if (parent === undefined || below.length > 50) return [];
    return ralph.has(parent) ? [pid, ...below] : climb(parent, [pid, ...below]);
  };
  return climb;
}

/** A program that was started, or a sync; after how many agents had begun. */
interface Moment {
  readonly line: readonly string[];
  readonly program: string | undefined;
  readonly words: string;
  readonly at: number;
}

function momentsIn(log: string, agent: string): readonly Moment[] {
  const calls = callsIn(log);
  const lineOf = linesOf(calls);
  let at = 0;
  return calls.flatMap(({ pid, name, rest }): readonly Moment[] => {
    const [, path, words = ''] = (name === 'execve' && /^\("([^"]*)", \[(.*)\], .*= 0$/.exec(rest)) || [];
    if (path === undefined) return syncs.includes(name) ? [{ line: [], program: undefined, words: '', at }] : [];
    if (basename(path) === 'bash' && words.includes(agent)) at += 1;
    return [{ line: lineOf(pid), program: basename(path), words, at }];
  });
}

/** What happened between the starts of two agents, for every two; an agent is known by a word of its command line. */
export function iterationsIn(log: string, agent: string): readonly Iteration[] {
  const moments = momentsIn(log, agent);
  const spans = new Map<string | undefined, Set<number>>();
  for (const { line, at } of moments) spans.set(line[0], (spans.get(line[0]) ?? new Set()).add(at));
  const isStanding = (child: string | undefined): boolean => spans.get(child)!.size > 2; // a shell that starts the rest
  const seen = new Set<string>();
  const found: { git: string[]; other: string[]; fsyncs: number }[] = [];
  for (const { line, program, words, at } of moments) {
    found[at] ??= { git: [], other: [], fsyncs: 0 };
    const owner = isStanding(line[0]) ? line[1] : line[0];
    if (program === undefined) found[at].fsyncs += 1;
    else if (/^git(-|$)/.test(program)) found[at].git.push(words);
    else if (owner !== undefined && !seen.has(owner)) {
      seen.add(owner); // what an agent or a check starts is theirs
      found[at].other.push(words);
    }
  }
  return found.slice(1, -1);
}
