// Containment: a command is wrapped so that nothing it starts outlives it or us, by a pid namespace or else a process group.
import { spawnSync } from 'node:child_process';
import { readFileSync, readlinkSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { findProgram } from './find-program.ts';

export type Containment = 'namespace' | 'group';

/** Less than a namespace, for hosts without one and for tests; `recorded`: a group that does not get its orphans back. */
export type LesserContainment = 'group' | 'recorded';

export interface Contained {
  /** `bare`: the command is started without a first process of ours above it. */
  readonly containment: Containment | LesserContainment | 'bare';
  readonly command: string;
  readonly args: readonly string[];
  /** Of a namespace: so many of the words make it and its first process, the others are the command. */
  readonly wraps?: number;
}

/**
 * Pid 1 of the namespace. It tells us by file 3 and hears by file 4. We may have been killed before its death signal was armed, and then
 * nothing would end it: so it asks and waits for our word. (That the socket is open proves nothing: of a killed program
 * with threads, one may hold it a little longer than another.) The word is `go`, or what is different for the command since
 * the namespace was made. What the command leaves behind is reported before the
 * kernel ends it. Pid 1 gets no TERM without a handler, hence the command is its child; (exec …) keeps the shell's own
 * words out of stderr. When memory is short, the kernel is to end the command and not us: hence its score.
 */
export const namespaceInit = [
  'echo started >&3 && IFS= read -r answer <&4 || exit 1',
  'exec 5>&2 2>/dev/null',
  'echo 500 >/proc/self/oom_score_adj',
  '[ "$answer" = go ] || eval "$answer"',
  '(exec "$@" 2>&5 3>&- 4>&- 5>&-)',
  'code=$?',
  'if kill -0 -1; then echo left >&3; read answer <&4; fi',
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

/** On PATH or where systems keep theirs. */
export function systemProgram(name: string): string | undefined {
  const PATH = [process.env['PATH'] ?? '', '/usr/bin', '/bin', '/usr/sbin', '/sbin'].join(delimiter);
  const found = findProgram(name, '/', { PATH });
  return found.type === 'found' ? found.path : undefined;
}

/** What is costly to find out is found out once per process. */
export function once<Value>(find: () => Value): () => Value {
  let found: { readonly value: Value } | undefined;
  return () => {
    found ??= { value: find() };
    return found.value;
  };
}

export const shell = systemProgram('sh') ?? 'sh';

const probeOptions = { stdio: 'ignore', env: {}, timeout: 5_000 } as const;

/** The working recipe as the start of a command line; undefined where no namespace can be had. */
const workingRecipe = once((): readonly string[] | undefined => {
  const setpriv = process.platform === 'linux' ? systemProgram('setpriv') : undefined;
  const unshare = setpriv && systemProgram('unshare');
  if (!setpriv || !unshare) return undefined;
  const lines = recipes.map(flags => [setpriv, '--pdeathsig', 'KILL', unshare, ...flags, '--', shell, '-c']);
  return firstWorking('containment', [setpriv, unshare, shell], lines, ([command, ...args]) => {
    // Pid 1 proves the namespace; the code proves that an exit comes through.
    const script = '[ $$ = 1 ] && (exec "$@"); exit $?';
    return spawnSync(command!, [...args, script, 'init', shell, '-c', 'exit 42'], probeOptions).status === 42;
  });
});

/** Probed once per process, or once since the machine was started where that is remembered. */
export function containment(): Containment {
  return workingRecipe() ? 'namespace' : 'group';
}

/** The best that this host offers, or less when asked. Start it in its own session, with pipes from and to it as files 3 and 4. */
export function contained(command: string, args: readonly string[], atMost?: LesserContainment): Contained {
  if (atMost === undefined && containment() === 'namespace') {
    const [first = shell, ...rest] = workingRecipe() ?? [];
    return inNamespace(first, [...rest, namespaceInit, 'init'], [command, ...args]);
  }
  const prefix = atMost === 'recorded' ? undefined : adopting();
  const [first = shell, ...rest] = [...(prefix ?? []), shell, '-c', groupInit, 'init', command, ...args];
  return { containment: prefix ? 'group' : 'recorded', command: first, args: rest };
}

export const inNamespace = (first: string, wrapper: readonly string[], command: readonly string[]): Contained => ({
  containment: 'namespace',
  command: first,
  args: [...wrapper, ...command],
  wraps: wrapper.length,
});

/**
 * The first process of a group, where no namespace can be had: its watcher ends the whole tree when we die. It tells us by file 3 and hears by file 4. The watcher keeps what we record (`pid:start`), so that it knows those who left the tree. At
 * the end of file we are dead: it stops the first process, which might just be starting the command, and all that it finds
 * below it, below a recorded one or in one of their sessions, looks again until nobody is new, kills, and looks once
 * more: the kernel lets a stopped one go on when the last one above it dies. A recorded session counts while its number
 * is not reused. The first process outlives everyone, because it is the parent of orphans where `adopting` works.
 */
const groupInit = `
trap : TERM HUP INT PIPE
table() {
  if [ -r /proc/self/stat ]; then
    for file in /proc/[0-9]*/stat; do
      read -r stat <"$file" || continue
      set -- "\${stat%% *}" \${stat##*) }
      echo "$1 $3 $5 \${21}"
    done
  else
    ps -A -o pid=,ppid=,pgid=
  fi
}
adopt() {
  grew=no
  while read -r pid parent session start; do
    if [ "$pid" = "$own" ] || [ "$parent" = "$own" ]; then continue; fi
    case "$ours" in *" $pid "*) continue ;; esac
    case "$ours" in
      *" $parent "* | *" $session "*) ;;
      *)
        case "$recorded " in
          *" $pid:$start "*) ;;
          *" $session:"*) case "$here" in *"
$session "*) continue ;; esac ;;
          *) continue ;;
        esac
        ;;
    esac
    kill -STOP "$pid"
    ours="$ours$pid "
    grew=yes
    any=yes
  done <<END
$here
END
}
{
  trap "" TERM HUP INT
  recorded=
  while read -r line <&4; do
    if [ "$line" = close ]; then exit 0; fi
    recorded="$recorded $line"
  done
  kill -STOP $$
  own=$(exec sh -c 'echo $PPID')
  ours=" $$ "
  any=yes
  while [ $any = yes ]; do
    before=$ours
    any=yes
    while [ $any = yes ]; do
      any=no
      here="
$(table)"
      adopt
      while [ $grew = yes ]; do adopt; done
    done
    for pid in \${ours#" $$ "}; do kill -KILL "$pid"; done
    if [ "$ours" != "$before" ]; then any=yes; fi
  done
  kill -KILL $$
  kill -KILL 0
} </dev/null >/dev/null 2>&1 3>&- &
echo "started $!" >&3 || exit 1
exec 5>&2 2>/dev/null
echo 500 >/proc/self/oom_score_adj
(exec "$@" 2>&5 3>&- 4>&- 5>&-)
code=$?
echo left >&3
wait $!
exit $code
`;

/** Numbers of prctl(2); Node cannot call it, Perl can. */
const prctl: Readonly<Partial<Record<NodeJS.Architecture, number>>> = {
  ...{ x64: 157, arm64: 167, riscv64: 167, loong64: 167 },
  ...{ ppc64: 171, arm: 172, ia32: 172, s390x: 172 },
};

/** The start of a command line: what comes after it is the parent of whoever loses its own. Undefined where that fails. */
const adopting = once((): readonly string[] | undefined => {
  const perl = systemProgram('perl');
  const call = prctl[process.arch];
  if (process.platform !== 'linux' || perl === undefined || call === undefined) return undefined;
  const adopt = `syscall(${call}, 36, 1, 0, 0, 0)`; // PR_SET_CHILD_SUBREAPER
  if (spawnSync(perl, ['-e', `exit(${adopt} == 0 ? 42 : 1)`], probeOptions).status !== 42) return undefined;
  return [perl, '-e', `${adopt}; exec { $ARGV[0] } @ARGV`];
});

// Remembered probes: which recipe this host lets work, tried out once since the machine was started, not at each start.

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
  const { key, known, recipe: before } = recalled(name, programs, recipes);
  if (before !== undefined) return before;
  const recipe = recipes.findIndex(works);
  if (recipe >= 0) keep({ ...known, [name]: { key, recipe } });
  return recipes[recipe];
}

/** What is remembered about these recipes, and the one that works. */
export function recalled(name: string, programs: readonly string[], recipes: readonly (readonly string[])[]) {
  const key = file === undefined ? '' : JSON.stringify([hostKey(), ...programs.map(programKey), recipes]);
  const known = remembered();
  return { key, known, recipe: known[name]?.key === key ? recipes[known[name].recipe] : undefined };
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
