// Wraps a command so that nothing it starts outlives it or us: a pid namespace where one can be had, else a process group.
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { adopting, groupInit } from './sidecar.ts';

export type Containment = 'namespace' | 'group';

/** Less than a namespace, for hosts without one and for tests; `recorded`: a group that does not get its orphans back. */
export type LesserContainment = 'group' | 'recorded';

export interface Contained {
  /** `bare`: the command is started without a first process of ours above it. */
  readonly containment: Containment | LesserContainment | 'bare';
  readonly command: string;
  readonly args: readonly string[];
}

/** When memory is short, the kernel is to end the command and not us; its children inherit that. */
const preferred = 'echo 500 >/proc/self/oom_score_adj';

/**
 * Pid 1 of the namespace. File 3 is a socket to us. We may have been killed before its death signal was armed, and then
 * nothing would end it: so it asks and waits for our word. (That the socket is open proves nothing: of a killed program
 * with threads, one may hold it a little longer than another.) What the command leaves behind is reported before the
 * kernel ends it. Pid 1 gets no TERM without a handler, hence the command is its child; (exec …) keeps the shell's own
 * words out of stderr.
 */
export const namespaceInit = [
  'echo started >&3 && read answer <&3 || exit 1',
  'exec 4>&2 2>/dev/null',
  preferred,
  '(exec "$@" 2>&4 3>&- 4>&-)',
  'code=$?',
  'if kill -0 -1; then echo left >&3; read answer <&3; fi',
  'exit $code',
].join('; ');

/**
 * Ordered: the first recipe that works here is used. With its own /proc a contained program sees its own process numbers
 * (ps, pkill, lsof and nested loops work) and nobody else's environment; some containers forbid that mount.
 */
const recipes: readonly (readonly string[])[] = [
  ['--mount-proc', '--pid', '--fork', '--kill-child'],
  ['--pid', '--fork', '--kill-child'],
  ['--user', '--map-current-user', '--mount-proc', '--pid', '--fork', '--kill-child'],
  ['--user', '--map-current-user', '--pid', '--fork', '--kill-child'],
];

export function findProgram(program: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin', '/bin', '/usr/sbin', '/sbin'];
  return folders
    .filter(folder => folder.startsWith('/'))
    .map(folder => join(folder, program))
    .find(path => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

export const shell = findProgram('sh') ?? 'sh';

/** The working recipe as the start of a command line; undefined where no namespace can be had. */
function probe(): readonly string[] | undefined {
  const setpriv = process.platform === 'linux' ? findProgram('setpriv') : undefined;
  const unshare = setpriv && findProgram('unshare');
  if (!setpriv || !unshare) return undefined;
  return recipes
    .map(flags => [setpriv, '--pdeathsig', 'KILL', unshare, ...flags, '--', shell, '-c'])
    .find(([command, ...args]) => {
      // Pid 1 proves the namespace; the code proves that an exit comes through.
      const script = '[ $$ = 1 ] && (exec "$@"); exit $?';
      const options = { stdio: 'ignore', env: {}, timeout: 5_000 } as const;
      return spawnSync(command!, [...args, script, 'init', shell, '-c', 'exit 42'], options).status === 42;
    });
}

let probed: { readonly recipe: readonly string[] | undefined } | undefined;

/** Probed once per process; calling it early keeps the probe off the way to the first agent. */
export function containment(): Containment {
  probed ??= { recipe: probe() };
  return probed.recipe ? 'namespace' : 'group';
}

let adoption: { readonly prefix: readonly string[] | undefined } | undefined;

/** The best that this host offers, or less when asked. Start it in its own session, with a socket to us as file 3. */
export function contained(command: string, args: readonly string[], atMost?: LesserContainment): Contained {
  if (atMost === undefined && containment() === 'namespace') {
    const [first = shell, ...rest] = probed?.recipe ?? [];
    return { containment: 'namespace', command: first, args: [...rest, namespaceInit, 'init', command, ...args] };
  }
  if (atMost !== 'recorded') adoption ??= { prefix: adopting(findProgram('perl')) };
  const prefix = atMost === 'recorded' ? undefined : adoption?.prefix;
  const [first = shell, ...rest] = [...(prefix ?? []), shell, '-c', groupInit, 'init', command, ...args];
  return { containment: prefix ? 'group' : 'recorded', command: first, args: rest };
}
