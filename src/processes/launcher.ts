// The launcher: a small shell that stays open and starts agents and checks for us, because Node's spawn copies the page tables of
// all our memory. Each gets named pipes in a folder that agents do not see; it ends with the launcher, and that with us.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, constants, existsSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import { dirname, isAbsolute, join } from 'node:path';
import { type Answering, openAnswering } from './answering.ts';
import { shell } from './contain.ts';
import { isAlive, startTimeOf } from './identity.ts';
import { quoted } from './shells.ts';

export interface LaunchOrder {
  readonly command: string;
  readonly args: readonly string[];
  /** So many of them make the container, the others are what runs in it. */
  readonly wraps: number;
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Where the pipes lie, hidden from what is started; made when it is not there. */
  readonly channels: string;
}

/** A process that was started, whoever is its parent. */
export interface Running {
  readonly pid: number;
  readonly startTime: string;
  /** The first three are missing at the terminal. */
  readonly input?: Socket;
  readonly output?: Socket;
  readonly errors?: Socket;
  /** What its first process tells us (file 3), and what we answer (file 4). */
  readonly told: Socket;
  readonly answers: Socket;
  /** What its first process waits for. */
  readonly go: string;
  /** It has told something, so it has opened its files. */
  heard(): void;
  kill(): void;
  /** After its end. A shell says 128 + n where the system says a signal. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  /** Everything was read. */
  release(): void;
}

interface Launcher {
  readonly answering: Answering;
  readonly folder: string;
  /** Numbers of sets of pipes that nobody uses. */
  readonly free: number[];
  sets: number;
  /** Containers that were made ahead, by what they are made of. */
  readonly waiting: Map<string, Waiting>;
  /** Where the last one began, and how often in a row each kind of container there; never again where one made ahead was of no use. */
  readonly row: { directory: string; readonly times: Map<string, number> };
}

const names = ['in', 'out', 'err', 'told', 'answers'] as const;
type Name = (typeof names)[number];

const launchers = new Map<string, Launcher>();
const day = 86_400_000;

/** Undefined where that cannot be had: then Node starts it. */
export async function launch(order: LaunchOrder): Promise<Running | undefined> {
  if (process.platform !== 'linux' || !isPlain(order) || !existsSync(order.directory)) return undefined;
  const launcher = launcherIn(order.channels);
  if (launcher === undefined) return undefined;
  const running = (await takeWaiting(launcher, order)) ?? (await begin(launcher, order));
  const heard = (): void => {
    running?.heard();
    readyNext(launcher, order);
  };
  return running && { ...running, heard };
}

async function begin(launcher: Launcher, order: LaunchOrder): Promise<Running | undefined> {
  const number = launcher.free.pop() ?? (await makePipes(launcher));
  if (number === undefined) return undefined;
  const pathOf = (name: Name): string => join(launcher.folder, `${number}.${name}`);
  const pipes = openPipes(pathOf);
  if (pipes === undefined) return undefined;
  const pid = Number(
    await launcher.answering.ask({ text: launchScript(order, pathOf), read: spoken => spoken.line() }),
  );
  if (!(pid > 0)) {
    pipes.close();
    return undefined;
  }
  return follow(launcher, { number, pid, pipes });
}

/** Runs a command line, and gives the one line that it says. */
type Run = (command: readonly string[]) => Promise<string | undefined>;

const trialMsMax = 5_000;

/** A launcher with pipes for the first process, before there is one. `isWanted` may run something by it to find that out. */
export async function launchAhead(channels: string, isWanted: (run: Run) => Promise<boolean>): Promise<void> {
  const launcher = process.platform === 'linux' ? launcherIn(channels) : undefined;
  if (launcher === undefined) return;
  const run: Run = command =>
    launcher.answering.ask({
      text: `{ said=$(env -i ${command.map(quoted).join(' ')} </dev/null); } 2>/dev/null; echo "$said"\n`,
      read: spoken => spoken.line(),
      timeMsMax: trialMsMax,
    });
  if (!(await isWanted(run))) return launcher.answering.close();
  const number = launcher.free.length > 0 ? undefined : await makePipes(launcher);
  if (number !== undefined) launcher.free.push(number);
}

