// Wraps a command so that nothing it starts outlives it or us: a pid namespace where one can be had, else a process group.
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

export type Containment = 'namespace' | 'group';

export interface Contained {
  readonly containment: Containment;
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * Pid 1 of the namespace. File 3 is a socket to us. Writing to it proves that we still live after the death signal is
 * armed (we may have been killed in between). What the command leaves behind is reported before the kernel ends it.
 * Pid 1 gets no TERM without a handler, hence the command is its child; (exec …) keeps the shell's own words out of stderr.
 */
const namespaceInit = [
  'echo started >&3 || exit 1',
  'exec 4>&2 2>/dev/null',
  '(exec "$@" 2>&4 3>&- 4>&-)',
  'code=$?',
  'if kill -0 -1; then echo left >&3; read answer <&3; fi',
  'exit $code',
].join('; ');

/** Without a namespace: a watcher in the group ends the group when our side of file 3 closes, that is when we die. */
const groupInit =
  '{ trap "" TERM HUP; read answer <&3; kill -KILL 0; } </dev/null >/dev/null 2>&1 & echo "started $!" >&3; exec "$@" 3>&-';

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

function find(program: string): string | undefined {
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

const shell = find('sh') ?? 'sh';

/** The working recipe as the start of a command line; undefined where no namespace can be had. */
function probe(): readonly string[] | undefined {
  const setpriv = process.platform === 'linux' ? find('setpriv') : undefined;
  const unshare = setpriv && find('unshare');
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

/** The best that this host offers, or less when asked. Start it in its own session, with a socket to us as file 3. */
export function contained(command: string, args: readonly string[], atMost: Containment = containment()): Contained {
  const recipe = atMost === containment() ? probed?.recipe : undefined;
  if (!recipe) return { containment: 'group', command: shell, args: ['-c', groupInit, 'init', command, ...args] };
  const [first = shell, ...rest] = recipe;
  return { containment: 'namespace', command: first, args: [...rest, namespaceInit, 'init', command, ...args] };
}
