// The first process of a group, where no namespace can be had: its watcher ends the whole tree when we die.
import { spawnSync } from 'node:child_process';

/**
 * File 3 is a socket to us. The watcher keeps what we record (`pid:start`), so that it knows those who left the tree. At
 * the end of file we are dead: it stops the first process, which might just be starting the command, and all that it finds
 * below it, below a recorded one or in one of their sessions, looks again until nobody is new, kills, and looks once
 * more: the kernel lets a stopped one go on when the last one above it dies. A recorded session counts while its number
 * is not reused. The first process outlives everyone, because it is the parent of orphans where `adopting` works.
 */
export const groupInit = `
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
  while read -r line <&3; do
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
} </dev/null >/dev/null 2>&1 &
echo "started $!" >&3 || exit 1
exec 4>&2 2>/dev/null
echo 500 >/proc/self/oom_score_adj
(exec "$@" 2>&4 3>&- 4>&-)
code=$?
echo left >&3
wait $!
exit $code
`;

/** Numbers of prctl(2); Node cannot call it, Perl can. */
const prctl: Readonly<Partial<Record<NodeJS.Architecture, number>>> = {
  x64: 157,
  arm64: 167,
  riscv64: 167,
  loong64: 167,
  ppc64: 171,
  arm: 172,
  ia32: 172,
  s390x: 172,
};

/** The start of a command line: what comes after it is the parent of whoever loses its own. Undefined where that fails. */
export function adopting(perl: string | undefined): readonly string[] | undefined {
  const call = prctl[process.arch];
  if (process.platform !== 'linux' || perl === undefined || call === undefined) return undefined;
  const adopt = `syscall(${call}, 36, 1, 0, 0, 0)`; // PR_SET_CHILD_SUBREAPER
  const options = { stdio: 'ignore', env: {}, timeout: 5_000 } as const;
  if (spawnSync(perl, ['-e', `exit(${adopt} == 0 ? 42 : 1)`], options).status !== 42) return undefined;
  return [perl, '-e', `${adopt}; exec { $ARGV[0] } @ARGV`];
}