const wordBytesMax = 100_000; // the system takes 128 kB, and says itself when that is too much
const wordsBytesMax = 1_000_000;

/** What a shell can pass on as it is: some names are its own. */
function isPlain({ command, args, directory, environment }: LaunchOrder): boolean {
  const isOwn = /^(UID|EUID|PPID|GROUPS|SHELLOPTS|BASH\w*|OPTIND|LINENO)$/;
  const isName = (name: string): boolean => /^[A-Za-z_]\w*$/.test(name) && !isOwn.test(name);
  const words = [command, directory, ...args, ...Object.values(environment)];
  const isWord = (word: string): boolean => !word.includes('\0') && Buffer.byteLength(word) <= wordBytesMax;
  const bytes = words.reduce((sum, word) => sum + word.length, 0);
  return Object.keys(environment).every(isName) && words.every(isWord) && bytes <= wordsBytesMax;
}

/** It ends when we do, and takes its folder along, even when it was just about to answer. */
function launcherIn(channels: string): Launcher | undefined {
  const before = launchers.get(channels);
  if (before?.answering.isOpen()) return before;
  const folder = join(channels, `launcher-${randomUUID()}`);
  if (!existsSync(dirname(channels))) return undefined; // nothing is kept for who only asks a question
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch {
    return undefined;
  }
  const environment = { PATH: '/usr/bin:/bin' };
  const answering = openAnswering({ command: shell, args: [], directory: '/', environment, idleMsMax: day });
  void answering.ask({
    // Bubblewrap that is killed while it makes a namespace leaves a child that waits for ever, so all of our session ends.
    text: `trap : PIPE; trap ${quoted(`rm -rf ${quoted(folder)}; kill -KILL 0`)} EXIT\n`,
    read: async () => true,
  });
  const launcher = {
    answering,
    folder,
    free: [],
    sets: 0,
    waiting: new Map(),
    row: { directory: '', times: new Map() },
  };
  launchers.set(channels, launcher);
  return launcher;
}

/** The number of a new set; undefined where the file system has no pipes. */
async function makePipes(launcher: Launcher): Promise<number | undefined> {
  launcher.sets += 1;
  const number = launcher.sets;
  const paths = names.map(name => quoted(join(launcher.folder, `${number}.${name}`)));
  const text = `mkfifo -m 600 ${paths.join(' ')} </dev/null 2>/dev/null; echo $?\n`;
  const code = await launcher.answering.ask({ text, read: spoken => spoken.line() });
  return code === '0' ? number : undefined;
}

interface Pipes {
  readonly input: Socket;
  readonly output: Socket;
  readonly errors: Socket;
  readonly told: Socket;
  readonly answers: Socket;
  /** What is written before the other side has opened a pipe would be lost, but for these. */
  readonly guards: number[];
  close(): void;
}

const pipeBytes = 65_536; // more does not lie in one

/** Into one buffer of its own: what comes with `data` is good for that moment only. It is paused until someone listens. */
function readerOf(fd: number): Socket {
  const callback = (count: number, bytes: Uint8Array): boolean =>
    socket.emit('data', Buffer.from(bytes.buffer, bytes.byteOffset, count));
  const onread = { buffer: Buffer.allocUnsafeSlow(pipeBytes), callback };
  const socket = new Socket({ fd, readable: true, writable: false, onread });
  return socket.pause();
}

/** Ours first: the other side then opens its ends without waiting. */
function openPipes(pathOf: (name: Name) => string): Pipes | undefined {
  const { O_RDONLY, O_WRONLY, O_RDWR, O_NONBLOCK } = constants;
  try {
    const guards = [pathOf('in'), pathOf('answers')].map(path => openSync(path, O_RDWR | O_NONBLOCK));
    const reader = (name: Name) => readerOf(openSync(pathOf(name), O_RDONLY | O_NONBLOCK));
    const writer = (name: Name) =>
      new Socket({ fd: openSync(pathOf(name), O_WRONLY | O_NONBLOCK), readable: false, writable: true });
    const [output, errors, told] = [reader('out'), reader('err'), reader('told')];
    const [input, answers] = [writer('in'), writer('answers')];
    const close = (): void => {
      for (const guard of guards.splice(0)) closeSync(guard);
      for (const pipe of [input, output, errors, told, answers]) pipe.destroy();
    };
    return { input, output, errors, told, answers, guards, close };
  } catch {
    return undefined;
  }
}

/**
 * The launcher itself opens `told`, so that its end always comes. Opening one end of a pipe waits for the other, which may be
 * gone with us: so both are opened first, and then the one that is meant. Variables of the shell are not the command's.
 */
export function launchScript(order: Omit<LaunchOrder, 'channels' | 'wraps'>, pathOf: (name: Name) => string): string {
  const { command, args, directory, environment } = order;
  const path = (name: Name): string => quoted(pathOf(name));
  const exported = Object.entries(environment).map(([name, value]) => `export ${name}=${quoted(value)}; `);
  const enter = `cd ${quoted(directory)} && unset PWD OLDPWD SHLVL _ PATH; ${exported.join('')}`;
  const both = `exec 5<>${path('in')} 6<>${path('out')} 7<>${path('err')} 8<>${path('answers')}`;
  const files = `exec <${path('in')} >${path('out')} 2>${path('err')} 4<${path('answers')} 5>&- 6>&- 7>&- 8>&-`;
  const program = [command, ...args].map(quoted).join(' ');
  const told = `exec 5<>${path('told')}; exec 3>${path('told')} 5>&-`;
  return `${told}\n(${both}; ${files}; ${enter}exec ${program}) &\nexec 3>&-; echo $!\n`;
}

function follow(launcher: Launcher, { number, pid, pipes }: { number: number; pid: number; pipes: Pipes }): Running {
  const startTime = startTimeOf(pid) ?? 'unknown';
  const { answering } = launcher;
  const exited = once(pipes.told, 'close').then(async () => {
    const code = await answering.ask({ text: `wait ${pid}; echo $?\n`, read: spoken => spoken.line() });
    return code === undefined ? { code: null, signal: 'SIGKILL' as const } : { code: Number(code), signal: null };
  });
  return {
    ...pipes,
    pid,
    startTime,
    exited,
    go: 'go',
    heard() {
      for (const guard of pipes.guards.splice(0)) closeSync(guard);
    },
    kill: () => void (isAlive(pid, startTime) && process.kill(pid, 'SIGKILL')),
    release() {
      const isClean = pipes.output.readableEnded && pipes.errors.readableEnded; // nobody holds an end of them any more
      pipes.close();
      if (isClean) launcher.free.push(number);
    },
  };
}

// Containers made ahead: while one works, the next is made and waits for its word, so that nobody waits for namespaces and mounts.

/** Nothing runs in it yet but its first process, which ends with us as any other does. */
interface Waiting {
  readonly order: LaunchOrder;
  readonly running: Promise<Running | undefined>;
  /** What was there when it was made. */
  readonly found: string;
  readonly timer: NodeJS.Timeout;
}

const waitMsMax = 600_000;
const kindsMax = 100;
const timesMin = 3;
const goBytesMax = 4_000; // the shell that waits reads byte by byte

const kindOf = ({ command, args, wraps, directory }: LaunchOrder): string =>
  [command, ...args.slice(0, wraps), directory].join('\0');

/** The folders and files that its mounts were made of, and all that is mounted here; undefined where that cannot be seen. */
function surroundings({ command, args, wraps, directory }: LaunchOrder): string | undefined {
  const paths = new Set([directory, command, ...args.slice(0, wraps).filter(isAbsolute)]);
  try {
    const places = [...paths].map(path => {
      const { dev, ino, birthtimeMs } = statSync(path);
      return `${path} ${dev} ${ino} ${birthtimeMs}\n`;
    });
    return `${places.join('')}${readFileSync('/proc/self/mountinfo', 'latin1')}`;
  } catch {
    return undefined;
  }
}

/** One that was made for the same, as it would be made now; any other is ended. */
async function takeWaiting(launcher: Launcher, order: LaunchOrder): Promise<Running | undefined> {
  const kind = kindOf(order);
  const waiting = launcher.waiting.get(kind);
  if (waiting === undefined) return undefined;
  launcher.waiting.delete(kind);
  clearTimeout(waiting.timer);
  const running = await waiting.running;
  if (running === undefined) return undefined;
  const go = goFor(waiting.order, order);
  if (go === undefined) launcher.row.times.set(kind, Number.NEGATIVE_INFINITY);
  const isThere = isAlive(running.pid, running.startTime);
  if (go !== undefined && isThere && waiting.found === surroundings(order)) return { ...running, go };
  void discard(running);
  return undefined;
}

/** What the shell that waits has to change for this command; undefined where that is no short line. */
function goFor(made: LaunchOrder, order: LaunchOrder): string | undefined {
  const words = order.args.slice(order.wraps);
  const isSame = words.join('\0') === made.args.slice(made.wraps).join('\0');
  const [before, now] = [made.environment, order.environment];
  const gone = Object.keys(before).filter(name => !Object.hasOwn(now, name));
  const changed = Object.entries(now).filter(([name, value]) => before[name] !== value);
  const changes = [
    ...(isSame ? [] : [`set -- ${words.map(quoted).join(' ')}`]),
    ...gone.map(name => `unset ${name}`),
    ...changed.map(([name, value]) => `export ${name}=${quoted(value)}`),
  ].join('; ');
  if (changes.includes('\n') || Buffer.byteLength(changes) > goBytesMax) return undefined;
  return changes === '' ? 'go' : changes;
}

/** Whoever comes for the same a third time, and others nowhere else meanwhile as forks do, will come again. */
function readyNext(launcher: Launcher, order: LaunchOrder): void {
  const kind = kindOf(order);
  const { row } = launcher;
  if (row.directory !== order.directory || row.times.size >= kindsMax) row.times.clear();
  row.directory = order.directory;
  const times = (row.times.get(kind) ?? 0) + 1;
  row.times.set(kind, times);
  if (times < timesMin || launcher.waiting.has(kind)) return;
  const found = surroundings(order);
  if (found === undefined) return;
  const running = begin(launcher, order).catch(() => undefined);
  const drop = (): void => {
    launcher.waiting.delete(kind);
    void running.then(one => one && discard(one));
  };
  launcher.waiting.set(kind, { order, running, found, timer: setTimeout(drop, waitMsMax).unref() });
}

/** It ends by itself where no word comes. Killed while it is made, bubblewrap would leave a child behind. */
function discard({ told, answers, exited, heard, release }: Running): Promise<unknown> {
  const end = (): void => {
    heard();
    answers.destroy();
  };
  told.once('data', end).resume();
  return exited.catch(() => {}).finally(release);
}

/** Nothing more is started here: those that wait are ended, and then none of them is alive. */
export async function endWaiting(channels: string): Promise<void> {
  const { waiting, row } = launchers.get(channels) ?? {};
  const all = [...(waiting?.values() ?? [])];
  waiting?.clear();
  row?.times.clear();
  await Promise.all(
    all.map(async ({ running, timer }) => {
      clearTimeout(timer);
      const one = await running;
      if (one !== undefined) await discard(one);
    }),
  );
}
